/* What a reader is told first: the states of the threads, the locks they are known to hold, and the values of watched
 * variables. What does not fit into one frame is left out. */
#include <string.h>

#include "runtime/stream/impl.h"

struct snapshot {
    struct pt_blob *frame;
    uint32_t count;
};

static bool has_room(const struct snapshot *snapshot, size_t bytes)
{
    return snapshot->frame->len + bytes <= snapshot->frame->cap - 8;
}

static void add_thread(void *context, struct pt_stream_peer *known)
{
    struct snapshot *snapshot = context;
    if (!has_room(snapshot, (known->lock_count + 1) * sizeof(struct pt_wire_event)))
        return;
    pt_send_event(snapshot->frame,
                  (struct pt_wire_event){.op = PT_WIRE_OP_STATE,
                                         .thread = known->number,
                                         .object = known->state,
                                         .extra = known->state ? known->state_object : PT_WIRE_NONE},
                  "");
    for (uint32_t i = 0; i < known->lock_count; i++)
        pt_send_event(snapshot->frame,
                      (struct pt_wire_event){.op = known->locks[i].shared ? PT_WIRE_OP_RACQ : PT_WIRE_OP_ACQ,
                                             .thread = known->number,
                                             .object = known->locks[i].lock,
                                             .extra = PT_WIRE_NONE},
                      "");
    snapshot->count += 1 + known->lock_count;
}

static void add_variable(void *context, uint32_t object, const struct pt_watched *watched)
{
    struct snapshot *snapshot = context;
    unsigned char value[PT_STREAM_TEXT];
    struct pt_wire_event event = {.op = PT_WIRE_OP_WRITE, .thread = pt_names_thread(0)->number, .extra = PT_WIRE_NONE};
    event.value_kind = (uint8_t)pt_stream_value(watched, value, &event.value_bytes);
    if (!event.value_kind || !has_room(snapshot, sizeof event + event.value_bytes + 4))
        return;
    event.object = pt_names_var(object);
    pt_send_event(snapshot->frame, event, value);
    snapshot->count++;
}

void pt_stream_snapshot(struct pt_blob *frame, uint64_t number, uint64_t now)
{
    struct snapshot snapshot = {.frame = frame};
    struct pt_wire_events head = {.number = number, .time = now};
    if (!pt_blob_reserve(frame, PT_WIRE_FRAME_MAX))
        return;
    size_t cap = frame->cap;
    frame->cap = frame->cap < PT_WIRE_FRAME_MAX ? frame->cap : PT_WIRE_FRAME_MAX;
    frame->len = sizeof head;
    pt_names_each(add_thread, &snapshot);
    pt_watch_each(add_variable, &snapshot);
    while (frame->len % 8)
        frame->bytes[frame->len++] = 0;
    frame->cap = cap;
    head.count = snapshot.count;
    head.head = (struct pt_wire_frame){(uint32_t)frame->len, PT_WIRE_SNAPSHOT, PT_WIRE_VERSION};
    memcpy(frame->bytes, &head, sizeof head);
}
