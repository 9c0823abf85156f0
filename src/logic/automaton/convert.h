/* Between the automata that others see and those of the construction. Internal to the automaton construction. */
#ifndef PT_LOGIC_AUTOMATON_CONVERT_H
#define PT_LOGIC_AUTOMATON_CONVERT_H

#include "logic/automaton/automaton.h"
#include "logic/ltl/tgba.h"

/* State-based, over the automaton's own BDDs; edges are not grouped yet (pt_tgba_finish). */
struct pt_tgba *pt_tgba_of_automaton(const struct pt_automaton *aut);

#endif
