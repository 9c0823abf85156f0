/* The same failure with fewer switches between threads. */
#ifndef PT_EXPLORE_SHRINK_H
#define PT_EXPLORE_SHRINK_H

#include "explore/tactic.h"

struct pt_explore_shrink {
    /* Does one run; false: no more. The outcome is the caller's. */
    bool (*run)(void *context, const struct pt_explore_plan *plan, struct pt_explore_outcome *ret_outcome);
    /* NULL, or told of each run that did not fail, before it is released. */
    void (*passed)(void *context, const struct pt_explore_outcome *outcome);
    /* NULL: a failure with the key of the first. Else whether an outcome is the same failure. */
    bool (*same)(void *context, const struct pt_explore_outcome *outcome);
    void *context;
    const struct pt_explore_base *base;
    uint32_t runs; /* at most; how many are left */
};

/* `outcome` becomes that of the best schedule that fails in the same way. */
void pt_explore_shrink(struct pt_explore_shrink *shrink, struct pt_explore_outcome *outcome);

#endif
