/*
 * Outcomes by plan. A run follows from its plan and from what is a scheduling point, so it does not matter when it was
 * done, nor by which job. Guarantee: what is taken is what the same plan did. Cost: a comparison with each that is
 * kept.
 */
#include "explore/ahead.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MOST = 256 }; /* kept; those that nobody asks for would be for ever */

struct pt_explore_done {
    struct pt_explore_plan plan;
    struct pt_explore_outcome outcome;
};

static bool is_same(const struct pt_explore_plan *a, const struct pt_explore_plan *b)
{
    return a->input.prefix_count == b->input.prefix_count && a->input.wishes == b->input.wishes &&
           memcmp(&a->input.sleep, &b->input.sleep, sizeof a->input.sleep) == 0 &&
           (!a->input.prefix_count || memcmp(a->prefix, b->prefix, a->input.prefix_count * sizeof *a->prefix) == 0);
}

static uint32_t find(const struct pt_explore_ahead *ahead, const struct pt_explore_plan *plan)
{
    uint32_t i = 0;
    while (i < ahead->count && !is_same(&ahead->runs[i].plan, plan))
        i++;
    return i;
}

bool pt_explore_ahead_has(const struct pt_explore_ahead *ahead, const struct pt_explore_plan *plan)
{
    return find(ahead, plan) < ahead->count;
}

bool pt_explore_ahead_take(struct pt_explore_ahead *ahead, const struct pt_explore_plan *plan,
                           struct pt_explore_outcome *ret_outcome)
{
    uint32_t i = find(ahead, plan);
    if (i == ahead->count)
        return false;
    *ret_outcome = ahead->runs[i].outcome;
    pt_explore_plan_release(&ahead->runs[i].plan);
    ahead->runs[i] = ahead->runs[--ahead->count];
    return true;
}

void pt_explore_ahead_put(struct pt_explore_ahead *ahead, struct pt_explore_plan *plan,
                          struct pt_explore_outcome *outcome)
{
    struct pt_explore_done done = {*plan, *outcome};
    if (ahead->count == MOST)
        pt_explore_ahead_clear(ahead);
    PT_PUSH(ahead->runs, ahead->count, ahead->cap, done);
    plan->prefix = NULL;
    *outcome = (struct pt_explore_outcome){0};
}

void pt_explore_ahead_clear(struct pt_explore_ahead *ahead)
{
    for (uint32_t i = 0; i < ahead->count; i++) {
        pt_explore_plan_release(&ahead->runs[i].plan);
        pt_explore_outcome_release(&ahead->runs[i].outcome);
    }
    free(ahead->runs);
    *ahead = (struct pt_explore_ahead){0};
}
