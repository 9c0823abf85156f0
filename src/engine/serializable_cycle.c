/*
 * Why blocks are not serializable: the graph of the recorded run, in which each block and each event outside of blocks
 * is a node, and an edge leads from each operation to the later ones that conflict with it directly; and in it a
 * shortest cycle through a block that is known to be on one. Shares nothing with the clocks that found it.
 *
 * Guarantee: what is shown is a cycle of that graph. Cost: once, time and memory linear in the events so far.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/serializable.h"
#include "order/access.h"

struct edge {
    uint64_t from, to;   /* events */
    uint32_t node, next; /* where it leads; the next one from the same node, PT_NONE: none */
};

struct operation {
    uint64_t event; /* 0: none */
    uint32_t node;
};

struct graph {
    uint32_t *heads; /* of each node, its first edge */
    uint32_t node_count;
    size_t node_cap;
    struct edge *edges;
    uint32_t edge_count;
    size_t edge_cap;
    struct graph_thread {
        struct operation last; /* its latest event, in its present node */
        struct operation fork;
        uint32_t depth, block; /* of blocks; the name of the outermost */
    } * threads;
    size_t thread_cap;
    struct graph_object {
        struct operation written, *reads;
        uint32_t read_count;
        size_t read_cap;
    } * objects[PT_SPACE_COUNT];
    size_t object_cap[PT_SPACE_COUNT];
};

static void add_edge(struct graph *g, struct operation from, struct operation to)
{
    if (!from.event || from.node == to.node)
        return;
    struct edge edge = {from.event, to.event, to.node, g->heads[from.node]};
    g->heads[from.node] = g->edge_count;
    PT_PUSH(g->edges, g->edge_count, g->edge_cap, edge);
}

/* The event as an operation of its thread's present node; a new node begins outside of blocks and with a block. */
static struct operation enter(struct graph *g, const struct pt_log_event *event)
{
    PT_ROOM(g->threads, g->thread_cap, event->thread);
    struct graph_thread *t = &g->threads[event->thread];
    struct operation now = {event->event, t->last.node};
    bool new = !t->depth || !t->last.event;
    if (event->op == PT_OP_BEGIN && !t->depth++)
        t->block = event->object;
    else if (event->op == PT_OP_BEGIN)
        new = false;
    if (new) {
        now.node = g->node_count;
        PT_PUSH(g->heads, g->node_count, g->node_cap, PT_NONE);
        add_edge(g, t->last, now);
        if (!t->last.event)
            add_edge(g, t->fork, now);
    }
    if (event->op == PT_OP_END && t->depth)
        t->depth--;
    return t->last = now;
}

static void add_access(struct graph *g, const struct pt_log_event *event, struct operation now)
{
    enum pt_space space = pt_op_space(event->op);
    PT_ROOM(g->objects[space], g->object_cap[space], event->object);
    struct graph_object *o = &g->objects[space][event->object];
    add_edge(g, o->written, now);
    if (pt_access_role(event->op) == PT_ROLE_READS) {
        PT_PUSH(o->reads, o->read_count, o->read_cap, now);
        return;
    }
    for (uint32_t i = 0; i < o->read_count; i++)
        add_edge(g, o->reads[i], now);
    o->read_count = 0;
    o->written = now;
}

static void build(struct graph *g, const struct pt_log *log)
{
    struct pt_log_reader reader;
    for (pt_log_start(&reader, log); pt_log_next(&reader);) {
        const struct pt_log_event *event = &reader.event;
        struct operation now = enter(g, event);
        enum pt_role role = pt_access_role(event->op);
        if (role == PT_ROLE_FORKS || role == PT_ROLE_JOINS)
            PT_ROOM(g->threads, g->thread_cap, event->object);
        if (role == PT_ROLE_FORKS)
            g->threads[event->object].fork = now;
        else if (role == PT_ROLE_JOINS)
            add_edge(g,
                     g->threads[event->object].last.event ? g->threads[event->object].last
                                                          : g->threads[event->object].fork,
                     now);
        else if (role != PT_ROLE_NONE)
            add_access(g, event, now);
    }
}

/* Breadth first from a node back to it: the edges of the way, in its order, in *ret_path; 0: there is none. */
static uint32_t find_cycle(const struct graph *g, uint32_t start, uint32_t **ret_path)
{
    uint32_t *by = pt_xmalloc((g->node_count + 1) * sizeof *by), *from = pt_xmalloc((g->node_count + 1) * sizeof *from);
    uint32_t *queue = pt_xmalloc((g->node_count + 1) * sizeof *queue), head = 0, tail = 0, last = PT_NONE, end = 0;
    memset(by, 0xff, (g->node_count + 1) * sizeof *by);
    queue[tail++] = start;
    while (head < tail && last == PT_NONE) {
        uint32_t node = queue[head++];
        for (uint32_t e = g->heads[node]; e != PT_NONE && last == PT_NONE; e = g->edges[e].next) {
            uint32_t to = g->edges[e].node;
            if (to == start) {
                last = e;
                end = node;
            } else if (by[to] == PT_NONE) {
                by[to] = e;
                from[to] = node;
                queue[tail++] = to;
            }
        }
    }
    uint32_t count = 0;
    *ret_path = queue; /* as long as the longest way */
    if (last != PT_NONE) {
        queue[count++] = last;
        for (uint32_t node = end; node != start; node = from[node])
            queue[count++] = by[node];
    }
    for (uint32_t i = 0; i < count / 2; i++) {
        uint32_t swap = queue[i];
        queue[i] = queue[count - 1 - i];
        queue[count - 1 - i] = swap;
    }
    free(by);
    free(from);
    return count;
}

static void release(struct graph *g)
{
    for (int space = 0; space < PT_SPACE_COUNT; space++) {
        for (size_t i = 0; i < g->object_cap[space]; i++)
            free(g->objects[space][i].reads);
        free(g->objects[space]);
    }
    free(g->heads);
    free(g->edges);
    free(g->threads);
}

/* ---- the finding ---- */

static void fill_step(const struct serializable *s, struct pt_step *step, const struct pt_log_event *event)
{
    *step = (struct pt_step){.thread = pt_name(s->names, PT_SPACE_THREAD, event->thread),
                             .op = pt_op_word(event->op),
                             .object = pt_name(s->names, pt_op_space(event->op), event->object),
                             .loc = pt_name(s->names, PT_SPACE_LOC, event->loc),
                             .number = step->number,
                             .var = PT_NONE};
}

/* The events of the cycle's edges, in its order: each conflicts with the next, or is of one block or thread with it. */
static void add_witness(struct serializable *s, struct pt_finding *f, const struct graph *g, const uint32_t *path,
                        uint32_t count)
{
    uint64_t *events = pt_xmalloc((2 * (size_t)count + 1) * sizeof *events);
    for (uint32_t i = 0; i < count; i++) {
        if (!f->witness_count || events[f->witness_count - 1] != g->edges[path[i]].from)
            events[f->witness_count++] = g->edges[path[i]].from;
        events[f->witness_count++] = g->edges[path[i]].to;
    }
    f->witness = pt_arena_alloc(&f->arena, (f->witness_count + 1) * sizeof *f->witness);
    f->sides = pt_arena_alloc(&f->arena, 2 * sizeof *f->sides);
    f->side_count = 2;
    struct pt_log_reader reader;
    for (pt_log_start(&reader, &s->log); pt_log_next(&reader);)
        for (uint32_t i = 0; i < f->witness_count; i++) {
            if (events[i] != reader.event.event)
                continue;
            f->witness[i].number = i + 1;
            fill_step(s, &f->witness[i], &reader.event);
            if (i && i + 1 < f->witness_count)
                continue;
            struct pt_side *side = &f->sides[i > 0];
            fill_step(s, &side->step, &reader.event);
            side->event = reader.event.event;
            if (reader.event.stack && reader.event.stack <= s->run.stack_cap)
                side->stack = pt_races_stack(f, s->run.stacks[reader.event.stack - 1]);
        }
    free(events);
}

void pt_serializable_report(struct serializable *s, uint32_t thread)
{
    struct graph g = {0};
    uint32_t *path;
    build(&g, &s->log);
    uint32_t count = find_cycle(&g, g.threads[thread].last.node, &path);
    struct pt_finding *f = s->finding;
    if (count) {
        f->verdict = PT_VERDICT_VIOLATED;
        f->how = PT_HOW_OBSERVED;
        f->count = 1;
        f->object = pt_name(s->names, PT_SPACE_BLOCK, g.threads[thread].block);
        add_witness(s, f, &g, path, count);
    } else {
        s->run.unknown = "a cycle of blocks could not be found again, which is a mistake of Portent's own";
    }
    free(path);
    release(&g);
}
