/* Automata of fairness formulas, written down without a tableau. */
#ifndef PT_LOGIC_LTL_FAIRNESS_H
#define PT_LOGIC_LTL_FAIRNESS_H

#include "logic/ltl/tgba.h"

/* State-based. NULL where the formula is no positive combination of G F and F G of boolean formulas, or past the
 * limits. */
struct pt_tgba *pt_tgba_of_fairness(struct pt_ltls *pool, pt_ltl formula, uint32_t state_limit);

#endif
