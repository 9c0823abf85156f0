/* What a thread has written, for race_free(*): a set of addresses that only grows. Open addressing. */
#include <string.h>

#include "runtime/monitor_impl.h"
#include "runtime/pool.h"

struct pt_wrote {
    uint32_t bits, count;
    uint64_t objects[]; /* 0: free */
};

static uint64_t *find(struct pt_wrote *set, uint64_t object)
{
    uint64_t mask = (UINT64_C(1) << set->bits) - 1, at = (object * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - set->bits);
    while (set->objects[at] && set->objects[at] != object)
        at = (at + 1) & mask;
    return &set->objects[at];
}

static struct pt_wrote *grow(struct pt_thread *self, struct pt_wrote *old)
{
    uint32_t bits = old ? old->bits + 1 : 5;
    size_t bytes = sizeof *old + (sizeof *old->objects << bits);
    struct pt_wrote *set = pt_pool_take(self, bytes);
    if (!set)
        return NULL;
    memset(set, 0, bytes);
    set->bits = bits;
    for (uint64_t i = 0; old && i < UINT64_C(1) << old->bits; i++)
        if (old->objects[i])
            *find(set, old->objects[i]) = old->objects[i];
    set->count = old ? old->count : 0;
    pt_pool_give(self, old);
    return set;
}

bool pt_monitor_has_written(struct pt_thread *self, uint64_t object, bool now)
{
    struct pt_local *local = self->local;
    if (!now)
        return local->wrote && *find(local->wrote, object);
    if (!local->wrote || local->wrote->count >= UINT64_C(3) << (local->wrote->bits - 2)) {
        struct pt_wrote *larger = grow(self, local->wrote);
        if (!larger)
            return true;
        local->wrote = larger;
    }
    uint64_t *place = find(local->wrote, object);
    local->wrote->count += !*place;
    *place = object;
    return true;
}

void pt_monitor_forget_written(struct pt_thread *self, struct pt_local *local)
{
    pt_pool_give(self, local->wrote);
    local->wrote = NULL;
}
