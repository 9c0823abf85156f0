/*
 * The receiving side of a running program's event stream (core/wire.h): bytes in, events out. The program is not
 * trusted: whatever the bytes, decoding them neither crashes nor takes more memory than their names need.
 */
#ifndef PT_TRACE_WIRE_H
#define PT_TRACE_WIRE_H

#include "base/err.h"
#include "core/wire.h"
#include "trace/event.h"
#include "trace/source.h"

struct pt_wire;

/* Names are interned into `names`, which the caller keeps alive; `label` is the address, for messages. */
struct pt_wire *pt_wire_new(const char *label, struct pt_names *names);
void pt_wire_free(struct pt_wire *wire);
/* Appends bytes of the stream; they are copied. */
void pt_wire_feed(struct pt_wire *wire, const void *bytes, size_t len);

enum pt_wire_read {
    /* item->event is filled: thread, op, object, loc, value, time. A thread's start is its state "running", its end
     * its state "ended". */
    PT_WIRE_READ_EVENT,
    PT_WIRE_READ_SNAPSHOT, /* the same, of a snapshot: not an event of the run; values of variables as PT_OP_INIT */
    PT_WIRE_READ_LOST,     /* item->lost events are missing here */
    PT_WIRE_READ_CLOCK,    /* time has passed: item->event is a PT_OP_CLOCK */
    PT_WIRE_READ_HELLO,    /* the stream has begun: item->program, item->pid, item->wall */
    PT_WIRE_READ_BYE,      /* the program has ended in order */
    PT_WIRE_READ_MORE,     /* nothing until more bytes are fed */
    PT_WIRE_READ_ERROR,    /* *err is filled: a malformed frame, with its offset in the stream; nothing follows */
};

struct pt_wire_item {
    enum pt_wire_read what; /* as pt_wire_next returned it; filled by a source */
    struct pt_event event;  /* its `line` is the event's number in the run, from 1 */
    uint32_t other;         /* contended: thread that holds the lock, or PT_NONE */
    const char *detail;   /* of a state: what the thread waits for ("lock m", "sleep"), or NULL; until the next call */
    uint64_t lost;        /* how many */
    uint32_t lost_thread; /* PT_NONE: of several */
    const char *program;
    uint32_t pid;
    uint64_t wall;
};

enum pt_wire_read pt_wire_next(struct pt_wire *wire, struct pt_wire_item *ret_item, struct pt_err *err) PT_WARN_UNUSED;

/* For the sum (core/wire.h): what came, and what was reported missing. */
struct pt_wire_counts {
    uint64_t events, lost, frames, bytes;
};
struct pt_wire_counts pt_wire_counts(const struct pt_wire *wire);

/* --- as a source of events --- */

/* Events, snapshots, gaps (PT_OP_LOST) and the clock (PT_OP_CLOCK) from a socket, which the caller closes. */
struct pt_source *pt_wire_source_new(int fd, const char *label, struct pt_names *names);
/* Called when the stream has begun, with its PT_WIRE_READ_HELLO. */
typedef void (*pt_wire_hello_function)(void *context, const struct pt_wire_item *item);
void pt_wire_source_set_hello(struct pt_source *source, pt_wire_hello_function function, void *context);
/* What the stream says of the last event beyond the event itself: is it one of a snapshot, what does a thread wait for,
 * who holds a contended lock. Valid until the next pt_source_next. */
const struct pt_wire_item *pt_wire_source_item(const struct pt_source *source);
struct pt_wire_counts pt_wire_source_counts(const struct pt_source *source);

#endif
