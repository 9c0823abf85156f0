/*
 * Silent steps are those that touch no shared object: local assignments, guards over local or never-written variables,
 * `skip`, and begins and ends of blocks that are not looked at; not so the first steps of a thread that another one
 * starts, since they are causally after that start and so can be the foreign event of a violation. A thread at a node
 * from which nothing but silent steps to one and the same other node leave can be taken to be there already: nobody can
 * tell, and it can do nothing else. So such nodes are merged with the one they lead to, and silent steps from a node to
 * itself are left out, until nothing changes: a busy-waiting loop over a local variable disappears. Exact: the
 * contracted program has the runs of the program without some of their silent steps, and expanding puts a shortest
 * silent path back where a gap is.
 *
 * Cost: a few passes over the steps, one per level of nesting in structured programs.
 */
#include "net/contract.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"

static bool is_silent(const struct pt_program *p, const struct pt_reduction *r, const uint32_t *blocks,
                      uint32_t block_count, const struct pt_prog_step *s)
{
    const struct pt_prog_thread *t = &p->threads[s->thread];
    if (t->spawned && s->from == t->start)
        return false;
    for (uint32_t i = 0; i < s->read_count + s->write_count; i++) {
        if (r->shared_var[p->accesses[s->access_start + i]])
            return false;
    }
    if (s->kind != PT_STEP_BEGIN && s->kind != PT_STEP_END)
        return s->kind == PT_STEP_PLAIN;
    for (uint32_t b = 0; b < block_count; b++) {
        if (blocks[b] == s->object)
            return false;
    }
    return true;
}

/* Where a node has been merged to; halves the way for the next look. */
static uint32_t find(uint32_t *merged, uint32_t node)
{
    while (merged[node] != node)
        node = merged[node] = merged[merged[node]];
    return node;
}

enum { FREE = PT_NONE - 1 }; /* no step has been seen to leave the node; PT_NONE: it has to stay */

/* One pass over a thread; returns whether nodes were merged. `only` is scratch: the one node each leads to silently. */
static bool merge(const struct pt_program *p, const struct pt_reduction *r, const bool *silent, uint32_t thread,
                  uint32_t *merged, uint32_t *only)
{
    bool changed = false;
    for (uint32_t n = 0; n < p->threads[thread].node_count; n++)
        only[n] = FREE;
    for (uint32_t i = r->step_start[thread]; i < r->step_start[thread + 1]; i++) {
        const struct pt_prog_step *s = &p->steps[r->steps[i]];
        uint32_t from = find(merged, s->from), to = find(merged, s->to);
        if (!silent[r->steps[i]] || (only[from] != FREE && only[from] != to && from != to))
            only[from] = PT_NONE;
        else if (from != to && only[from] == FREE)
            only[from] = to;
    }
    for (uint32_t n = p->threads[thread].node_count; n-- > 0;) {
        if (merged[n] != n || only[n] == FREE || only[n] == PT_NONE || find(merged, only[n]) == n)
            continue;
        merged[n] = find(merged, only[n]);
        changed = true;
    }
    return changed;
}

static void contract_thread(const struct pt_program *p, const struct pt_reduction *r, uint32_t thread,
                            struct pt_contraction *c)
{
    uint32_t nodes = p->threads[thread].node_count;
    uint32_t *merged = pt_xmalloc((size_t)nodes * sizeof *merged), *only = pt_xmalloc((size_t)nodes * sizeof *only);
    for (uint32_t n = 0; n < nodes; n++)
        merged[n] = n;
    while (merge(p, r, c->silent, thread, merged, only))
        continue;
    for (uint32_t i = r->step_start[thread]; i < r->step_start[thread + 1]; i++) {
        struct pt_prog_step *s = &c->steps[r->steps[i]];
        s->from = find(merged, s->from);
        s->to = find(merged, s->to);
        if (c->silent[r->steps[i]] && s->from == s->to)
            s->from = PT_NONE;
    }
    c->start[thread] = find(merged, p->threads[thread].start);
    free(merged);
    free(only);
}

void pt_contraction_make(const struct pt_program *program, const struct pt_reduction *reduction, const uint32_t *blocks,
                         uint32_t block_count, struct pt_contraction *c)
{
    c->steps = pt_xmalloc((size_t)program->step_count * sizeof *c->steps);
    c->silent = pt_xmalloc((size_t)program->step_count * sizeof *c->silent);
    c->start = pt_xmalloc((size_t)program->thread_count * sizeof *c->start);
    for (uint32_t s = 0; s < program->step_count; s++) {
        c->steps[s] = program->steps[s];
        c->silent[s] = is_silent(program, reduction, blocks, block_count, &program->steps[s]);
    }
    for (uint32_t t = 0; t < program->thread_count; t++)
        contract_thread(program, reduction, t, c);
}

void pt_contraction_release(struct pt_contraction *c)
{
    free(c->steps);
    free(c->silent);
    free(c->start);
    *c = (struct pt_contraction){0};
}

/* --- Expanding ------------------------------------------------------------------------------------------------- */

struct run {
    const struct pt_program *program;
    const struct pt_reduction *r;
    const bool *silent;
    uint32_t *node; /* by thread: where it is */
    uint32_t *steps, count;
    size_t cap;
};

/* Moves a thread to a node by a shortest path of silent steps, searched from the goal backwards; stays where there is
 * none. */
static void walk(struct run *run, uint32_t thread, uint32_t goal)
{
    const struct pt_reduction *r = run->r;
    uint32_t nodes = run->program->threads[thread].node_count, level = 0;
    if (run->node[thread] == goal || run->node[thread] == PT_NONE)
        return;
    uint32_t *distance = pt_xmalloc((size_t)nodes * sizeof *distance);
    memset(distance, 0xff, (size_t)nodes * sizeof *distance);
    distance[goal] = 0;
    for (bool changed = true; changed && distance[run->node[thread]] == PT_NONE; level++) {
        changed = false;
        for (uint32_t i = r->step_start[thread]; i < r->step_start[thread + 1]; i++) {
            const struct pt_prog_step *s = &run->program->steps[r->steps[i]];
            if (!run->silent[r->steps[i]] || distance[s->to] != level || distance[s->from] != PT_NONE)
                continue;
            distance[s->from] = level + 1;
            changed = true;
        }
    }
    for (bool moved = true; moved && run->node[thread] != goal;) {
        moved = false;
        for (uint32_t i = r->step_start[thread]; i < r->step_start[thread + 1] && !moved; i++) {
            const struct pt_prog_step *s = &run->program->steps[r->steps[i]];
            if (!run->silent[r->steps[i]] || s->from != run->node[thread] || distance[s->from] == PT_NONE ||
                distance[s->to] != distance[s->from] - 1)
                continue;
            PT_PUSH(run->steps, run->count, run->cap, r->steps[i]);
            run->node[thread] = s->to;
            moved = true;
        }
    }
    free(distance);
}

uint32_t *pt_contraction_expand(const struct pt_program *program, const struct pt_reduction *reduction,
                                const bool *silent, const uint32_t *steps, uint32_t count, uint32_t *index,
                                uint32_t *ret_count)
{
    struct run run = {.program = program, .r = reduction, .silent = silent};
    uint32_t position = 0;
    run.node = pt_xmalloc((size_t)program->thread_count * sizeof *run.node);
    for (uint32_t t = 0; t < program->thread_count; t++)
        run.node[t] = program->threads[t].spawned ? PT_NONE : program->threads[t].start;
    for (uint32_t i = 0; i < count; i++) {
        const struct pt_prog_step *s = &program->steps[steps[i]];
        walk(&run, s->thread, s->from);
        if (s->kind == PT_STEP_JOIN)
            walk(&run, s->object, program->threads[s->object].stop);
        if (i == *index)
            position = run.count;
        PT_PUSH(run.steps, run.count, run.cap, steps[i]);
        run.node[s->thread] = s->to;
        if (s->kind == PT_STEP_SPAWN)
            run.node[s->object] = program->threads[s->object].start;
    }
    free(run.node);
    *index = position;
    *ret_count = run.count;
    return run.steps;
}
