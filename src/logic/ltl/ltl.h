/*
 * Linear-time formulas as the translation to automata wants them: negation normal form, conjunction and disjunction
 * n-ary and sorted, simplified while they are built. Internal to the logic module's automaton construction.
 */
#ifndef PT_LOGIC_LTL_LTL_H
#define PT_LOGIC_LTL_LTL_H

#include "base/table.h"
#include "logic/formula/bdd.h"
#include "logic/formula/formula.h"

typedef uint32_t pt_ltl;
enum { PT_LTL_FALSE = 0, PT_LTL_TRUE = 1 }; /* in every pool */

enum pt_ltl_op {
    PT_LTL_CONST,
    PT_LTL_LIT, /* a: the proposition, b: 1 when negated */
    PT_LTL_AND, /* kids[a] .. kids[a + b - 1], sorted by id, at least two */
    PT_LTL_OR,
    PT_LTL_X,
    PT_LTL_F,
    PT_LTL_G,
    PT_LTL_U, /* strong until */
    PT_LTL_W, /* weak until: a U b or G a */
    PT_LTL_R, /* release: b W (a and b) */
    PT_LTL_M, /* strong release: b U (a and b) */
};

enum {
    PT_LTL_BOOLEAN = 1,   /* no temporal operator; `bdd` is its meaning */
    PT_LTL_EVENTUAL = 2,  /* f = F f: putting anything in front of a model gives a model */
    PT_LTL_UNIVERSAL = 4, /* f = G f: every suffix of a model is a model */
    PT_LTL_SAFETY = 8,    /* syntactically; so are the next two */
    PT_LTL_GUARANTEE = 16,
    PT_LTL_OBLIGATION = 32 /* recognised by a weak deterministic automaton */
};

struct pt_ltl_node {
    uint8_t op;
    uint8_t flags;
    uint32_t a, b;
    pt_bdd bdd; /* of a boolean formula */
    pt_ltl neg; /* the negation once it was asked for, else PT_NONE */
};

struct pt_ltls {
    struct pt_bdds *bdds; /* borrowed; propositions are variables 0 .. 63 */
    struct pt_ltl_node *nodes;
    uint32_t count;
    size_t cap;
    pt_ltl *kids;
    size_t kid_count, kid_cap;
    struct pt_unique unique;
    struct pt_map64 implied; /* (f, g) to whether f syntactically implies g */
    char limit[80];          /* what the last tableau needed too much of: "more than 64 ..." */
};

void pt_ltls_init(struct pt_ltls *pool, struct pt_bdds *bdds);
void pt_ltls_release(struct pt_ltls *pool);

/* Hash-consing without any simplification; for the smart constructors below. */
pt_ltl pt_ltl_intern(struct pt_ltls *pool, enum pt_ltl_op op, uint32_t a, uint32_t b);
pt_ltl pt_ltl_intern_list(struct pt_ltls *pool, enum pt_ltl_op op, const pt_ltl *kids, uint32_t count);

/* Flattened, sorted, without duplicates and neutral constants, and nothing else. */
pt_ltl pt_ltl_plain_list(struct pt_ltls *pool, enum pt_ltl_op op, const pt_ltl *kids, uint32_t count);

/* Smart constructors: equivalent to their operator, simpler where a rule applies. */
pt_ltl pt_ltl_and(struct pt_ltls *pool, const pt_ltl *kids, uint32_t count);
pt_ltl pt_ltl_or(struct pt_ltls *pool, const pt_ltl *kids, uint32_t count);
pt_ltl pt_ltl_and2(struct pt_ltls *pool, pt_ltl f, pt_ltl g);
pt_ltl pt_ltl_or2(struct pt_ltls *pool, pt_ltl f, pt_ltl g);
pt_ltl pt_ltl_x(struct pt_ltls *pool, pt_ltl f);
pt_ltl pt_ltl_f(struct pt_ltls *pool, pt_ltl f);
pt_ltl pt_ltl_g(struct pt_ltls *pool, pt_ltl f);
pt_ltl pt_ltl_u(struct pt_ltls *pool, pt_ltl f, pt_ltl g);
pt_ltl pt_ltl_w(struct pt_ltls *pool, pt_ltl f, pt_ltl g);
pt_ltl pt_ltl_r(struct pt_ltls *pool, pt_ltl f, pt_ltl g);
pt_ltl pt_ltl_m(struct pt_ltls *pool, pt_ltl f, pt_ltl g);
pt_ltl pt_ltl_not(struct pt_ltls *pool, pt_ltl f);

/* Sound and incomplete: true only when every model of f is one of g. */
bool pt_ltl_implies(struct pt_ltls *pool, pt_ltl f, pt_ltl g);
/* Leaves out safety formulas that another one of the list implies; returns how many are left. */
uint32_t pt_ltl_drop_implied_safety(struct pt_ltls *pool, pt_ltl *kids, uint32_t count);

/* The formula of a future-time pt_formula. */
pt_ltl pt_ltl_of_formula(struct pt_ltls *pool, const struct pt_fpool *formulas, pt_formula formula);

static inline bool pt_ltl_is(const struct pt_ltls *pool, pt_ltl f, unsigned flags)
{
    return (pool->nodes[f].flags & flags) == flags;
}

#endif
