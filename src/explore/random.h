/* For a strategy that mixes others: single plans of a random one. */
#ifndef PT_EXPLORE_RANDOM_H
#define PT_EXPLORE_RANDOM_H

#include "explore/tactic.h"

/* A round begins: what was learnt counts from now on. */
void pt_explore_random_round(struct pt_explore_tactic *tactic);
void pt_explore_random_plan(struct pt_explore_tactic *tactic, struct pt_explore_plan *ret_plan);

#endif
