/*
 * Whether a small automaton accepts a word of the negation: the strongly connected components of the product (Tarjan
 * 1972, with a stack of its own), one of which must have all marks of the negation and an accepting state of ours.
 * Cost: linear in the product's edges, which the caller's account of work is charged for.
 */
#include "logic/ltl/small.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct edge {
    uint32_t dst;
    uint64_t letters, marks;
};

struct pt_outside {
    const struct pt_tgba *negation;
    uint32_t count;     /* of its states: pair (p, s) is p * count + s */
    struct edge *edges; /* its edges, in its order */
    uint32_t *low, *index, *edge_at, *state_at, *scc, *open, *path;
};

struct search {
    struct pt_outside *o;
    const struct pt_small *a;
    uint64_t *live; /* NULL: the search ends with the first forbidden word */
    uint64_t *work;
    uint32_t visited, open, path, sccs;
};

struct pt_outside *pt_outside_new(const struct pt_tgba *negation, const struct pt_letters *letters, uint32_t states)
{
    if (negation->state_count > PT_SMALL_MOST)
        return NULL;
    struct pt_outside *o = pt_xcalloc(1, sizeof *o);
    o->negation = negation;
    o->count = negation->state_count;
    o->edges = pt_xmalloc((negation->edge_count + 1) * sizeof *o->edges);
    for (uint32_t i = 0; i < negation->edge_count; i++) {
        const struct pt_tedge *e = &negation->edges[i];
        o->edges[i] = (struct edge){e->dst, pt_letters_of(letters, e->label), e->marks};
    }
    uint32_t **parts[] = {&o->low, &o->index, &o->edge_at, &o->state_at, &o->scc, &o->open, &o->path};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        *parts[i] = pt_xcalloc((size_t)states * o->count, sizeof **parts[i]);
    return o;
}

void pt_outside_free(struct pt_outside *o)
{
    if (!o)
        return;
    uint32_t *parts[] = {o->low, o->index, o->edge_at, o->state_at, o->scc, o->open, o->path};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        free(parts[i]);
    free(o->edges);
    free(o);
}

static void begin(struct search *t, struct pt_outside *o, const struct pt_small *a, uint64_t *live, uint64_t *work)
{
    size_t pairs = (size_t)a->count * o->count;
    *t = (struct search){.o = o, .a = a, .live = live, .work = work};
    memset(o->index, 0, pairs * sizeof *o->index);
    memset(o->scc, 0xff, pairs * sizeof *o->scc);
}

static void enter(struct search *t, uint32_t at)
{
    struct pt_outside *o = t->o;
    o->low[at] = o->index[at] = ++t->visited;
    o->edge_at[at] = o->negation->first[at % o->count];
    o->state_at[at] = 0;
    o->open[t->open++] = at;
    o->path[t->path++] = at;
}

/* The pair that the next edge leads to, or PT_NONE. */
static uint32_t next_pair(struct search *t, uint32_t at)
{
    struct pt_outside *o = t->o;
    uint32_t p = at / o->count, end = o->negation->first[at % o->count + 1];
    for (; o->edge_at[at] < end; o->edge_at[at]++, o->state_at[at] = 0) {
        const struct edge *e = &o->edges[o->edge_at[at]];
        while (o->state_at[at] < t->a->count && t->a->next[p] >> o->state_at[at]) {
            uint32_t q = o->state_at[at] + (uint32_t)__builtin_ctzll(t->a->next[p] >> o->state_at[at]);
            o->state_at[at] = q + 1;
            *t->work -= *t->work > 0;
            if (t->a->letters[p][q] & e->letters)
                return q * o->count + e->dst;
        }
    }
    return PT_NONE;
}

/* What the pair's edges inside the component with number t->sccs have, and whether one leads to a pair known as live.
 */
struct inside {
    uint64_t marks;
    bool cyclic, accepting, live;
};

static void look_at(struct search *t, uint32_t at, struct inside *in)
{
    struct pt_outside *o = t->o;
    uint32_t p = at / o->count, s = at % o->count;
    for (uint32_t i = o->negation->first[s]; i < o->negation->first[s + 1]; i++)
        for (uint64_t left = t->a->next[p]; left; left &= left - 1) {
            uint32_t q = (uint32_t)__builtin_ctzll(left);
            if (!(t->a->letters[p][q] & o->edges[i].letters))
                continue;
            if (o->scc[q * o->count + o->edges[i].dst] == t->sccs) {
                in->cyclic = true;
                in->marks |= o->edges[i].marks;
                in->accepting |= t->a->accepting >> p & 1;
            } else if (t->live) {
                in->live |= t->live[q] >> o->edges[i].dst & 1;
            }
        }
}

/* The pairs that are open from `head` on are a component. Whether it accepts. */
static bool close_component(struct search *t, uint32_t head)
{
    struct pt_outside *o = t->o;
    struct inside in = {0};
    uint32_t from = t->open;
    do
        o->scc[o->open[--from]] = t->sccs;
    while (o->open[from] != head);
    for (uint32_t i = from; i < t->open; i++)
        look_at(t, o->open[i], &in);
    uint64_t all = o->negation->all_marks;
    bool accepts = in.cyclic && in.accepting && (in.marks & all) == all;
    for (uint32_t i = from; i < t->open && t->live && (accepts || in.live); i++)
        t->live[o->open[i] / o->count] |= (uint64_t)1 << o->open[i] % o->count;
    t->open = from;
    t->sccs++;
    return accepts;
}

/* False when a forbidden word was found that begins with the pair, or the work is done. */
static bool search(struct search *t, uint32_t root)
{
    struct pt_outside *o = t->o;
    enter(t, root);
    while (t->path > 0 && *t->work > 0) {
        uint32_t at = o->path[t->path - 1], to = next_pair(t, at);
        if (to != PT_NONE) {
            if (o->index[to] == 0)
                enter(t, to);
            else if (o->scc[to] == PT_NONE && o->index[to] < o->low[at])
                o->low[at] = o->index[to];
            continue;
        }
        t->path--;
        if (o->low[at] == o->index[at] && close_component(t, at) && !t->live)
            return false;
        if (t->path > 0 && o->scc[at] == PT_NONE && o->low[at] < o->low[o->path[t->path - 1]])
            o->low[o->path[t->path - 1]] = o->low[at];
    }
    return *t->work > 0;
}

static uint32_t first_pair(const struct pt_outside *o, const struct pt_small *a)
{
    return a->initial * o->count + o->negation->initial;
}

bool pt_outside_avoids(struct pt_outside *o, const struct pt_small *a, uint64_t *work)
{
    struct search t;
    begin(&t, o, a, NULL, work);
    return search(&t, first_pair(o, a));
}

bool pt_outside_meet(struct pt_outside *o, const struct pt_small *a, struct pt_meetings *ret, uint64_t *work)
{
    struct search t;
    uint32_t pairs = a->count * o->count;
    memset(ret, 0, sizeof *ret);
    begin(&t, o, a, ret->live, work);
    bool fits = search(&t, first_pair(o, a));
    for (uint32_t k = 0; k < pairs; k++)
        if (o->index[k])
            ret->reached[k / o->count] |= (uint64_t)1 << k % o->count;
    for (uint32_t k = 0; k < pairs && fits; k++)
        if (!o->index[k])
            fits = search(&t, k);
    return fits;
}

uint64_t pt_outside_letters(const struct pt_outside *o, const struct pt_meetings *m, uint32_t p, uint32_t q)
{
    uint64_t allowed = UINT64_MAX;
    for (uint64_t left = m->reached[p]; left; left &= left - 1) {
        uint32_t s = (uint32_t)__builtin_ctzll(left);
        for (uint32_t i = o->negation->first[s]; i < o->negation->first[s + 1]; i++)
            if (m->live[q] >> o->edges[i].dst & 1)
                allowed &= ~o->edges[i].letters;
    }
    return allowed;
}
