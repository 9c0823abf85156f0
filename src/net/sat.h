/* Satisfiability of propositional clauses (sat.c), for questions about configurations of an unfolding. */
#ifndef PT_NET_SAT_H
#define PT_NET_SAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A literal is a variable's number twice, plus one where it is negated. */
static inline uint32_t pt_lit(uint32_t var)
{
    return 2 * var;
}
static inline uint32_t pt_not(uint32_t literal)
{
    return literal ^ 1;
}

enum pt_sat_answer { PT_SAT_NO, PT_SAT_YES, PT_SAT_UNKNOWN };

struct pt_sat;

struct pt_sat *pt_sat_new(void);
void pt_sat_free(struct pt_sat *sat);
/* Numbers count from 0. A variable is first tried as false. */
uint32_t pt_sat_var(struct pt_sat *sat);
/* All variables that a clause names are there already. The empty clause is unsatisfiable. */
void pt_sat_clause(struct pt_sat *sat, const uint32_t *literals, uint32_t count);
/* At most one of these is true; adds variables of its own where there are many. */
void pt_sat_at_most_one(struct pt_sat *sat, const uint32_t *literals, uint32_t count);
/* Once. PT_SAT_UNKNOWN: more memory than `memory_limit` (0: none) would be needed. */
enum pt_sat_answer pt_sat_solve(struct pt_sat *sat, uint64_t memory_limit);
/* After PT_SAT_YES. */
bool pt_sat_is_true(const struct pt_sat *sat, uint32_t var);
uint64_t pt_sat_bytes(const struct pt_sat *sat);

#endif
