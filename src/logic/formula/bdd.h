/*
 * Reduced ordered binary decision diagrams, small and self-contained: labels of automaton edges, and the symbolic
 * step of the LTL translation. Nodes are hash-consed and live as long as their manager; no reordering, no collection.
 * A node limit turns blow-up into PT_BDD_OVERFLOW, which every operation passes on.
 */
#ifndef PT_LOGIC_FORMULA_BDD_H
#define PT_LOGIC_FORMULA_BDD_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t pt_bdd;
enum { PT_BDD_FALSE = 0, PT_BDD_TRUE = 1 };
#define PT_BDD_OVERFLOW UINT32_MAX

struct pt_bdds; /* the manager */

struct pt_bdds *pt_bdds_new(uint32_t node_limit);
void pt_bdds_free(struct pt_bdds *bdds);
/* The node limit, if it was reached, or 0. */
uint32_t pt_bdds_exhausted(const struct pt_bdds *bdds);
/* From now on operations may take so many steps in all that no cache has remembered; then they overflow, too. */
void pt_bdds_limit_steps(struct pt_bdds *bdds, uint64_t steps);
/* That number, if it was reached, or 0. */
uint64_t pt_bdds_overworked(const struct pt_bdds *bdds);
pt_bdd pt_bdd_var(struct pt_bdds *bdds, uint32_t var); /* smaller variables are nearer to the root */
pt_bdd pt_bdd_not(struct pt_bdds *bdds, pt_bdd f);
pt_bdd pt_bdd_and(struct pt_bdds *bdds, pt_bdd f, pt_bdd g);
pt_bdd pt_bdd_or(struct pt_bdds *bdds, pt_bdd f, pt_bdd g);
pt_bdd pt_bdd_ite(struct pt_bdds *bdds, pt_bdd f, pt_bdd g, pt_bdd h);
bool pt_bdd_implies(struct pt_bdds *bdds, pt_bdd f, pt_bdd g);
/* The value of f when variable i is bit i of `letter`; f uses variables below 64 only. */
bool pt_bdd_eval(const struct pt_bdds *bdds, pt_bdd f, uint64_t letter);
/* One level: the variable and the two branches; f is not a constant. */
uint32_t pt_bdd_top(const struct pt_bdds *bdds, pt_bdd f);
pt_bdd pt_bdd_low(const struct pt_bdds *bdds, pt_bdd f);
pt_bdd pt_bdd_high(const struct pt_bdds *bdds, pt_bdd f);
/* The variables below 64 that f depends on, as a bit set. */
uint64_t pt_bdd_support(struct pt_bdds *bdds, pt_bdd f);

/* A cube: the conjunction of the literals in `pos` and the negated ones in `neg`. */
struct pt_cube {
    uint64_t pos, neg;
};
/* An irredundant sum of products (Minato-Morreale) of f, which uses variables below 64 only; the caller frees the
 * array. Deterministic. */
uint32_t pt_bdd_cubes(struct pt_bdds *bdds, pt_bdd f, struct pt_cube **ret_cubes);
pt_bdd pt_bdd_cube(struct pt_bdds *bdds, struct pt_cube cube);

#endif
