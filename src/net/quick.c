/*
 * Most violations are plain: T begins the block and touches a variable, another thread makes a conflicting step, T
 * makes one that conflicts with that. A program of many threads that differ has many such triples, and unfolding looks
 * at the square of the threads for them. So where there are many threads, each block is first tried with a few runs of
 * this kind, put together from shortest ways through the threads' graphs: the two nearest threads that write a
 * variable, the two nearest that read it, and the first steps of the block that conflict. A run counts only if
 * pt_witness_make, which shares nothing with this, accepts it; a block for which none does is unfolded as always.
 *
 * Guarantee: none, and none is needed. Cost: linear in the program at first; for each run tried, the graphs of the
 * threads on its way.
 */
#include "net/quick.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"

enum { NEAREST = 2, MOST_LAUNCHES = 4 };

/* A step of some thread that accesses a variable, as near to the program's start as can be. */
struct access {
    uint32_t step, distance; /* PT_NONE: there is none */
};

struct pt_quick {
    const struct pt_program *program;
    const struct pt_reduction *r;
    uint32_t *first_node;   /* by thread: the number of its node 0 among all nodes */
    uint32_t *leaving;      /* by node, one more at the end: where its steps begin in `out` */
    uint32_t *out;          /* steps */
    uint32_t *spawner;      /* by thread: a step that starts it, PT_NONE */
    uint32_t *distance;     /* by thread: steps until it runs; PT_NONE: never */
    struct access *nearest; /* by variable: NEAREST writes, then NEAREST reads, of different threads each */
    uint32_t *node;         /* by thread: where it is in the run being made; PT_NONE: not started */
    uint32_t *run, run_count;
    size_t run_cap;
    uint32_t *from, *queue; /* scratch of the search for ways: by node, the step that leads there */
    size_t from_cap, queue_cap;
    uint32_t block, tried; /* of the block at hand */
};

/* --- Ways ------------------------------------------------------------------------------------------------------ */

/* What a search accepts, and where it must not go. */
struct goal {
    bool release;      /* any release of a lock */
    uint32_t step;     /* this one, or PT_NONE */
    uint32_t conflict; /* one that conflicts with this one, or PT_NONE */
    uint32_t inside;   /* not over the end of this block, or PT_NONE */
    uint32_t skip;     /* so many of those that would do are passed over */
};

static bool has(const uint32_t *vars, uint32_t count, uint32_t var)
{
    for (uint32_t i = 0; i < count; i++) {
        if (vars[i] == var)
            return true;
    }
    return false;
}

static bool writes_into(const struct pt_program *p, const struct pt_prog_step *a, const struct pt_prog_step *b)
{
    for (uint32_t i = 0; i < a->write_count; i++) {
        if (has(p->accesses + b->access_start, b->read_count + b->write_count,
                p->accesses[a->access_start + a->read_count + i]))
            return true;
    }
    return false;
}

static bool touches_shared(const struct pt_quick *q, const struct pt_prog_step *s)
{
    for (uint32_t i = 0; i < s->read_count + s->write_count; i++) {
        if (q->r->shared_var[q->program->accesses[s->access_start + i]])
            return true;
    }
    return false;
}

static bool accepts(const struct pt_quick *q, const struct goal *goal, uint32_t step)
{
    const struct pt_prog_step *s = &q->program->steps[step];
    if (goal->release)
        return s->kind == PT_STEP_RELEASE;
    if (goal->step != PT_NONE)
        return step == goal->step;
    if (goal->conflict == PT_NONE)
        return touches_shared(q, s);
    const struct pt_prog_step *other = &q->program->steps[goal->conflict];
    return writes_into(q->program, s, other) || writes_into(q->program, other, s);
}

/* Adds the way that ends with `step` to the run. */
static void add_way(struct pt_quick *q, uint32_t start, uint32_t step)
{
    uint32_t thread = q->program->steps[step].thread, count = 1;
    for (uint32_t n = q->program->steps[step].from; n != start; n = q->program->steps[q->from[n]].from)
        count++;
    PT_GROW(q->run, q->run_cap, (size_t)q->run_count + count);
    q->node[thread] = q->program->steps[step].to;
    for (uint32_t at = q->run_count + count; at-- > q->run_count;) {
        q->run[at] = step;
        if (q->program->steps[step].kind == PT_STEP_SPAWN)
            q->node[q->program->steps[step].object] = q->program->threads[q->program->steps[step].object].start;
        step = at > q->run_count ? q->from[q->program->steps[step].from] : step;
    }
    q->run_count += count;
}

/* Takes a thread from where it is to the nearest step that will do, that one included; breadth first. */
static bool walk(struct pt_quick *q, uint32_t thread, struct goal goal)
{
    const struct pt_program *p = q->program;
    uint32_t nodes = p->threads[thread].node_count, start = q->node[thread], head = 0, tail = 0;
    if (start == PT_NONE)
        return false;
    PT_GROW(q->from, q->from_cap, nodes);
    PT_GROW(q->queue, q->queue_cap, nodes);
    memset(q->from, 0xff, nodes * sizeof *q->from);
    q->queue[tail++] = start;
    while (head < tail) {
        uint32_t node = q->queue[head++];
        const uint32_t *leaving = q->leaving + q->first_node[thread] + node;
        for (uint32_t i = leaving[0]; i < leaving[1]; i++) {
            uint32_t step = q->out[i];
            const struct pt_prog_step *s = &p->steps[step];
            if (s->kind == PT_STEP_END && s->object == goal.inside)
                continue;
            if (accepts(q, &goal, step) && goal.skip-- == 0) {
                add_way(q, start, step);
                return true;
            }
            if (s->to != start && q->from[s->to] == PT_NONE) {
                q->from[s->to] = step;
                q->queue[tail++] = s->to;
            }
        }
    }
    return false;
}

static bool holds_lock(const struct pt_quick *q, uint32_t thread)
{
    uint32_t held = 0;
    for (uint32_t i = 0; i < q->run_count; i++) {
        const struct pt_prog_step *s = &q->program->steps[q->run[i]];
        if (s->thread == thread)
            held += (s->kind == PT_STEP_ACQUIRE) - (s->kind == PT_STEP_RELEASE);
    }
    return held > 0;
}

/* Takes a thread on until it holds no lock, but not out of the block; whether it could is for the replay to find out.
 */
static void let_go(struct pt_quick *q, uint32_t thread, uint32_t inside)
{
    struct goal release = {.release = true, .step = PT_NONE, .conflict = PT_NONE, .inside = inside};
    uint32_t most = q->program->lock_count;
    while (most-- > 0 && holds_lock(q, thread) && walk(q, thread, release))
        ;
}

/* Lets a thread start, and those before it that have to; `depth` bounds circles of threads that start each other. */
static bool wake(struct pt_quick *q, uint32_t thread, uint32_t depth)
{
    if (q->node[thread] != PT_NONE)
        return true;
    uint32_t step = q->spawner[thread];
    if (step == PT_NONE || depth == 0 || !wake(q, q->program->steps[step].thread, depth - 1))
        return false;
    struct goal goal = {.step = step, .conflict = PT_NONE, .inside = PT_NONE};
    return walk(q, q->program->steps[step].thread, goal);
}

/* --- What is near ---------------------------------------------------------------------------------------------- */

/* How many steps a thread is from each of its nodes, from its start on; PT_NONE: it never gets there. */
static uint32_t *measure(const struct pt_quick *q, uint32_t thread)
{
    const struct pt_program *p = q->program;
    uint32_t nodes = p->threads[thread].node_count, *steps = pt_xmalloc(((size_t)nodes + 1) * sizeof *steps);
    memset(steps, 0xff, nodes * sizeof *steps);
    steps[p->threads[thread].start] = 0;
    for (bool changed = true; changed;) { /* graphs are nearly in order, so this takes few rounds */
        changed = false;
        for (uint32_t i = q->r->step_start[thread]; i < q->r->step_start[thread + 1]; i++) {
            const struct pt_prog_step *s = &p->steps[q->r->steps[i]];
            if (steps[s->from] != PT_NONE && steps[s->from] + 1 < steps[s->to]) {
                steps[s->to] = steps[s->from] + 1;
                changed = true;
            }
        }
    }
    return steps;
}

static void offer(const struct pt_quick *q, struct access *list, uint32_t step, uint32_t distance)
{
    struct access added = {step, distance};
    for (uint32_t i = 0; i < NEAREST; i++) {
        bool same = list[i].step != PT_NONE && q->program->steps[list[i].step].thread == q->program->steps[step].thread;
        if (list[i].step == PT_NONE || added.distance < list[i].distance) {
            struct access out = list[i];
            list[i] = added;
            added = out;
        }
        if (same || added.step == PT_NONE)
            return; /* one of each thread is enough */
    }
}

/* Looks through one thread: whom it starts, and what it accesses. */
static void look(struct pt_quick *q, uint32_t thread)
{
    const struct pt_program *p = q->program;
    uint32_t *steps = measure(q, thread);
    for (uint32_t i = q->r->step_start[thread]; i < q->r->step_start[thread + 1]; i++) {
        uint32_t step = q->r->steps[i];
        const struct pt_prog_step *s = &p->steps[step];
        if (steps[s->from] == PT_NONE)
            continue;
        uint32_t distance = q->distance[thread] + steps[s->from] + 1;
        if (s->kind == PT_STEP_SPAWN && q->distance[s->object] > distance) {
            q->distance[s->object] = distance;
            q->spawner[s->object] = step;
        }
        for (uint32_t k = 0; k < s->read_count + s->write_count; k++) {
            struct access *list = q->nearest + (size_t)p->accesses[s->access_start + k] * 2 * NEAREST;
            offer(q, k < s->read_count ? list + NEAREST : list, step, distance);
        }
    }
    free(steps);
}

/* Sorts all steps by the nodes they leave. */
static void index_steps(struct pt_quick *q)
{
    const struct pt_program *p = q->program;
    q->first_node = pt_xcalloc((size_t)p->thread_count + 1, sizeof *q->first_node);
    for (uint32_t t = 0; t < p->thread_count; t++)
        q->first_node[t + 1] = q->first_node[t] + p->threads[t].node_count;
    uint32_t nodes = q->first_node[p->thread_count];
    q->leaving = pt_xcalloc((size_t)nodes + 2, sizeof *q->leaving);
    q->out = pt_xmalloc(((size_t)p->step_count + 1) * sizeof *q->out);
    for (uint32_t s = 0; s < p->step_count; s++)
        q->leaving[q->first_node[p->steps[s].thread] + p->steps[s].from + 2]++;
    for (uint32_t n = 0; n < nodes; n++)
        q->leaving[n + 2] += q->leaving[n + 1];
    for (uint32_t s = 0; s < p->step_count; s++)
        q->out[q->leaving[q->first_node[p->steps[s].thread] + p->steps[s].from + 1]++] = s;
}

struct pt_quick *pt_quick_new(const struct pt_program *program, const struct pt_reduction *reduction)
{
    struct pt_quick *q = pt_xcalloc(1, sizeof *q);
    size_t threads = (size_t)program->thread_count + 1, accesses = (size_t)program->var_count * 2 * NEAREST + 1;
    *q = (struct pt_quick){.program = program, .r = reduction, .block = PT_NONE};
    index_steps(q);
    q->spawner = pt_xmalloc(threads * sizeof *q->spawner);
    q->distance = pt_xmalloc(threads * sizeof *q->distance);
    q->node = pt_xmalloc(threads * sizeof *q->node);
    q->nearest = pt_xmalloc(accesses * sizeof *q->nearest);
    memset(q->spawner, 0xff, threads * sizeof *q->spawner);
    memset(q->distance, 0xff, threads * sizeof *q->distance);
    memset(q->nearest, 0xff, accesses * sizeof *q->nearest);
    bool *looked = pt_xcalloc(threads, sizeof *looked);
    for (uint32_t t = 0; t < program->thread_count; t++) {
        if (!program->threads[t].spawned)
            q->distance[t] = 0;
    }
    for (bool more = true; more;) { /* a thread after one that starts it */
        more = false;
        for (uint32_t t = 0; t < program->thread_count; t++) {
            if (looked[t] || q->distance[t] == PT_NONE)
                continue;
            looked[t] = more = true;
            look(q, t);
        }
    }
    free(looked);
    return q;
}

void pt_quick_free(struct pt_quick *q)
{
    free(q->first_node);
    free(q->leaving);
    free(q->out);
    free(q->spawner);
    free(q->distance);
    free(q->nearest);
    free(q->node);
    free(q->run);
    free(q->from);
    free(q->queue);
    free(q);
}

/* --- Runs ------------------------------------------------------------------------------------------------------ */

static void restart(struct pt_quick *q)
{
    q->run_count = 0;
    for (uint32_t t = 0; t < q->program->thread_count; t++)
        q->node[t] = q->program->threads[t].spawned ? PT_NONE : q->program->threads[t].start;
}

static uint32_t find_begin(const struct pt_quick *q, uint32_t block)
{
    uint32_t thread = q->program->blocks[block].thread;
    for (uint32_t i = q->r->step_start[thread]; i < q->r->step_start[thread + 1]; i++) {
        const struct pt_prog_step *s = &q->program->steps[q->r->steps[i]];
        if (s->kind == PT_STEP_BEGIN && s->object == block)
            return q->r->steps[i];
    }
    return PT_NONE;
}

/* Everything up to T's step inside the block, number `launch` of those that touch something shared. */
static bool enter(struct pt_quick *q, uint32_t block, uint32_t foreign, uint32_t launch, uint32_t *ret_begin)
{
    uint32_t thread = q->program->blocks[block].thread, depth = q->program->thread_count;
    struct goal begin = {.step = find_begin(q, block), .conflict = PT_NONE, .inside = PT_NONE};
    struct goal first = {.step = PT_NONE, .conflict = PT_NONE, .inside = block, .skip = launch};
    restart(q);
    if (begin.step == PT_NONE || !wake(q, thread, depth) || (foreign != PT_NONE && !wake(q, foreign, depth)) ||
        !walk(q, thread, begin))
        return false;
    *ret_begin = q->run_count - 1;
    return walk(q, thread, first);
}

/* The foreign step for a try: number `choice` of those near a variable that the launching step touches. */
static uint32_t choose_foreign(const struct pt_quick *q, uint32_t launch, uint32_t thread, uint32_t choice)
{
    const struct pt_program *p = q->program;
    const struct pt_prog_step *s = &p->steps[launch];
    for (uint32_t k = 0; k < s->read_count + s->write_count; k++) {
        const struct access *list = q->nearest + (size_t)p->accesses[s->access_start + k] * 2 * NEAREST;
        for (uint32_t i = 0; i < (k < s->read_count ? NEAREST : 2 * NEAREST); i++) {
            if (list[i].step != PT_NONE && p->steps[list[i].step].thread != thread && choice-- == 0)
                return list[i].step;
        }
    }
    return PT_NONE;
}

uint32_t *pt_quick_next(struct pt_quick *q, uint32_t block, uint32_t *ret_count, uint32_t *ret_begin)
{
    enum { CHOICES = 4 * NEAREST };
    uint32_t thread = q->program->blocks[block].thread, begin = 0;
    if (q->block != block)
        q->tried = 0;
    q->block = block;
    while (q->tried < CHOICES * MOST_LAUNCHES) {
        uint32_t launch = q->tried / CHOICES, choice = q->tried % CHOICES / 2;
        bool polite = q->tried++ % 2 != 0;
        if (!enter(q, block, PT_NONE, launch, &begin))
            return NULL;
        uint32_t foreign = choose_foreign(q, q->run[q->run_count - 1], thread, choice);
        if (foreign == PT_NONE || !enter(q, block, q->program->steps[foreign].thread, launch, &begin))
            continue;
        struct goal there = {.step = foreign, .conflict = PT_NONE, .inside = PT_NONE};
        struct goal back = {.step = PT_NONE, .conflict = foreign, .inside = block};
        if (polite)
            let_go(q, thread, block);
        if (!walk(q, q->program->steps[foreign].thread, there))
            continue;
        if (polite)
            let_go(q, q->program->steps[foreign].thread, PT_NONE);
        if (!walk(q, thread, back))
            continue;
        uint32_t *run = pt_xmalloc(q->run_count * sizeof *run);
        memcpy(run, q->run, q->run_count * sizeof *run);
        *ret_count = q->run_count;
        *ret_begin = begin;
        return run;
    }
    return NULL;
}
