/* Past inside future: an automaton over past-time formulas, made one over the atoms. */
#ifndef PT_LOGIC_MONITOR_PRODUCT_H
#define PT_LOGIC_MONITOR_PRODUCT_H

#include "logic/automaton/automaton.h"

/*
 * `aut` reads propositions of which number i means the future-free formula meaning[i] of `pool`. Returns the automaton
 * over the pool's propositions (`props`, prop_count of them) that accepts a word iff `aut` accepts the word of
 * meanings: the product of `aut` with the deterministic machine of the past subformulas, not pruned. Because the
 * machine is a function of the atoms, a state of the product is dead exactly when no continuation of the *atoms* is
 * accepted. PT_ELIMIT past state_limit.
 */
enum pt_status pt_automaton_substitute(struct pt_automaton *aut, const struct pt_fpool *pool, const pt_formula *meaning,
                                       const char *const *props, uint32_t prop_count, uint32_t state_limit,
                                       struct pt_automaton **ret_aut, struct pt_err *err) PT_WARN_UNUSED;

#endif
