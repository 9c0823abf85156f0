/*
 * Whether a lock-order pattern is a sync-preserving deadlock: SPDOffline's check of an abstract pattern. The set of
 * events that must come before its acquires is closed until nothing changes any more: of the sections of one lock that
 * have begun in the set all but the youngest must end in it, and what their releases need must be in it. Where the set
 * then contains one of the acquires, that instance and all before it are out, and the next ones are tried, with the set
 * as it is: sets of later instances only grow.
 *
 * Readers' sections of one lock do not shut each other out: one of them must end only if a writer's is younger.
 *
 * Guarantee: true exactly if some instances are a sync-preserving deadlock, and the first such are found. Cost: linear
 * in the sections of contested locks and the instances of the pattern, times the threads.
 */
#include <string.h>

#include "engine/deadlocks.h"

/* Takes in a moment of a thread and all that it needs. */
static void include(struct deadlocks *d, uint32_t thread, uint64_t number, const struct pt_vec *past)
{
    if (d->ideal[thread] < number)
        d->ideal[thread] = number;
    for (uint32_t i = 0; past && i < past->count; i++) {
        const struct pt_vec_chunk *chunk = past->chunks[i];
        for (uint32_t k = 0; chunk && k < PT_VEC_CHUNK; k++)
            if (chunk->at[k] && d->ideal[i * PT_VEC_CHUNK + k] < chunk->at[k])
                d->ideal[i * PT_VEC_CHUNK + k] = chunk->at[k];
    }
}

/* The latest section of a use that has begun in the set; NULL: none. */
static const struct deadlocks_section *latest(const struct deadlocks *d, struct deadlocks_use *use)
{
    while (use->cursor < use->count && use->sections[use->cursor].acquired <= d->ideal[use->thread])
        use->cursor++;
    return use->cursor ? &use->sections[use->cursor - 1] : NULL;
}

/* Ends what has to end of one lock's sections. False: one of them is never released. */
static bool close_lock(struct deadlocks *d, const struct deadlocks_lock *lock, bool *changed)
{
    uint64_t youngest = 0, writer = 0;
    for (uint32_t i = lock->uses; i != PT_NONE; i = d->uses[i].next) {
        const struct deadlocks_section *section = latest(d, &d->uses[i]);
        if (section && section->number > youngest)
            youngest = section->number;
        if (section && !d->uses[i].shared && section->number > writer)
            writer = section->number;
    }
    for (uint32_t i = lock->uses; i != PT_NONE; i = d->uses[i].next) {
        const struct deadlocks_use *use = &d->uses[i];
        const struct deadlocks_section *section = use->cursor ? &use->sections[use->cursor - 1] : NULL;
        if (!section || section->number >= (use->shared ? writer : youngest))
            continue;
        uint64_t until = pt_epoch_clock(section->until.at);
        if (!until)
            return false;
        if (until <= d->ideal[use->thread])
            continue;
        include(d, use->thread, until, section->until.past);
        *changed = true;
    }
    return true;
}

static bool close_all(struct deadlocks *d)
{
    bool changed = true, possible = true;
    while (changed && possible) {
        changed = false;
        for (size_t i = 0; i < d->lock_cap && possible; i++)
            if (d->locks[i].contested)
                possible = close_lock(d, &d->locks[i], &changed);
    }
    return possible;
}

static void reset(struct deadlocks *d, const struct deadlocks_cycle *cycle)
{
    memset(d->ideal, 0, d->thread_count * sizeof *d->ideal);
    for (uint32_t i = 0; i < d->use_count; i++)
        d->uses[i].cursor = 0;
    for (uint32_t i = 0; i < cycle->count; i++)
        ((struct deadlocks_node *)cycle->members[i]->note)->cursor = 0;
}

/* Moves past the instances that are in the set. False: there are no others. */
static bool advance(const struct deadlocks *d, const struct deadlocks_cycle *cycle, bool *moved)
{
    for (uint32_t i = 0; i < cycle->count; i++) {
        struct deadlocks_node *node = cycle->members[i]->note;
        while (node->cursor < node->count &&
               node->instances[node->cursor].number <= d->ideal[cycle->members[i]->thread]) {
            node->cursor++;
            *moved = true;
        }
        if (node->cursor == node->count)
            return false;
    }
    return true;
}

bool pt_deadlocks_close(struct deadlocks *d, const struct deadlocks_cycle *cycle)
{
    bool moved = true;
    reset(d, cycle);
    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < cycle->count; i++) {
            const struct deadlocks_node *node = cycle->members[i]->note;
            const struct deadlocks_instance *instance = &node->instances[node->cursor];
            include(d, cycle->members[i]->thread, instance->number - 1, instance->past);
        }
        if (!close_all(d) || !advance(d, cycle, &moved))
            return false;
    }
    return true;
}
