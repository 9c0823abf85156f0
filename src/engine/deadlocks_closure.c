/*
 * Whether a lock-order pattern is a sync-preserving deadlock: SPDOffline's check of an abstract pattern. The set of
 * events that must come before its acquires is closed (predict/trf.h). Where the set then contains one of the acquires,
 * that instance and all before it are out, and the next ones are tried, with the set as it is: sets of later instances
 * only grow.
 *
 * Guarantee: true exactly if some instances are a sync-preserving deadlock, and the first such are found. Cost: a
 * closure for each instance of the pattern that is out.
 */
#include <string.h>

#include "engine/deadlocks.h"

static void reset(struct deadlocks *d, const struct deadlocks_cycle *cycle)
{
    memset(d->ideal, 0, d->trf.thread_count * sizeof *d->ideal);
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
            pt_trf_include(d->ideal, cycle->members[i]->thread, instance->number - 1, instance->past);
        }
        if (!pt_trf_close(&d->trf, d->ideal) || !advance(d, cycle, &moved))
            return false;
    }
    return true;
}
