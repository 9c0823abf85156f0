/* Inside the ERE files only: the expression pool, symbolic derivatives, and the coarsest partition. */
#ifndef PT_LOGIC_ERE_NODE_H
#define PT_LOGIC_ERE_NODE_H

#include "base/unique.h"
#include "logic/ere/ere.h"

enum ere_op {
    ERE_EMPTY,
    ERE_EPSILON,
    ERE_LETTER, /* a: the letter's number */
    ERE_OR,     /* a: first operand, b: the others; operands descend by id and are no ORs themselves */
    ERE_AND,    /* likewise */
    ERE_CONCAT, /* a is no concatenation: chains lean to the right */
    ERE_NOT,
    ERE_STAR,
    ERE_POWER, /* a{b,b}, b >= 2, a does not match the empty word */
    ERE_UPTO,  /* a{0,b}, b >= 2 */
};

struct ere_node {
    uint32_t a, b;
    uint8_t op;
    bool nullable; /* matches the empty word */
};

struct pt_ere_pool {
    struct ere_node *nodes;
    uint32_t count;
    size_t cap;
    struct pt_unique unique;
    uint32_t *scratch;
    size_t scratch_cap;
    uint64_t work; /* links of lists and chains that were walked, a measure of time */
    bool overflow; /* ERE_MAX_NODES or ERE_MAX_WORK was passed: every id since then is meaningless */
};

enum { ERE_ID_EMPTY = 0, ERE_ID_EPSILON = 1, ERE_ID_ALL = 2 }; /* in every pool; ALL is ~empty, every word */
enum { ERE_MAX_NODES = 1 << 22, ERE_MAX_DECISIONS = 1 << 22, ERE_MAX_WORK = 1 << 28 };

/* Children of a node that are expressions: 0 to 2. */
static inline uint32_t ere_arity(const struct ere_node *node)
{
    switch (node->op) {
    case ERE_EMPTY:
    case ERE_EPSILON:
    case ERE_LETTER:
        return 0;
    case ERE_OR:
    case ERE_AND:
    case ERE_CONCAT:
        return 2;
    default:
        return 1;
    }
}

/* A decision diagram whose leaves are expressions: the derivative of one expression by every valuation at once. */
struct ere_decision {
    uint32_t var; /* PT_NONE: a leaf */
    uint32_t lo;  /* leaf: the expression */
    uint32_t hi;
};

struct ere_deriver {
    struct pt_ere_pool *pool;
    struct pt_bdds *bdds;
    const pt_bdd *meaning; /* of the letters */
    struct ere_decision *nodes;
    uint32_t count;
    size_t cap;
    struct pt_unique unique;
    struct pt_map64 cache; /* of the operations; dropped when it grows too large */
    struct pt_map64 labels;
    uint32_t *memo; /* per expression: its derivative, or PT_NONE */
    size_t memo_cap;
    uint32_t *stack;
    size_t stack_cap;
    uint32_t *parts; /* derivatives of the operands of a list */
    size_t parts_cap;
    bool overflow;     /* ERE_MAX_DECISIONS */
    bool bdd_overflow; /* a label did not fit the BDD manager */
};

void pt_ere_deriver_init(struct ere_deriver *der, struct pt_ere_pool *pool, struct pt_bdds *bdds,
                         const pt_bdd *meaning);
void pt_ere_deriver_release(struct ere_deriver *der);
/* The root of the derivative of `ere`. Meaningless once an overflow flag (the pool's too) is set. */
uint32_t pt_ere_derive(struct ere_deriver *der, pt_ere ere);
/* The valuations under which the diagram `root` leads to the leaf `leaf`. */
pt_bdd pt_ere_label(struct ere_deriver *der, uint32_t root, uint32_t leaf);

/*
 * The coarsest partition of `count` states of a deterministic automaton in which states of one block go to each block
 * under the same label. Fills block_of and returns the number of blocks; 0 when the BDD manager overflowed.
 */
uint32_t pt_ere_partition(struct pt_bdds *bdds, uint32_t count, const uint32_t *first, const struct pt_edge *edges,
                          uint32_t *block_of);

#endif
