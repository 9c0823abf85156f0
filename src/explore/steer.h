/* For a strategy that mixes others: what steering has left to try. */
#ifndef PT_EXPLORE_STEER_H
#define PT_EXPLORE_STEER_H

#include "explore/tactic.h"

uint32_t pt_explore_steer_waiting(const struct pt_explore_tactic *tactic);
/* To be tried first. */
void pt_explore_steer_put(struct pt_explore_tactic *tactic, const struct pt_explore_stretch *stretches, uint32_t count);

#endif
