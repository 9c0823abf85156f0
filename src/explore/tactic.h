/*
 * Strategies of more than one run: each hands out plans and learns from what they did. They run nothing themselves, so
 * that tests can drive them with programs that are no processes.
 */
#ifndef PT_EXPLORE_TACTIC_H
#define PT_EXPLORE_TACTIC_H

#include "explore/outcome.h"
#include "explore/places.h"

/* What all of them start from. */
struct pt_explore_base {
    struct pt_explore_input input; /* of every run: limits and wishes */
    uint64_t seed;
    struct pt_explore_places *places;
    uint32_t preemptions; /* of exhaustive: at most so many; UINT32_MAX: any number */
    const struct pt_explore_expected *expected;
};

struct pt_explore_tactic {
    const char *name;
    /* At most `most` plans for the next round; none: it has nothing to try any more. The caller releases them. */
    uint32_t (*next)(struct pt_explore_tactic *tactic, struct pt_explore_plan *ret_plans, uint32_t most);
    /* In order of the runs. The outcome is not kept. */
    void (*learn)(struct pt_explore_tactic *tactic, const struct pt_explore_plan *plan,
                  const struct pt_explore_outcome *outcome);
    void (*free)(struct pt_explore_tactic *tactic);
};

/* Of the lengths and threads of earlier runs; shared by random, pct and surw. */
struct pt_explore_tactic *pt_explore_random_tactic(const struct pt_explore_base *base,
                                                   enum pt_explore_strategy_kind strategy);
/* All schedules up to the order of independent steps. */
struct pt_explore_tactic *pt_explore_exhaustive_tactic(const struct pt_explore_base *base);
/* Conflicting steps of earlier runs, swapped, and what a caller adds. */
struct pt_explore_tactic *pt_explore_steer_tactic(const struct pt_explore_base *base);
/* All of these. */
struct pt_explore_tactic *pt_explore_auto_tactic(const struct pt_explore_base *base);

/* Of an exhaustive tactic, or the one that an automatic one has: how far it is. */
struct pt_explore_progress {
    bool complete;    /* all schedules were explored, and what is shared has not grown since */
    uint64_t classes; /* inequivalent schedules that ended, in this pass */
    uint64_t passes;
    const char *missing; /* why it is not complete; NULL: it is only not finished */
};
bool pt_explore_progress(const struct pt_explore_tactic *tactic, struct pt_explore_progress *ret_progress);

/* Behind a plan that is under way: others that it may hand out later, as they would be now. The caller releases them.
 */
uint32_t pt_explore_plans_ahead(const struct pt_explore_tactic *tactic, struct pt_explore_plan *ret_plans,
                                uint32_t most);

/* A schedule to try, of a steering tactic (or the one that an automatic one has): these stretches first. */
void pt_explore_steer_add(struct pt_explore_tactic *tactic, const struct pt_explore_stretch *stretches, uint32_t count);

#endif
