/* How far an exhaustive exploration is. */
#ifndef PT_EXPLORE_EXHAUSTIVE_H
#define PT_EXPLORE_EXHAUSTIVE_H

#include "explore/tactic.h"

/* False: the tactic is none of these. */
bool pt_explore_exhaustive_progress(const struct pt_explore_tactic *tactic, struct pt_explore_progress *ret_progress);

/* As pt_explore_plans_ahead, of such a tactic; of another one none. */
uint32_t pt_explore_exhaustive_ahead(const struct pt_explore_tactic *tactic, struct pt_explore_plan *ret_plans,
                                     uint32_t most);

#endif
