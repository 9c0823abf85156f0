/*
 * The event stream of this process (core/wire.h): events of all threads, to whoever connects (contract 7).
 *
 * A thread puts its events into buffers of its own and never waits: stream/stream.c. One thread of the runtime, the
 * sender, merges them by number and serves the readers: stream/serve.c, stream/send.c, stream/reader.c,
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
#include "runtime/shadow/watch.h"
#include "runtime/thread/thread.h"
#include "runtime/wrap/hooks.h"

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

/* For pt_wrap_hooks. */
void pt_stream_synced(const void *object, int kind);
void pt_stream_active(enum pt_thread_activity activity, uint64_t object);
void pt_stream_contended(const void *lock, uint32_t owner);

/* The caller of those below is inside the runtime. They cost a load and a branch while nobody is connected. */

/* PT_WIRE_OP_START with the function it runs, END, FORK and JOIN with the other thread's number. */
void pt_stream_thread_now(struct pt_thread *self, enum pt_wire_op op, uint64_t other, uint64_t runs);
static inline void pt_stream_thread(struct pt_thread *self, enum pt_wire_op op, uint64_t other, uint64_t runs)
{
    if (pt_wrap_streaming())
        pt_stream_thread_now(self, op, other, runs);
}
/* A thread got a name of its own (thread->label). */
void pt_stream_renamed(struct pt_thread *self, const struct pt_thread *thread);
/* Something that the program names: user event, block, internal event (with its value). */
void pt_stream_named_now(struct pt_thread *self, enum pt_wire_op op, const char *name, int64_t value);
/* A write of a watched variable, which the caller holds. */
void pt_stream_write_now(struct pt_thread *self, enum pt_wire_op op, uint32_t object, const struct pt_site *site);
static inline void pt_stream_write(struct pt_thread *self, enum pt_event_kind kind, uint32_t object,
                                   const struct pt_site *site)
{
    if (pt_wrap_streaming())
        pt_stream_write_now(self, kind == PT_KIND_UPDATE ? PT_WIRE_OP_UPDATE : PT_WIRE_OP_WRITE, object, site);
}
/* The thread has ended: its buffers go to the sender. */
void pt_stream_end(struct pt_thread *self);

#endif
