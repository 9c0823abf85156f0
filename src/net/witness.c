/*
 * From a run to a witness, by the definitions alone. Two steps are dependent when their neighbourhoods in the paper's
 * net meet: same thread, same lock, the same variable with a write among the two accesses, or one starts or awaits the
 * other's thread. The run's trace is the transitive closure of the dependent pairs in their order; its part below e2 is
 * the least one that Definition 3 needs. The order shown is another linearisation of the same trace.
 *
 * Cost: quadratic in the length of the run (bits), which is that of one local configuration.
 */
#include "net/witness.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"

static bool has(const uint32_t *vars, uint32_t count, uint32_t var)
{
    for (uint32_t i = 0; i < count; i++) {
        if (vars[i] == var)
            return true;
    }
    return false;
}

static bool is_lock_step(const struct pt_prog_step *s)
{
    return s->kind == PT_STEP_ACQUIRE || s->kind == PT_STEP_RELEASE;
}

static bool names_thread(const struct pt_prog_step *s, uint32_t thread)
{
    return (s->kind == PT_STEP_SPAWN || s->kind == PT_STEP_JOIN) && s->object == thread;
}

/* Whether `a` writes a variable that `b` accesses. */
static bool writes_into(const struct pt_program *p, const struct pt_prog_step *a, const struct pt_prog_step *b)
{
    const uint32_t *written = p->accesses + a->access_start + a->read_count;
    for (uint32_t i = 0; i < a->write_count; i++) {
        if (has(p->accesses + b->access_start, b->read_count + b->write_count, written[i]))
            return true;
    }
    return false;
}

static bool dependent(const struct pt_program *p, uint32_t x, uint32_t y)
{
    const struct pt_prog_step *a = &p->steps[x], *b = &p->steps[y];
    if (a->thread == b->thread || names_thread(a, b->thread) || names_thread(b, a->thread))
        return true;
    if (is_lock_step(a) && is_lock_step(b) && a->object == b->object)
        return true;
    return writes_into(p, a, b) || writes_into(p, b, a);
}

/* The run as a trace: row j has bit i where event i is causally before event j or is j. */
struct trace {
    const struct pt_program *program;
    const uint32_t *steps;
    uint32_t count;
    uint32_t words;
    uint64_t *below;
};

static bool is_below(const struct trace *t, uint32_t i, uint32_t j)
{
    return t->below[(size_t)j * t->words + i / 64] >> (i % 64) & 1;
}

static void make_trace(struct trace *t)
{
    t->words = t->count / 64 + 1;
    t->below = pt_xcalloc((size_t)t->count * t->words, sizeof *t->below);
    for (uint32_t j = 0; j < t->count; j++) {
        uint64_t *row = t->below + (size_t)j * t->words;
        row[j / 64] |= (uint64_t)1 << (j % 64);
        for (uint32_t i = j; i-- > 0;) {
            if (is_below(t, i, j) || !dependent(t->program, t->steps[i], t->steps[j]))
                continue;
            for (uint32_t w = 0; w < t->words; w++)
                row[w] |= t->below[(size_t)i * t->words + w];
        }
    }
}

/* Replays steps one by one; false: one of them could not happen. */
static bool replay(const struct pt_program *p, const uint32_t *steps, uint32_t count)
{
    uint32_t *node = pt_xmalloc((size_t)p->thread_count * sizeof *node);
    bool *held = pt_xcalloc(p->lock_count, sizeof *held), ok = true;
    for (uint32_t t = 0; t < p->thread_count; t++)
        node[t] = p->threads[t].spawned ? PT_NONE : p->threads[t].start;
    for (uint32_t i = 0; i < count && ok; i++) {
        const struct pt_prog_step *s = &p->steps[steps[i]];
        ok = node[s->thread] == s->from;
        node[s->thread] = s->to;
        switch ((enum pt_step_kind)s->kind) {
        case PT_STEP_ACQUIRE:
        case PT_STEP_RELEASE:
            ok = ok && held[s->object] == (s->kind == PT_STEP_RELEASE);
            held[s->object] = s->kind == PT_STEP_ACQUIRE;
            break;
        case PT_STEP_SPAWN:
            ok = ok && node[s->object] == PT_NONE;
            node[s->object] = p->threads[s->object].start;
            break;
        case PT_STEP_JOIN:
            ok = ok && node[s->object] != PT_NONE && node[s->object] == p->threads[s->object].stop;
            node[s->object] = PT_NONE;
            break;
        default:
            break;
        }
    }
    free(node);
    free(held);
    return ok;
}

/* Definition 3 of the paper, as its section 8 of the contract corrects it. The first f there is, PT_NONE: none. */
static uint32_t find_foreign(const struct trace *t, uint32_t block, uint32_t e1, uint32_t e2)
{
    const struct pt_program *p = t->program;
    const struct pt_prog_step *begin = &p->steps[t->steps[e1]];
    uint32_t thread = begin->thread;
    if (begin->kind != PT_STEP_BEGIN || begin->object != block || p->steps[t->steps[e2]].thread != thread)
        return PT_NONE;
    for (uint32_t i = e1; i <= e2; i++) {
        const struct pt_prog_step *s = &p->steps[t->steps[i]];
        if (s->thread == thread && s->kind == PT_STEP_END && s->object == block)
            return PT_NONE;
    }
    for (uint32_t f = e1; f < e2; f++) {
        if (p->steps[t->steps[f]].thread != thread && is_below(t, e1, f) && is_below(t, f, e2))
            return f;
    }
    return PT_NONE;
}

/* By event, how many others are causally before it. */
static uint32_t *count_causes(const struct trace *t)
{
    uint32_t *waits = pt_xcalloc(t->count, sizeof *waits);
    for (uint32_t j = 0; j < t->count; j++) {
        for (uint32_t w = 0; w < t->words; w++)
            waits[j] += (uint32_t)__builtin_popcountll(t->below[(size_t)j * t->words + w]);
        waits[j]--; /* itself */
    }
    return waits;
}

/* Another order of the events below `last`: stays with a thread as long as that is possible. Returns their number. */
static uint32_t reorder(const struct trace *t, uint32_t last, uint32_t *order)
{
    enum { PLACED = UINT32_MAX };
    uint32_t *waits = count_causes(t), n = 0, current = PT_NONE;
    for (;;) {
        uint32_t best = PT_NONE;
        for (uint32_t j = 0; j < t->count; j++) {
            if (waits[j] != 0 || !is_below(t, j, last))
                continue;
            bool stays = t->program->steps[t->steps[j]].thread == current;
            if (best == PT_NONE || stays)
                best = j;
            if (stays)
                break;
        }
        if (best == PT_NONE)
            break;
        waits[best] = PLACED;
        for (uint32_t j = best + 1; j < t->count; j++)
            waits[j] -= is_below(t, best, j);
        current = t->program->steps[t->steps[best]].thread;
        order[n++] = best;
    }
    free(waits);
    return n;
}

static void add_causes(const struct trace *t, const uint32_t *order, uint32_t at, struct pt_arena *arena,
                       struct pt_witness_event *event)
{
    uint32_t *causes = pt_xmalloc(((size_t)at + 1) * sizeof *causes), n = 0;
    for (uint32_t i = at; i-- > 0;) {
        bool immediate = is_below(t, order[i], order[at]);
        for (uint32_t k = 0; k < n && immediate; k++)
            immediate = !is_below(t, order[i], order[causes[k]]);
        if (immediate)
            causes[n++] = i;
    }
    event->cause_count = n;
    event->causes = pt_arena_alloc(arena, n * sizeof *causes);
    for (uint32_t k = 0; k < n; k++)
        event->causes[k] = causes[n - 1 - k];
    free(causes);
}

static void fill(const struct trace *t, const uint32_t *order, uint32_t count, uint32_t e1, uint32_t f,
                 struct pt_arena *arena, struct pt_witness *witness)
{
    *witness = (struct pt_witness){.count = count};
    witness->events = pt_arena_alloc(arena, count * sizeof *witness->events);
    for (uint32_t i = 0; i < count; i++) {
        struct pt_witness_event *event = &witness->events[i];
        event->step = t->steps[order[i]];
        add_causes(t, order, i, arena, event);
        if (order[i] == e1) {
            event->role = PT_WITNESS_BEGIN;
            witness->begin = i;
        } else if (order[i] == f) {
            event->role = PT_WITNESS_FOREIGN;
            witness->foreign = i;
        } else if (order[i] == t->count - 1) {
            event->role = PT_WITNESS_LATER;
            witness->later = i;
        }
    }
}

enum pt_status pt_witness_make(const struct pt_program *program, uint32_t block, const uint32_t *steps, uint32_t count,
                               uint32_t begin, struct pt_arena *arena, struct pt_witness *ret_witness,
                               struct pt_err *err)
{
    struct trace t = {.program = program, .steps = steps, .count = count};
    make_trace(&t);
    uint32_t *order = pt_xmalloc(count * sizeof *order), *shown = pt_xmalloc(count * sizeof *shown);
    uint32_t f = find_foreign(&t, block, begin, count - 1);
    uint32_t n = reorder(&t, count - 1, order);
    for (uint32_t i = 0; i < n; i++)
        shown[i] = steps[order[i]];
    bool ok = f != PT_NONE && replay(program, steps, count) && replay(program, shown, n);
    if (ok)
        fill(&t, order, n, begin, f, arena, ret_witness);
    free(t.below);
    free(order);
    free(shown);
    return ok ? PT_OK
              : pt_err_set(err, PT_EUSAGE,
                           "a witness failed its own check (this is a mistake in portent: please "
                           "report the program)");
}
