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

enum { TOY_THREADS = 4, TOY_LENGTH = 16, TOY_OBJECTS = 4 };

enum toy_op {
    TOY_END,
    TOY_LOAD,  /* r = x */
    TOY_STORE, /* x = r */
    TOY_ADD,   /* x += 1, atomically */
    TOY_LOCK,
    TOY_UNLOCK,
    TOY_TAKE, /* semaphore */
    TOY_POST,
    TOY_TRY_TAKE,  /* r = whether there was one */
    TOY_TRY,       /* r = whether it got the lock */
    TOY_WAIT,      /* for a condition, with lock `value` */
    TOY_WAKE,      /* is in no program: what a thread that waits does next */
    TOY_SIGNAL,    /* wakes one of those that wait now, whoever is first */
    TOY_BROADCAST, /* all of them */
    TOY_ARRIVE,    /* at a barrier of all threads */
    TOY_LEAVE,     /* is in no program */
    TOY_BUMP,      /* r++: nobody sees it */
    TOY_ABORT,     /* if r == value: the process ends, signal 6 */
    TOY_SKIP,      /* if r == value: leave out the next instruction */
    TOY_EXIT,      /* the process ends, status 0 */
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
    bool waits[TOY_THREADS], left[TOY_THREADS]; /* it has begun to wait; its barrier is complete */
    uint8_t signals[TOY_OBJECTS][TOY_THREADS];  /* sets of those that may take one, by age */
    uint32_t signal_count[TOY_OBJECTS];
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

/* What it does next. */
static inline struct toy_instruction toy_next(const struct toy_state *s, uint32_t t)
{
    struct toy_instruction at = s->program->code[t][s->pc[t]];
    if (s->waits[t])
        at.op = at.op == TOY_WAIT ? TOY_WAKE : TOY_LEAVE;
    return at;
}

/* Those that wait for a condition or at a barrier. */
static inline uint8_t toy_waiting(const struct toy_state *s, enum toy_op op, uint32_t object)
{
    uint8_t set = 0;
    for (uint32_t t = 0; t < s->program->threads; t++)
        if (s->waits[t] && !s->left[t] && toy_next(s, t).op == op && toy_next(s, t).object == object)
            set |= (uint8_t)(1U << t);
    return set;
}

/* The oldest signal that it may take; as many as there are: none. */
static inline uint32_t toy_signal_for(const struct toy_state *s, uint32_t t, uint32_t object)
{
    uint32_t i = 0;
    while (i < s->signal_count[object] && !(s->signals[object][i] >> t & 1))
        i++;
    return i;
}

static inline bool toy_can(const struct toy_state *s, uint32_t t)
{
    struct toy_instruction at = toy_next(s, t);
    if (s->aborted || s->exited)
        return false;
    switch (at.op) {
    case TOY_END:
        return false;
    case TOY_LOCK:
        return s->owner[at.object] < 0;
    case TOY_TAKE:
        return s->tokens[at.object] > 0;
    case TOY_WAKE:
        return s->owner[at.value] < 0 && toy_signal_for(s, t, at.object) < s->signal_count[at.object];
    case TOY_LEAVE:
        return s->left[t];
    default:
        return true;
    }
}

static inline void toy_begin_waiting(struct toy_state *s, uint32_t t, const struct toy_instruction *at)
{
    s->pc[t]--;
    s->waits[t] = true;
    if (at->op == TOY_WAIT) {
        s->owner[at->value] = -1;
        return;
    }
    uint8_t there = toy_waiting(s, TOY_LEAVE, at->object);
    for (uint32_t other = 0; other < s->program->threads; other++)
        s->left[other] |= (uint32_t)__builtin_popcount(there) == s->program->threads && there >> other & 1;
}

static inline void toy_stop_waiting(struct toy_state *s, uint32_t t, const struct toy_instruction *at)
{
    s->waits[t] = s->left[t] = false;
    if (at->op == TOY_LEAVE)
        return;
    uint8_t *sets = s->signals[at->object];
    uint32_t taken = toy_signal_for(s, t, at->object);
    s->signal_count[at->object]--;
    memmove(sets + taken, sets + taken + 1, s->signal_count[at->object] - taken);
    for (uint32_t i = 0; i < s->signal_count[at->object]; i++)
        sets[i] &= (uint8_t) ~(1U << t);
    s->owner[at->value] = (int)t;
}

static inline void toy_wake(struct toy_state *s, const struct toy_instruction *at)
{
    uint8_t there = toy_waiting(s, TOY_WAKE, at->object), *sets = s->signals[at->object];
    uint32_t *count = &s->signal_count[at->object];
    if (at->op == TOY_SIGNAL) {
        if (*count < (uint32_t)__builtin_popcount(there))
            sets[(*count)++] = there;
        return;
    }
    *count = 0;
    for (uint32_t t = 0; t < s->program->threads; t++)
        if (there >> t & 1)
            sets[(*count)++] = (uint8_t)(1U << t);
}

static inline void toy_do(struct toy_state *s, uint32_t t)
{
    struct toy_instruction next = toy_next(s, t);
    const struct toy_instruction *at = &next;
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
    case TOY_TRY:
        s->r[t] = s->owner[at->object] < 0;
        if (!s->r[t])
            break;
        /* fallthrough */
    case TOY_LOCK:
        s->owner[at->object] = (int)t;
        break;
    case TOY_UNLOCK:
        s->owner[at->object] = -1;
        break;
    case TOY_TRY_TAKE:
        s->r[t] = s->tokens[at->object] > 0;
        s->tokens[at->object] -= s->r[t];
        break;
    case TOY_TAKE:
        s->tokens[at->object]--;
        break;
    case TOY_POST:
        s->tokens[at->object]++;
        break;
    case TOY_WAIT:
    case TOY_ARRIVE:
        toy_begin_waiting(s, t, at);
        return;
    case TOY_WAKE:
    case TOY_LEAVE:
        toy_stop_waiting(s, t, at);
        break;
    case TOY_SIGNAL:
    case TOY_BROADCAST:
        toy_wake(s, at);
        break;
    default:
        s->exited = true;
    }
    toy_settle(s, t);
}

/* What a thread is about to do, as the table has it. */
static inline struct pt_explore_step toy_step(const struct toy_state *s, uint32_t t)
{
    static const struct {
        uint16_t kind, base;
    } table[] = {[TOY_END] = {PT_EXPLORE_END, 0},
                 [TOY_LOAD] = {PT_EXPLORE_LOAD, 0x1000},
                 [TOY_STORE] = {PT_EXPLORE_STORE, 0x1000},
                 [TOY_ADD] = {PT_EXPLORE_ATOMIC_UPDATE, 0x1000},
                 [TOY_LOCK] = {PT_EXPLORE_LOCK, 0x2000},
                 [TOY_TRY] = {PT_EXPLORE_TRY_LOCK, 0x2000},
                 [TOY_UNLOCK] = {PT_EXPLORE_UNLOCK, 0x2000},
                 [TOY_TAKE] = {PT_EXPLORE_SEM_WAIT, 0x3000},
                 [TOY_TRY_TAKE] = {PT_EXPLORE_SEM_TRY, 0x3000},
                 [TOY_POST] = {PT_EXPLORE_SEM_POST, 0x3000},
                 [TOY_WAIT] = {PT_EXPLORE_WAIT, 0x4000},
                 [TOY_WAKE] = {PT_EXPLORE_WAKE, 0x4000},
                 [TOY_SIGNAL] = {PT_EXPLORE_SIGNAL, 0x4000},
                 [TOY_BROADCAST] = {PT_EXPLORE_BROADCAST, 0x4000},
                 [TOY_ARRIVE] = {PT_EXPLORE_ARRIVE, 0x5000},
                 [TOY_LEAVE] = {PT_EXPLORE_LEAVE, 0x5000},
                 [TOY_EXIT] = {PT_EXPLORE_FENCE, 0}};
    struct toy_instruction at = toy_next(s, t);
    bool waits = at.op == TOY_WAIT || at.op == TOY_WAKE;
    return (struct pt_explore_step){.who = t,
                                    .kind = table[at.op].kind,
                                    .size = table[at.op].base == 0x1000 ? 8 : 0,
                                    .object = table[at.op].base + 16 * (uint64_t)at.object,
                                    .other = waits ? 0x2000 + 16 * (uint64_t)at.value : 0,
                                    .own = s->pc[t]};
}

static inline void toy_tell(const struct toy_state *s, struct pt_explore_outcome *o)
{
    for (uint32_t t = 0; t < s->program->threads; t++) {
        struct pt_explore_step step = toy_step(s, t);
        o->threads[t].kind = step.kind;
        o->threads[t].object = step.object;
        o->threads[t].other = step.other;
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
    enum { MOST = 2 * TOY_THREADS * TOY_LENGTH + 1 };
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
