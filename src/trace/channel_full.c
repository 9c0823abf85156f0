/*
 * Events of threads that are recorded in full. One record may be several events: an access of several variables is one
 * event for each, in the order of their addresses, with the same clock; only the first is counted in it.
 *
 * Guarantee: the events are a possible run (validate.h), whatever the program does with its locks. Cost: constant
 * expected time per event, times the threads that hold a lock at once.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/channel_impl.h"

static void queue(struct pt_channel_reader *r, struct pt_event event)
{
    PT_PUSH(r->queue, r->queue_count, r->queue_cap, event);
}

static struct held_lock *lock_at(struct pt_channel_reader *r, uint32_t object)
{
    PT_ROOM(r->locks, r->lock_cap, object);
    return &r->locks[object];
}

/* The thread's holder of the lock; one that holds nothing, where it does not. */
static struct holder *holder_at(struct held_lock *lock, uint32_t thread)
{
    for (uint32_t i = 0; i < lock->count; i++)
        if (lock->holders[i].thread == thread)
            return &lock->holders[i];
    PT_PUSH(lock->holders, lock->count, lock->cap, (struct holder){.thread = thread});
    return &lock->holders[lock->count - 1];
}

/* Another thread's events, which are made here: they carry no clock, and the thread gets to know of its lines later. */
static void release_for(struct pt_channel_reader *r, struct thread *other, uint32_t *count, struct pt_event event,
                        enum pt_op op)
{
    event.op = (uint8_t)op;
    event.thread = other->name;
    event.clock = NULL;
    event.clock_len = 0;
    for (; *count; --*count) {
        if (other->joined) /* it can do nothing any more, and holds nothing */
            continue;
        queue(r, event);
        other->owed++;
    }
}

/*
 * A lock may be released by a thread that did not take it, or taken although its holder has not released it: that one
 * died, or the lock's memory is another lock's now. No trace says that: the holder releases it in it, just before.
 */
static void release_others(struct pt_channel_reader *r, struct held_lock *lock, struct pt_event event, uint32_t thread)
{
    for (uint32_t i = 0; i < lock->count; i++) {
        struct holder *holder = &lock->holders[i];
        if (holder->thread == thread)
            continue;
        struct thread *other = chan_thread(r, holder->thread);
        release_for(r, other, &holder->exclusive, event, PT_OP_REL);
        if (!pt_op_is_shared(event.op))
            release_for(r, other, &holder->shared, event, PT_OP_RREL);
    }
}

static void forget_idle(struct held_lock *lock)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < lock->count; i++)
        if (lock->holders[i].exclusive || lock->holders[i].shared)
            lock->holders[kept++] = lock->holders[i];
    lock->count = kept;
}

bool chan_take_free_lock(struct pt_channel_reader *r, const struct pt_event *event, uint32_t thread)
{
    struct held_lock *lock = lock_at(r, event->object);
    bool shared = pt_op_is_shared(event->op);
    struct holder self = {.thread = thread, .exclusive = !shared, .shared = shared};
    if (pt_op_locks(event->op)) {
        if (lock->count)
            return false;
        PT_PUSH(lock->holders, lock->count, lock->cap, self);
        return true;
    }
    if (lock->count != 1 || memcmp(&lock->holders[0], &self, sizeof self) != 0)
        return false;
    lock->count = 0;
    return true;
}

/* Before one that was taken by a try comes a state that says so: a field of its own is what older readers refuse. Who
 * releases a lock that it does not hold takes it just before: both are writes of the lock, as releasing it is. */
void chan_take_lock(struct pt_channel_reader *r, struct pt_event event, uint32_t thread, bool tries)
{
    struct held_lock *lock = lock_at(r, event.object);
    struct holder *self = holder_at(lock, thread);
    bool shared = pt_op_is_shared(event.op), locks = pt_op_locks(event.op);
    uint32_t *count = shared ? &self->shared : &self->exclusive;
    if (locks || !*count)
        release_others(r, lock, event, thread);
    if (locks && tries) {
        struct pt_event state = event;
        state.op = PT_OP_STATE;
        state.object =
            pt_names_intern_clean(r->names, PT_SPACE_STATE, PT_STATE_TRYING_NAME, sizeof PT_STATE_TRYING_NAME - 1);
        queue(r, state);
    }
    if (locks) {
        ++*count;
    } else if (*count) {
        --*count;
    } else {
        struct pt_event first = event;
        first.op = shared ? PT_OP_RACQ : PT_OP_ACQ;
        queue(r, first);
    }
    queue(r, event);
    forget_idle(lock);
}

void chan_release_locks(struct pt_channel_reader *r)
{
    for (size_t i = 0; i < r->lock_cap; i++)
        free(r->locks[i].holders);
    free(r->locks);
}

void chan_take_memory(struct pt_channel_reader *r, struct pt_event event, struct pt_access access,
                      const unsigned char *memory, uint64_t bytes)
{
    enum { LARGEST_SCALAR = 16 };
    uint64_t end = access.address + access.size;
    for (uint64_t at = access.address; at < end;) {
        struct pt_cell cell = pt_places_cell(r->places, at, end, access.size > LARGEST_SCALAR);
        uint64_t skip = cell.low - access.address;
        event.object = cell.name;
        event.value = (struct pt_value){0};
        if (cell.low >= access.address && skip + cell.size <= bytes)
            event.value = chan_decode(r, cell.type, cell.size, memory + skip);
        uint64_t stop = end < cell.low + cell.size ? end : cell.low + cell.size;
        event.from = event.to = 0;
        if (r->clockless)
            pt_event_set_bytes(&event, at - cell.low, stop - cell.low, cell.size);
        queue(r, event);
        at = cell.low + cell.size;
    }
}

struct ending {
    struct pt_channel_reader *reader;
    struct pt_event event;
};

static void queue_free(void *context, uint32_t name)
{
    struct ending *ending = context;
    ending->event.object = name;
    queue(ending->reader, ending->event);
}

void chan_take_extent(struct pt_channel_reader *r, unsigned kind, struct pt_access access, struct pt_event event)
{
    uint64_t end = access.address + access.size;
    struct ending ending = {r, event};
    if (kind == PT_KIND_FREED) {
        pt_places_forget(r->places, access.address, end);
    } else if (kind == PT_KIND_FREE) {
        pt_places_end(r->places, access.address, end, queue_free, &ending);
    } else {
        event.object = pt_places_begin_block(r->places, access.address, access.size);
        event.value = pt_value_int((int64_t)access.size);
        queue(r, event);
    }
}

/* A struct pt_access, then memory. */
static bool take_access(struct pt_channel_reader *r, struct thread *self, const struct pt_record_event *record,
                        const unsigned char *value, struct pt_event event)
{
    struct pt_access access;
    if (record->value_bytes < sizeof access)
        return false;
    memcpy(&access, value, sizeof access);
    if (!access.size || access.address + access.size < access.address)
        return false;
    if (pt_kind_by(record->kind) == PT_BY_EXTENT) {
        chan_take_extent(r, record->kind, access, event);
        return true;
    }
    if (pt_kind_by(record->kind) == PT_BY_MEMORY) {
        if (access.size > CHAN_LARGEST_ACCESS)
            return false;
        chan_take_memory(r, event, access, value + sizeof access, record->value_bytes - sizeof access);
        return true;
    }
    event.object = pt_places_object(r->places, access.address, pt_op_space(event.op));
    if (pt_op_space(event.op) == PT_SPACE_LOCK)
        chan_take_lock(r, event, self->number, r->clockless && record->marks & PT_MARK_TRIES);
    else
        queue(r, event);
    return true;
}

bool chan_take_full(struct pt_channel_reader *r, struct thread *self, const struct pt_record_event *record,
                    const unsigned char *value, struct pt_event event)
{
    if (pt_kind_by(record->kind) != PT_BY_THREAD)
        return take_access(r, self, record, value, event);
    if (record->object == record->thread)
        return false;
    /* A thread of which the trace knows nothing, because it was started by one that is not recorded, is not joined. */
    if (!chan_other_thread(r, record->object, record->kind == PT_KIND_FORK, &event.object))
        return record->kind == PT_KIND_JOIN;
    if (record->kind == PT_KIND_JOIN)
        chan_thread(r, record->object)->joined = true;
    queue(r, event);
    return true;
}
