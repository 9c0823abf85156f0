/*
 * Programs that are no processes, for tests of strategies: threads are lists of instructions, and a run fills the same
 * tables that a controlled program fills, by the same picker (core/explore_pick.h).
 */
#ifndef PT_TEST_EXPLORE_TOY_H
#define PT_TEST_EXPLORE_TOY_H

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/explore_depend.h"
#include "core/explore_pick.h"
#include "explore/outcome.h"

enum { TOY_THREADS = 4, TOY_LENGTH = 12, TOY_OBJECTS = 4 };

enum toy_op {
    TOY_END,
    TOY_LOAD,  /* r = x */
    TOY_STORE, /* x = r */
    TOY_ADD,   /* x += 1, atomically */
    TOY_LOCK,
    TOY_UNLOCK,
    TOY_TAKE, /* semaphore */
    TOY_POST,
    TOY_BUMP,  /* r++: nobody sees it */
    TOY_ABORT, /* if r == value: the process ends, signal 6 */
    TOY_SKIP,  /* if r == value: leave out the next instruction */
    TOY_EXIT,  /* the process ends, status 0 */
};

struct toy_instruction {
    enum toy_op op;
    uint32_t object;
    int value;
};

struct toy_program {
    uint32_t threads;
    struct toy_instruction code[TOY_THREADS][TOY_LENGTH + 1];
    int tokens[TOY_OBJECTS]; /* of semaphores, at the beginning */
};

struct toy_state {
    const struct toy_program *program;
    uint32_t pc[TOY_THREADS];
    int r[TOY_THREADS], memory[TOY_OBJECTS], tokens[TOY_OBJECTS], owner[TOY_OBJECTS]; /* owner: -1 none */
    bool aborted, exited;
};

static inline bool toy_is_visible(enum toy_op op)
{
    return op != TOY_BUMP && op != TOY_ABORT && op != TOY_SKIP;
}

/* Whatever nobody sees. */
static inline void toy_settle(struct toy_state *s, uint32_t t)
{
    for (;;) {
        const struct toy_instruction *at = &s->program->code[t][s->pc[t]];
        if (toy_is_visible(at->op) || s->aborted)
            return;
        s->pc[t]++;
        if (at->op == TOY_BUMP)
            s->r[t]++;
        else if (at->op == TOY_ABORT)
            s->aborted = s->r[t] == at->value;
        else if (s->r[t] == at->value && s->program->code[t][s->pc[t]].op != TOY_END)
            s->pc[t]++;
    }
}

static inline void toy_begin(struct toy_state *s, const struct toy_program *program)
{
    *s = (struct toy_state){.program = program};
    memcpy(s->tokens, program->tokens, sizeof s->tokens);
    for (unsigned i = 0; i < TOY_OBJECTS; i++)
        s->owner[i] = -1;
    for (uint32_t t = 0; t < program->threads; t++)
        toy_settle(s, t);
}

static inline bool toy_is_over(const struct toy_state *s, uint32_t t)
{
    return s->program->code[t][s->pc[t]].op == TOY_END;
}

static inline bool toy_can(const struct toy_state *s, uint32_t t)
{
    const struct toy_instruction *at = &s->program->code[t][s->pc[t]];
    if (at->op == TOY_END || s->aborted || s->exited)
        return false;
    if (at->op == TOY_LOCK)
        return s->owner[at->object] < 0;
    return at->op != TOY_TAKE || s->tokens[at->object] > 0;
}

static inline void toy_do(struct toy_state *s, uint32_t t)
{
    const struct toy_instruction *at = &s->program->code[t][s->pc[t]];
    s->pc[t]++;
    switch (at->op) {
    case TOY_LOAD:
        s->r[t] = s->memory[at->object];
        break;
    case TOY_STORE:
        s->memory[at->object] = s->r[t];
        break;
    case TOY_ADD:
        s->memory[at->object]++;
        break;
    case TOY_LOCK:
        s->owner[at->object] = (int)t;
        break;
    case TOY_UNLOCK:
        s->owner[at->object] = -1;
        break;
    case TOY_TAKE:
        s->tokens[at->object]--;
        break;
    case TOY_POST:
        s->tokens[at->object]++;
        break;
    default:
        s->exited = true;
    }
    toy_settle(s, t);
}

/* What a thread is about to do, as the table has it. */
static inline struct pt_explore_step toy_step(const struct toy_state *s, uint32_t t)
{
    static const uint16_t kinds[] = {
        [TOY_END] = PT_EXPLORE_END,           [TOY_LOAD] = PT_EXPLORE_LOAD,     [TOY_STORE] = PT_EXPLORE_STORE,
        [TOY_ADD] = PT_EXPLORE_ATOMIC_UPDATE, [TOY_LOCK] = PT_EXPLORE_LOCK,     [TOY_UNLOCK] = PT_EXPLORE_UNLOCK,
        [TOY_TAKE] = PT_EXPLORE_SEM_WAIT,     [TOY_POST] = PT_EXPLORE_SEM_POST, [TOY_EXIT] = PT_EXPLORE_FENCE};
    const struct toy_instruction *at = &s->program->code[t][s->pc[t]];
    bool memory = at->op == TOY_LOAD || at->op == TOY_STORE || at->op == TOY_ADD;
    uint64_t base = memory ? 0x1000 : at->op == TOY_LOCK || at->op == TOY_UNLOCK ? 0x2000 : 0x3000;
    return (struct pt_explore_step){.who = t,
                                    .kind = kinds[at->op],
                                    .size = memory ? 8 : 0,
                                    .object = base + 16 * (uint64_t)at->object,
                                    .own = s->pc[t]};
}

static inline void toy_tell(const struct toy_state *s, struct pt_explore_outcome *o)
{
    for (uint32_t t = 0; t < s->program->threads; t++) {
        struct pt_explore_step step = toy_step(s, t);
        o->threads[t].kind = step.kind;
        o->threads[t].object = step.object;
        o->threads[t].line = t + 1;
        o->threads[t].owner = PT_EXPLORE_NO_SLOT;
        if (step.kind == PT_EXPLORE_LOCK && s->owner[s->program->code[t][s->pc[t]].object] >= 0)
            o->threads[t].owner = (uint32_t)s->owner[s->program->code[t][s->pc[t]].object];
        o->threads[t].state = toy_is_over(s, t)                          ? PT_EXPLORE_ENDED
                              : toy_can(s, t) || s->aborted || s->exited ? PT_EXPLORE_READY
                                                                         : PT_EXPLORE_BLOCKED;
    }
}

static inline void toy_take(struct pt_explore_outcome *o, uint32_t who)
{
    if (o->taken_count && o->taken[o->taken_count - 1].who == who)
        o->taken[o->taken_count - 1].steps++;
    else
        o->taken[o->taken_count++] = (struct pt_explore_stretch){who, 1};
}

/* One run. */
static inline struct pt_explore_outcome toy_run(const struct toy_program *program, const struct pt_explore_plan *plan)
{
    enum { MOST = TOY_THREADS * TOY_LENGTH + 1 };
    struct pt_explore_outcome o = {.done = true, .started = true};
    static struct pt_explore_picker picker; /* large */
    struct toy_state s;
    o.steps = pt_xcalloc(MOST, sizeof *o.steps);
    o.taken = pt_xcalloc(MOST, sizeof *o.taken);
    o.threads = pt_xcalloc(TOY_THREADS, sizeof *o.threads);
    o.thread_count = program->threads;
    toy_begin(&s, program);
    pt_explore_pick_begin(&picker, &plan->input, plan->prefix, plan->weights);
    for (uint32_t t = 0; t < program->threads; t++)
        pt_explore_pick_thread(&picker, t, t ? 0 : PT_EXPLORE_NO_SLOT, t + 1);
    uint32_t current = 0;
    for (;;) {
        struct pt_explore_set enabled = {0}, none = {0};
        struct pt_explore_step next[TOY_THREADS];
        for (uint32_t t = 0; t < program->threads; t++) {
            next[t] = toy_step(&s, t);
            if (toy_can(&s, t))
                pt_explore_add(&enabled, t);
        }
        if (pt_explore_is_empty(&enabled))
            break;
        struct pt_explore_view view = {&enabled, &none, &none, &none, next, current, o.step_count};
        uint32_t slot = pt_explore_pick(&picker, &view);
        if (slot == PT_EXPLORE_NO_SLOT) {
            o.result.end = picker.why;
            break;
        }
        next[slot].enabled = enabled;
        o.steps[o.step_count++] = next[slot];
        toy_take(&o, slot);
        toy_do(&s, slot);
        current = slot;
    }
    toy_tell(&s, &o);
    o.result.diverged_at = picker.diverged_at;
    o.result.step_count = o.step_count;
    o.result.taken_count = o.taken_count;
    o.wait_status = s.aborted ? 6 : 0;
    bool left = false;
    for (uint32_t t = 0; t < program->threads; t++)
        left |= !toy_is_over(&s, t);
    if (!s.aborted && !s.exited && !o.result.end)
        o.result.end = left ? PT_EXPLORE_STUCK : PT_EXPLORE_BODY;
    return o;
}

#endif
