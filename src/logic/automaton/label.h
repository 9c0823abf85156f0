/* Shared by the writers of automata. */
#ifndef PT_LOGIC_AUTOMATON_LABEL_H
#define PT_LOGIC_AUTOMATON_LABEL_H

#include "logic/automaton/automaton.h"

/* The edges of a state with those to the same destination joined and false ones left out, in their first order; `out`
 * has room for all. Returns how many. */
uint32_t pt_label_merged_edges(struct pt_automaton *aut, uint32_t state, struct pt_edge *out);
/* The most edges any state has. */
uint32_t pt_label_max_degree(const struct pt_automaton *aut);

#endif
