/*
 * Trees of conditions. In a component (components.c) there is one token at most, and what makes one consumes another:
 * so its conditions are a tree, in which a history is a path from the root to the condition that its cut has there. So
 * it is in each part of a component (unfold_parts.c), with the marks of some of the reads there between a condition and
 * what consumes it.
 *
 * Hence two histories can be parts of one run if and only if in each part one's path is a beginning of the other's: if
 * two events consume one condition, paths part behind it; if one reads what another consumes and is not in that one's
 * history, they do in the reader's part.
 *
 * Of each node the depth is kept, the node before it, and one further up, so that any above it is found in the
 * logarithm of its depth (Myers 1983). What two histories have alone are in each part the ends of both paths up to
 * where they meet. That costs what is listed, where a sweep (unfold_order.c) looks at all events that are newer than
 * the oldest of that.
 */
#include <stdlib.h>
#include <string.h>

#include "net/components.h"
#include "net/unfold_impl.h"

enum {
    LONG_LIST = 16, /* uses of a condition */
    FEW_USES = 8,   /* below a fork */
};

void pt_unfold_walk_charge(struct unfolder *un, uint64_t bytes)
{
    un->bytes += bytes;
    un->walk.bytes += bytes;
}

/* --- Trees ------------------------------------------------------------------------------------------------------- */

/* Adds the child of a node; `delta`: what its event adds, if it is counted in this part. */
static void add_node(struct unfolder *un, uint32_t parent, uint32_t condition, bool counted, uint64_t delta)
{
    struct walk *w = &un->walk;
    const struct node *p = &w->nodes[parent];
    uint32_t jump = p->jump, further = w->nodes[jump].jump;
    bool same = p->depth - w->nodes[jump].depth == w->nodes[jump].depth - w->nodes[further].depth;
    struct node node = {.parent = parent,
                        .jump = same ? further : parent,
                        .depth = p->depth + 1,
                        .condition = condition,
                        .token = pt_unfold_token_of(un, condition),
                        .delta = p->delta + (counted ? delta : 0),
                        .size = p->size + counted};
    PT_GROW(w->node_place, w->node_place_cap, (size_t)w->node_count + 1);
    w->node_place[w->node_count] = node.token >= GONE ? PT_NONE : un->u->condition_place[node.token];
    PT_PUSH(w->nodes, w->node_count, w->node_cap, node);
}

/* The roots of all trees, and below them the conditions of event 0. */
static uint32_t add_roots(struct unfolder *un)
{
    struct walk *w = &un->walk;
    uint32_t *nodes = pt_xmalloc(((size_t)w->part_count + 1) * sizeof *nodes), count;
    for (uint32_t i = 0; i < w->part_count; i++) {
        struct node root = {.parent = i, .jump = i, .condition = PT_NONE, .token = PT_NONE};
        PT_GROW(w->node_place, w->node_place_cap, (size_t)i + 1);
        w->node_place[i] = PT_NONE;
        PT_PUSH(w->nodes, w->node_count, w->node_cap, root);
        nodes[i] = i;
    }
    w->first_node[0] = w->node_count;
    for (uint32_t c = 0; c < un->u->initial_count; c++) {
        const uint32_t *parts = pt_unfold_parts(un, un->u->condition_place[c], &count);
        for (uint32_t k = 0; k < count; k++) {
            nodes[parts[k]] = w->node_count;
            add_node(un, parts[k], c, false, 0);
        }
    }
    uint32_t root = pt_unfold_vector_first(un, nodes);
    free(nodes);
    return root;
}

/* Puts what an event does below the cut of its causes, which becomes its own. */
static void add_nodes(struct unfolder *un, uint32_t event, uint32_t root)
{
    const struct pt_unfold_event *e = &un->u->events[event];
    struct walk *w = &un->walk;
    w->first_node[event] = w->node_count;
    for (uint32_t i = w->move_start[e->transition]; i < w->move_start[e->transition + 1]; i++) {
        const struct move *move = &w->moves[i];
        uint32_t condition = move->post == PT_NONE ? GONE + event : e->post_start + move->post;
        add_node(un, pt_unfold_tip(un, root, move->part), condition, move->counts, e->delta);
        pt_unfold_vector_set(un, root, move->part, w->node_count - 1);
    }
}

/* Where the nodes of its conditions and marks begin, and the uses of the former. */
static void index_conditions(struct unfolder *un, uint32_t event)
{
    const struct pt_unfolding *u = un->u;
    const struct pt_unfold_event *e = &u->events[event];
    struct walk *w = &un->walk;
    uint32_t users = w->users.count, node = w->first_node[event], count;
    for (uint32_t c = e->post_start; c < e->post_start + e->post_count; c++) {
        PT_ROOM(w->condition_node, w->condition_node_cap, c);
        PT_ROOM(w->user_start, w->user_start_cap, c);
        w->user_start[c] = w->users.count;
        w->condition_node[c] = node;
        while (node < w->node_count && w->nodes[node].condition == c)
            node++;
        count = u->condition_place[c] == PT_NONE ? 0 : pt_unfold_groups(un, u->condition_place[c]) + un->reads;
        for (uint32_t k = 0; k < count; k++)
            pt_list_add(&w->users, 0);
    }
    pt_unfold_walk_charge(un, e->post_count * (sizeof *w->condition_node + sizeof *w->user_start) +
                                  (w->users.count - users) * sizeof *w->users.items);
}

void pt_unfold_walk_keep(struct unfolder *un, uint32_t event)
{
    struct walk *w = &un->walk;
    struct extended *x = &un->extended[event];
    uint32_t nodes = w->node_count, chunks = event == 0 ? 0 : w->own_chunks;
    PT_ROOM(w->first_node, w->first_node_cap, event);
    if (event == 0)
        x->root = add_roots(un);
    else
        add_nodes(un, event, x->root);
    w->root = x->root;
    index_conditions(un, event);
    pt_unfold_uses_add(un, event);
    pt_unfold_walk_charge(un, (w->node_count - nodes) * (sizeof *w->nodes + sizeof *w->node_place) +
                                  (w->chunk_count - chunks) * sizeof *w->chunks +
                                  w->root_count * sizeof *w->roots.items + sizeof *w->verdict + sizeof *w->visited +
                                  sizeof *w->first_node);
}

bool pt_unfold_walk_begin(struct unfolder *un, uint64_t *budget)
{
    struct pt_components components;
    if (!pt_net_follow_components(un->net, budget, &components))
        return false;
    pt_map64_init(&un->walk.ways);
    un->walk.long_list = un->options->walk_until == 0 ? LONG_LIST : 2; /* tests are about small nets */
    un->walk.few_uses = un->options->walk_until == 0 ? FEW_USES : 1;
    bool fits = pt_unfold_find_parts(un, &components);
    pt_components_release(&components);
    for (uint32_t e = 0; fits && e < un->u->event_count; e++) {
        const struct pt_unfold_event *at = &un->u->events[e];
        struct extended *x = &un->extended[e];
        if (at->cutoff || at->goal)
            continue;
        un->bytes -= (x->token_count + x->mark_count) * sizeof *un->cuts.items;
        x->cut = x->token_count = x->mark_count = 0;
        if (e > 0)
            x->root = pt_unfold_vector_causes(un, un->u->pre + at->pre_start,
                                              un->net->transitions[at->transition].pre_count + at->mark_count);
        pt_unfold_walk_keep(un, e);
    }
    if (fits)
        un->cuts.count = 0;
    return fits;
}

void pt_unfold_walk_end(struct unfolder *un)
{
    struct walk *w = &un->walk;
    void *const all[] = {
        w->place_part,  w->parts,          w->move_start, w->moves,       w->nodes,       w->node_place, w->one_of_each,
        w->first_node,  w->condition_node, w->user_start, w->users.items, w->uses,        w->chunks,     w->roots.items,
        w->joined,      w->tokens.items,   w->blocked,    w->marks.items, w->verdict,     w->visited,    w->path.items,
        w->found.items, w->looked,         w->kept,       w->forks,       w->asked.items, w->below.items};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    pt_map64_release(&w->ways);
    un->bytes -= w->bytes;
    *w = (struct walk){0};
}

/* --- Two histories ----------------------------------------------------------------------------------------------- */

/* One up; lists the event that is passed. */
static uint32_t step_up(struct unfolder *un, uint32_t node, struct list *events)
{
    struct walk *w = &un->walk;
    uint32_t condition = w->nodes[node].condition;
    uint32_t event = condition >= GONE ? condition - GONE : un->u->condition_event[condition];
    if (w->visited[event] != w->now) {
        w->visited[event] = w->now;
        pt_list_add(events, event);
    }
    return w->nodes[node].parent;
}

/* Goes up from the nodes of two chunks, in all parts, until they meet. */
static void climb(struct unfolder *un, const struct chunk *a, const struct chunk *b)
{
    const struct walk *w = &un->walk;
    for (uint32_t k = 0; k < CHUNK; k++) {
        uint32_t x = a->at[k], y = b->at[k];
        while (x != y) {
            if (w->nodes[x].depth >= w->nodes[y].depth)
                x = step_up(un, x, &un->only_first);
            else
                y = step_up(un, y, &un->only_second);
        }
    }
}

bool pt_unfold_walk_apart(struct unfolder *un, const struct candidate *x, const struct candidate *y)
{
    struct walk *w = &un->walk;
    if (!pt_unfold_needs_root(un, x))
        return false;
    PT_ROOM(w->visited, w->visited_cap, un->u->event_count);
    w->now++;
    un->only_first.count = un->only_second.count = 0;
    for (uint32_t i = 0; i < w->root_count; i++) {
        uint32_t a = w->roots.items[x->root + i], b = w->roots.items[y->root + i];
        if (a != b)
            climb(un, &w->chunks[a], &w->chunks[b]);
    }
    return true;
}
