/*
 * Trees of conditions. In a component (components.c) there is one token at most, and what makes one consumes another:
 * so its conditions are a tree, in which a history is a path from the root to the condition that its cut has there.
 * Kept of each condition are its depth and the one before it in each of its components; walks go up and down in them
 * (unfold_walk.c). Here is what two histories have alone: in each component the ends of both paths up to where they
 * meet. That costs their cuts and what is listed, where a sweep (unfold_order.c) looks at all events that are newer
 * than the oldest of that.
 */
#include <stdlib.h>
#include <string.h>

#include "net/components.h"
#include "net/unfold_impl.h"

static void charge(struct unfolder *un, uint64_t bytes)
{
    un->bytes += bytes;
    un->walk.bytes += bytes;
}

/* By place, the components it is in. */
static void index_parts(struct walk *w, const struct pt_net *net, const struct pt_components *components)
{
    uint32_t *start = w->part_start = pt_xcalloc((size_t)net->place_count + 2, sizeof *start);
    w->parts = pt_xmalloc(((size_t)components->place_count + 1) * sizeof *w->parts);
    w->blocked = pt_xcalloc((size_t)components->count + 1, sizeof *w->blocked);
    w->below = pt_xcalloc((size_t)components->count + 1, sizeof *w->below);
    w->part_count = components->count;
    w->root_count = (components->count + CHUNK - 1) / CHUNK;
    for (uint32_t i = 0; i < components->place_count; i++)
        start[components->places[i] + 2]++;
    for (uint32_t p = 0; p < net->place_count; p++)
        start[p + 2] += start[p + 1];
    for (uint32_t k = 0, i = 0; k < components->count; k++) {
        for (; i < components->ends[k]; i++)
            w->parts[start[components->places[i] + 1]++] = k;
    }
}

/* By transition, the components from which it takes the token away. */
static void index_leaves(struct unfolder *un)
{
    struct walk *w = &un->walk;
    uint32_t count;
    w->leave_start = pt_xcalloc((size_t)un->net->transition_count + 1, sizeof *w->leave_start);
    for (uint32_t t = 0; t < un->net->transition_count; t++) {
        uint32_t stamp = t + 1;
        w->leave_start[t] = w->leave_count;
        for (uint32_t i = 0; i < pt_net_made(un->net, t); i++) {
            const uint32_t *parts = pt_unfold_parts(un, pt_net_post(un->net, t)[i], &count);
            for (uint32_t k = 0; k < count; k++)
                w->blocked[parts[k]] = stamp;
        }
        for (uint32_t i = 0; i < pt_net_consumed(un->net, t); i++) {
            const uint32_t *parts = pt_unfold_parts(un, pt_net_pre(un->net, t)[i], &count);
            for (uint32_t k = 0; k < count; k++) {
                struct leave leave = {parts[k], i, k};
                if (w->blocked[parts[k]] != stamp)
                    PT_PUSH(w->leaves, w->leave_count, w->leave_cap, leave);
            }
        }
    }
    w->leave_start[un->net->transition_count] = w->leave_count;
    memset(w->blocked, 0, w->part_count * sizeof *w->blocked);
}

/* Puts the conditions of an event into the trees of their components, below what it consumes there. */
static void add_nodes(struct unfolder *un, uint32_t event)
{
    const struct pt_unfolding *u = un->u;
    const struct pt_unfold_event *e = &u->events[event];
    struct walk *w = &un->walk;
    uint32_t count, consumed = event == 0 ? 0 : pt_net_consumed(un->net, e->transition);
    uint32_t nodes = w->node_count, users = w->users.count;
    for (uint32_t i = 0; i < consumed; i++) {
        uint32_t condition = u->pre[e->pre_start + i];
        const uint32_t *parts = pt_unfold_parts(un, u->condition_place[condition], &count);
        for (uint32_t k = 0; k < count; k++)
            w->below[parts[k]] =
                (struct node){w->nodes[w->node_start[condition] + k].depth + 1, condition, parts[k], false};
    }
    for (uint32_t c = e->post_start; c < e->post_start + e->post_count; c++) {
        PT_ROOM(w->node_start, w->node_start_cap, c);
        PT_ROOM(w->user_start, w->user_start_cap, c);
        w->node_start[c] = w->node_count;
        w->user_start[c] = w->users.count;
        if (u->condition_place[c] == PT_NONE)
            continue;
        for (uint32_t k = 0; k < pt_unfold_groups(un, u->condition_place[c]); k++)
            pt_list_add(&w->users, 0);
        const uint32_t *parts = pt_unfold_parts(un, u->condition_place[c], &count);
        for (uint32_t k = 0; k < count; k++) {
            struct node node = event == 0 ? (struct node){0, PT_NONE, parts[k], false} : w->below[parts[k]];
            node.last = k + 1 == count;
            PT_PUSH(w->nodes, w->node_count, w->node_cap, node);
        }
    }
    charge(un, e->post_count * (sizeof *w->node_start + sizeof *w->user_start) +
                   (w->node_count - nodes) * sizeof *w->nodes + (w->users.count - users) * sizeof *w->users.items);
}

/* Lists the event with what it consumes. */
static void add_uses(struct unfolder *un, uint32_t event)
{
    const struct pt_unfold_event *e = &un->u->events[event];
    struct walk *w = &un->walk;
    uint32_t consumed = event == 0 ? 0 : pt_net_consumed(un->net, e->transition);
    for (uint32_t i = 0; i < consumed; i++) {
        uint32_t condition = un->u->pre[e->pre_start + i], place = un->u->condition_place[condition];
        uint32_t arc = un->net->transitions[e->transition].pre_start + i;
        uint32_t group = pt_unfold_groups(un, place) > 1 ? un->consumer_slot[arc] : 0;
        uint32_t *last = &w->users.items[w->user_start[condition] + group];
        struct use use = {event, *last};
        PT_PUSH(w->uses, w->use_count, w->use_cap, use);
        *last = w->use_count;
    }
    charge(un, consumed * sizeof *w->uses);
}

void pt_unfold_walk_keep(struct unfolder *un, uint32_t event)
{
    struct walk *w = &un->walk;
    add_nodes(un, event);
    add_uses(un, event);
    charge(un, pt_unfold_vector_keep(un, event) + sizeof *w->verdict + sizeof *w->visited +
                   un->u->events[event].post_count * (sizeof *w->left + sizeof *w->pinned + sizeof *w->taken));
}

bool pt_unfold_walk_begin(struct unfolder *un, uint64_t *budget)
{
    struct pt_components components;
    if (!pt_net_follow_components(un->net, budget, &components))
        return false;
    index_parts(&un->walk, un->net, &components);
    index_leaves(un);
    pt_components_release(&components);
    for (uint32_t e = 0; e < un->u->event_count; e++) {
        if (un->u->events[e].cutoff || un->u->events[e].goal)
            continue;
        uint32_t tokens = un->extended[e].token_count;
        pt_unfold_vector_from_list(un, e);
        pt_unfold_walk_keep(un, e);
        un->bytes -= tokens * sizeof *un->cuts.items;
    }
    return true;
}

void pt_unfold_walk_end(struct unfolder *un)
{
    struct walk *w = &un->walk;
    void *const all[] = {w->part_start, w->parts,         w->node_start,   w->nodes,       w->leave_start,
                         w->leaves,     w->below,         w->user_start,   w->users.items, w->uses,
                         w->chunks,     w->roots.items,   w->tokens.items, w->blocked,     w->left,
                         w->pinned,     w->marks.items,   w->verdict,      w->taken,       w->visited,
                         w->path.items, w->options.items, w->found.items};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    un->bytes -= w->bytes;
    *w = (struct walk){0};
}

/* --- Two histories ---------------------------------------------------------------------------------------------- */

/* In the components of one chunk, where the paths of a candidate's history end, without the candidate itself: the
 * furthest of those of its causes. */
struct front {
    uint32_t newest; /* the root of its newest cause, */
    const uint32_t *pre;
    uint32_t count;
};

static struct front front_of(const struct unfolder *un, const struct candidate *c, const uint32_t *pre)
{
    uint32_t newest = 0, count = un->net->transitions[c->transition].pre_count + c->mark_count;
    for (uint32_t i = 0; i < count; i++)
        newest = un->u->condition_event[pre[i]] > newest ? un->u->condition_event[pre[i]] : newest;
    return (struct front){un->extended[newest].root, pre, count};
}

/* `room` is for what no cause has as it is. */
static const struct chunk *chunk_of(const struct unfolder *un, const struct front *f, uint32_t at, struct chunk *room)
{
    const struct walk *w = &un->walk;
    const struct chunk *chunk = &w->chunks[w->roots.items[f->newest + at]];
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t root = un->extended[un->u->condition_event[f->pre[i]]].root;
        const struct chunk *other = &w->chunks[w->roots.items[root + at]];
        if (root == f->newest || other == &w->chunks[w->roots.items[f->newest + at]])
            continue;
        if (chunk != room)
            *room = *chunk;
        chunk = room;
        for (uint32_t k = 0; k < CHUNK; k++) {
            if (room->tips[k].depth + 1 < other->tips[k].depth + 1) /* PT_NONE is the least */
                room->tips[k] = other->tips[k];
        }
    }
    return chunk;
}

/* The condition before the end of a path in a component. */
static uint32_t parent_of(const struct unfolder *un, uint32_t component, uint32_t condition)
{
    const struct walk *w = &un->walk;
    if (condition >= GONE) {
        const struct pt_unfold_event *e = &un->u->events[condition - GONE];
        uint32_t at = w->leave_start[e->transition];
        while (w->leaves[at].component != component)
            at++;
        return un->u->pre[e->pre_start + w->leaves[at].pre];
    }
    const struct node *node = &w->nodes[w->node_start[condition]];
    while (node->component != component)
        node++;
    return node->parent;
}

/* One up, in the component; lists the event that is passed. */
static void step_up(struct unfolder *un, uint32_t component, struct tip *tip, struct list *events)
{
    struct walk *w = &un->walk;
    uint32_t event = tip->condition >= GONE ? tip->condition - GONE : un->u->condition_event[tip->condition];
    tip->condition = parent_of(un, component, tip->condition);
    tip->depth--;
    if (w->visited[event] == w->now)
        return;
    w->visited[event] = w->now;
    pt_list_add(events, event);
}

/* Goes up from both ends in a component until they meet. */
static void climb(struct unfolder *un, uint32_t component, struct tip a, struct tip b)
{
    while (a.condition != b.condition) {
        if (a.depth >= b.depth)
            step_up(un, component, &a, &un->only_first);
        else
            step_up(un, component, &b, &un->only_second);
    }
}

enum { LONG_HISTORY = 100 }; /* events; less are swept faster */

bool pt_unfold_walk_apart(struct unfolder *un, const struct candidate *x, const uint32_t *pre_x,
                          const struct candidate *y, const uint32_t *pre_y)
{
    struct walk *w = &un->walk;
    bool is_long = x->size >= LONG_HISTORY || un->options->walk_until > 0; /* tests want all of them here */
    if (!w->on || !is_long)
        return false;
    PT_ROOM(w->visited, w->visited_cap, un->u->event_count);
    w->now++;
    un->only_first.count = un->only_second.count = 0;
    struct front fx = front_of(un, x, pre_x), fy = front_of(un, y, pre_y);
    struct chunk room[2];
    for (uint32_t i = 0; i < w->root_count; i++) {
        const struct chunk *a = chunk_of(un, &fx, i, &room[0]), *b = chunk_of(un, &fy, i, &room[1]);
        for (uint32_t k = 0; a != b && k < CHUNK; k++) {
            if (a->tips[k].condition != b->tips[k].condition)
                climb(un, i * CHUNK + k, a->tips[k], b->tips[k]);
        }
    }
    return true;
}
