/*
 * Strategies against programs that are no processes (explore_toy.h). Exhaustive exploration is held against brute
 * force, which takes every thread in every state and counts classes by a normal form of its own: the lexicographically
 * least order of the same dependences, by the definition of what instructions do, not by core/explore_depend.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/table.h"
#include "explore_toy.h"
#include "explore/shrink.h"
#include "explore/tactic.h"

/* --- brute force --- */

struct event {
    uint32_t thread, pc;
    struct toy_instruction done;
};

enum { STEPS = 2 * TOY_THREADS * TOY_LENGTH };

struct brute {
    const struct toy_program *program;
    struct event path[STEPS];
    uint32_t length, bound; /* of preemptions */
    struct pt_strtab classes, failing;
    uint64_t runs;
};

enum group { NOTHING, MEMORY, LOCKS, SEMAPHORES, CONDITIONS, BARRIERS };

static enum group group_of(enum toy_op op)
{
    static const enum group groups[] = {
        [TOY_LOAD] = MEMORY,     [TOY_STORE] = MEMORY,    [TOY_ADD] = MEMORY,        [TOY_LOCK] = LOCKS,
        [TOY_TRY] = LOCKS,       [TOY_UNLOCK] = LOCKS,    [TOY_TAKE] = SEMAPHORES,   [TOY_POST] = SEMAPHORES,
        [TOY_WAIT] = CONDITIONS, [TOY_WAKE] = CONDITIONS, [TOY_SIGNAL] = CONDITIONS, [TOY_BROADCAST] = CONDITIONS,
        [TOY_ARRIVE] = BARRIERS, [TOY_LEAVE] = BARRIERS,  [TOY_EXIT] = NOTHING,      [TOY_TRY_TAKE] = SEMAPHORES};
    return groups[op];
}

/* The lock that is taken or given up; UINT32_MAX: none. */
static uint32_t lock_of(const struct toy_instruction *at)
{
    bool waits = at->op == TOY_WAIT || at->op == TOY_WAKE;
    return waits ? (uint32_t)at->value : group_of(at->op) == LOCKS ? at->object : UINT32_MAX;
}

/* `ends`: b ended the process. */
static bool ordered(const struct event *a, const struct event *b, bool ends)
{
    enum toy_op first = a->done.op, second = b->done.op;
    if (a->thread == b->thread || ends)
        return true;
    if (lock_of(&a->done) != UINT32_MAX && lock_of(&a->done) == lock_of(&b->done))
        return true;
    if (group_of(first) == NOTHING || group_of(first) != group_of(second) || a->done.object != b->done.object)
        return false;
    return !(first == TOY_LOAD && second == TOY_LOAD) && !(first == TOY_LEAVE && second == TOY_LEAVE);
}

/* The least order: always the lowest thread whose next event needs none that is left. */
static void normalise(const struct brute *b, bool ends, char *ret_text)
{
    bool used[STEPS] = {0};
    size_t len = 0;
    for (uint32_t n = 0; n < b->length; n++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < b->length; i++) {
            bool free_now = !used[i];
            for (uint32_t k = 0; k < i && free_now; k++)
                free_now = used[k] || !ordered(&b->path[k], &b->path[i], ends && i + 1 == b->length);
            if (free_now && (best == UINT32_MAX || b->path[i].thread < b->path[best].thread))
                best = i;
        }
        used[best] = true;
        len += (size_t)sprintf(ret_text + len, "%u.%u ", b->path[best].thread, b->path[best].pc);
    }
    ret_text[len] = '\0';
}

static void finish(struct brute *b, const struct toy_state *s)
{
    char text[STEPS * 16 + 1];
    bool left = false, stuck = false;
    for (uint32_t t = 0; t < b->program->threads; t++)
        left |= !toy_is_over(s, t);
    stuck = left && !s->aborted && !s->exited;
    normalise(b, s->aborted || s->exited, text);
    b->runs++;
    (void)pt_strtab_intern(&b->classes, text, strlen(text));
    if (s->aborted || stuck)
        (void)pt_strtab_intern(&b->failing, text, strlen(text));
}

static void enumerate(struct brute *b, const struct toy_state *s, uint32_t preempted)
{
    bool any = false;
    uint32_t last = b->length ? b->path[b->length - 1].thread : UINT32_MAX;
    for (uint32_t t = 0; t < b->program->threads; t++) {
        if (!toy_can(s, t))
            continue;
        any = true;
        uint32_t now = preempted + (last != UINT32_MAX && last != t && toy_can(s, last));
        if (now > b->bound || b->runs > 30000)
            continue;
        struct toy_state after = *s;
        b->path[b->length++] = (struct event){t, s->pc[t], toy_next(s, t)};
        toy_do(&after, t);
        enumerate(b, &after, now);
        b->length--;
    }
    if (!any)
        finish(b, s);
}

static void brute_force(struct brute *b, const struct toy_program *program, uint32_t bound)
{
    struct toy_state s;
    *b = (struct brute){.program = program, .bound = bound};
    pt_strtab_init(&b->classes);
    pt_strtab_init(&b->failing);
    toy_begin(&s, program);
    enumerate(b, &s, 0);
}

static void release(struct brute *b)
{
    pt_strtab_release(&b->classes);
    pt_strtab_release(&b->failing);
}

/* --- programs at random --- */

static uint32_t below(uint64_t *state, uint32_t limit)
{
    return (uint32_t)(pt_explore_random(state) % limit);
}

static uint32_t add_section(struct toy_instruction *code, uint32_t at, uint64_t *state)
{
    uint32_t lock = below(state, 2), object = below(state, 2);
    code[at++] = (struct toy_instruction){TOY_LOCK, lock, 0};
    if (below(state, 2))
        code[at++] = (struct toy_instruction){below(state, 2) ? TOY_ADD : TOY_LOAD, object, 0};
    if (below(state, 3) == 0)
        code[at++] = (struct toy_instruction){TOY_LOCK, 1 - lock, 0},
        code[at++] = (struct toy_instruction){TOY_UNLOCK, 1 - lock, 0};
    if (below(state, 6)) /* else it keeps it: others are stuck */
        code[at++] = (struct toy_instruction){TOY_UNLOCK, lock, 0};
    return at;
}

static uint32_t add_instruction(struct toy_instruction *code, uint32_t at, uint64_t *state)
{
    static const enum toy_op ops[] = {TOY_LOAD, TOY_STORE, TOY_ADD,  TOY_TAKE,    TOY_POST,
                                      TOY_BUMP, TOY_ABORT, TOY_SKIP, TOY_TRY_TAKE};
    enum toy_op op = ops[below(state, sizeof ops / sizeof *ops)];
    code[at++] = (struct toy_instruction){op, below(state, 2), 1 + (int)below(state, 2)};
    return at;
}

/* Of what waits and wakes: a wait (perhaps only if nothing was stored), signals with and without the lock, tries. */
static uint32_t add_meeting(struct toy_instruction *code, uint32_t at, uint64_t *state)
{
    uint32_t kind = below(state, 8), cond = below(state, 8) == 0;
    enum toy_op wake = below(state, 3) ? TOY_SIGNAL : TOY_BROADCAST;
    bool locks = kind < 3 || kind == 4;
    if (locks)
        code[at++] = (struct toy_instruction){TOY_LOCK, 0, 0};
    if (kind < 2)
        code[at++] = (struct toy_instruction){TOY_LOAD, 0, 0}, code[at++] = (struct toy_instruction){TOY_SKIP, 0, 1};
    if (kind < 3)
        code[at++] = (struct toy_instruction){TOY_WAIT, cond, 0};
    else if (kind < 6)
        code[at++] = (struct toy_instruction){wake, cond, 0};
    else if (kind == 6)
        code[at++] = (struct toy_instruction){TOY_ARRIVE, 0, 0};
    else
        code[at++] = (struct toy_instruction){TOY_TRY, 0, 0}, code[at++] = (struct toy_instruction){TOY_SKIP, 0, 0};
    if (locks || kind == 7)
        code[at++] = (struct toy_instruction){TOY_UNLOCK, 0, 0};
    return at;
}

static struct toy_program make_program(uint64_t seed)
{
    uint64_t state = pt_mix64(seed + 1);
    struct toy_program p = {.threads = 2 + below(&state, 2)};
    bool meets = below(&state, 2);
    p.tokens[0] = (int)below(&state, 2);
    p.tokens[1] = (int)below(&state, 2);
    for (uint32_t t = 0; t < p.threads; t++) {
        uint32_t length = 0, wanted = 1 + below(&state, p.threads == 2 ? 4 : 3);
        for (uint32_t i = 0; i < wanted && length + 7 < TOY_LENGTH; i++)
            length = meets && below(&state, 2) ? add_meeting(p.code[t], length, &state)
                     : below(&state, 4) == 0   ? add_section(p.code[t], length, &state)
                                               : add_instruction(p.code[t], length, &state);
        if (t == 0 && below(&state, 6) == 0)
            p.code[t][length++] = (struct toy_instruction){TOY_EXIT, 0, 0};
    }
    return p;
}

/* --- exhaustive --- */

struct explored {
    struct pt_explore_progress progress;
    uint64_t runs, failing, redundant;
};

static const struct pt_explore_expected ordinary = {0};
static uint64_t seeds = 3000, first_seed;

static struct explored exhaust(const struct toy_program *program, uint32_t bound)
{
    struct explored e = {0};
    struct pt_explore_places places;
    pt_explore_places_init(&places);
    struct pt_explore_base base = {.places = &places, .preemptions = bound, .expected = &ordinary};
    struct pt_explore_tactic *tactic = pt_explore_exhaustive_tactic(&base);
    struct pt_explore_plan plan;
    while (tactic->next(tactic, &plan, 1) && e.runs < 100000) {
        struct pt_explore_outcome outcome = toy_run(program, &plan);
        e.runs++;
        e.redundant += outcome.result.end == PT_EXPLORE_REDUNDANT;
        e.failing += pt_explore_failure(&outcome, &ordinary, &places).kind != PT_EXPLORE_FAILS_NONE;
        tactic->learn(tactic, &plan, &outcome);
        pt_explore_outcome_release(&outcome);
        pt_explore_plan_release(&plan);
    }
    assert_true(pt_explore_progress(tactic, &e.progress));
    tactic->free(tactic);
    pt_explore_places_release(&places);
    return e;
}

static void equals_brute_force(void **state)
{
    uint64_t compared = 0, runs = 0, all = 0, failing = 0;
    (void)state;
    for (uint64_t seed = first_seed; seed < first_seed + seeds; seed++) {
        struct toy_program program = make_program(seed);
        struct brute brute;
        brute_force(&brute, &program, UINT32_MAX);
        if (brute.runs <= 30000) {
            struct explored e = exhaust(&program, UINT32_MAX);
            if (!e.progress.complete || e.progress.classes != brute.classes.count ||
                (e.failing > 0) != (brute.failing.count > 0))
                fail_msg("seed %llu: %llu classes, not %u; complete %d; %llu fail, not %u", (unsigned long long)seed,
                         (unsigned long long)e.progress.classes, brute.classes.count, e.progress.complete,
                         (unsigned long long)e.failing, brute.failing.count);
            compared++;
            runs += e.runs;
            all += brute.classes.count;
            failing += brute.failing.count > 0;
        }
        release(&brute);
    }
    printf("%llu programs, %llu of them fail; %llu runs for %llu classes\n", (unsigned long long)compared,
           (unsigned long long)failing, (unsigned long long)runs, (unsigned long long)all);
    assert_true(compared > seeds / 2 && failing > seeds / 20);
}

/* What can be reached within the bound is reached. */
static void equals_brute_force_bounded(void **state)
{
    (void)state;
    for (uint64_t seed = first_seed; seed < first_seed + seeds / 2; seed++) {
        struct toy_program program = make_program(seed);
        for (uint32_t bound = 0; bound < 3; bound++) {
            struct brute brute;
            brute_force(&brute, &program, bound);
            if (brute.runs <= 30000) {
                struct explored e = exhaust(&program, bound);
                if (!e.progress.complete || e.progress.classes != brute.classes.count)
                    fail_msg("seed %llu, bound %u: %llu classes, not %u", (unsigned long long)seed, bound,
                             (unsigned long long)e.progress.classes, brute.classes.count);
            }
            release(&brute);
        }
    }
}

/* --- others --- */

/* Two increments that are no atomic ones, and a thread that looks. */
static const struct toy_program lost_update = {
    .threads = 3,
    .code = {{{TOY_LOAD, 0, 0}, {TOY_BUMP, 0, 0}, {TOY_STORE, 0, 0}, {TOY_POST, 0, 0}},
             {{TOY_LOAD, 0, 0}, {TOY_BUMP, 0, 0}, {TOY_STORE, 0, 0}, {TOY_POST, 0, 0}},
             {{TOY_TAKE, 0, 0}, {TOY_TAKE, 0, 0}, {TOY_LOAD, 0, 0}, {TOY_ABORT, 0, 1}}}};

static const struct toy_program crossing = {
    .threads = 2,
    .code = {{{TOY_LOCK, 0, 0}, {TOY_LOCK, 1, 0}, {TOY_UNLOCK, 1, 0}, {TOY_UNLOCK, 0, 0}},
             {{TOY_LOCK, 1, 0}, {TOY_LOCK, 0, 0}, {TOY_UNLOCK, 0, 0}, {TOY_UNLOCK, 1, 0}}}};

/* How many runs until the first failure. */
static uint64_t runs_to_failure(const struct toy_program *program, struct pt_explore_tactic *tactic,
                                struct pt_explore_places *places, struct pt_explore_outcome *ret_outcome)
{
    struct pt_explore_plan plans[16];
    for (uint64_t runs = 0; runs < 1000;) {
        uint32_t count = tactic->next(tactic, plans, 16);
        bool failed = false;
        for (uint32_t i = 0; i < count; i++) {
            struct pt_explore_outcome outcome = toy_run(program, &plans[i]);
            tactic->learn(tactic, &plans[i], &outcome);
            runs += !failed;
            if (!failed && pt_explore_failure(&outcome, &ordinary, places).kind != PT_EXPLORE_FAILS_NONE) {
                failed = true;
                *ret_outcome = outcome;
            } else {
                pt_explore_outcome_release(&outcome);
            }
            pt_explore_plan_release(&plans[i]);
        }
        if (failed)
            return runs;
        if (!count)
            break;
    }
    return UINT64_MAX;
}

static struct pt_explore_tactic *make_tactic(unsigned which, const struct pt_explore_base *base)
{
    switch (which) {
    case 0:
        return pt_explore_auto_tactic(base);
    case 1:
        return pt_explore_steer_tactic(base);
    case 2:
        return pt_explore_exhaustive_tactic(base);
    default:
        return pt_explore_random_tactic(base, (enum pt_explore_strategy_kind)(which - 2));
    }
}

static bool try_again(void *context, const struct pt_explore_plan *plan, struct pt_explore_outcome *ret_outcome)
{
    *ret_outcome = toy_run(context, plan);
    return true;
}

static void all_find_and_shrink(void **state)
{
    static const struct {
        const struct toy_program *program;
        uint32_t switches;
    } cases[] = {{&lost_update, 3}, {&crossing, 2}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (unsigned which = 0; which < 6; which++) {
            struct pt_explore_places places;
            struct pt_explore_outcome failing = {0};
            pt_explore_places_init(&places);
            struct pt_explore_base base = {
                .places = &places, .preemptions = UINT32_MAX, .seed = 7, .expected = &ordinary};
            base.input.wishes = PT_EXPLORE_LOGS;
            struct pt_explore_tactic *tactic = make_tactic(which, &base);
            uint64_t runs = runs_to_failure(cases[c].program, tactic, &places, &failing);
            if (runs > 300)
                fail_msg("case %zu: %s needs %llu runs", c, tactic->name, (unsigned long long)runs);
            struct pt_explore_shrink shrink = {
                .run = try_again, .context = (void *)(uintptr_t)cases[c].program, .base = &base, .runs = 500};
            pt_explore_shrink(&shrink, &failing);
            assert_int_equal(pt_explore_failure(&failing, &ordinary, &places).kind,
                             c ? PT_EXPLORE_FAILS_DEADLOCK : PT_EXPLORE_FAILS_SIGNAL);
            if (failing.taken_count > cases[c].switches + 1)
                fail_msg("case %zu, %s: shrunk to %u switches", c, tactic->name, failing.taken_count - 1);
            pt_explore_outcome_release(&failing);
            tactic->free(tactic);
            pt_explore_places_release(&places);
        }
    }
}

/* test_explore_tactic [SEEDS [FIRST]] */
int main(int argc, char **argv)
{
    seeds = argc > 1 ? strtoull(argv[1], NULL, 10) : seeds;
    first_seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_brute_force),
        cmocka_unit_test(equals_brute_force_bounded),
        cmocka_unit_test(all_find_and_shrink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
