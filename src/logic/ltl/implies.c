/*
 * Syntactic implication between formulas in normal form, after Somenzi and Bloem, "Efficient Büchi automata from LTL
 * formulae" (2000), extended by the pure eventual and universal classes. Boolean formulas are compared exactly, by
 * their BDDs. Sound, incomplete, memoised: quadratic in the number of subformulas.
 */
#include "logic/ltl/ltl.h"

static bool list_has(struct pt_ltls *pool, struct pt_ltl_node list, pt_ltl f, bool list_first, bool all)
{
    for (uint32_t k = 0; k < list.b; k++) {
        pt_ltl kid = pool->kids[list.a + k];
        bool implied = list_first ? pt_ltl_implies(pool, kid, f) : pt_ltl_implies(pool, f, kid);
        if (implied != all)
            return implied;
    }
    return all;
}

/* What f alone promises about its first position and its future is enough for g. */
static bool by_left(struct pt_ltls *pool, struct pt_ltl_node f, pt_ltl g)
{
    bool eventual = pt_ltl_is(pool, g, PT_LTL_EVENTUAL);
    switch ((enum pt_ltl_op)f.op) {
    case PT_LTL_AND:
        return list_has(pool, f, g, true, false);
    case PT_LTL_X:
        return eventual && pt_ltl_implies(pool, f.a, g);
    case PT_LTL_F:
        return eventual && pt_ltl_implies(pool, f.a, g);
    case PT_LTL_G:
        return pt_ltl_implies(pool, f.a, g);
    case PT_LTL_U:
        return pt_ltl_implies(pool, f.b, g) && (eventual || pt_ltl_implies(pool, f.a, g));
    case PT_LTL_W:
        return pt_ltl_implies(pool, f.a, g) && pt_ltl_implies(pool, f.b, g);
    case PT_LTL_R:
        return pt_ltl_implies(pool, f.b, g);
    case PT_LTL_M:
        return pt_ltl_implies(pool, f.b, g) || (eventual && pt_ltl_implies(pool, f.a, g));
    default:
        return false;
    }
}

/* f (whose node is n) keeps g's operand b up to a point where it implies g anew, or for ever when that is enough. */
static bool holds_on(struct pt_ltls *pool, struct pt_ltl_node n, pt_ltl b, pt_ltl g, bool strong)
{
    switch ((enum pt_ltl_op)n.op) {
    case PT_LTL_U:
        return pt_ltl_implies(pool, n.a, b) && pt_ltl_implies(pool, n.b, g);
    case PT_LTL_W:
        return !strong && pt_ltl_implies(pool, n.a, b) && pt_ltl_implies(pool, n.b, g);
    default:
        return false;
    }
}

static bool by_right(struct pt_ltls *pool, pt_ltl f, struct pt_ltl_node n, pt_ltl g)
{
    struct pt_ltl_node m = pool->nodes[g];
    bool universal = n.flags & PT_LTL_UNIVERSAL;
    bool release = n.op == PT_LTL_R || n.op == PT_LTL_M;
    bool strong = m.op == PT_LTL_U || m.op == PT_LTL_M;
    switch ((enum pt_ltl_op)m.op) {
    case PT_LTL_OR:
        return list_has(pool, m, f, false, false);
    case PT_LTL_X:
        return (universal && pt_ltl_implies(pool, f, m.a)) || (n.op == PT_LTL_X && pt_ltl_implies(pool, n.a, m.a));
    case PT_LTL_F:
        return pt_ltl_implies(pool, f, m.a);
    case PT_LTL_G:
        return universal && pt_ltl_implies(pool, f, m.a);
    case PT_LTL_U:
    case PT_LTL_W:
        if (pt_ltl_implies(pool, f, m.b) || (!strong && universal && pt_ltl_implies(pool, f, m.a)))
            return true;
        /* a R c is c W (a and c), a M c is c U (a and c). */
        if (release && (n.op == PT_LTL_M || !strong) && pt_ltl_implies(pool, n.b, m.a) &&
            (pt_ltl_implies(pool, n.a, m.b) || pt_ltl_implies(pool, n.b, m.b)))
            return true;
        return holds_on(pool, n, m.a, g, strong);
    case PT_LTL_R:
    case PT_LTL_M:
        if (pt_ltl_implies(pool, f, m.b) && (pt_ltl_implies(pool, f, m.a) || (!strong && universal)))
            return true;
        if (release && (n.op == PT_LTL_M || !strong) && pt_ltl_implies(pool, n.a, m.a) &&
            pt_ltl_implies(pool, n.b, m.b))
            return true;
        return holds_on(pool, n, m.b, g, strong);
    default:
        return false;
    }
}

static bool implies(struct pt_ltls *pool, pt_ltl f, pt_ltl g)
{
    struct pt_ltl_node n = pool->nodes[f], m = pool->nodes[g];
    if (n.flags & m.flags & PT_LTL_BOOLEAN)
        return pt_bdd_implies(pool->bdds, n.bdd, m.bdd);
    if (n.op == PT_LTL_OR)
        return list_has(pool, n, g, true, true);
    if (m.op == PT_LTL_AND)
        return list_has(pool, m, f, false, true);
    return by_left(pool, n, g) || by_right(pool, f, n, g);
}

bool pt_ltl_implies(struct pt_ltls *pool, pt_ltl f, pt_ltl g)
{
    if (f == g || f == PT_LTL_FALSE || g == PT_LTL_TRUE)
        return true;
    if (f == PT_LTL_TRUE || g == PT_LTL_FALSE)
        return false;
    uint64_t key = (uint64_t)f << 32 | g;
    uint32_t known = pt_map64_get(&pool->implied, key);
    if (known != PT_NONE)
        return known;
    /* A question met again while it is being answered (the rules for two untils) is answered no: still sound. */
    *pt_map64_at(&pool->implied, key) = false;
    bool result = implies(pool, f, g);
    *pt_map64_at(&pool->implied, key) = result;
    return result;
}

/*
 * Leaves out safety formulas that another one of the list implies; returns how many are left. `q or X q` beside `q or X
 * (q or X q)` says nothing, and without this `G (p -> q or X q or ... X^n q)` has a state for each set of deadlines.
 *
 * Sound, unlike the dropping of formulas with promises (translate.c): a word that violates the dropped g has a bad
 * prefix of g, which is one of every f that implies g, too; so whatever is dropped in favour of what, what is left
 * after that prefix has no model. And it has no infinite run either: the rules for safety formulas on the right
 * (literals, and, or, X, W, R, G; no eventual ones, since X f does not imply a safety f) imply g by what they ask of
 * the same position.
 */
uint32_t pt_ltl_drop_implied_safety(struct pt_ltls *pool, pt_ltl *kids, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool implied = false;
        for (uint32_t k = 0; k < count && !implied && pt_ltl_is(pool, kids[i], PT_LTL_SAFETY); k++) {
            bool dropped = k < i && kids[k] == PT_LTL_TRUE;
            implied = k != i && !dropped && pt_ltl_implies(pool, kids[k], kids[i]);
        }
        if (implied)
            kids[i] = PT_LTL_TRUE;
    }
    for (uint32_t i = 0; i < count; i++)
        if (kids[i] != PT_LTL_TRUE)
            kids[kept++] = kids[i];
    return kept;
}
