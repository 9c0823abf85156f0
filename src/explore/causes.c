/*
 * Happens-before of a run by vector clocks over its steps, and which two steps race (core/explore_depend.h says what
 * depends). A wait that could not have been taken at step i is no race with it: it is one with the step that took away
 * what it waits for, which happens before it by way of the one that gave it back. So for steps that wait all candidates
 * count, not only those that come immediately before; that is more than needed, never less (Flanagan, Godefroid, POPL
 * 2005). Cost: quadratic in the steps, with few comparisons each since clocks know most of it already.
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

bool pt_explore_causes_race(const struct pt_explore_causes *c, uint32_t i, uint32_t j,
                            const struct pt_explore_step *step, uint32_t previous)
{
    const struct pt_explore_step *other = &c->steps[i];
    bool waits = pt_explore_kind_blocks(step->kind);
    if (other->who == step->who || pt_explore_causes_known(c, i, previous) ||
        !pt_explore_causes_depend(c, i, j, step) || pt_explore_enables(other, step))
        return false;
    bool stood = previous == UINT32_MAX || previous < i; /* it was about to do this at i already */
    if (stood && waits && !pt_explore_has(&other->enabled, step->who))
        return false;
    for (uint32_t k = i + 1; k < j && !waits; k++)
        if (pt_explore_causes_before(c, i, k) &&
            (pt_explore_causes_known(c, k, previous) || pt_explore_causes_depend(c, k, j, step)))
            return false;
    return true;
}
