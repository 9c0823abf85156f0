/*
 * Whether a lock-order pattern is a sync-preserving deadlock: SPDOffline's check of an abstract pattern. The set of
 * events that must come before its acquires is closed (predict/trf.h). Where the set then contains one of the acquires,
 * that instance and all before it are out, and the next ones are tried, with the set as it is: sets of later instances
 * only grow. Nothing of that depends on events that are not in the set: a section that has to end, since a younger one
 * has begun, has ended before that one began. So it can be asked while the run is followed, stops where a member has no
 * further instance, and goes on from there.
 *
 * What may be forgotten: what is known (pt_trf_known) is needed by every event to come, whoever's, of a pattern's two
 * or more threads at least by one. An instance that is known is therefore in the set of every later one, and out once
 * the pattern was asked with all that there are; and sections that are known to have ended have ended in every set that
 * is still to be closed.
 *
 * Guarantee: true exactly if some instances are a sync-preserving deadlock, and the first such are found. Cost: a
 * closure for each instance of the pattern that is out.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/deadlocks.h"

static void begin(const struct deadlocks *d, struct deadlocks_cycle *cycle)
{
    uint32_t threads = d->trf.thread_count;
    if (!cycle->cursors)
        cycle->cursors = pt_xcalloc(cycle->count, sizeof *cycle->cursors);
    if (threads <= cycle->ideal_count)
        return;
    threads = threads < d->thread_count ? d->thread_count : threads;
    cycle->ideal = pt_xrealloc(cycle->ideal, threads * sizeof *cycle->ideal);
    memset(cycle->ideal + cycle->ideal_count, 0, (threads - cycle->ideal_count) * sizeof *cycle->ideal);
    cycle->ideal_count = threads;
}

/* Moves past the instances that are in the set. False: there are no others. */
static bool advance(const struct deadlocks_cycle *cycle, bool *moved)
{
    bool all = true;
    for (uint32_t i = 0; i < cycle->count; i++) {
        const struct deadlocks_node *node = cycle->members[i]->note;
        uint64_t *at = &cycle->cursors[i], kept = DEADLOCKS_TRIES + node->forgotten;
        while (*at < node->count) {
            if (*at >= DEADLOCKS_TRIES && *at < kept)
                *at = kept;
            else if (pt_deadlocks_instance(node, *at)->number <= cycle->ideal[cycle->members[i]->thread])
                ++*at;
            else
                break;
            *moved = true;
        }
        all &= *at < node->count;
    }
    return all;
}

void pt_deadlocks_close(struct deadlocks *d, struct deadlocks_cycle *cycle)
{
    bool moved = true;
    if (cycle->possible || cycle->out)
        return;
    begin(d, cycle);
    if (!advance(cycle, &moved))
        return;
    for (moved = true; moved;) {
        moved = false;
        for (uint32_t i = 0; i < cycle->count; i++) {
            const struct deadlocks_instance *at = pt_deadlocks_instance(cycle->members[i]->note, cycle->cursors[i]);
            pt_trf_include(cycle->ideal, cycle->members[i]->thread, at->number - 1, at->past);
        }
        cycle->out = !pt_trf_close(&d->trf, cycle->ideal);
        if (cycle->out || !advance(cycle, &moved))
            return;
    }
    cycle->possible = true;
    cycle->at = pt_xmalloc(cycle->count * sizeof *cycle->at);
    for (uint32_t i = 0; i < cycle->count; i++) {
        cycle->at[i] = *pt_deadlocks_instance(cycle->members[i]->note, cycle->cursors[i]);
        cycle->at[i].past = cycle->at[i].plain = NULL; /* its node's */
    }
}

static void forget_instances(struct deadlocks *d, struct deadlocks_node *node, uint64_t known)
{
    uint64_t kept = node->count - node->forgotten, drop = 0;
    while (DEADLOCKS_TRIES + drop < kept && node->instances[DEADLOCKS_TRIES + drop].number <= known)
        pt_vec_drop(&d->memory, node->instances[DEADLOCKS_TRIES + drop++].past);
    if (!drop)
        return;
    memmove(node->instances + DEADLOCKS_TRIES, node->instances + DEADLOCKS_TRIES + drop,
            (kept - DEADLOCKS_TRIES - drop) * sizeof *node->instances);
    node->forgotten += drop;
}

void pt_deadlocks_forget(struct deadlocks *d, const uint64_t *known)
{
    for (uint32_t i = 0; i < d->patterns.buckets; i++)
        for (struct pt_acquire *a = d->patterns.known[i]; a; a = a->bucket)
            forget_instances(d, a->note, known[a->thread]);
    for (uint32_t i = 0; i < d->cycle_count; i++)
        for (uint32_t t = 0; t < d->trf.thread_count && d->cycles[i].ideal; t++)
            if (!d->cycles[i].possible && d->cycles[i].ideal[t] < known[t])
                d->cycles[i].ideal[t] = known[t];
}
