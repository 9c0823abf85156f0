/*
 * Cuts by component, where walks are made. A cut has one condition in each, or an event that took it away, so it is a
 * vector of these. A list for each event would grow with the net, and so would the time to make it; but a cut is that
 * of the newest cause, except in the components in which the event, or what the other causes have beyond, has moved. So
 * vectors are made of chunks that they share, and an event has chunks of its own only for what has changed.
 *
 * Cost of a cut: a number for each chunk, and a chunk for each that changes. Of a comparison: the chunks that two cuts
 * do not share.
 */
#include <stdlib.h>
#include <string.h>

#include "net/unfold_impl.h"

void pt_unfold_vector_begin(struct unfolder *un, const struct extended *base, struct extended *cut)
{
    struct walk *w = &un->walk;
    cut->root = w->roots.count;
    w->own_chunks = w->chunk_count;
    PT_GROW(w->roots.items, w->roots.cap, (size_t)w->roots.count + w->root_count);
    w->roots.count += w->root_count;
    if (base) {
        memcpy(w->roots.items + cut->root, w->roots.items + base->root, w->root_count * sizeof *w->roots.items);
        return;
    }
    for (uint32_t i = 0; i < w->root_count; i++) {
        struct chunk none;
        memset(&none, 0xff, sizeof none);
        w->roots.items[cut->root + i] = w->chunk_count;
        PT_PUSH(w->chunks, w->chunk_count, w->chunk_cap, none);
    }
}

void pt_unfold_vector_drop(struct unfolder *un, const struct extended *cut)
{
    un->walk.roots.count = cut->root;
    un->walk.chunk_count = un->walk.own_chunks;
}

/* Changes the vector that was begun last. */
static void set_tip(struct walk *w, uint32_t root, uint32_t component, struct tip tip)
{
    uint32_t *at = &w->roots.items[root + component / CHUNK];
    if (*at < w->own_chunks) {
        struct chunk copy = w->chunks[*at];
        *at = w->chunk_count;
        PT_PUSH(w->chunks, w->chunk_count, w->chunk_cap, copy);
    }
    w->chunks[*at].tips[component % CHUNK] = tip;
}

/* The same, unless it is further on there. */
static void put(struct unfolder *un, uint32_t root, uint32_t component, struct tip next)
{
    struct tip tip = pt_unfold_tip(un, root, component);
    if (tip.condition == PT_NONE || tip.depth < next.depth)
        set_tip(&un->walk, root, component, next);
}

void pt_unfold_vector_add(struct unfolder *un, uint32_t root, uint32_t event)
{
    const struct pt_unfold_event *e = &un->u->events[event];
    struct walk *w = &un->walk;
    uint32_t count, made = event == 0 ? e->post_count : pt_net_made(un->net, e->transition);
    for (uint32_t c = e->post_start; c < e->post_start + made; c++) {
        const uint32_t *parts = pt_unfold_parts(un, un->u->condition_place[c], &count);
        for (uint32_t k = 0; k < count; k++)
            put(un, root, parts[k], (struct tip){c, w->nodes[w->node_start[c] + k].depth});
    }
    for (uint32_t i = event ? w->leave_start[e->transition] : 0; event && i < w->leave_start[e->transition + 1]; i++)
        put(un, root, w->leaves[i].component, pt_unfold_gone(un, event, &w->leaves[i]));
}

/* Depths in which PT_NONE, which is no depth, is the least. */
static uint32_t rank(struct tip tip)
{
    return tip.depth + 1;
}

void pt_unfold_vector_join(struct unfolder *un, uint32_t root, uint32_t other)
{
    struct walk *w = &un->walk;
    for (uint32_t i = 0; i < w->root_count; i++) {
        uint32_t *at = &w->roots.items[root + i], theirs = w->roots.items[other + i], further = 0, differs = 0;
        if (*at == theirs)
            continue;
        const struct tip *a = w->chunks[*at].tips, *b = w->chunks[theirs].tips;
        for (uint32_t k = 0; k < CHUNK; k++) {
            further |= (uint32_t)(rank(a[k]) < rank(b[k])) << k;
            differs |= (uint32_t)(a[k].condition != b[k].condition) << k;
        }
        if (further == differs) { /* it has nothing that they have not */
            *at = theirs;
            continue;
        }
        for (; further; further &= further - 1) {
            uint32_t k = (uint32_t)__builtin_ctz(further);
            set_tip(w, root, i * CHUNK + k, w->chunks[theirs].tips[k]);
        }
    }
}

uint64_t pt_unfold_vector_keep(struct unfolder *un, uint32_t event)
{
    struct walk *w = &un->walk;
    pt_unfold_vector_add(un, un->extended[event].root, event);
    return w->root_count * sizeof *w->roots.items + (w->chunk_count - w->own_chunks) * sizeof *w->chunks;
}

struct list pt_unfold_tokens(struct unfolder *un, const struct extended *cut, bool last)
{
    struct walk *w = &un->walk;
    uint32_t count;
    if (!w->on)
        return (struct list){.items = un->cuts.items + cut->cut, .count = cut->token_count};
    w->tokens.count = 0;
    for (uint32_t i = 0; i < w->part_count; i++) {
        uint32_t condition = pt_unfold_tip(un, cut->root, i).condition;
        if (condition >= GONE || (last && w->blocked[i] == w->frame))
            continue;
        if (pt_unfold_parts(un, un->u->condition_place[condition], &count)[0] == i) /* it is in others, too */
            pt_list_add(&w->tokens, condition);
    }
    return w->tokens;
}

void pt_unfold_vector_from_list(struct unfolder *un, uint32_t event)
{
    const struct pt_unfolding *u = un->u;
    const struct pt_unfold_event *e = &u->events[event];
    struct extended *x = &un->extended[event];
    x->cut += x->token_count;
    x->token_count = 0;
    if (event == 0) {
        pt_unfold_vector_begin(un, NULL, x);
        return;
    }
    const uint32_t *pre = u->pre + e->pre_start;
    uint32_t newest = 0, count = un->net->transitions[e->transition].pre_count + e->mark_count;
    for (uint32_t i = 1; i < count; i++)
        newest = u->condition_event[pre[i]] > u->condition_event[pre[newest]] ? i : newest;
    pt_unfold_sweep(un, pre + newest, 1, pre, count, true);
    pt_unfold_vector_begin(un, &un->extended[u->condition_event[pre[newest]]], x);
    for (uint32_t i = 0; i < un->only_second.count; i++)
        pt_unfold_vector_add(un, x->root, un->only_second.items[i]);
}

void pt_unfold_vector_to_lists(struct unfolder *un)
{
    struct list cuts = {0};
    for (uint32_t e = 0; e < un->u->event_count; e++) {
        struct extended *x = &un->extended[e];
        if (un->u->events[e].cutoff || un->u->events[e].goal)
            continue;
        uint32_t start = cuts.count;
        struct list tokens = pt_unfold_tokens(un, x, false);
        for (uint32_t i = 0; i < tokens.count; i++)
            pt_list_add(&cuts, tokens.items[i]);
        for (uint32_t i = 0; i < x->mark_count; i++)
            pt_list_add(&cuts, un->cuts.items[x->cut + i]);
        x->cut = start;
        x->token_count = tokens.count;
        un->bytes += tokens.count * sizeof *cuts.items;
    }
    free(un->cuts.items);
    un->cuts = cuts;
}

/* The place of a tip, PT_NONE: there is no token. */
static uint32_t place_of(const struct unfolder *un, struct tip tip)
{
    return tip.condition >= GONE ? PT_NONE : un->u->condition_place[tip.condition];
}

bool pt_unfold_vector_same(const struct unfolder *un, const struct candidate *c, const struct extended *known)
{
    const struct walk *w = &un->walk;
    uint32_t count, made = pt_net_made(un->net, c->transition);
    for (uint32_t i = 0; i < made; i++) {
        uint32_t place = pt_net_post(un->net, c->transition)[i];
        const uint32_t *parts = pt_unfold_parts(un, place, &count);
        for (uint32_t k = 0; k < count; k++) {
            if (place_of(un, pt_unfold_tip(un, known->root, parts[k])) != place)
                return false;
        }
    }
    for (uint32_t i = w->leave_start[c->transition]; i < w->leave_start[c->transition + 1]; i++) {
        if (place_of(un, pt_unfold_tip(un, known->root, w->leaves[i].component)) != PT_NONE)
            return false;
    }
    for (uint32_t i = 0; i < w->root_count; i++) {
        const struct chunk *a = &w->chunks[w->roots.items[w->root + i]];
        const struct chunk *b = &w->chunks[w->roots.items[known->root + i]];
        for (uint32_t k = 0; a != b && k < CHUNK; k++) {
            if (a->tips[k].condition != b->tips[k].condition && w->blocked[i * CHUNK + k] != w->frame &&
                place_of(un, a->tips[k]) != place_of(un, b->tips[k]))
                return false;
        }
    }
    return true;
}
