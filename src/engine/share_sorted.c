/*
 * Sorted levels (merge.c) divided among processes: each has a range of the keys, the first process the lowest ones. The
 * ranges of the next level begin where this one's cuts would be divided evenly, so all processes have the same work,
 * and only steps over a bound are sent: few, except those of the thread that is highest in the keys. Who sends merges
 * first: all its steps to a cut are one record, and all that it sends to a process is sorted.
 *
 * Cost: two small sums over all processes for each level; O(log processes) for each record that is received.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/share.h"

/* The key of our cut number `at`. */
static uint64_t key_at(const struct lat_level *level, uint64_t at)
{
    const struct lat_part *part = level->parts;
    for (; at >= part->count; part++)
        at -= part->count;
    return part->keys[at];
}

/* Where the ranges of the next level begin: each bound is told by who has the cut there. */
static void agree_on_bounds(struct pt_lattice *l, const struct lat_level *from)
{
    struct lat_share *share = l->share;
    const struct pt_group *group = share->group;
    uint64_t *bounds = share->bounds, *cuts = share->cuts_of, before = 0, all = 0;
    memset(bounds, 0, ((size_t)group->size + 1) * sizeof *bounds);
    memset(cuts, 0, group->size * sizeof *cuts);
    for (uint32_t p = 0; p < from->part_count; p++)
        cuts[group->rank] += from->parts[p].count;
    group->sum(group->context, cuts, group->size);
    for (uint32_t p = 0; p < group->size; p++) {
        before += p < group->rank ? cuts[p] : 0;
        all += cuts[p];
    }
    for (uint32_t p = 1; p < group->size; p++) {
        uint64_t at = all / group->size * p + all % group->size * p / group->size;
        if (at >= before && at - before < cuts[group->rank])
            bounds[p] = key_at(from, at - before);
    }
    group->sum(group->context, bounds, group->size);
    bounds[group->size] = LAT_NO_CUT;
}

void lat_share_stage(struct pt_lattice *l, struct lat_level *from)
{
    agree_on_bounds(l, from);
    lat_merge_away(l, from, l->share->staged);
    for (uint32_t p = 0; p < l->share->group->size; p++) {
        const struct lat_part *part = &l->share->staged[p];
        for (uint32_t i = 0; i < part->count && !l->counting; i++)
            lat_words_tell(l, part->letters[i], part->sets[i]);
    }
}

struct source {
    uint64_t key; /* the next one of the part */
    const struct lat_part *part;
    uint32_t at;
};

/* Moves sources[i] down to where nothing below it comes before it. */
static void sift_down(struct source *sources, uint32_t count, uint32_t i)
{
    const struct source moved = sources[i];
    for (uint32_t child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && sources[child + 1].key < sources[child].key)
            child++;
        if (moved.key <= sources[child].key)
            break;
        sources[i] = sources[child];
    }
    sources[i] = moved;
}

/* The next record of a source: a cut of its own, or the same as the last one. */
static void put(struct pt_lattice *l, struct lat_part *to, const struct source *s)
{
    const struct lat_part *from = s->part;
    if (!to->count || to->keys[to->count - 1] != s->key) {
        to->keys[to->count] = s->key;
        to->runs[to->count] = from->runs[s->at];
        to->letters[to->count] = from->letters[s->at];
        to->sets[to->count++] = from->sets[s->at];
        return;
    }
    uint32_t last = to->count - 1;
    if (__builtin_add_overflow(to->runs[last], from->runs[s->at], &to->runs[last]))
        to->runs[last] = UINT64_MAX;
    if (to->sets[last] != from->sets[s->at])
        to->sets[last] = pt_sets_union(l->sets, &l->workers[0].cache, to->sets[last], from->sets[s->at]);
}

static void drain(struct pt_lattice *l, struct lat_part *to, struct source *sources, uint32_t count)
{
    for (uint32_t i = count / 2; i-- > 0;)
        sift_down(sources, count, i);
    while (count) {
        struct source *first = &sources[0];
        put(l, to, first);
        if (++first->at < first->part->count)
            first->key = first->part->keys[first->at];
        else
            *first = sources[--count];
        if (count)
            sift_down(sources, count, 0);
    }
}

void lat_share_unite(struct pt_lattice *l, const struct lat_part *parts, uint32_t count)
{
    struct lat_share *share = l->share;
    struct lat_part *to = &share->united;
    if (count < 2) {
        share->arrivals = count ? parts[0] : (struct lat_part){0};
        return;
    }
    struct source *sources = pt_xmalloc(count * sizeof *sources);
    uint32_t records = 0;
    for (uint32_t i = 0; i < count; i++) { /* none is empty: share.c, send_staged */
        sources[i] = (struct source){parts[i].keys[0], &parts[i], 0};
        records += parts[i].count;
    }
    to->count = 0;
    lat_part_reserve(l, to, 1, records);
    drain(l, to, sources, count);
    share->arrivals = *to;
    free(sources);
}
