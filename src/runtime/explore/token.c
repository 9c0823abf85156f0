/*
 * Waits that are played: conditions, barriers and futexes. Who waits is in the slots, a signal is a token that one of
 * those takes who waited when it came.
 *
 * Tokens of one object are in order of age, and the threads that may take one are all that waited then and still do; a
 * newer one has all those of an older one and perhaps more. So there is a thread for each as long as there are no more
 * tokens than waiting threads: a signal beyond that has nobody to wake, and is lost, as it would be. Cost: linear in
 * the threads of the run.
 */
#include "runtime/explore/impl.h"

static struct pt_explore_token *find(uint32_t slot, const void *object)
{
    for (uint32_t i = 0; i < pt_run.token_count; i++)
        if (pt_run.tokens[i].object == object && pt_explore_has(&pt_run.tokens[i].who, slot))
            return &pt_run.tokens[i];
    return NULL;
}

bool pt_token_for(uint32_t slot, const void *object)
{
    return find(slot, object) != NULL;
}

static void drop_token(struct pt_explore_token *token)
{
    struct pt_explore_token *end = &pt_run.tokens[--pt_run.token_count];
    for (; token < end; token++)
        token[0] = token[1];
}

/* It waits no longer: nothing is left for it. */
static void stop_waiting(uint32_t slot)
{
    pt_run.slots[slot].waits = false;
    for (uint32_t i = pt_run.token_count; i-- > 0;) {
        pt_explore_drop(&pt_run.tokens[i].who, slot);
        if (pt_explore_is_empty(&pt_run.tokens[i].who))
            drop_token(&pt_run.tokens[i]);
    }
}

void pt_explore_waits(const void *object)
{
    uint32_t slot = pt_explore_slot();
    if (slot == PT_EXPLORE_NO_SLOT)
        return;
    pt_spin_lock(&pt_run.lock);
    pt_run.slots[slot].waits = true;
    pt_run.slots[slot].woken = false;
    pt_run.next[slot].object = (uintptr_t)object; /* what its next step will have, too */
    pt_spin_unlock(&pt_run.lock);
}

void pt_explore_waits_not(void)
{
    uint32_t slot = pt_explore_slot();
    if (slot == PT_EXPLORE_NO_SLOT)
        return;
    pt_spin_lock(&pt_run.lock);
    stop_waiting(slot);
    pt_spin_unlock(&pt_run.lock);
}

static bool is_waiting(uint32_t slot, const void *object)
{
    const struct pt_explore_slot *it = &pt_run.slots[slot];
    return pt_explore_has(&pt_run.used, slot) && it->waits && !it->woken &&
           pt_run.next[slot].object == (uintptr_t)object;
}

static struct pt_explore_set waiters_of(const void *object)
{
    struct pt_explore_set set = {0};
    for (uint32_t slot = 0; slot < pt_run.slot_count; slot++)
        if (is_waiting(slot, object))
            pt_explore_add(&set, slot);
    return set;
}

static uint32_t count_of(const struct pt_explore_set *set)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < PT_EXPLORE_WORDS; i++)
        count += (uint32_t)__builtin_popcountll(set->words[i]);
    return count;
}

/* All of them: no token is needed. */
static void wake_all(const struct pt_explore_set *waiting)
{
    for (uint32_t slot = 0; slot < pt_run.slot_count; slot++)
        if (pt_explore_has(waiting, slot)) {
            stop_waiting(slot);
            pt_run.slots[slot].waits = true;
            pt_run.slots[slot].woken = true;
        }
}

uint32_t pt_explore_wakes(const void *object, uint32_t count)
{
    pt_spin_lock(&pt_run.lock);
    struct pt_explore_set waiting = waiters_of(object);
    uint32_t there = count_of(&waiting), promised = 0, woken = 0;
    for (uint32_t i = 0; i < pt_run.token_count; i++)
        promised += pt_run.tokens[i].object == object;
    if (count >= there - promised) {
        woken = there - promised;
        wake_all(&waiting);
    }
    for (; woken < count && woken + promised < there; woken++)
        pt_run.tokens[pt_run.token_count++] = (struct pt_explore_token){object, waiting};
    pt_spin_unlock(&pt_run.lock);
    return woken;
}

bool pt_explore_arrives(const void *barrier, uint32_t count)
{
    pt_spin_lock(&pt_run.lock);
    struct pt_explore_set waiting = waiters_of(barrier);
    bool last = count_of(&waiting) + 1 >= count;
    uint32_t slot = pt_explore_slot();
    if (last)
        wake_all(&waiting);
    pt_run.slots[slot].waits = true;
    pt_run.slots[slot].woken = last;
    pt_run.next[slot].object = (uintptr_t)barrier;
    pt_spin_unlock(&pt_run.lock);
    return last;
}

void pt_token_take(uint32_t slot)
{
    struct pt_explore_slot *it = &pt_run.slots[slot];
    const struct pt_explore_step *next = &pt_run.next[slot];
    if (!it->waits)
        return;
    struct pt_explore_token *token = it->woken ? NULL : find(slot, (const void *)next->object);
    if (token && !next->flags)
        drop_token(token);
    stop_waiting(slot);
}
