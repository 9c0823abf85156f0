/*
 * The total adequate order of Esparza, Römer and Vogler (TACAS 1996, section 6): histories are compared by size, then
 * by their transitions as a sorted word, then by the sorted words of the levels of their Foata normal form. It is total
 * for 1-safe nets, so of two events that reach one marking one is always a cut-off, and the prefix is not larger than
 * the number of reachable markings. With read arcs, a history is the trace of its transitions in which two are
 * dependent unless they share only places that both read; the net in which each reader has a place of its own has the
 * same traces and, place by place, the same markings, so the theorem carries over.
 *
 * Candidates lie in buckets by size already. The order matters only between those that reach the same marking: only
 * these are compared, unless a violation ends the work and what has been built until then is to be what others build
 * (coloured nets). Two histories are compared by what
 * one of them has alone: going down from both, newest events first, ends where all that is left is common, since causes
 * have smaller numbers. So are their levels, on ties; what they have in common decides only whether a level goes on.
 */
#include <stdlib.h>
#include <string.h>

#include "net/unfold_impl.h"

/* --- Sweeps ---------------------------------------------------------------------------------------------------- */

/* An event turns out to be in one of the histories. */
static void reach(struct unfolder *un, uint32_t event, uint8_t who, uint32_t *lone)
{
    uint8_t before = un->whose[event];
    if (event == 0 || (before | who) == before)
        return;
    un->whose[event] = before | who;
    if (before != 0) {
        lone[before]--;
        return;
    }
    lone[who]++;
    un->pending[event / 64] |= (uint64_t)1 << (event % 64);
    un->pending_words[event / 4096] |= (uint64_t)1 << (event / 64 % 64);
    pt_list_add(&un->touched, event);
}

static uint32_t reach_makers(struct unfolder *un, const uint32_t *conditions, uint32_t count, uint8_t who,
                             uint32_t *lone)
{
    uint32_t newest = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t event = un->u->condition_event[conditions[i]];
        reach(un, event, who, lone);
        newest = event > newest ? event : newest;
    }
    return newest;
}

static uint32_t highest(uint64_t bits)
{
    return 63 - (uint32_t)__builtin_clzll(bits);
}

void pt_unfold_sweep(struct unfolder *un, const uint32_t *first, uint32_t first_count, const uint32_t *second,
                     uint32_t second_count, bool only_second)
{
    const struct pt_unfolding *u = un->u;
    uint32_t lone[BOTH + 1] = {0};
    un->touched.count = un->only_first.count = un->only_second.count = 0;
    uint32_t a = reach_makers(un, first, first_count, FIRST, lone);
    uint32_t b = reach_makers(un, second, second_count, SECOND, lone), top = (a > b ? a : b) / 4096;
    while (lone[SECOND] > 0 || (!only_second && lone[FIRST] > 0)) {
        while (un->pending_words[top] == 0)
            top--;
        uint32_t word = top * 64 + highest(un->pending_words[top]), event = word * 64 + highest(un->pending[word]);
        uint8_t who = un->whose[event];
        un->pending[word] &= ~((uint64_t)1 << (event % 64));
        if (un->pending[word] == 0)
            un->pending_words[top] &= ~((uint64_t)1 << (word % 64));
        if (who != BOTH) {
            lone[who]--;
            pt_list_add(who == FIRST ? &un->only_first : &un->only_second, event);
        }
        for (uint32_t i = un->cause_start[event]; i < un->cause_start[event + 1]; i++)
            reach(un, u->causes[i], who, lone);
    }
    for (uint32_t i = 0; i < un->touched.count; i++) {
        uint32_t event = un->touched.items[i];
        un->whose[event] = 0;
        un->pending[event / 64] = 0;
        un->pending_words[event / 4096] = 0;
    }
}

/* --- Comparison ------------------------------------------------------------------------------------------------ */

struct sorting {
    struct unfolder *un;
    const struct bucket *bucket;
};

static const uint32_t *conditions_of(const struct sorting *s, const struct candidate *c, uint32_t *ret_count)
{
    *ret_count = s->un->net->transitions[c->transition].pre_count + c->mark_count;
    return s->bucket->words + c->pre;
}

static int compare_levels(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* The (level, transition) pairs, sorted, of what one has alone, after pt_unfold_sweep or pt_unfold_walk_apart. */
static void list_levels(const struct unfolder *un, const struct list *events, const struct candidate *c,
                        uint64_t *levels)
{
    for (uint32_t i = 0; i < events->count; i++) {
        const struct pt_unfold_event *e = &un->u->events[events->items[i]];
        levels[i] = (uint64_t)e->depth << 32 | e->transition;
    }
    levels[events->count] = (uint64_t)c->depth << 32 | c->transition;
    qsort(levels, events->count + 1, sizeof *levels, compare_levels);
}

/* Whether a history has, in the same level, a transition that is greater than that of a pair. */
static bool goes_on(const struct sorting *s, const struct candidate *c, uint64_t pair)
{
    struct unfolder *un = s->un;
    uint32_t level = (uint32_t)(pair >> 32), transition = (uint32_t)pair, count;
    const uint32_t *conditions = conditions_of(s, c, &count);
    bool found = c->depth == level && c->transition > transition;
    if (!found)
        pt_unfold_sweep(un, conditions, count, NULL, 0, false);
    for (uint32_t i = 0; !found && i < un->only_first.count; i++) {
        const struct pt_unfold_event *e = &un->u->events[un->only_first.items[i]];
        found = e->depth == level && e->transition > transition;
    }
    return found;
}

/*
 * Levels are compared one after the other, by what each history has alone, which are as many: in the first that
 * differs let t be the least transition that one has there more often. Either the other's word goes on there with a
 * greater one, and then the one with t is smaller; or it ends, is a proper prefix and so the smaller one.
 */
static int compare_foata(const struct sorting *s, const struct candidate *x, const struct candidate *y)
{
    uint32_t count = s->un->only_first.count + 1, i = 0;
    uint64_t *a = pt_xmalloc(2 * (size_t)count * sizeof *a), *b = a + count;
    list_levels(s->un, &s->un->only_first, x, a);
    list_levels(s->un, &s->un->only_second, y, b);
    while (i < count && a[i] == b[i])
        i++;
    int order = 0;
    if (i < count) {
        bool first = a[i] < b[i], more = a[i] >> 32 == b[i] >> 32 || goes_on(s, first ? y : x, first ? a[i] : b[i]);
        order = first == more ? -1 : 1;
    }
    free(a);
    return order;
}

/* The least transition that one has more often than the other decides: there its sorted word has the smaller letter. */
static int compare_words(const struct sorting *s, const struct candidate *x, const struct candidate *y)
{
    struct unfolder *un = s->un;
    uint32_t count_x, count_y, least = PT_NONE;
    const uint32_t *pre_x = conditions_of(s, x, &count_x), *pre_y = conditions_of(s, y, &count_y);
    if (!pt_unfold_walk_apart(un, x, y))
        pt_unfold_sweep(un, pre_x, count_x, pre_y, count_y, false);
    un->balance[x->transition]++;
    un->balance[y->transition]--;
    for (uint32_t i = 0; i < un->only_first.count; i++)
        un->balance[un->u->events[un->only_first.items[i]].transition]++;
    for (uint32_t i = 0; i < un->only_second.count; i++)
        un->balance[un->u->events[un->only_second.items[i]].transition]--;
    int order = 0;
    for (uint32_t i = 0; i < un->only_first.count + un->only_second.count + 2; i++) {
        uint32_t k = i - 2, t = i == 0 ? x->transition : y->transition;
        if (i >= 2)
            t = un->u
                    ->events[k < un->only_first.count ? un->only_first.items[k]
                                                      : un->only_second.items[k - un->only_first.count]]
                    .transition;
        if (un->balance[t] != 0 && t < least) {
            least = t;
            order = un->balance[t] > 0 ? -1 : 1;
        }
    }
    un->balance[x->transition] = un->balance[y->transition] = 0;
    for (uint32_t i = 0; i < un->only_first.count; i++)
        un->balance[un->u->events[un->only_first.items[i]].transition] = 0;
    for (uint32_t i = 0; i < un->only_second.count; i++)
        un->balance[un->u->events[un->only_second.items[i]].transition] = 0;
    return order;
}

static int compare_candidates(const void *a, const void *b, void *context)
{
    const struct sorting *s = context;
    const struct candidate *x = a, *y = b;
    int order = x == y ? 0 : compare_words(s, x, y);
    if (order == 0)
        order = x == y ? 0 : compare_foata(s, x, y);
    if (order != 0)
        return order;
    return x->pre < y->pre ? -1 : x->pre > y->pre; /* only unsafe nets get here: any fixed order will do */
}

/* By marking, then as they came. */
static int compare_markings(const void *a, const void *b, void *context)
{
    const struct candidate *items = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    if (items[x].marking != items[y].marking)
        return items[x].marking < items[y].marking ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Puts candidates in order; where walks are made, with their cuts. */
static void sort(const struct sorting *s, struct candidate *items, uint32_t count)
{
    struct walk *w = &s->un->walk;
    uint32_t roots = w->roots.count, chunks = w->chunk_count, joined = 0;
    for (uint32_t i = 0; i < count && pt_unfold_needs_root(s->un, items); i++) {
        items[i].root = pt_unfold_make_root(s->un, &items[i], s->bucket->words + items[i].pre);
        joined += items[i].joined != s->un->choice.walks && items[i].beyond == PT_NONE;
    }
    qsort_r(items, count, sizeof *items, compare_candidates, (void *)s);
    w->roots.count = roots;
    w->chunk_count = joined ? w->chunk_count : chunks; /* those may be remembered */
}

/* Puts candidates with one marking in order among themselves, where they are. */
static void sort_groups(struct sorting *s, struct bucket *bucket)
{
    uint32_t *order = pt_xmalloc(bucket->count * sizeof *order), end;
    struct candidate *group = NULL;
    size_t cap = 0;
    for (uint32_t i = 0; i < bucket->count; i++)
        order[i] = i;
    qsort_r(order, bucket->count, sizeof *order, compare_markings, bucket->items);
    for (uint32_t start = 0; start < bucket->count; start = end) {
        uint64_t marking = bucket->items[order[start]].marking;
        for (end = start; end < bucket->count && bucket->items[order[end]].marking == marking; end++) {
            PT_GROW(group, cap, (size_t)(end - start) + 1);
            group[end - start] = bucket->items[order[end]];
        }
        if (end - start < 2)
            continue;
        sort(s, group, end - start);
        for (uint32_t i = start; i < end; i++)
            bucket->items[order[i]] = group[i - start];
    }
    free(order);
    free(group);
}

/* Drops what follows a guess of a block that is settled, and puts goals first: they settle blocks. */
static void drop_settled(const struct unfolder *un, struct bucket *bucket)
{
    uint32_t kept = 0, goals = 0;
    for (uint32_t i = 0; i < bucket->count; i++) {
        struct candidate c = bucket->items[i];
        if (c.tag != PT_NONE && un->done[c.tag])
            continue;
        if (c.goal) {
            bucket->items[kept] = bucket->items[goals];
            bucket->items[goals++] = c;
        } else {
            bucket->items[kept] = c;
        }
        kept++;
    }
    bucket->count = kept;
}

void pt_unfold_sort(struct unfolder *un, struct bucket *bucket)
{
    struct sorting s = {un, bucket};
    if (un->options->drop_settled) {
        un->bytes -= bucket->count * sizeof *bucket->items;
        drop_settled(un, bucket);
        un->bytes += bucket->count * sizeof *bucket->items;
    }
    if (bucket->count < 2)
        return;
    if (un->options->coloured)
        sort(&s, bucket->items, bucket->count);
    else
        sort_groups(&s, bucket);
}
