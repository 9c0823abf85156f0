/* Runs that were done before anybody asked for them: what an exhaustive exploration will probably want next. */
#ifndef PT_EXPLORE_AHEAD_H
#define PT_EXPLORE_AHEAD_H

#include "explore/outcome.h"

struct pt_explore_ahead {
    struct pt_explore_done *runs;
    uint32_t count;
    size_t cap;
};

bool pt_explore_ahead_has(const struct pt_explore_ahead *ahead, const struct pt_explore_plan *plan);
/* What the very same plan did; false: nobody has run it. The outcome is the caller's. */
bool pt_explore_ahead_take(struct pt_explore_ahead *ahead, const struct pt_explore_plan *plan,
                           struct pt_explore_outcome *ret_outcome);
/* Takes both over. */
void pt_explore_ahead_put(struct pt_explore_ahead *ahead, struct pt_explore_plan *plan,
                          struct pt_explore_outcome *outcome);
/* What is a scheduling point has changed, or it is over. */
void pt_explore_ahead_clear(struct pt_explore_ahead *ahead);

#endif
