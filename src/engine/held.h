/* The locks that a thread has, of recursive ones the outermost acquisition. All zero at first. */
#ifndef PT_ENGINE_HELD_H
#define PT_ENGINE_HELD_H

#include "trace/event.h"

struct pt_held {
    struct pt_held_lock {
        uint32_t lock, depth;
        bool shared; /* with other readers */
    } * locks;
    uint32_t count;
    size_t cap;
};

void pt_held_release(struct pt_held *held);
/* The event takes a lock; false: the thread has it already. */
bool pt_held_take(struct pt_held *held, const struct pt_event *event);
/* The event gives a lock back; false: the thread has it still, or it was taken before a gap. *ret_shared: how it had
 * it. */
bool pt_held_give(struct pt_held *held, const struct pt_event *event, bool *ret_shared);

#endif
