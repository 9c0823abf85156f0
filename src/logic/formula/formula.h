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
#define PT_OPERATOR_NOW(name, ...)    PT_F_##name,
#define PT_OPERATOR_FUTURE(name, ...) PT_F_##name,
#define PT_OPERATOR_PAST(name, ...)   PT_F_##name,
#include "core/operators.def"
};

/* How tightly an operator binds (contract section 2); from COMPARE on, what formulas are made of. */
enum pt_level {
    PT_LEVEL_IFF = 1,
    PT_LEVEL_IMPLIES,
    PT_LEVEL_OR,
    PT_LEVEL_AND,
    PT_LEVEL_TEMPORAL,
    PT_LEVEL_UNARY,
    PT_LEVEL_COMPARE,
    PT_LEVEL_ADD,
    PT_LEVEL_MUL,
    PT_LEVEL_NEG,
    PT_LEVEL_PRIMARY,
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
    switch (op) {
#define BINARY_CASE(name, operands, ...)                                                                               \
    case PT_F_##name:                                                                                                  \
        return (operands) == 2;
#define PT_OPERATOR_NOW    BINARY_CASE
#define PT_OPERATOR_FUTURE BINARY_CASE
#define PT_OPERATOR_PAST   BINARY_CASE
#include "core/operators.def"
#undef BINARY_CASE
    default:
        return false;
    }
}
/* In the property language's own words, with as few parentheses as it needs; proposition i prints as names[i]. */
void pt_formula_print(const struct pt_fpool *pool, pt_formula f, const char *const *names, struct pt_buf *buf);

#endif
