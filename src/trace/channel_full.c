/*
 * Events of threads that are recorded in full. One record may be several events: an access of several variables is one
 * event for each, in the order of their addresses, with the same clock; only the first is counted in it.
 */
#include <string.h>

#include "trace/channel_impl.h"

enum { LARGEST_ACCESS = 1 << 16 };

static void queue(struct pt_channel_reader *r, struct pt_event event)
{
    PT_PUSH(r->queue, r->queue_count, r->queue_cap, event);
}

/* How often the thread holds the lock, by one of the two ways. */
static uint32_t *holds(struct pt_channel_reader *r, const struct pt_event *event, bool shared)
{
    uint32_t *count = pt_map64_at(&r->holds, (uint64_t)event->object << 33 | (uint64_t)shared << 32 | event->thread);
    if (*count == PT_NONE)
        *count = 0;
    return count;
}

/* A lock may be released by a thread that did not take it. No trace says that; but releasing is a write of the lock,
 * and so is taking it just before. */
static void take_lock(struct pt_channel_reader *r, struct pt_event event)
{
    bool shared = event.op == PT_OP_RACQ || event.op == PT_OP_RREL;
    uint32_t *count = holds(r, &event, shared);
    if (event.op == PT_OP_ACQ || event.op == PT_OP_RACQ) {
        ++*count;
    } else if (*count) {
        --*count;
    } else {
        struct pt_event first = event;
        first.op = shared ? PT_OP_RACQ : PT_OP_ACQ;
        queue(r, first);
    }
    queue(r, event);
}

static void take_memory(struct pt_channel_reader *r, struct thread *self, struct pt_event event,
                        struct pt_access access, const unsigned char *memory, uint64_t bytes)
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
        queue(r, event);
        PT_PUSH(self->pieces, self->piece_count, self->piece_cap, ((struct pt_access){cell.low, cell.size}));
        at = cell.low + cell.size;
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
    if (record->kind == PT_KIND_FREED) {
        pt_places_forget(r->places, access.address, access.address + access.size);
        return true;
    }
    if (pt_kind_by(record->kind) == PT_BY_MEMORY) {
        if (access.size > LARGEST_ACCESS)
            return false;
        take_memory(r, self, event, access, value + sizeof access, record->value_bytes - sizeof access);
        return true;
    }
    event.object = pt_places_object(r->places, access.address, pt_op_space(event.op));
    if (pt_op_space(event.op) == PT_SPACE_LOCK)
        take_lock(r, event);
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
    queue(r, event);
    return true;
}
