/*
 * The event stream of this process (core/wire.h): events of all threads, to whoever connects (contract 7).
 *
 * A thread puts its events into buffers of its own and never waits: stream/stream.c. One thread of the runtime, the sender,
 * merges them by number and serves the readers: stream/serve.c, stream/send.c, stream/reader.c,
 * stream/snapshot.c. It finds names for addresses in the symbol tables of the modules: stream/name.c,
 * stream/symbol.c. Addresses to listen at: stream/listen.c.
 *
 * While nobody is connected an event costs one relaxed load. While every reader's queue is full it is counted and
 * nothing else is done, so a reader that has stopped costs the program next to nothing.
 */
#ifndef PT_RUNTIME_STREAM_STREAM_H
#define PT_RUNTIME_STREAM_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/channel.h"
#include "core/site.h"
#include "core/wire.h"
#include "runtime/thread/thread.h"
#include "runtime/shadow/watch.h"

enum pt_streaming {
    PT_STREAM_OFF,   /* nobody is connected */
    PT_STREAM_ON,    /* events go into the buffers */
    PT_STREAM_COUNT, /* every reader's queue is full: events are counted */
};
extern _Atomic uint32_t pt_streaming; /* enum pt_streaming; written by the sender only */

static inline uint32_t pt_stream_mode(void)
{
    return __builtin_expect(atomic_load_explicit(&pt_streaming, memory_order_relaxed), PT_STREAM_OFF);
}

/* States of threads that the runtime tells apart; their names: stream/name.c. */
enum pt_stream_state {
    PT_STATE_RUNNING,
    PT_STATE_READY,
    PT_STATE_LOCK, /* blocked, and what on */
    PT_STATE_CONDITION,
    PT_STATE_BARRIER,
    PT_STATE_SEMAPHORE,
    PT_STATE_JOIN,
    PT_STATE_SLEEP,
    PT_STATE_COUNT
};

/* Begins to listen where PORTENT_OPTIONS says; false: nowhere. A problem is told, and the program runs on without. */
bool pt_stream_listen(void);
/* Starts the sender, once threads can be told apart. */
void pt_stream_start(void);
/* The program ends: what is in the buffers is sent, for a short time, then farewell. */
void pt_stream_stop(void);
/* The child of a fork has no sender and no readers. */
void pt_stream_forget(void);
/* Modules may have been loaded. */
void pt_stream_modules(void);

/* The calls below cost a load and a branch while nobody is connected. */

/* An operation on a synchronisation object, of the kinds that pt_slow_sync takes. */
void pt_stream_sync_now(const void *object, int kind);
static inline void pt_stream_sync(const void *object, int kind)
{
    uint32_t mode = pt_stream_mode();
    struct pt_thread *self = mode == PT_STREAM_COUNT ? pt_self : NULL;
    if (self && self->skipped && !self->busy)
        atomic_store_explicit(self->skipped, atomic_load_explicit(self->skipped, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    else if (mode)
        pt_stream_sync_now(object, kind);
}

/* The calling thread's state, and what it waits for: an address, or the number of a thread; UINT64_MAX: unknown. */
void pt_stream_note_state_now(enum pt_stream_state state, uint64_t object);
static inline void pt_stream_keep(struct pt_thread *self, enum pt_stream_state state, uint64_t object)
{
    atomic_store_explicit(&self->waits_for, object, memory_order_relaxed);
    /* seq_cst: either we see below that somebody has come, or the sender, which looks after it said so, sees this */
    atomic_store_explicit(&self->waits, (uint32_t)state, memory_order_seq_cst);
}
static inline void pt_stream_note_state(enum pt_stream_state state, uint64_t object)
{
    if (pt_self)
        pt_stream_keep(pt_self, state, object);
    if (pt_stream_mode())
        pt_stream_note_state_now(state, object);
}
/* The lock is another's: `owner` is that thread's id in the kernel, 0 if nobody knows. The caller blocks now. */
void pt_stream_contended(const void *lock, uint32_t owner);

/* The caller of those below is inside the runtime. */

/* PT_WIRE_OP_START with the function it runs, END, FORK and JOIN with the other thread's number. */
void pt_stream_thread_now(struct pt_thread *self, enum pt_wire_op op, uint64_t other, uint64_t runs);
static inline void pt_stream_thread(struct pt_thread *self, enum pt_wire_op op, uint64_t other, uint64_t runs)
{
    if (pt_stream_mode())
        pt_stream_thread_now(self, op, other, runs);
}
/* A thread got a name of its own (thread->label). */
void pt_stream_renamed(struct pt_thread *self, const struct pt_thread *thread);
/* Something that the program names: user event, block, internal event (with its value). */
void pt_stream_named_now(struct pt_thread *self, enum pt_wire_op op, const char *name, int64_t value);
/* A write of a watched variable, which the caller holds. */
void pt_stream_write_now(struct pt_thread *self, uint8_t op, uint32_t object, const struct pt_site *site);
static inline void pt_stream_write(struct pt_thread *self, enum pt_event_kind kind, uint32_t object,
                                   const struct pt_site *site)
{
    if (pt_stream_mode())
        pt_stream_write_now(self, pt_op_wire(pt_kind_op(kind)), object, site);
}
/* The thread has ended: its buffers go to the sender. */
void pt_stream_end(struct pt_thread *self);

#endif
