/*
 * Happens-before of a run by vector clocks over its steps, and which two steps race (core/explore_depend.h says what
 * depends). Cost: quadratic in the steps, with few comparisons each since clocks know most of it already.
 */
#include "explore/causes.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/explore_depend.h"

static uint32_t *row(const struct pt_explore_causes *c, uint32_t step)
{
    return c->clocks + (size_t)step * c->threads;
}

static bool is_last(const struct pt_explore_causes *c, uint32_t step)
{
    return c->ends && step + 1 == c->count;
}

bool pt_explore_causes_depend(const struct pt_explore_causes *c, uint32_t i, uint32_t j,
                              const struct pt_explore_step *step)
{
    return is_last(c, i) || is_last(c, j) || pt_explore_depends(&c->steps[i], step);
}

static void join(const struct pt_explore_causes *c, uint32_t *clock, uint32_t step)
{
    for (uint32_t t = 0; t < c->threads; t++)
        if (row(c, step)[t] > clock[t])
            clock[t] = row(c, step)[t];
}

static void count_step(struct pt_explore_causes *c, uint32_t j, uint32_t last[PT_EXPLORE_THREADS])
{
    uint32_t *clock = row(c, j), who = c->steps[j].who;
    c->before[j] = last[who];
    c->own[j] = last[who] == UINT32_MAX ? 1 : c->own[last[who]] + 1;
    memset(clock, 0, c->threads * sizeof *clock);
    if (last[who] != UINT32_MAX)
        join(c, clock, last[who]);
    clock[who] = c->own[j];
    for (uint32_t i = j; i-- > 0;)
        if (clock[c->steps[i].who] < c->own[i] && pt_explore_causes_depend(c, i, j, &c->steps[j]))
            join(c, clock, i);
    last[who] = j;
}

void pt_explore_causes_count(struct pt_explore_causes *c, const struct pt_explore_outcome *outcome)
{
    uint32_t last[PT_EXPLORE_THREADS];
    size_t n = outcome->step_count;
    c->steps = outcome->steps;
    c->count = outcome->step_count;
    c->ends = pt_explore_outcome_is_over(outcome);
    c->threads = outcome->thread_count ? outcome->thread_count : 1;
    for (uint32_t i = 0; i < c->count; i++)
        if (c->steps[i].who >= c->threads)
            c->threads = c->steps[i].who + 1;
    c->clocks = pt_xrealloc(c->clocks, (n + 1) * c->threads * sizeof *c->clocks);
    c->own = pt_xrealloc(c->own, (n + 1) * sizeof *c->own);
    c->before = pt_xrealloc(c->before, (n + 1) * sizeof *c->before);
    memset(last, 0xff, sizeof last);
    for (uint32_t j = 0; j < c->count; j++)
        count_step(c, j, last);
}

void pt_explore_causes_release(struct pt_explore_causes *c)
{
    free(c->clocks);
    free(c->own);
    free(c->before);
    *c = (struct pt_explore_causes){0};
}

bool pt_explore_causes_clash(const struct pt_explore_causes *c, uint32_t i, uint32_t j,
                             const struct pt_explore_step *step, uint32_t previous)
{
    const struct pt_explore_step *other = &c->steps[i];
    return other->who != step->who && !pt_explore_causes_known(c, i, previous) &&
           pt_explore_causes_depend(c, i, j, step) && !pt_explore_enables(other, step);
}

/* Whatever lets it go on depends on whatever keeps it from that: both write the one object that it waits for. A wait
 * for a condition needs the mutex, too. */
static bool waits_for_one(enum pt_explore_kind kind)
{
    return kind != PT_EXPLORE_WAKE;
}

bool pt_explore_causes_race(const struct pt_explore_causes *c, uint32_t i, uint32_t j,
                            const struct pt_explore_step *step, uint32_t previous)
{
    if (!pt_explore_causes_clash(c, i, j, step, previous))
        return false;
    bool stood = previous == UINT32_MAX || previous < i; /* it was about to do this at i already */
    if (pt_explore_kind_blocks(step->kind))
        return !stood || !waits_for_one(step->kind) || pt_explore_has(&c->steps[i].enabled, step->who);
    for (uint32_t k = i + 1; k < j; k++)
        if (pt_explore_causes_before(c, i, k) &&
            (pt_explore_causes_known(c, k, previous) || pt_explore_causes_depend(c, k, j, step)))
            return false;
    return true;
}

/* Those of the steps k between i and `until` count that i does not happen before; with `past`, of these only those that
 * happen before what follows `previous` in its thread. */
static bool counts(const struct pt_explore_causes *c, uint32_t i, uint32_t k, uint32_t previous, bool past)
{
    return !pt_explore_causes_before(c, i, k) && (!past || pt_explore_causes_known(c, k, previous));
}

void pt_explore_causes_initials(const struct pt_explore_causes *c, uint32_t i, uint32_t j,
                                const struct pt_explore_step *step, uint32_t previous,
                                struct pt_explore_set *ret_initials)
{
    struct pt_explore_set seen = {0};
    bool past = pt_explore_kind_blocks(step->kind) && !waits_for_one(step->kind);
    bool first = !past; /* the step itself */
    for (uint32_t k = i + 1; k < j; k++) {
        uint32_t who = c->steps[k].who;
        if (!counts(c, i, k, previous, past))
            continue;
        first &= !pt_explore_causes_known(c, k, previous) && !pt_explore_causes_depend(c, k, j, step);
        if (pt_explore_has(&seen, who))
            continue;
        pt_explore_add(&seen, who);
        bool initial = true;
        for (uint32_t m = i + 1; m < k && initial; m++)
            initial = !counts(c, i, m, previous, past) || !pt_explore_causes_before(c, m, k);
        if (initial)
            pt_explore_add(ret_initials, who);
    }
    if (first && !pt_explore_has(&seen, step->who))
        pt_explore_add(ret_initials, step->who);
}
