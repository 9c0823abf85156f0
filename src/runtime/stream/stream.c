/*
 * The threads' side of the event stream: events into the thread's own buffers, without locks, without system calls, and
 * without ever waiting. Costs a time stamp, an atomic addition, and about 50 bytes of writing.
 *
 * Order: the number is taken while the thread has what the event is about (the lock, the granules of the variable),
 * so numbers are the actual order of all events on it.
 */
#include "runtime/stream/impl.h"

#include <string.h>

#include "core/value.h"
#include "runtime/channel/name.h"
#include "runtime/channel/self.h"

struct pt_stream *_Atomic pt_streams;
_Atomic uint64_t pt_stream_number = 1, pt_stream_homeless;
_Atomic uint32_t pt_stream_generation;

/* --- buffers --- */

static struct pt_stream *claim_free(void)
{
    for (struct pt_stream *stream = atomic_load_explicit(&pt_streams, memory_order_acquire); stream;
         stream = stream->next) {
        uint32_t owner = PT_STREAM_FREE;
        /* acquire: partner of the sender's release when it frees the buffers; they go on from where they were */
        if (atomic_compare_exchange_strong_explicit(&stream->owner, &owner, PT_STREAM_TAKEN, memory_order_acquire,
                                                    memory_order_relaxed))
            return stream;
    }
    return NULL;
}

static struct pt_stream *stream_of(struct pt_thread *self)
{
    if (self->stream)
        return self->stream;
    struct pt_stream *stream = claim_free();
    if (!stream) {
        stream = pt_sys_reserve(sizeof *stream);
        if (!stream)
            return NULL;
        atomic_store_explicit(&stream->owner, PT_STREAM_TAKEN, memory_order_relaxed);
        atomic_store_explicit(&stream->inflight, PT_STREAM_IDLE, memory_order_relaxed);
        struct pt_stream *first = atomic_load_explicit(&pt_streams, memory_order_relaxed);
        do
            stream->next = first;
        while (!atomic_compare_exchange_weak_explicit(&pt_streams, &first, stream, memory_order_release,
                                                      memory_order_relaxed));
    }
    stream->held_count = 0;
    stream->generation = atomic_load_explicit(&pt_stream_generation, memory_order_relaxed);
    self->stream = stream;
    self->skipped = &stream->skipped;
    return stream;
}

void pt_stream_end(struct pt_thread *self)
{
    if (self->stream) /* release: everything is in the buffers before they are given up */
        atomic_store_explicit(&self->stream->owner, PT_STREAM_ENDED, memory_order_release);
    self->stream = NULL;
    self->skipped = NULL;
}

void pt_stream_hurry(void)
{
    if (!atomic_exchange_explicit(&pt_stream_hurried, 1, memory_order_relaxed))
        pt_sys_wake(&pt_stream_hurried);
}

/* Room for so many bytes in one of the two buffers; NULL: the event is dropped. */
static unsigned char *room_for(struct pt_stream *stream, uint32_t bytes)
{
    if (stream->used + bytes > PT_HALF_BYTES) {
        /* acquire: partner of the sender's release; it has read what is written over now */
        if (atomic_load_explicit(&stream->drained, memory_order_acquire) < stream->turn)
            return NULL;
        atomic_store_explicit(&stream->written[(stream->turn + 1) & 1], 0, memory_order_relaxed);
        /* release: the sender goes to the other buffer after it has seen all of this one, and that one empty */
        atomic_store_explicit(&stream->closed, ++stream->turn, memory_order_release);
        stream->used = 0;
        pt_stream_hurry();
    }
    return stream->data[stream->turn & 1] + stream->used;
}

static void publish(struct pt_stream *stream, uint32_t bytes)
{
    stream->used += bytes;
    /* release: partner of the sender's acquire */
    atomic_store_explicit(&stream->written[stream->turn & 1], stream->used, memory_order_release);
}

static void put(struct pt_thread *self, struct pt_raw raw, const void *value)
{
    struct pt_stream *stream = stream_of(self);
    uint32_t bytes = (uint32_t)(sizeof raw + ((raw.bytes + 7u) & ~7u));
    if (!stream) {
        atomic_fetch_add_explicit(&pt_stream_homeless, 1, memory_order_relaxed);
        return;
    }
    raw.thread = pt_thread_number(self);
    raw.time = pt_sys_now();
    if (raw.op != PT_STREAM_RENAME) {
        atomic_store_explicit(&stream->inflight, atomic_load_explicit(&pt_stream_number, memory_order_relaxed),
                              memory_order_relaxed);
        /* release: whoever sees a larger number sees `inflight` too. acquire: so does whoever sees what comes next. */
        raw.number = atomic_fetch_add_explicit(&pt_stream_number, 1, memory_order_acq_rel);
    }
    unsigned char *place = room_for(stream, bytes);
    if (place) {
        memcpy(place, &raw, sizeof raw);
        memcpy(place + sizeof raw, value, raw.bytes);
        publish(stream, bytes);
    }
    atomic_store_explicit(&stream->inflight, PT_STREAM_IDLE, memory_order_release);
}

/* While every queue is full: one more event that nobody will see. True if that is the case. */
static bool counted_only(struct pt_thread *self)
{
    if (pt_wrap_streaming() != PT_STREAM_COUNT)
        return false;
    struct pt_stream *stream = stream_of(self);
    if (!stream)
        atomic_fetch_add_explicit(&pt_stream_homeless, 1, memory_order_relaxed);
    else
        atomic_store_explicit(&stream->skipped, atomic_load_explicit(&stream->skipped, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    return true;
}

static void event(struct pt_thread *self, struct pt_raw raw, const void *value)
{
    if (!counted_only(self))
        put(self, raw, value);
}

/* --- synchronisation --- */

static struct pt_thread *caller(void)
{
    struct pt_thread *self = pt_thread_self();
    return self && !self->shadow.busy ? self : NULL;
}

/* A lock that was taken while nobody looked is given up silently: readers have not heard of it. */
static bool follow_lock(struct pt_thread *self, const void *lock, bool take)
{
    struct pt_stream *stream = stream_of(self);
    uint32_t generation = atomic_load_explicit(&pt_stream_generation, memory_order_relaxed);
    if (!stream)
        return true;
    if (stream->generation != generation) {
        stream->generation = generation;
        stream->held_count = 0;
    }
    if (take) {
        if (stream->held_count == PT_HELD_MAX)
            return false;
        stream->held[stream->held_count++] = lock;
        return true;
    }
    for (uint32_t i = stream->held_count; i-- > 0;)
        if (stream->held[i] == lock) {
            memmove(&stream->held[i], &stream->held[i + 1], (--stream->held_count - i) * sizeof *stream->held);
            return true;
        }
    return false;
}

void pt_stream_synced(const void *object, int kind)
{
    struct pt_thread *self = caller();
    enum pt_op op = pt_kind_op((unsigned)kind);
    if (!self || pt_kind_by((unsigned)kind) != PT_BY_ADDRESS)
        return;
    pt_thread_enter(self);
    bool lock = pt_op_space(op) == PT_SPACE_LOCK;
    if (!counted_only(self) && (!lock || follow_lock(self, object, pt_op_locks(op))))
        put(self, (struct pt_raw){.op = pt_op_wire(op), .object = (uintptr_t)object}, "");
    pt_thread_leave(self);
}

void pt_stream_active(enum pt_thread_activity activity, uint64_t object)
{
    struct pt_thread *self = caller();
    if (!self)
        return;
    pt_thread_enter(self);
    event(self, (struct pt_raw){.op = PT_WIRE_OP_STATE, .object = (uint64_t)activity, .extra = object}, "");
    pt_thread_leave(self);
}

void pt_stream_contended(const void *lock, uint32_t owner)
{
    struct pt_thread *self = caller();
    if (!self)
        return;
    pt_wrap_keep(self, PT_STATE_LOCK, (uintptr_t)lock);
    pt_thread_enter(self);
    event(self, (struct pt_raw){.op = PT_WIRE_OP_CONTENDED, .object = (uintptr_t)lock, .extra = owner}, "");
    event(self, (struct pt_raw){.op = PT_WIRE_OP_STATE, .object = PT_STATE_LOCK, .extra = (uintptr_t)lock}, "");
    pt_thread_leave(self);
}

/* --- the rest --- */

void pt_stream_thread_now(struct pt_thread *self, enum pt_wire_op op, uint64_t other, uint64_t runs)
{
    event(
        self,
        (struct pt_raw){
            .op = (uint8_t)op, .object = other, .extra = op == PT_WIRE_OP_START ? self->tid : 0, .bytes = sizeof runs},
        &runs);
}

void pt_stream_renamed(struct pt_thread *self, const struct pt_thread *thread)
{
    if (pt_wrap_streaming() == PT_STREAM_ON)
        put(self,
            (struct pt_raw){.op = PT_STREAM_RENAME, .object = pt_thread_number(thread), .bytes = sizeof thread->label},
            thread->label);
}

void pt_stream_named_now(struct pt_thread *self, enum pt_wire_op op, const char *name, int64_t value)
{
    uint32_t number = pt_name_number(name);
    bool given = op == PT_WIRE_OP_INTERNAL;
    if (!number) /* too many names, or too long a one: no reader could learn which event it is */
        return;
    event(self,
          (struct pt_raw){.op = (uint8_t)op,
                          .object = number,
                          .site = self->channel->place,
                          .kind = given ? PT_VALUE_INT : PT_VALUE_UNKNOWN,
                          .bytes = given ? sizeof value : 0},
          &value);
}

void pt_stream_write_now(struct pt_thread *self, uint8_t op, uint32_t object, const struct pt_site *site)
{
    unsigned char value[PT_STREAM_TEXT];
    if (counted_only(self))
        return;
    struct pt_raw raw = {.op = op, .object = object, .site = site};
    raw.kind = (uint8_t)pt_stream_value(&pt_watched[object], value, &raw.bytes);
    put(self, raw, value);
}
