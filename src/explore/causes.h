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
/* Whether `step`, number j, depends on step i of another thread, and nothing that j's thread did before needs i: so
 * that it might come before i in another run. */
bool pt_explore_causes_clash(const struct pt_explore_causes *causes, uint32_t i, uint32_t j,
                             const struct pt_explore_step *step, uint32_t previous);
/* Of those the ones whose reversal has to be tried (exhaustive.c says why they are enough). */
bool pt_explore_causes_race(const struct pt_explore_causes *causes, uint32_t i, uint32_t j,
                            const struct pt_explore_step *step, uint32_t previous);
/* Of a race: threads that can be the first ones, in place of i, of a run that reverses it; one of them is to be tried
 * there. None: any that can go on may be needed. */
void pt_explore_causes_initials(const struct pt_explore_causes *causes, uint32_t i, uint32_t j,
                                const struct pt_explore_step *step, uint32_t previous,
                                struct pt_explore_set *ret_initials);

#endif
