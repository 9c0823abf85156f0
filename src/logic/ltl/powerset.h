/*
 * Powerset construction and Moore's minimisation, symbolic in the letters; shared by the weak automata and the bad
 * prefixes. Internal to the automaton construction.
 */
#ifndef PT_LOGIC_LTL_POWERSET_H
#define PT_LOGIC_LTL_POWERSET_H

#include "logic/ltl/tgba.h"

struct pt_powerset {
    const struct pt_tgba *tgba;
    struct pt_bdds *bdds;
    pt_bdd *step;           /* per state of the automaton, as far as they were asked for */
    uint32_t universal;     /* a state that accepts everything, or PT_NONE */
    struct pt_map64 set_of; /* BDD of a set to its number */
    pt_bdd *sets;
    uint32_t count;
    size_t cap;
    size_t step_cap;
    pt_bdd *set_step;      /* per set */
    struct pt_tgba *graph; /* the sets and their steps; the empty set is left out */
};
void pt_powerset_init(struct pt_powerset *p, const struct pt_tgba *tgba);
void pt_powerset_release(struct pt_powerset *p);
/* The set's successors, by letter (tgba.h). */
pt_bdd pt_powerset_step(struct pt_powerset *p, pt_bdd set);
/* Whether some letter leads from the set to nowhere, by its labels alone. False, too, when the BDDs overflowed. */
bool pt_powerset_can_fail(struct pt_powerset *p, pt_bdd set);
/* All sets reachable from the initial state, which is set 0. False past the limit. */
bool pt_powerset_build(struct pt_powerset *p, uint32_t state_limit) PT_WARN_UNUSED;
/* Whether a set has the state. */
bool pt_set_contains(const struct pt_bdds *bdds, pt_bdd set, uint32_t state);

struct pt_moore {
    struct pt_powerset *p;
    uint32_t *class_of; /* per set; the empty set's class is the last entry */
    uint32_t class_count;
    pt_bdd *signature;       /* per set: a step, with classes in place of sets */
    struct pt_map64 renamed; /* BDD node to the same with classes, during one round */
};
/* From two classes, 0 and 1, given in class_of, to the coarsest partition that agrees with them and with all steps. The
 * empty set is in class 1. False when the BDDs overflowed. */
bool pt_moore_minimize(struct pt_moore *m) PT_WARN_UNUSED;

#endif
