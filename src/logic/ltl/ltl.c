/*
 * The pool of normal-form formulas: hash-consing, the syntactic classes of each formula, negation, and the passage
 * from the property language's formulas.
 *
 * Eventual and universal formulas are those of Etessami and Holzmann, "Optimizing Büchi automata" (2000); the classes
 * safety, guarantee and obligation are the syntactic ones of Chang, Manna and Pnueli (1992) on normal forms.
 */
#include "logic/ltl/ltl.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { FIRST_SLOTS = 256 };

static uint32_t hash_list(uint32_t op, const pt_ltl *kids, uint32_t count)
{
    uint64_t h = op;
    for (uint32_t i = 0; i < count; i++)
        h = pt_mix64(h * 0x9e3779b97f4a7c15ULL + kids[i] + 1);
    return (uint32_t)h;
}

/* The flags of a unary or binary operator with operands a and b (equal when unary). */
static unsigned flags_of(const struct pt_ltls *pool, enum pt_ltl_op op, pt_ltl a, pt_ltl b)
{
    unsigned fa = pool->nodes[a].flags, fb = pool->nodes[b].flags, both = fa & fb;
    const unsigned classes = PT_LTL_SAFETY | PT_LTL_GUARANTEE | PT_LTL_OBLIGATION;
    unsigned flags = both & (PT_LTL_EVENTUAL | PT_LTL_UNIVERSAL);
    switch (op) {
    case PT_LTL_X:
        return flags | (fa & classes);
    case PT_LTL_F:
        return flags | PT_LTL_EVENTUAL | (fa & PT_LTL_GUARANTEE ? PT_LTL_GUARANTEE | PT_LTL_OBLIGATION : 0);
    case PT_LTL_G:
        return flags | PT_LTL_UNIVERSAL | (fa & PT_LTL_SAFETY ? PT_LTL_SAFETY | PT_LTL_OBLIGATION : 0);
    case PT_LTL_U:
    case PT_LTL_M: {
        /* f U g is an obligation when f is one and g a guarantee; M has its operands the other way round. */
        unsigned held = op == PT_LTL_U ? fa : fb, goal = op == PT_LTL_U ? fb : fa;
        flags |= both & PT_LTL_GUARANTEE;
        if (held & PT_LTL_OBLIGATION && goal & PT_LTL_GUARANTEE)
            flags |= PT_LTL_OBLIGATION;
        return flags;
    }
    default: {
        unsigned held = op == PT_LTL_W ? fa : fb, goal = op == PT_LTL_W ? fb : fa;
        flags |= both & PT_LTL_SAFETY;
        if (held & PT_LTL_SAFETY && goal & PT_LTL_OBLIGATION)
            flags |= PT_LTL_OBLIGATION;
        return flags;
    }
    }
}

static pt_ltl add_node(struct pt_ltls *pool, struct pt_ltl_node node, uint32_t hash)
{
    node.neg = PT_NONE;
    pt_unique_add(&pool->unique, hash, pool->count);
    PT_PUSH(pool->nodes, pool->count, pool->cap, node);
    return pool->count - 1;
}

pt_ltl pt_ltl_intern(struct pt_ltls *pool, enum pt_ltl_op op, uint32_t a, uint32_t b)
{
    uint32_t hash = hash_list(op, (const uint32_t[]){a, b}, 2);
    for (uint32_t at = hash, id; (id = pt_unique_next(&pool->unique, hash, &at)) != PT_NONE;) {
        const struct pt_ltl_node *n = &pool->nodes[id];
        if (n->op == op && n->a == a && n->b == b)
            return id;
    }
    struct pt_ltl_node node = {.op = (uint8_t)op, .a = a, .b = b, .bdd = PT_BDD_FALSE};
    const unsigned state = PT_LTL_BOOLEAN | PT_LTL_SAFETY | PT_LTL_GUARANTEE | PT_LTL_OBLIGATION;
    if (op == PT_LTL_CONST) {
        node.flags = state | PT_LTL_EVENTUAL | PT_LTL_UNIVERSAL;
        node.bdd = a ? PT_BDD_TRUE : PT_BDD_FALSE;
    } else if (op == PT_LTL_LIT) {
        node.flags = state;
        node.bdd = pt_bdd_var(pool->bdds, a);
        if (b)
            node.bdd = pt_bdd_not(pool->bdds, node.bdd);
    } else {
        node.flags = (uint8_t)flags_of(pool, op, a, b);
    }
    return add_node(pool, node, hash);
}

pt_ltl pt_ltl_intern_list(struct pt_ltls *pool, enum pt_ltl_op op, const pt_ltl *kids, uint32_t count)
{
    uint32_t hash = hash_list(op, kids, count);
    for (uint32_t at = hash, id; (id = pt_unique_next(&pool->unique, hash, &at)) != PT_NONE;) {
        const struct pt_ltl_node *n = &pool->nodes[id];
        if (n->op == op && n->b == count && memcmp(&pool->kids[n->a], kids, count * sizeof *kids) == 0)
            return id;
    }
    struct pt_ltl_node node = {.op = (uint8_t)op, .flags = 0xff, .a = (uint32_t)pool->kid_count, .b = count};
    node.bdd = op == PT_LTL_AND ? PT_BDD_TRUE : PT_BDD_FALSE;
    for (uint32_t k = 0; k < count; k++) {
        node.flags &= pool->nodes[kids[k]].flags;
        PT_PUSH(pool->kids, pool->kid_count, pool->kid_cap, kids[k]);
    }
    if (node.flags & PT_LTL_BOOLEAN)
        for (uint32_t k = 0; k < count; k++)
            node.bdd = op == PT_LTL_AND ? pt_bdd_and(pool->bdds, node.bdd, pool->nodes[kids[k]].bdd)
                                        : pt_bdd_or(pool->bdds, node.bdd, pool->nodes[kids[k]].bdd);
    return add_node(pool, node, hash);
}

void pt_ltls_init(struct pt_ltls *pool, struct pt_bdds *bdds)
{
    *pool = (struct pt_ltls){.bdds = bdds};
    pt_unique_init(&pool->unique, FIRST_SLOTS);
    pt_map64_init(&pool->implied);
    pt_ltl no = pt_ltl_intern(pool, PT_LTL_CONST, 0, 0);
    pt_ltl yes = pt_ltl_intern(pool, PT_LTL_CONST, 1, 0);
    assert(no == PT_LTL_FALSE && yes == PT_LTL_TRUE);
}

void pt_ltls_release(struct pt_ltls *pool)
{
    free(pool->nodes);
    free(pool->kids);
    pt_unique_release(&pool->unique);
    pt_map64_release(&pool->implied);
    *pool = (struct pt_ltls){0};
}

static pt_ltl literal(struct pt_ltls *pool, uint32_t prop, bool negated)
{
    assert(prop < 64);
    return pt_ltl_intern(pool, PT_LTL_LIT, prop, negated);
}

static pt_ltl negate_list(struct pt_ltls *pool, struct pt_ltl_node n)
{
    pt_ltl *kids = pt_xmalloc(n.b * sizeof *kids);
    for (uint32_t k = 0; k < n.b; k++)
        kids[k] = pt_ltl_not(pool, pool->kids[n.a + k]);
    pt_ltl f = n.op == PT_LTL_AND ? pt_ltl_or(pool, kids, n.b) : pt_ltl_and(pool, kids, n.b);
    free(kids);
    return f;
}

static pt_ltl negate(struct pt_ltls *pool, pt_ltl f)
{
    struct pt_ltl_node n = pool->nodes[f];
    switch ((enum pt_ltl_op)n.op) {
    case PT_LTL_CONST:
        return n.a ? PT_LTL_FALSE : PT_LTL_TRUE;
    case PT_LTL_LIT:
        return literal(pool, n.a, !n.b);
    case PT_LTL_AND:
    case PT_LTL_OR:
        return negate_list(pool, n);
    case PT_LTL_X:
        return pt_ltl_x(pool, pt_ltl_not(pool, n.a));
    case PT_LTL_F:
        return pt_ltl_g(pool, pt_ltl_not(pool, n.a));
    case PT_LTL_G:
        return pt_ltl_f(pool, pt_ltl_not(pool, n.a));
    default:
        break;
    }
    pt_ltl a = pt_ltl_not(pool, n.a), b = pt_ltl_not(pool, n.b);
    switch ((enum pt_ltl_op)n.op) {
    case PT_LTL_U:
        return pt_ltl_r(pool, a, b);
    case PT_LTL_W:
        return pt_ltl_m(pool, a, b);
    case PT_LTL_R:
        return pt_ltl_u(pool, a, b);
    default:
        return pt_ltl_w(pool, a, b);
    }
}

pt_ltl pt_ltl_not(struct pt_ltls *pool, pt_ltl f)
{
    if (pool->nodes[f].neg == PT_NONE) {
        pt_ltl g = negate(pool, f);
        pool->nodes[f].neg = g;
        if (pool->nodes[g].neg == PT_NONE)
            pool->nodes[g].neg = f;
    }
    return pool->nodes[f].neg;
}

/* One node of a pt_formula, its operands already translated; `pos` and `neg` hold each formula and its negation. */
static pt_ltl of_node(struct pt_ltls *pool, const struct pt_fnode *n, const pt_ltl *pos, const pt_ltl *neg)
{
    switch ((enum pt_fop)n->op) {
    case PT_F_FALSE:
        return PT_LTL_FALSE;
    case PT_F_TRUE:
        return PT_LTL_TRUE;
    case PT_F_PROP:
        return literal(pool, n->a, false);
    case PT_F_NOT:
        return neg[n->a];
    case PT_F_AND:
        return pt_ltl_and2(pool, pos[n->a], pos[n->b]);
    case PT_F_OR:
        return pt_ltl_or2(pool, pos[n->a], pos[n->b]);
    case PT_F_IMPLIES:
        return pt_ltl_or2(pool, neg[n->a], pos[n->b]);
    case PT_F_IFF:
        return pt_ltl_or2(pool, pt_ltl_and2(pool, pos[n->a], pos[n->b]), pt_ltl_and2(pool, neg[n->a], neg[n->b]));
    case PT_F_NEXT:
        return pt_ltl_x(pool, pos[n->a]);
    case PT_F_EVENTUALLY:
        return pt_ltl_f(pool, pos[n->a]);
    case PT_F_ALWAYS:
        return pt_ltl_g(pool, pos[n->a]);
    case PT_F_UNTIL:
        return pt_ltl_u(pool, pos[n->a], pos[n->b]);
    case PT_F_WEAKUNTIL:
        return pt_ltl_w(pool, pos[n->a], pos[n->b]);
    case PT_F_RELEASE:
        return pt_ltl_r(pool, pos[n->a], pos[n->b]);
    default:
        assert(!"a past operator in a future-time formula");
        return PT_LTL_FALSE;
    }
}

/* Operands have smaller ids than their operators, so one pass over the ids needs no recursion. */
pt_ltl pt_ltl_of_formula(struct pt_ltls *pool, const struct pt_fpool *formulas, pt_formula formula)
{
    uint32_t count = formula + 1;
    bool *used = pt_xcalloc(count, sizeof *used);
    pt_ltl *pos = pt_xcalloc(count, sizeof *pos), *neg = pt_xcalloc(count, sizeof *neg);
    used[formula] = true;
    for (uint32_t f = count; f-- > 0;) {
        const struct pt_fnode *n = &formulas->nodes[f];
        if (used[f] && n->op > PT_F_PROP) {
            used[n->a] = true;
            if (pt_fop_is_binary(n->op))
                used[n->b] = true;
        }
    }
    for (uint32_t f = 0; f < count; f++)
        if (used[f]) {
            pos[f] = of_node(pool, &formulas->nodes[f], pos, neg);
            neg[f] = pt_ltl_not(pool, pos[f]);
        }
    pt_ltl result = pos[formula];
    free(used);
    free(pos);
    free(neg);
    return result;
}
