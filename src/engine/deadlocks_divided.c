/*
 * Lock-order patterns by several processes (group.h): every process follows the whole run, and closes the patterns that
 * are its own, one after the other in turn. What they found of possible ones is then known to all.
 *
 * Guarantee: each pattern has the answer that one process gives it, since none depends on another. Cost: a message of
 * each to each, with the set of each deadlock. Under a memory limit nothing is divided: processes would reach it at
 * different events.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/deadlocks.h"

/* Before the set, and the instances of the pattern's members. */
struct sent {
    uint32_t cycle, threads;
};

bool pt_deadlocks_divides(const struct deadlocks *d)
{
    return pt_group_shares(d->options.group) && !d->options.memory_limit;
}

bool pt_deadlocks_is_own(const struct deadlocks *d, uint32_t cycle)
{
    return !pt_deadlocks_divides(d) || cycle % d->options.group->size == d->options.group->rank;
}

static void put(struct pt_group_bytes *to, const void *data, size_t len)
{
    memcpy(pt_group_bytes_add(to, len), data, len);
}

static size_t take(struct deadlocks *d, const unsigned char *from)
{
    struct sent sent;
    memcpy(&sent, from, sizeof sent);
    struct deadlocks_cycle *cycle = &d->cycles[sent.cycle];
    size_t set = sent.threads * sizeof *cycle->ideal, at = cycle->count * sizeof *cycle->at;
    if (!cycle->possible) {
        cycle->possible = true;
        cycle->ideal_count = sent.threads;
        cycle->ideal = pt_xrealloc(cycle->ideal, set);
        memcpy(cycle->ideal, from + sizeof sent, set);
        cycle->at = pt_xmalloc(at);
        memcpy(cycle->at, from + sizeof sent + set, at); /* without what lies in the other's memory */
    }
    return sizeof sent + set + at;
}

void pt_deadlocks_gather(struct deadlocks *d)
{
    const struct pt_group *group = d->options.group;
    struct pt_group_bytes mine = {0};
    for (uint32_t i = 0; i < d->cycle_count; i++) {
        const struct deadlocks_cycle *cycle = &d->cycles[i];
        if (!cycle->possible)
            continue;
        const struct sent sent = {i, cycle->ideal_count};
        put(&mine, &sent, sizeof sent);
        put(&mine, cycle->ideal, cycle->ideal_count * sizeof *cycle->ideal);
        put(&mine, cycle->at, cycle->count * sizeof *cycle->at);
    }
    struct pt_group_bytes *all = pt_group_gather(group, mine.data, mine.len);
    for (uint32_t p = 0; p < group->size; p++)
        for (size_t at = 0; at < all[p].len;)
            at += take(d, all[p].data + at);
    pt_group_bytes_release(all, group->size);
    free(mine.data);
}
