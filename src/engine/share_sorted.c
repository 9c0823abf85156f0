/*
 * What other processes send of a sorted level, as one sorted part: each message has a sorted part for each dividing
 * thread, and merge.c takes all of them for one stream more. By a heap of the parts' next keys.
 *
 * Cost: O(log(processes * dividing threads)) for each record; none where there is one part, which stays in its message.
 */
#include <stdlib.h>

#include "engine/share.h"

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
        to->sets[last] = pt_sets_union(&l->sets, &l->workers[0].cache, to->sets[last], from->sets[s->at]);
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
