/*
 * Temporal formulas over numbered propositions: what is left of a property once its atoms have been given numbers.
 * Hash-consed in a pool, so equal subformulas have equal ids; operands keep their written order (evaluation is left
 * to right).
 */
#ifndef PT_LOGIC_FORMULA_FORMULA_H
#define PT_LOGIC_FORMULA_FORMULA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/unique.h"

typedef uint32_t pt_formula; /* id in its pool */

enum pt_fop {
    PT_F_FALSE,
    PT_F_TRUE,
    PT_F_PROP, /* a: the proposition's number */
    PT_F_NOT,
    PT_F_AND,
    PT_F_OR,
    PT_F_IMPLIES,
    PT_F_IFF,
    /* future */
    PT_F_NEXT,
    PT_F_EVENTUALLY,
    PT_F_ALWAYS,
    PT_F_UNTIL,     /* strong */
    PT_F_WEAKUNTIL, /* f W g = (f U g) or always f */
    PT_F_RELEASE,   /* f R g = not (not f U not g) */
    /* past; contract section 2 fixes the first state */
    PT_F_PREVIOUSLY,
    PT_F_ONCE,
    PT_F_HISTORICALLY,
    PT_F_SINCE,
    PT_F_START,
    PT_F_END,
    PT_F_INTERVAL,      /* [a, b) */
    PT_F_INTERVAL_WEAK, /* [a, b)w */
};

struct pt_fnode {
    uint8_t op;
    bool has_future, has_past; /* somewhere in the subformula */
    uint32_t a, b;             /* operands (b: binary only), or the proposition's number */
};

struct pt_fpool {
    struct pt_fnode *nodes;
    uint32_t count;
    size_t cap;
    struct pt_unique unique;
};

enum { PT_FORMULA_FALSE = 0, PT_FORMULA_TRUE = 1 }; /* in every pool */

void pt_fpool_init(struct pt_fpool *pool);
void pt_fpool_release(struct pt_fpool *pool);
pt_formula pt_formula_prop(struct pt_fpool *pool, uint32_t prop);
pt_formula pt_formula_unary(struct pt_fpool *pool, enum pt_fop op, pt_formula a);
pt_formula pt_formula_binary(struct pt_fpool *pool, enum pt_fop op, pt_formula a, pt_formula b);
static inline bool pt_fop_is_past(enum pt_fop op)
{
    return op >= PT_F_PREVIOUSLY;
}
static inline bool pt_fop_is_future(enum pt_fop op)
{
    return op >= PT_F_NEXT && op < PT_F_PREVIOUSLY;
}
static inline bool pt_fop_is_binary(enum pt_fop op)
{
    return op == PT_F_AND || op == PT_F_OR || op == PT_F_IMPLIES || op == PT_F_IFF || op == PT_F_UNTIL ||
           op == PT_F_WEAKUNTIL || op == PT_F_RELEASE || op == PT_F_SINCE || op == PT_F_INTERVAL ||
           op == PT_F_INTERVAL_WEAK;
}
/* In the property language's own words, with as few parentheses as it needs; proposition i prints as names[i]. */
void pt_formula_print(const struct pt_fpool *pool, pt_formula f, const char *const *names, struct pt_buf *buf);

#endif
