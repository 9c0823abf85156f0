/*
 * The total adequate order of Esparza, Römer and Vogler (TACAS 1996, section 6): local configurations are compared by
 * size, then by their transitions as a sorted word, then by the sorted words of the levels of their Foata normal form.
 * It is total for 1-safe nets, so of two events that reach one marking one is always a cut-off, and the prefix is not
 * larger than the number of reachable markings.
 *
 * Candidates lie in buckets by size already. Their words are made when a bucket is sorted, and not for one that is
 * alone in its bucket, as in sequential stretches; levels are worked out on the rare ties only.
 */
#include <stdlib.h>
#include <string.h>

#include "net/unfold_impl.h"

struct sorting {
    struct unfolder *un;
    const struct bucket *bucket;
};

static int compare_words(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The configuration's (level, transition) pairs, sorted. */
static uint64_t *make_levels(struct unfolder *un, const struct bucket *bucket, const struct candidate *c)
{
    uint64_t *levels = pt_xmalloc(c->size * sizeof *levels);
    uint32_t n = pt_unfold_visit(un, bucket->words + c->pre, un->net->transitions[c->transition].pre_count);
    for (uint32_t i = 0; i < n; i++) {
        const struct pt_unfold_event *e = &un->u->events[un->history[i]];
        levels[i] = (uint64_t)e->depth << 32 | e->transition;
    }
    levels[n] = (uint64_t)c->depth << 32 | c->transition;
    qsort(levels, n + 1, sizeof *levels, compare_words);
    return levels;
}

/* Levels are compared one after the other; in the first that differs, a proper prefix is the smaller word. */
static int compare_levels(const uint64_t *a, const uint64_t *b, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        if (a[i] == b[i])
            continue;
        uint32_t level_a = (uint32_t)(a[i] >> 32), level_b = (uint32_t)(b[i] >> 32);
        if (level_a == level_b)
            return a[i] < b[i] ? -1 : 1;
        return level_a > level_b ? -1 : 1; /* the one whose level ends here has the shorter word */
    }
    return 0;
}

static int compare_candidates(const void *a, const void *b, void *context)
{
    const struct sorting *s = context;
    const struct candidate *x = a, *y = b;
    const uint32_t *kx = s->bucket->words + x->key, *ky = s->bucket->words + y->key;
    for (uint32_t i = 0; i < x->size; i++) {
        if (kx[i] != ky[i])
            return kx[i] < ky[i] ? -1 : 1;
    }
    uint64_t *lx = make_levels(s->un, s->bucket, x), *ly = make_levels(s->un, s->bucket, y);
    int order = compare_levels(lx, ly, x->size);
    free(lx);
    free(ly);
    if (order != 0)
        return order;
    return x->key < y->key ? -1 : x->key > y->key; /* only unsafe nets get here: any fixed order will do */
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void make_keys(struct unfolder *un, struct bucket *bucket)
{
    for (uint32_t i = 0; i < bucket->count; i++) {
        struct candidate *c = &bucket->items[i];
        uint32_t n = pt_unfold_visit(un, bucket->words + c->pre, un->net->transitions[c->transition].pre_count);
        c->key = bucket->word_count;
        PT_GROW(bucket->words, bucket->word_cap, (size_t)bucket->word_count + c->size);
        uint32_t *key = bucket->words + c->key;
        for (uint32_t k = 0; k < n; k++)
            key[k] = un->u->events[un->history[k]].transition;
        key[n] = c->transition;
        qsort(key, c->size, sizeof *key, compare_ids);
        bucket->word_count += c->size;
        un->bytes += c->size * sizeof *key;
    }
}

void pt_unfold_sort(struct unfolder *un, struct bucket *bucket)
{
    if (bucket->count < 2)
        return;
    make_keys(un, bucket);
    struct sorting s = {un, bucket};
    qsort_r(bucket->items, bucket->count, sizeof *bucket->items, compare_candidates, &s);
}
