/* Which locks a thread has: a short list. Cost: linear in the locks that are held at once. */
#include "engine/held.h"

#include <stdlib.h>
#include <string.h>

void pt_held_release(struct pt_held *held)
{
    free(held->locks);
}

static struct pt_held_lock *find(const struct pt_held *held, uint32_t lock)
{
    uint32_t i = held->count;
    while (i > 0 && held->locks[i - 1].lock != lock)
        i--;
    return i ? &held->locks[i - 1] : NULL;
}

bool pt_held_take(struct pt_held *held, const struct pt_event *event)
{
    struct pt_held_lock *has = find(held, event->object), new = {event->object, 1, pt_op_is_shared(event->op)};
    if (has) {
        has->depth++;
        return false;
    }
    PT_PUSH(held->locks, held->count, held->cap, new);
    return true;
}

bool pt_held_give(struct pt_held *held, const struct pt_event *event, bool *ret_shared)
{
    struct pt_held_lock *has = find(held, event->object);
    if (!has || --has->depth)
        return false;
    *ret_shared = has->shared;
    memmove(has, has + 1, (size_t)(held->locks + --held->count - has) * sizeof *has);
    return true;
}
