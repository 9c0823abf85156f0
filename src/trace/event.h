/* One event of a trace, and the names its ids stand for (contract section 3). */
#ifndef PT_TRACE_EVENT_H
#define PT_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/table.h"
#include "core/ops.h"
#include "core/value.h"

/* Names to ids, one table per name space. Ids count from 0 in order of first appearance. */
struct pt_names {
    struct pt_strtab space[PT_SPACE_COUNT];
};
void pt_names_init(struct pt_names *names);
void pt_names_release(struct pt_names *names);
static inline const char *pt_name(const struct pt_names *names, enum pt_space space, uint32_t id)
{
    return pt_strtab_text(&names->space[space], id);
}

/* Appends a name with what cannot stand in a trace replaced. A thread's: commas too, since clocks list threads, and it
 * begins like a name. */
void pt_name_clean(struct pt_buf *buf, enum pt_space space, const char *text);
/* Interns it; an empty one, which only a place may be, as "_". */
uint32_t pt_names_intern_clean(struct pt_names *names, enum pt_space space, const char *text, size_t len);

struct pt_clock_entry {
    uint32_t thread;
    uint64_t count;
};

/* The most bytes of a variable that b= may speak of. */
enum { PT_EVENT_BYTES = 4096 };

struct pt_event {
    uint64_t line; /* its line in the text form; in the binary form its record's number, from 1 */
    uint8_t op;    /* enum pt_op */
    uint8_t order; /* enum pt_memory_order, the m= field */
    bool has_time;
    uint16_t from, to;     /* the b= field: it touches these bytes of its variable, without `to`; to is 0: all of it */
    uint32_t thread;       /* PT_NONE where !pt_op_has_thread(op) */
    uint32_t object;       /* id in pt_op_space(op); PT_NONE where it has none */
    uint32_t loc;          /* id in PT_SPACE_LOC */
    uint32_t stack;        /* id in PT_SPACE_STACK plus 1, the s= field; 0 where there is none */
    struct pt_value value; /* PT_VALUE_UNKNOWN where the line gives none */
    uint64_t time;         /* nanoseconds, when has_time */
    const struct pt_clock_entry *clock; /* the c= field, NULL where there is none; valid until the next read */
    uint32_t clock_len;
    uint32_t behind; /* of a running program's: a thread that has ended plus 1, of which all is known here, and wherever
                        some event of this thread from here on is; no clock needs to say so (clock_state.h). 0: none */
};

/* What the `sync` of a tie is called. */
#define PT_TIE "unseen"
/* The same, where lines have clocks: no line of its thread follows. */
#define PT_TIE_ENDED "ended"

/* No event of the program, but a remark: about order (recording_unseen.c): what its thread does next may depend on what
 * others did before their ties, by writes that are not in the trace; or PT_TIE_ENDED. It synchronises nothing. */
static inline bool pt_event_is_tie(const struct pt_event *event)
{
    return event->op == PT_OP_SYNC && event->order == PT_MEMORY_RELAXED;
}

/* An access of bytes [from, to) of a variable of so many. What b= cannot say is left out: then it touches all. */
static inline void pt_event_set_bytes(struct pt_event *event, uint64_t from, uint64_t to, uint64_t size)
{
    bool whole = (from == 0 && to >= size) || to > PT_EVENT_BYTES;
    event->from = whole ? 0 : (uint16_t)from;
    event->to = whole ? 0 : (uint16_t)to;
}

#endif
