/*
 * Transition-based generalised Büchi automata, the form in which automata are built and reduced: a run is accepting
 * when it takes edges with each mark of `all_marks` infinitely often. Internal to the automaton construction.
 *
 * A state-based Büchi automaton is one with the single mark 1, carried by all edges of an accepting state and by none
 * of any other; `state_based` says that this is the case and must stay so.
 */
#ifndef PT_LOGIC_LTL_TGBA_H
#define PT_LOGIC_LTL_TGBA_H

#include "base/table.h"
#include "logic/formula/bdd.h"
#include "logic/ltl/ltl.h"

struct pt_tedge {
    uint32_t src, dst;
    pt_bdd label;
    uint64_t marks;
};

struct pt_tgba {
    struct pt_bdds *bdds; /* borrowed */
    uint32_t state_count; /* at least 1 */
    uint32_t initial;
    uint64_t all_marks;
    bool state_based;
    uint32_t *first; /* state_count + 1 entries, as in pt_automaton; NULL while edges are being added */
    struct pt_tedge *edges;
    uint32_t edge_count;
    size_t edge_cap;
};

/* Other variables than propositions (0 .. 63) in the BDDs of the construction. */
enum { PT_TGBA_VARS = 64 };

struct pt_tgba *pt_tgba_new(struct pt_bdds *bdds, uint32_t state_count, uint32_t initial, uint64_t all_marks);
void pt_tgba_free(struct pt_tgba *tgba);
/* The same automaton over other BDDs: work that leaves many nodes behind is done in a manager of its own. NULL when
 * they overflowed. */
struct pt_tgba *pt_tgba_copy(const struct pt_tgba *tgba, struct pt_bdds *bdds);
void pt_tgba_add(struct pt_tgba *tgba, uint32_t src, uint32_t dst, pt_bdd label, uint64_t marks);
/* Groups the edges by source, joins those that differ in their label only, drops those that another edge with the
 * same ends and more marks covers. False when the label of an edge had overflowed already. */
bool pt_tgba_finish(struct pt_tgba *tgba) PT_WARN_UNUSED;

/* Keeps reachable states that reach an accepting cycle (and always the initial one), renumbered in breadth-first
 * order; clears the marks of rejecting components and drops marks that others imply. */
void pt_tgba_prune(struct pt_tgba *tgba);
/* Sets (or clears) all marks that are on no cycle and so decide nothing. */
void pt_tgba_set_idle_marks(struct pt_tgba *tgba, bool set);

struct pt_sccs {
    uint32_t count;
    uint32_t *of;    /* per state; an edge never leads to a component of higher number */
    bool *cyclic;    /* per component: it has an edge inside */
    uint64_t *marks; /* per component: the marks of the edges inside */
};
void pt_sccs_init(struct pt_sccs *sccs, const struct pt_tgba *tgba);
void pt_sccs_release(struct pt_sccs *sccs);
static inline bool pt_scc_accepts(const struct pt_sccs *sccs, uint32_t scc, uint64_t all_marks)
{
    return sccs->cyclic[scc] && (sccs->marks[scc] & all_marks) == all_marks;
}

/* Couvreur's tableau; NULL past the limit of states, marks or BDD nodes. Not pruned. */
struct pt_tgba *pt_tgba_of_ltl(struct pt_ltls *pool, pt_ltl formula, uint32_t state_limit);

/* Quotients by direct simulation, forward and backward, repeated until nothing changes; pruned. The input is freed, or
 * returned as far as it was reduced when it is too large for more. */
struct pt_tgba *pt_tgba_reduce(struct pt_tgba *tgba);
/* What an accepting run has to read infinitely often besides: letters of each of these formulas that its states ask
 * for. The states of a component ask for the same. */
struct pt_recurring {
    const pt_bdd *letters;    /* at most 64 */
    const uint64_t *of_state; /* per state: which */
};
#define PT_LAST_ORDER UINT32_MAX /* the marks backwards */
/* A state-based automaton of the same language; `order` is the number of an order of the marks (any is good). Pruned.
 * NULL past the limit. */
struct pt_tgba *pt_tgba_degeneralize(const struct pt_tgba *tgba, const struct pt_recurring *recurring, uint32_t order,
                                     uint32_t state_limit);
/* The minimal weak deterministic automaton, if the language has one: `negation` accepts the complement, or is NULL
 * when the language is known to be an obligation. NULL when it has none, or past the limits. */
struct pt_tgba *pt_tgba_weak(const struct pt_tgba *tgba, const struct pt_tgba *negation, uint32_t state_limit);

/* An automaton of the same language with fewer than `below` states, if merging and dropping states of this one, which
 * is state-based, leads to one; `negation` accepts the complement. *work falls by what it took. */
struct pt_tgba *pt_tgba_shrink(const struct pt_tgba *tgba, const struct pt_tgba *negation, uint32_t below,
                               uint64_t *work);
/* Whether it reads few enough different letters for that. */
bool pt_tgba_has_few_letters(const struct pt_tgba *tgba);

/*
 * Symbolic steps of sets of states, shared by everything deterministic: a set is the conjunction of its states'
 * variables (state s is variable PT_TGBA_VARS + s), and the step of s maps a letter to the set of its successors, so
 * that the successors of a set are the conjunction of its states' steps (powerset.h). The empty set is PT_BDD_TRUE.
 */
/* The same function in another manager; `copied` maps nodes to their copies and is kept between calls. */
pt_bdd pt_bdd_copy(const struct pt_bdds *from, pt_bdd f, struct pt_bdds *to, struct pt_map64 *copied);
struct pt_leaf {
    pt_bdd set;   /* what is left of a step once the letter is read */
    pt_bdd label; /* the letters that lead there */
};
/* The distinct sets that a step can lead to, in the order in which they are met; the caller frees the array. False
 * when more than `limit` nodes read propositions or are such sets, or the BDDs overflowed. Steps of long untils have a
 * set for each subset of their propositions, so whoever has another way sets a low limit. */
enum { PT_LEAVES_LIMIT = 1 << 15 };
bool pt_bdd_leaves(struct pt_bdds *bdds, pt_bdd step, uint32_t limit, struct pt_leaf **ret_leaves,
                   uint32_t *ret_count) PT_WARN_UNUSED;

/* Implicants: sets of variables, one after another; propositions may be negated. */
#define PT_PRIME_NEGATIVE (UINT32_C(1) << 31)
enum { PT_PRIMES_LIMIT = 1 << 14 };
struct pt_primes {
    uint32_t *vars;
    size_t var_count, var_cap;
    uint32_t *ends; /* implicant i ends before vars[ends[i]] */
    uint32_t count;
    size_t end_cap;
    uint32_t *path; /* scratch */
    uint32_t path_len;
    size_t path_cap;
};
/* Of f, which is monotone in all variables but the propositions: an irredundant cover; all prime implicants when f has
 * no propositions. In each implicant the variables ascend. False when there are too many. */
bool pt_bdd_primes(struct pt_bdds *bdds, pt_bdd f, struct pt_primes *primes) PT_WARN_UNUSED;
void pt_primes_release(struct pt_primes *primes);

#endif
