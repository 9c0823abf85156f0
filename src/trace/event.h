/* One event of a trace, and the names its ids stand for (contract section 3). */
#ifndef PT_TRACE_EVENT_H
#define PT_TRACE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/table.h"
#include "core/value.h"

enum pt_op {
    PT_OP_INIT,      /* object: variable; the thread is PT_NONE */
    PT_OP_FORK,      /* object: thread */
    PT_OP_JOIN,      /* object: thread */
    PT_OP_READ,      /* object: variable */
    PT_OP_WRITE,     /* object: variable */
    PT_OP_UPDATE,    /* object: variable; an atomic read and write */
    PT_OP_ACQ,       /* object: lock */
    PT_OP_REL,       /* object: lock */
    PT_OP_RACQ,      /* object: lock */
    PT_OP_RREL,      /* object: lock */
    PT_OP_WAIT,      /* object: other */
    PT_OP_NOTIFY,    /* object: other */
    PT_OP_SYNC,      /* object: other */
    PT_OP_BEGIN,     /* object: block */
    PT_OP_END,       /* object: block */
    PT_OP_EVENT,     /* object: user event */
    PT_OP_INTERNAL,  /* object: local variable */
    PT_OP_STATE,     /* object: scheduler state */
    PT_OP_CONTENDED, /* object: lock */
    PT_OP_CLOCK,     /* no thread, no object: time has passed; no event, no letter */
    PT_OP_LOST,      /* no thread; value: so many events are missing here; no event, no letter */
    PT_OP_COUNT
};

/* The name spaces of objects. */
enum pt_space {
    PT_SPACE_THREAD,
    PT_SPACE_VAR,
    PT_SPACE_LOCK,
    PT_SPACE_OTHER, /* condition variables, barriers, semaphores, ... */
    PT_SPACE_BLOCK,
    PT_SPACE_EVENT,
    PT_SPACE_LOCAL,
    PT_SPACE_STATE,
    PT_SPACE_LOC,    /* LOC fields */
    PT_SPACE_STRING, /* string values */
    PT_SPACE_COUNT
};

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

/* The word the text form uses ("w", "acq", ...), and the name space of the op's object. */
const char *pt_op_word(enum pt_op op);
enum pt_space pt_op_space(enum pt_op op); /* PT_SPACE_COUNT for PT_OP_CLOCK, which has no object */

struct pt_clock_entry {
    uint32_t thread;
    uint64_t count;
};

struct pt_event {
    uint64_t line; /* its line in the text form; in the binary form its record's number, from 1 */
    uint8_t op;    /* enum pt_op */
    bool has_time;
    uint32_t thread;                    /* PT_NONE for init and clock */
    uint32_t object;                    /* id in pt_op_space(op); PT_NONE for clock */
    uint32_t loc;                       /* id in PT_SPACE_LOC */
    struct pt_value value;              /* PT_VALUE_UNKNOWN where the line gives none */
    uint64_t time;                      /* nanoseconds, when has_time */
    const struct pt_clock_entry *clock; /* the c= field, NULL where there is none; valid until the next read */
    uint32_t clock_len;
};

#endif
