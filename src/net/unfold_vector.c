/*
 * Cuts by part, where walks are made. In each part (unfold_trees.c) a history is a path, and its cut has the end of
 * that; so a cut is a vector of nodes. A list for each event would grow with the net, and so would the time to make it;
 * but a cut is that of the newest cause, except in the parts in which the event, or what the other causes have beyond,
 * has moved. So vectors are made of chunks that they share, and an event has chunks of its own only for what has
 * changed.
 *
 * What several histories are together is in each part the deepest of their nodes; they can be parts of one run if that
 * is below all others, in every part. Neighbours' histories are cones that differ along a whole edge, as long as the
 * net is wide. Along an edge chunks are those that the neighbours before had, and so are the pairs of them: what two
 * chunks are together is remembered, as nodes of decision diagrams are (Bryant 1986). That chunks with the same content
 * are the same is not needed for that: to look for it found none, and took longer. With a chunk go the number of events
 * that led there and what they add to the hash of a marking; an event is counted in the first part in which it moves.
 *
 * Cost of a cut: a number for each chunk, and a chunk for each that changes. Of joining or comparing two: the same, and
 * for each pair of different chunks a look-up, where the pair is remembered; otherwise a step or a logarithm of the
 * depth for each part. Pairs are remembered in a table with about as many places as there are chunks; of two that have
 * one place the newer stays.
 */
#include <stdlib.h>
#include <string.h>

#include "net/unfold_impl.h"

/* --- One cut ----------------------------------------------------------------------------------------------------- */

uint32_t pt_unfold_vector_begin(struct unfolder *un, const uint32_t *chunks)
{
    struct walk *w = &un->walk;
    uint32_t root = w->roots.count;
    w->own_chunks = w->chunk_count;
    PT_GROW(w->roots.items, w->roots.cap, (size_t)root + w->root_count);
    w->roots.count += w->root_count;
    memcpy(w->roots.items + root, chunks, w->root_count * sizeof *chunks);
    return root;
}

uint32_t pt_unfold_vector_copy(struct unfolder *un, uint32_t other)
{
    struct walk *w = &un->walk;
    PT_GROW(w->roots.items, w->roots.cap, (size_t)w->roots.count + w->root_count);
    return pt_unfold_vector_begin(un, w->roots.items + other);
}

uint32_t pt_unfold_vector_first(struct unfolder *un, const uint32_t *nodes)
{
    struct walk *w = &un->walk;
    uint32_t root = w->roots.count;
    for (uint32_t i = 0; i < w->root_count; i++) {
        struct chunk chunk = {.delta = 0};
        for (uint32_t k = 0; k < CHUNK && i * CHUNK + k < w->part_count; k++)
            chunk.at[k] = nodes[i * CHUNK + k];
        pt_list_add(&w->roots, w->chunk_count);
        PT_PUSH(w->chunks, w->chunk_count, w->chunk_cap, chunk);
    }
    return root;
}

/* Puts a node into a chunk. */
static void set_node(const struct walk *w, uint32_t k, uint32_t next, struct chunk *chunk)
{
    const struct node *before = &w->nodes[chunk->at[k]], *after = &w->nodes[next];
    chunk->delta += after->delta - before->delta;
    chunk->size += after->size - before->size;
    chunk->at[k] = next;
}

void pt_unfold_vector_set(struct unfolder *un, uint32_t root, uint32_t part, uint32_t node)
{
    struct walk *w = &un->walk;
    uint32_t *at = &w->roots.items[root + part / CHUNK];
    if (*at < w->own_chunks) {
        PT_GROW(w->chunks, w->chunk_cap, (size_t)w->chunk_count + 1);
        w->chunks[w->chunk_count] = w->chunks[*at];
        *at = w->chunk_count++;
    }
    set_node(w, part % CHUNK, node, &w->chunks[*at]);
}

void pt_unfold_vector_add(struct unfolder *un, uint32_t root, uint32_t event)
{
    const struct walk *w = &un->walk;
    uint32_t transition = un->u->events[event].transition, start = w->move_start[transition];
    for (uint32_t i = start; i < w->move_start[transition + 1]; i++) {
        uint32_t node = w->first_node[event] + i - start;
        if (w->nodes[pt_unfold_tip(un, root, w->moves[i].part)].depth < w->nodes[node].depth)
            pt_unfold_vector_set(un, root, w->moves[i].part, node);
    }
}

/* --- Two cuts ---------------------------------------------------------------------------------------------------- */

static struct joined *place_of_pair(const struct walk *w, uint32_t a, uint32_t b)
{
    uint64_t hash = ((uint64_t)b << 32 | a) * UINT64_C(0x9e3779b97f4a7c15);
    return &w->joined[(hash ^ hash >> 32) & w->joined_mask];
}

/* Makes the table of pairs larger. */
static void grow_pairs(struct unfolder *un)
{
    struct walk *w = &un->walk;
    struct joined *old = w->joined;
    uint32_t old_count = old ? w->joined_mask + 1 : 0, count = old ? 2 * old_count : 1024;
    while (count < w->chunk_count)
        count *= 2;
    w->joined = pt_xcalloc(count, sizeof *w->joined);
    w->joined_mask = count - 1;
    for (uint32_t i = 0; i < old_count; i++) {
        if (old[i].b != 0)
            *place_of_pair(w, old[i].a, old[i].b) = old[i];
    }
    free(old);
    pt_unfold_walk_charge(un, (count - old_count) * sizeof *old);
}

/* The deeper one of two nodes of a part, PT_NONE: the other is not above it. */
static uint32_t join_nodes(const struct walk *w, uint32_t a, uint32_t b)
{
    if (w->nodes[a].depth < w->nodes[b].depth)
        return pt_unfold_above(w, b, w->nodes[a].depth) == a ? b : PT_NONE;
    return pt_unfold_above(w, a, w->nodes[b].depth) == b ? a : PT_NONE;
}

/* Whether the same is in this place and the next. */
static bool same_two(const struct chunk *a, const struct chunk *b, uint32_t k)
{
    return memcmp(&a->at[k], &b->at[k], 2 * sizeof *a->at) == 0;
}

/* Two chunks for which nothing is remembered. */
static uint32_t join_chunks(struct unfolder *un, uint32_t a, uint32_t b)
{
    struct walk *w = &un->walk;
    PT_GROW(w->chunks, w->chunk_cap, (size_t)w->chunk_count + 1);
    const struct chunk *x = &w->chunks[a], *y = &w->chunks[b];
    struct chunk *both = &w->chunks[w->chunk_count]; /* as long as it is neither, it is not there */
    bool is_a = true, is_b = true;
    *both = *x;
    w->work += CHUNK / 2;
    for (uint32_t k = 0; k < CHUNK; k++) {
        if (k % 2 == 0 && same_two(x, y, k)) {
            k++;
            continue;
        }
        if (x->at[k] == y->at[k])
            continue;
        uint32_t next = join_nodes(w, x->at[k], y->at[k]);
        if (next == PT_NONE)
            return PT_NONE;
        is_b &= next == y->at[k];
        if (next != x->at[k]) {
            is_a = false;
            set_node(w, k, next, both);
        }
    }
    if (is_a || is_b)
        return is_a ? a : b;
    pt_unfold_walk_charge(un, sizeof *both);
    return w->chunk_count++;
}

/* What two different chunks are together. */
static uint32_t join(struct unfolder *un, uint32_t a, uint32_t b)
{
    struct walk *w = &un->walk;
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    if (!w->joined || w->chunk_count > w->joined_mask)
        grow_pairs(un);
    struct joined *known = place_of_pair(w, low, high);
    w->work++;
    if (known->b != high || known->a != low)
        *known = (struct joined){low, high, join_chunks(un, low, high)};
    return known->both;
}

bool pt_unfold_vector_fits(struct unfolder *un, uint32_t root, uint32_t other)
{
    const struct walk *w = &un->walk;
    for (uint32_t i = 0; i < w->root_count; i++) {
        uint32_t a = w->roots.items[root + i], b = w->roots.items[other + i];
        if (a != b && join(un, a, b) == PT_NONE)
            return false;
    }
    return true;
}

void pt_unfold_vector_join(struct unfolder *un, uint32_t root, uint32_t other)
{
    const struct walk *w = &un->walk;
    for (uint32_t i = 0; i < w->root_count; i++) {
        uint32_t a = w->roots.items[root + i], b = w->roots.items[other + i];
        if (a != b)
            w->roots.items[root + i] = join(un, a, b);
    }
    un->walk.own_chunks = w->chunk_count; /* what there is has been remembered */
}

uint32_t pt_unfold_vector_causes(struct unfolder *un, const uint32_t *conditions, uint32_t count)
{
    uint32_t newest = un->u->condition_event[conditions[pt_unfold_newest(un, conditions, count)]];
    uint32_t root = pt_unfold_vector_copy(un, un->extended[newest].root);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t maker = un->u->condition_event[conditions[i]];
        if (maker != newest && (i == 0 || maker != un->u->condition_event[conditions[i - 1]]))
            pt_unfold_vector_join(un, root, un->extended[maker].root);
    }
    return root;
}

void pt_unfold_vector_sum(const struct unfolder *un, uint32_t root, uint32_t before, struct chunk *ret_more)
{
    const struct walk *w = &un->walk;
    ret_more->delta = ret_more->size = 0;
    for (uint32_t i = 0; i < w->root_count; i++) {
        const struct chunk *a = &w->chunks[w->roots.items[before + i]], *b = &w->chunks[w->roots.items[root + i]];
        if (a == b)
            continue;
        ret_more->delta += b->delta - a->delta;
        ret_more->size += b->size - a->size;
    }
}

/* --- What is in a cut -------------------------------------------------------------------------------------------- */

struct list pt_unfold_tokens(struct unfolder *un, const struct extended *cut, bool last)
{
    struct walk *w = &un->walk;
    uint32_t count;
    if (!w->on)
        return (struct list){.items = un->cuts.items + cut->cut, .count = cut->token_count};
    w->tokens.count = 0;
    for (uint32_t i = 0; i < w->part_count; i++) {
        uint32_t token = w->nodes[pt_unfold_tip(un, cut->root, i)].token;
        if (token >= GONE || (last && w->blocked[i] == w->frame))
            continue;
        if (pt_unfold_parts(un, un->u->condition_place[token], &count)[0] == i) /* it is in others, too */
            pt_list_add(&w->tokens, token);
    }
    return w->tokens;
}

struct list pt_unfold_marks(struct unfolder *un, const struct extended *cut)
{
    struct walk *w = &un->walk;
    if (!w->on)
        return (struct list){.items = un->cuts.items + cut->cut + cut->token_count, .count = cut->mark_count};
    uint32_t stamp = un->reads ? pt_unfold_stamp(un) : 0;
    w->marks.count = 0;
    for (uint32_t i = 0; un->reads && i < w->part_count; i++) {
        uint32_t mark = w->nodes[pt_unfold_tip(un, cut->root, i)].condition;
        if (mark >= GONE || un->u->condition_read[mark] == PT_NONE || un->condition_stamp[mark] == stamp)
            continue;
        un->condition_stamp[mark] = stamp;
        pt_list_add(&w->marks, mark);
    }
    return w->marks;
}

void pt_unfold_vector_over(struct unfolder *un, uint32_t root, uint32_t condition)
{
    struct pt_unfolding *u = un->u;
    uint32_t count, start = u->over_count;
    const uint32_t *parts = pt_unfold_parts(un, u->condition_place[condition], &count);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t mark = un->walk.nodes[pt_unfold_tip(un, root, parts[k])].condition;
        bool listed = mark >= GONE || u->condition_read[mark] != condition;
        for (uint32_t i = start; i < u->over_count && !listed; i++)
            listed = u->over[i] == mark;
        if (!listed)
            PT_PUSH(u->over, u->over_count, u->over_cap, mark);
    }
}

void pt_unfold_vector_to_lists(struct unfolder *un)
{
    for (uint32_t i = 0; un->reads && i < un->u->condition_count; i++)
        un->watchers[i].count = 0;
    un->cuts.count = 0;
    for (uint32_t e = 0; e < un->u->event_count; e++) {
        struct extended *x = &un->extended[e];
        if (un->u->events[e].cutoff || un->u->events[e].goal)
            continue;
        struct list tokens = pt_unfold_tokens(un, x, false), marks = pt_unfold_marks(un, x);
        x->cut = un->cuts.count;
        x->token_count = tokens.count;
        x->mark_count = marks.count;
        for (uint32_t i = 0; i < tokens.count; i++)
            pt_list_add(&un->cuts, tokens.items[i]);
        for (uint32_t i = 0; i < marks.count; i++) {
            struct list *watchers = &un->watchers[un->u->condition_read[marks.items[i]]];
            pt_list_add(&un->cuts, marks.items[i]);
            pt_list_add(watchers, e);
            pt_list_add(watchers, marks.items[i]);
        }
        un->bytes += (tokens.count + 3 * marks.count) * sizeof *un->cuts.items;
    }
}

/* The same places in all parts of two chunks, but for those in which the last candidate moves. */
static bool same_places(const struct walk *w, uint32_t chunk, uint32_t other, uint32_t at)
{
    const uint32_t *a = w->chunks[chunk].at, *b = w->chunks[other].at;
    for (uint32_t bits = w->one_of_each[at]; bits; bits &= bits - 1) {
        uint32_t k = (uint32_t)__builtin_ctz(bits);
        if (a[k] != b[k] && w->node_place[a[k]] != w->node_place[b[k]] && w->blocked[at * CHUNK + k] != w->frame)
            return false;
    }
    return true;
}

bool pt_unfold_vector_same(const struct unfolder *un, const struct candidate *c, uint32_t root, uint32_t known)
{
    const struct walk *w = &un->walk;
    uint32_t made = pt_net_made(un->net, c->transition);
    for (uint32_t i = w->move_start[c->transition]; i < w->move_start[c->transition + 1]; i++) {
        const struct move *move = &w->moves[i];
        uint32_t place = move->post == PT_NONE ? PT_NONE : pt_net_post(un->net, c->transition)[move->post];
        if (move->post != PT_NONE && move->post >= made)
            continue; /* it is only read there */
        if (w->node_place[pt_unfold_tip(un, known, move->part)] != place)
            return false;
    }
    for (uint32_t i = 0; i < w->root_count; i++) {
        uint32_t a = w->roots.items[root + i], b = w->roots.items[known + i];
        if (a != b && !same_places(w, a, b, i))
            return false;
    }
    return true;
}
