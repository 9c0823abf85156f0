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
    w->tips = pt_xcalloc((size_t)components->count + 1, sizeof *w->tips);
    w->below = pt_xcalloc((size_t)components->count + 1, sizeof *w->below);
    w->ends = pt_xcalloc((size_t)components->count + 1, sizeof *w->ends);
    w->part_count = components->count;
    w->machines = components->machines;
    for (uint32_t i = 0; i < components->place_count; i++)
        start[components->places[i] + 2]++;
    for (uint32_t p = 0; p < net->place_count; p++)
        start[p + 2] += start[p + 1];
    for (uint32_t k = 0, i = 0; k < components->count; k++) {
        for (; i < components->ends[k]; i++)
            w->parts[start[components->places[i] + 1]++] = k;
    }
}

/* Puts the conditions of an event into the trees of their components, below what it consumes there. */
static void add_nodes(struct unfolder *un, uint32_t event)
{
    const struct pt_unfolding *u = un->u;
    const struct pt_unfold_event *e = &u->events[event];
    struct walk *w = &un->walk;
    uint32_t count, before = w->node_count, consumed = event == 0 ? 0 : pt_net_consumed(un->net, e->transition);
    for (uint32_t i = 0; i < consumed; i++) {
        uint32_t condition = u->pre[e->pre_start + i];
        const uint32_t *parts = pt_unfold_parts(un, u->condition_place[condition], &count);
        for (uint32_t k = 0; k < count; k++)
            w->below[parts[k]] = (struct node){w->nodes[w->node_start[condition] + k].depth + 1, condition};
    }
    for (uint32_t c = e->post_start; c < e->post_start + e->post_count; c++) {
        PT_ROOM(w->node_start, w->node_start_cap, c);
        PT_ROOM(w->user, w->user_cap, c);
        w->node_start[c] = w->node_count;
        if (u->condition_place[c] == PT_NONE)
            continue;
        const uint32_t *parts = pt_unfold_parts(un, u->condition_place[c], &count);
        for (uint32_t k = 0; k < count; k++) {
            struct node node = event == 0 ? (struct node){0, PT_NONE} : w->below[parts[k]];
            PT_PUSH(w->nodes, w->node_count, w->node_cap, node);
        }
    }
    charge(un, e->post_count * (sizeof *w->node_start + sizeof *w->user) + (w->node_count - before) * sizeof *w->nodes);
}

/* Lists the event with what it consumes. */
static void add_uses(struct unfolder *un, uint32_t event)
{
    const struct pt_unfold_event *e = &un->u->events[event];
    struct walk *w = &un->walk;
    uint32_t consumed = event == 0 ? 0 : pt_net_consumed(un->net, e->transition);
    for (uint32_t i = 0; i < consumed; i++) {
        uint32_t condition = un->u->pre[e->pre_start + i];
        struct use use = {event, w->user[condition]};
        PT_PUSH(w->uses, w->use_count, w->use_cap, use);
        w->user[condition] = w->use_count;
    }
    charge(un, consumed * sizeof *w->uses);
}

void pt_unfold_walk_keep(struct unfolder *un, uint32_t event)
{
    add_nodes(un, event);
    add_uses(un, event);
}

bool pt_unfold_walk_begin(struct unfolder *un)
{
    struct pt_components components;
    pt_net_find_components(un->net, &components);
    bool covered = components.all;
    if (covered) {
        index_parts(&un->walk, un->net, &components);
        for (uint32_t e = 0; e < un->u->event_count; e++) {
            if (!un->u->events[e].cutoff && !un->u->events[e].goal)
                pt_unfold_walk_keep(un, e);
        }
    }
    pt_components_release(&components);
    return covered;
}

void pt_unfold_walk_end(struct unfolder *un)
{
    struct walk *w = &un->walk;
    void *const all[] = {w->part_start, w->parts,         w->tips,        w->below,       w->node_start, w->nodes,
                         w->user,       w->uses,          w->left,        w->pinned,      w->verdict,    w->taken,
                         w->path.items, w->options.items, w->marks.items, w->found.items, w->visited};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    un->bytes -= w->bytes;
    *w = (struct walk){0};
}

/* --- Two histories ---------------------------------------------------------------------------------------------- */

/* A path of a history ends here, unless it goes on. */
static void end_path(struct unfolder *un, uint32_t condition, int whose)
{
    struct walk *w = &un->walk;
    uint32_t count;
    const uint32_t *parts = pt_unfold_parts(un, un->u->condition_place[condition], &count);
    for (uint32_t k = 0; k < count; k++) {
        struct ends *ends = &w->ends[parts[k]];
        struct tip tip = {w->now, condition, w->nodes[w->node_start[condition] + k].depth};
        if (ends->of[whose].stamp != w->now || ends->of[whose].depth < tip.depth)
            ends->of[whose] = tip;
    }
}

/* Where the paths of a candidate's history end, without the candidate itself. */
static void end_paths(struct unfolder *un, const struct candidate *c, const uint32_t *pre, int whose)
{
    const struct pt_unfolding *u = un->u;
    uint32_t newest = 0, count = un->net->transitions[c->transition].pre_count + c->mark_count;
    for (uint32_t i = 0; i < count; i++)
        newest = u->condition_event[pre[i]] > newest ? u->condition_event[pre[i]] : newest;
    const struct extended *base = &un->extended[newest];
    for (uint32_t i = 0; i < base->token_count; i++)
        end_path(un, un->cuts.items[base->cut + i], whose);
    for (uint32_t i = 0; i < c->beyond; i++) {
        const struct pt_unfold_event *e = &u->events[pre[count + i]];
        for (uint32_t k = 0; k < pt_net_made(un->net, e->transition); k++)
            end_path(un, e->post_start + k, whose);
    }
}

/* One up, in the component; lists the event that is passed. */
static void step_up(struct unfolder *un, uint32_t component, struct tip *tip, struct list *events)
{
    struct walk *w = &un->walk;
    uint32_t count, event = un->u->condition_event[tip->condition];
    const uint32_t *parts = pt_unfold_parts(un, un->u->condition_place[tip->condition], &count);
    for (uint32_t k = 0; k < count; k++) {
        if (parts[k] == component)
            tip->condition = w->nodes[w->node_start[tip->condition] + k].parent;
    }
    tip->depth--;
    if (w->visited[event] == w->now)
        return;
    w->visited[event] = w->now;
    pt_list_add(events, event);
}

bool pt_unfold_walk_apart(struct unfolder *un, const struct candidate *x, const uint32_t *pre_x,
                          const struct candidate *y, const uint32_t *pre_y)
{
    struct walk *w = &un->walk;
    if (!w->on || !w->machines || x->beyond == PT_NONE || y->beyond == PT_NONE)
        return false;
    PT_ROOM(w->visited, w->visited_cap, un->u->event_count);
    w->now++;
    un->only_first.count = un->only_second.count = 0;
    end_paths(un, x, pre_x, 0);
    end_paths(un, y, pre_y, 1);
    for (uint32_t k = 0; k < w->part_count; k++) {
        struct tip a = w->ends[k].of[0], b = w->ends[k].of[1]; /* there are both, or there is no token at all */
        while (a.stamp == w->now && a.condition != b.condition && (a.depth > 0 || b.depth > 0)) {
            if (a.depth >= b.depth)
                step_up(un, k, &a, &un->only_first);
            else
                step_up(un, k, &b, &un->only_second);
        }
    }
    return true;
}
