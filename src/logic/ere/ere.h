/* Extended regular expressions over numbered letters, by Brzozowski derivatives (contract section 2, ERE). */
#ifndef PT_LOGIC_ERE_ERE_H
#define PT_LOGIC_ERE_ERE_H

#include "base/err.h"
#include "logic/automaton/automaton.h"

typedef uint32_t pt_ere; /* id in its pool */

struct pt_ere_pool;

struct pt_ere_pool *pt_ere_pool_new(void);
void pt_ere_pool_free(struct pt_ere_pool *pool);
/* Constructors normalise (ACI of | and &, units and zeros, ~~r = r), so that derivatives stay finitely many. */
pt_ere pt_ere_empty(struct pt_ere_pool *pool);                 /* no word */
pt_ere pt_ere_epsilon(struct pt_ere_pool *pool);               /* the empty word */
pt_ere pt_ere_letter(struct pt_ere_pool *pool, uint32_t prop); /* a state in which proposition `prop` is true */
pt_ere pt_ere_or(struct pt_ere_pool *pool, pt_ere a, pt_ere b);
pt_ere pt_ere_and(struct pt_ere_pool *pool, pt_ere a, pt_ere b);
pt_ere pt_ere_concat(struct pt_ere_pool *pool, pt_ere a, pt_ere b);
pt_ere pt_ere_not(struct pt_ere_pool *pool, pt_ere a);
pt_ere pt_ere_star(struct pt_ere_pool *pool, pt_ere a);
/* a{min,max}; max PT_NONE: unbounded. */
pt_ere pt_ere_repeat(struct pt_ere_pool *pool, pt_ere a, uint32_t min, uint32_t max);

/*
 * The automaton of the words of which no non-empty prefix is matched by `bad`: a safety automaton, deterministic,
 * complete except where the prefix turns bad, minimal, every state accepting. Propositions are numbered letters, and
 * `letter_meaning[i]` is proposition i's label as a BDD over `prop_count` underlying propositions of `bdds` (which
 * are taken over, and freed on failure) named `props` (copied). PT_ELIMIT past state_limit, or when
 * the pool or the manager overflowed on the way.
 */
enum pt_status pt_ere_automaton(struct pt_ere_pool *pool, pt_ere bad, const pt_bdd *letter_meaning,
                                uint32_t letter_count, struct pt_bdds *bdds, const char *const *props,
                                uint32_t prop_count, uint32_t state_limit, struct pt_automaton **ret_aut,
                                struct pt_err *err) PT_WARN_UNUSED;

/*
 * The bad prefixes of an automaton made by pt_ere_automaton, by the word of the contract: bad as soon as a prefix is
 * matched. pt_automaton_bad_prefixes would report a run earlier where every continuation is going to be matched.
 */
enum pt_status pt_ere_bad_prefixes(struct pt_automaton *aut, struct pt_dfa **ret_dfa,
                                   struct pt_err *err) PT_WARN_UNUSED;

#endif
