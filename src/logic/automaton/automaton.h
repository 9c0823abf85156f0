/*
 * Büchi automata over valuations of up to 64 propositions, with edges labelled by BDDs and state-based acceptance:
 * a word is accepted when some run of it visits accepting states infinitely often.
 */
#ifndef PT_LOGIC_AUTOMATON_AUTOMATON_H
#define PT_LOGIC_AUTOMATON_AUTOMATON_H

#include "base/buf.h"
#include "base/err.h"
#include "logic/formula/bdd.h"
#include "logic/formula/formula.h"

struct pt_edge {
    uint32_t dst;
    pt_bdd label;
};

struct pt_automaton {
    struct pt_bdds *bdds; /* owned */
    char **props;         /* names of the propositions, owned */
    uint32_t prop_count;
    uint32_t initial;
    uint32_t state_count; /* at least 1; an automaton of the empty language has one state without edges */
    uint32_t *first;      /* state_count + 1 entries: edges of state s are edges[first[s]] .. edges[first[s + 1] - 1] */
    struct pt_edge *edges;
    bool *accepting; /* per state */
};

void pt_automaton_free(struct pt_automaton *aut);

/*
 * The Büchi automaton of a future-time formula (no past operators), whose propositions are below prop_count <= 64 and
 * named `props` (copied). Small: see logic/README.md for the construction. Every state it returns is reachable and
 * reaches an accepting cycle. PT_ELIMIT when more than `state_limit` states or too many BDD nodes were needed.
 */
enum pt_status pt_automaton_of_formula(const struct pt_fpool *pool, pt_formula formula, const char *const *props,
                                       uint32_t prop_count, uint32_t state_limit, struct pt_automaton **ret_aut,
                                       struct pt_err *err) PT_WARN_UNUSED;

/* The same for `within`, where it matters when a run passes an accepting state: states are merged only if one's runs
 * pass whenever the other's do, and not because the language stays the same. */
enum pt_status pt_automaton_of_timed_formula(const struct pt_fpool *pool, pt_formula formula, const char *const *props,
                                             uint32_t prop_count, uint32_t state_limit, struct pt_automaton **ret_aut,
                                             struct pt_err *err) PT_WARN_UNUSED;

/* Removes, in place, the states that are unreachable or reach no accepting cycle, and edges with label false. The
 * initial state stays, without edges, when the language is empty. */
void pt_automaton_prune(struct pt_automaton *aut);

/*
 * The bad prefixes of an automaton, deterministic and complete except for one missing edge target: state `dst` PT_NONE
 * means that the prefix is bad (no continuation is accepted). By subset construction on the pruned automaton,
 * minimised. PT_ELIMIT past state_limit.
 */
struct pt_dfa {
    uint32_t state_count;
    uint32_t initial; /* PT_NONE: already the empty prefix is bad */
    uint32_t *first;  /* as in pt_automaton */
    struct pt_edge
        *edges; /* labels of one state are disjoint and cover everything; they live in the automaton's bdds */
};
enum pt_status pt_automaton_bad_prefixes(struct pt_automaton *aut, uint32_t state_limit, struct pt_dfa **ret_dfa,
                                         struct pt_err *err) PT_WARN_UNUSED;
/* The same of the automaton as it is, not pruned: PT_NONE means that no run is left, though it may have been bound to
 * come to that. */
enum pt_status pt_automaton_stuck_prefixes(struct pt_automaton *aut, uint32_t state_limit, struct pt_dfa **ret_dfa,
                                           struct pt_err *err) PT_WARN_UNUSED;
void pt_dfa_free(struct pt_dfa *dfa);

/* Whether some finite prefix is bad. Searches subsets with antichains; *ret_monitorable is untouched on PT_ELIMIT. */
enum pt_status pt_automaton_monitorable(struct pt_automaton *aut, uint32_t state_limit, bool *ret_monitorable,
                                        struct pt_err *err) PT_WARN_UNUSED;

/* HOA version 1: reading accepts state-based or transition-based Büchi acceptance (Acceptance: 1 Inf(0)) and the
 * trivial one (0 t), explicit and implicit labels, aliases, several initial states (a new one is added); everything
 * else is a clear error. The result is state-based and not pruned. */
enum pt_status pt_hoa_read(const char *label, const char *text, size_t len, struct pt_automaton **ret_aut,
                           struct pt_err *err) PT_WARN_UNUSED;
/* Whether the labels, as sums of products, are short enough for the writers below (for pt_cmonitor_write: those of
 * `dfa`, else NULL). PT_ELIMIT when they are not: parity of n propositions has 2^(n-1) products. */
enum pt_status pt_automaton_check_labels(struct pt_automaton *aut, const struct pt_dfa *dfa,
                                         struct pt_err *err) PT_WARN_UNUSED;
/* One initial state, no aliases, one edge per line, state-based acceptance. `name` may be NULL. */
void pt_hoa_write(struct pt_automaton *aut, const char *name, struct pt_buf *buf);
void pt_dot_write(struct pt_automaton *aut, const char *name, struct pt_buf *buf);
/* A stand-alone C99 file with no dependency that finds bad prefixes; `name` is made a C identifier. */
void pt_cmonitor_write(const struct pt_automaton *aut, const struct pt_dfa *dfa, const char *name, struct pt_buf *buf);

#endif
