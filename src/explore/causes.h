/* Which steps of a run happen before which: program order and dependence, as clocks. */
#ifndef PT_EXPLORE_CAUSES_H
#define PT_EXPLORE_CAUSES_H

#include "core/explore.h"
#include "explore/outcome.h"

struct pt_explore_causes {
    const struct pt_explore_step *steps; /* not owned */
    uint32_t count, threads;
    bool ends;        /* the last step ended the process: nothing can come after it, so it depends on everything */
    uint32_t *clocks; /* a row of `threads` for each step: how many steps of each thread happen before it, or are it */
    uint32_t *own;    /* how many its thread had, with this one */
    uint32_t *before; /* its thread's step before; UINT32_MAX: none */
};

/* Of an outcome with steps. May be called again; quadratic in the steps. */
void pt_explore_causes_count(struct pt_explore_causes *causes, const struct pt_explore_outcome *outcome);
void pt_explore_causes_release(struct pt_explore_causes *causes);

/* Whether step i depends on what `step` does, which is number j, or would be (j == count). */
bool pt_explore_causes_depend(const struct pt_explore_causes *causes, uint32_t i, uint32_t j,
                              const struct pt_explore_step *step);
static inline bool pt_explore_causes_before(const struct pt_explore_causes *causes, uint32_t i, uint32_t j)
{
    return i == j || (i < j && causes->clocks[(size_t)j * causes->threads + causes->steps[i].who] >= causes->own[i]);
}
/* The same of whatever follows `previous` (UINT32_MAX: nothing does) in its thread. */
static inline bool pt_explore_causes_known(const struct pt_explore_causes *causes, uint32_t i, uint32_t previous)
{
    return previous != UINT32_MAX && i <= previous && pt_explore_causes_before(causes, i, previous);
}
/*
 * Whether `step`, number j, could come before step i of another thread in another run: they depend, and nothing that
 * j's thread did before needs i. Without what only leads from i to j by way of others, unless j waits for something:
 * then who took that away counts.
 */
bool pt_explore_causes_race(const struct pt_explore_causes *causes, uint32_t i, uint32_t j,
                            const struct pt_explore_step *step, uint32_t previous);

#endif
