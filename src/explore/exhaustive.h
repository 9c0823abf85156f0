/* How far an exhaustive exploration is. */
#ifndef PT_EXPLORE_EXHAUSTIVE_H
#define PT_EXPLORE_EXHAUSTIVE_H

#include "explore/tactic.h"

/* False: the tactic is none of these. */
bool pt_explore_exhaustive_progress(const struct pt_explore_tactic *tactic, struct pt_explore_progress *ret_progress);

#endif
