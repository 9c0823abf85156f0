/* Automata of fairness formulas, written down without a tableau. */
#ifndef PT_LOGIC_LTL_FAIRNESS_H
#define PT_LOGIC_LTL_FAIRNESS_H

#include "logic/ltl/tgba.h"

/* Whether it is a positive combination of G F and F G of boolean formulas. */
bool pt_ltl_is_fairness(const struct pt_ltls *pool, pt_ltl formula);
/* State-based. NULL where the formula is none, or past the limits. */
struct pt_tgba *pt_tgba_of_fairness(struct pt_ltls *pool, pt_ltl formula, uint32_t state_limit);
/* The words of `rest` that are models of the fairness formula; `order` is that of pt_tgba_degeneralize. */
struct pt_tgba *pt_tgba_with_fairness(struct pt_ltls *pool, const struct pt_tgba *rest, pt_ltl formula, uint32_t order,
                                      uint32_t state_limit);

#endif
