/*
 * Smart constructors of normal-form formulas: every rule replaces a formula by an equivalent one that is smaller or
 * easier to translate. Rules after Somenzi and Bloem (2000), Etessami and Holzmann (2000), and the catalogue in
 * Babiak, Křetínský, Řehák and Strejček, "LTL to Büchi automata translation: fast and more deterministic" (2012).
 * Each constructor assumes simplified operands and calls others on smaller formulas only, so that all of them end.
 */
#include "logic/ltl/ltl.h"

#include <stdlib.h>

#include "base/mem.h"

#define SUSPENDABLE (PT_LTL_EVENTUAL | PT_LTL_UNIVERSAL) /* f = X f: true of all suffixes or of none */

struct list {
    pt_ltl *items;
    uint32_t len;
    size_t cap;
};

static void push(struct list *list, pt_ltl f)
{
    PT_PUSH(list->items, list->len, list->cap, f);
}

static enum pt_ltl_op op_of(const struct pt_ltls *pool, pt_ltl f)
{
    return (enum pt_ltl_op)pool->nodes[f].op;
}

static pt_ltl join(struct pt_ltls *pool, enum pt_ltl_op op, const pt_ltl *kids, uint32_t count)
{
    return op == PT_LTL_AND ? pt_ltl_and(pool, kids, count) : pt_ltl_or(pool, kids, count);
}

static pt_ltl join2(struct pt_ltls *pool, enum pt_ltl_op op, pt_ltl f, pt_ltl g)
{
    return join(pool, op, (pt_ltl[]){f, g}, 2);
}

pt_ltl pt_ltl_and2(struct pt_ltls *pool, pt_ltl f, pt_ltl g)
{
    return join2(pool, PT_LTL_AND, f, g);
}

pt_ltl pt_ltl_or2(struct pt_ltls *pool, pt_ltl f, pt_ltl g)
{
    return join2(pool, PT_LTL_OR, f, g);
}

/* Splits the operands of a list formula (or f alone) into those that are wanted and the others. */
static void split(const struct pt_ltls *pool, enum pt_ltl_op op, pt_ltl f,
                  bool (*wanted)(const struct pt_ltls *pool, pt_ltl kid), struct list *ret_wanted,
                  struct list *ret_rest)
{
    struct pt_ltl_node n = pool->nodes[f];
    uint32_t count = n.op == op ? n.b : 1;
    for (uint32_t k = 0; k < count; k++) {
        pt_ltl kid = n.op == op ? pool->kids[n.a + k] : f;
        push(wanted(pool, kid) ? ret_wanted : ret_rest, kid);
    }
}

static bool is_suspendable(const struct pt_ltls *pool, pt_ltl f)
{
    return pt_ltl_is(pool, f, SUSPENDABLE);
}

static bool is_eventual(const struct pt_ltls *pool, pt_ltl f)
{
    return pt_ltl_is(pool, f, PT_LTL_EVENTUAL);
}

static bool is_universal(const struct pt_ltls *pool, pt_ltl f)
{
    return pt_ltl_is(pool, f, PT_LTL_UNIVERSAL);
}

/*
 * Takes the wanted operands out of f, a list of kind op: true when there are some and f is not made of them alone;
 * then *ret_out is their join and *ret_rest the join of the others.
 */
static bool take_out(struct pt_ltls *pool, enum pt_ltl_op op, pt_ltl f,
                     bool (*wanted)(const struct pt_ltls *pool, pt_ltl kid), pt_ltl *ret_out, pt_ltl *ret_rest)
{
    if (op_of(pool, f) != op)
        return false;
    struct list out = {0}, rest = {0};
    split(pool, op, f, wanted, &out, &rest);
    bool some = out.len > 0 && rest.len > 0;
    if (some) {
        *ret_out = join(pool, op, out.items, out.len);
        *ret_rest = join(pool, op, rest.items, rest.len);
    }
    free(out.items);
    free(rest.items);
    return some;
}

pt_ltl pt_ltl_x(struct pt_ltls *pool, pt_ltl f)
{
    return is_suspendable(pool, f) ? f : pt_ltl_intern(pool, PT_LTL_X, f, f);
}

/*
 * F and G are dual: `outer` F distributes over `or`, G over `and`. Operands of that join that are under `outer`
 * already lose it, F (a or F b) = F (a or b); suspendable operands leave, F (a and GF b) = F a and GF b.
 */
static pt_ltl strip_list(struct pt_ltls *pool, enum pt_ltl_op outer, enum pt_ltl_op distributes, pt_ltl f)
{
    struct pt_ltl_node n = pool->nodes[f];
    struct list kids = {0};
    bool changed = false;
    for (uint32_t k = 0; k < n.b; k++) {
        struct pt_ltl_node kid = pool->nodes[pool->kids[n.a + k]];
        changed |= kid.op == outer;
        push(&kids, kid.op == outer ? kid.a : pool->kids[n.a + k]);
    }
    pt_ltl result = changed ? join(pool, distributes, kids.items, kids.len) : f;
    free(kids.items);
    return result;
}

static pt_ltl make_fg(struct pt_ltls *pool, enum pt_ltl_op outer, pt_ltl f);

static pt_ltl make_fg_list(struct pt_ltls *pool, enum pt_ltl_op outer, pt_ltl f)
{
    enum pt_ltl_op distributes = outer == PT_LTL_F ? PT_LTL_OR : PT_LTL_AND;
    enum pt_ltl_op other = outer == PT_LTL_F ? PT_LTL_AND : PT_LTL_OR;
    pt_ltl out, rest;
    for (int i = 0; i < 2; i++) {
        enum pt_ltl_op op = i ? other : distributes;
        if (take_out(pool, op, f, is_suspendable, &out, &rest))
            return join2(pool, op, out, make_fg(pool, outer, rest));
    }
    if (op_of(pool, f) == distributes) {
        pt_ltl stripped = strip_list(pool, outer, distributes, f);
        if (stripped != f)
            return make_fg(pool, outer, stripped);
    }
    return pt_ltl_intern(pool, outer, f, f);
}

static pt_ltl make_fg(struct pt_ltls *pool, enum pt_ltl_op outer, pt_ltl f)
{
    if (outer == PT_LTL_F ? is_eventual(pool, f) : is_universal(pool, f))
        return f;
    struct pt_ltl_node n = pool->nodes[f];
    switch ((enum pt_ltl_op)n.op) {
    case PT_LTL_X:
        return pt_ltl_x(pool, make_fg(pool, outer, n.a));
    case PT_LTL_AND:
    case PT_LTL_OR:
        return make_fg_list(pool, outer, f);
    case PT_LTL_U: /* F (a U b) = F b; G (a U b) = G (a or b) and GF b */
        if (outer == PT_LTL_F)
            return pt_ltl_f(pool, n.b);
        return pt_ltl_and2(pool, pt_ltl_g(pool, pt_ltl_or2(pool, n.a, n.b)), pt_ltl_g(pool, pt_ltl_f(pool, n.b)));
    case PT_LTL_W: /* F (a W b) = F (b or G a); G (a W b) = G (a or b) */
        if (outer == PT_LTL_F)
            return pt_ltl_f(pool, pt_ltl_or2(pool, n.b, pt_ltl_g(pool, n.a)));
        return pt_ltl_g(pool, pt_ltl_or2(pool, n.a, n.b));
    case PT_LTL_R: /* F (a R b) = F ((a and b) or G b); G (a R b) = G b */
        if (outer == PT_LTL_F)
            return pt_ltl_f(pool, pt_ltl_or2(pool, pt_ltl_and2(pool, n.a, n.b), pt_ltl_g(pool, n.b)));
        return pt_ltl_g(pool, n.b);
    case PT_LTL_M: /* F (a M b) = F (a and b); G (a M b) = G b and GF a */
        if (outer == PT_LTL_F)
            return pt_ltl_f(pool, pt_ltl_and2(pool, n.a, n.b));
        return pt_ltl_and2(pool, pt_ltl_g(pool, n.b), pt_ltl_g(pool, pt_ltl_f(pool, n.a)));
    default:
        return pt_ltl_intern(pool, outer, f, f);
    }
}

pt_ltl pt_ltl_f(struct pt_ltls *pool, pt_ltl f)
{
    return make_fg(pool, PT_LTL_F, f);
}

pt_ltl pt_ltl_g(struct pt_ltls *pool, pt_ltl f)
{
    return make_fg(pool, PT_LTL_G, f);
}

/* f without the operands of its `op` list that are superfluous beside g: those that imply g (or) or follow from g
 * (and). (k or c) U g = c U g when k implies g. */
static pt_ltl drop_beside(struct pt_ltls *pool, enum pt_ltl_op op, pt_ltl f, pt_ltl g)
{
    struct pt_ltl_node n = pool->nodes[f];
    if (n.op != op)
        return f;
    struct list kids = {0};
    for (uint32_t k = 0; k < n.b; k++) {
        pt_ltl kid = pool->kids[n.a + k];
        if (!(op == PT_LTL_OR ? pt_ltl_implies(pool, kid, g) : pt_ltl_implies(pool, g, kid)))
            push(&kids, kid);
    }
    pt_ltl result = kids.len < n.b ? join(pool, op, kids.items, kids.len) : f;
    free(kids.items);
    return result;
}

/* Finds `part` among the operands of the list f of kind op and joins the others. */
static bool take_part(struct pt_ltls *pool, enum pt_ltl_op op, pt_ltl f, pt_ltl part, pt_ltl *ret_rest)
{
    struct pt_ltl_node n = pool->nodes[f];
    if (n.op != op)
        return false;
    struct list rest = {0};
    for (uint32_t k = 0; k < n.b; k++)
        if (pool->kids[n.a + k] != part)
            push(&rest, pool->kids[n.a + k]);
    bool found = rest.len < n.b;
    if (found)
        *ret_rest = join(pool, op, rest.items, rest.len);
    free(rest.items);
    return found;
}

pt_ltl pt_ltl_u(struct pt_ltls *pool, pt_ltl f, pt_ltl g)
{
    f = drop_beside(pool, PT_LTL_OR, f, g);
    if (is_eventual(pool, g) || pt_ltl_implies(pool, f, g))
        return g;
    if (pt_ltl_implies(pool, pt_ltl_not(pool, g), f))
        return pt_ltl_f(pool, g);
    struct pt_ltl_node n = pool->nodes[f], m = pool->nodes[g];
    if (n.op == PT_LTL_X && m.op == PT_LTL_X)
        return pt_ltl_x(pool, pt_ltl_u(pool, n.a, m.a));
    if (m.op == PT_LTL_U && pt_ltl_implies(pool, f, m.a))
        return g;
    pt_ltl out, rest;
    if (take_part(pool, PT_LTL_OR, g, pt_ltl_g(pool, f), &rest)) /* f U (g or G f) = f W g */
        return pt_ltl_w(pool, f, rest);
    if (take_out(pool, PT_LTL_OR, g, is_eventual, &out, &rest))
        return pt_ltl_or2(pool, out, pt_ltl_u(pool, f, rest));
    if (take_out(pool, PT_LTL_AND, g, is_suspendable, &out, &rest))
        return pt_ltl_and2(pool, out, pt_ltl_u(pool, f, rest));
    if (is_suspendable(pool, f))
        return pt_ltl_or2(pool, g, pt_ltl_and2(pool, f, pt_ltl_f(pool, g)));
    return pt_ltl_intern(pool, PT_LTL_U, f, g);
}

pt_ltl pt_ltl_w(struct pt_ltls *pool, pt_ltl f, pt_ltl g)
{
    f = drop_beside(pool, PT_LTL_OR, f, g);
    if (pt_ltl_implies(pool, f, g))
        return g;
    if (pt_ltl_implies(pool, pt_ltl_not(pool, g), f))
        return PT_LTL_TRUE;
    if (g == PT_LTL_FALSE)
        return pt_ltl_g(pool, f);
    if (is_universal(pool, f))
        return pt_ltl_or2(pool, f, g);
    if (is_eventual(pool, g))
        return pt_ltl_or2(pool, g, pt_ltl_g(pool, f));
    struct pt_ltl_node n = pool->nodes[f], m = pool->nodes[g];
    if (n.op == PT_LTL_X && m.op == PT_LTL_X)
        return pt_ltl_x(pool, pt_ltl_w(pool, n.a, m.a));
    if (m.op == PT_LTL_W && pt_ltl_implies(pool, f, m.a))
        return g;
    pt_ltl out, rest;
    if (take_out(pool, PT_LTL_OR, g, is_suspendable, &out, &rest))
        return pt_ltl_or2(pool, out, pt_ltl_w(pool, f, rest));
    return pt_ltl_intern(pool, PT_LTL_W, f, g);
}

/* f among the operands of the disjunction g: f R (c or f) = c W f, f M (c or f) = c U f. */
static bool released_by_part(struct pt_ltls *pool, pt_ltl f, pt_ltl g, pt_ltl *ret_rest)
{
    if (op_of(pool, g) != PT_LTL_OR)
        return false;
    *ret_rest = drop_beside(pool, PT_LTL_OR, g, f);
    return *ret_rest != g && pt_ltl_implies(pool, f, g);
}

pt_ltl pt_ltl_r(struct pt_ltls *pool, pt_ltl f, pt_ltl g)
{
    f = drop_beside(pool, PT_LTL_AND, f, g);
    if (is_universal(pool, g) || pt_ltl_implies(pool, g, f))
        return g;
    if (pt_ltl_implies(pool, g, pt_ltl_not(pool, f)))
        return pt_ltl_g(pool, g);
    pt_ltl out, rest;
    if (released_by_part(pool, f, g, &rest))
        return pt_ltl_w(pool, rest, f);
    struct pt_ltl_node n = pool->nodes[f], m = pool->nodes[g];
    if (n.op == PT_LTL_X && m.op == PT_LTL_X)
        return pt_ltl_x(pool, pt_ltl_r(pool, n.a, m.a));
    if (m.op == PT_LTL_R && pt_ltl_implies(pool, m.a, f))
        return g;
    if (take_part(pool, PT_LTL_AND, g, pt_ltl_f(pool, f), &rest)) /* f R (g and F f) = f M g */
        return pt_ltl_m(pool, f, rest);
    if (take_out(pool, PT_LTL_AND, g, is_universal, &out, &rest))
        return pt_ltl_and2(pool, out, pt_ltl_r(pool, f, rest));
    if (take_out(pool, PT_LTL_OR, g, is_suspendable, &out, &rest))
        return pt_ltl_or2(pool, out, pt_ltl_r(pool, f, rest));
    if (is_suspendable(pool, f))
        return pt_ltl_and2(pool, g, pt_ltl_or2(pool, f, pt_ltl_g(pool, g)));
    return pt_ltl_intern(pool, PT_LTL_R, f, g);
}

pt_ltl pt_ltl_m(struct pt_ltls *pool, pt_ltl f, pt_ltl g)
{
    f = drop_beside(pool, PT_LTL_AND, f, g);
    if (pt_ltl_implies(pool, g, f))
        return g;
    if (pt_ltl_implies(pool, g, pt_ltl_not(pool, f)))
        return PT_LTL_FALSE;
    if (g == PT_LTL_TRUE)
        return pt_ltl_f(pool, f);
    if (is_eventual(pool, f))
        return pt_ltl_and2(pool, f, g);
    if (is_universal(pool, g))
        return pt_ltl_and2(pool, g, pt_ltl_f(pool, f));
    pt_ltl out, rest;
    if (released_by_part(pool, f, g, &rest))
        return pt_ltl_u(pool, rest, f);
    struct pt_ltl_node n = pool->nodes[f], m = pool->nodes[g];
    if (n.op == PT_LTL_X && m.op == PT_LTL_X)
        return pt_ltl_x(pool, pt_ltl_m(pool, n.a, m.a));
    if (m.op == PT_LTL_M && pt_ltl_implies(pool, m.a, f))
        return g;
    if (take_out(pool, PT_LTL_AND, g, is_suspendable, &out, &rest))
        return pt_ltl_and2(pool, out, pt_ltl_m(pool, f, rest));
    return pt_ltl_intern(pool, PT_LTL_M, f, g);
}

/*
 * Two operands of a conjunction or disjunction as one, or PT_NONE. For the conjunction:
 *   X a, X b = X (a and b)          FG a, FG b = FG (a and b)      G a, G b = G (a and b) unless suspendable
 *   a U c, b U c = (a and b) U c    a U c, b W c likewise (U)      a W c, b W c likewise (W)
 *   a R b, a R c = a R (b and c)    a M b, a R c likewise (M)      a W b, F b = a U b        a R b, F a = a M b
 * and the duals for the disjunction.
 */
static pt_ltl merge_binary(struct pt_ltls *pool, enum pt_ltl_op op, struct pt_ltl_node n, struct pt_ltl_node m)
{
    bool is_and = op == PT_LTL_AND;
    bool n_until = n.op == PT_LTL_U || n.op == PT_LTL_W, m_until = m.op == PT_LTL_U || m.op == PT_LTL_W;
    bool n_release = n.op == PT_LTL_R || n.op == PT_LTL_M, m_release = m.op == PT_LTL_R || m.op == PT_LTL_M;
    if (n_until && m_until && (is_and ? n.b == m.b : n.a == m.a)) {
        bool strong = is_and ? n.op == PT_LTL_U || m.op == PT_LTL_U : n.op == PT_LTL_U && m.op == PT_LTL_U;
        pt_ltl a = is_and ? pt_ltl_and2(pool, n.a, m.a) : n.a, b = is_and ? n.b : pt_ltl_or2(pool, n.b, m.b);
        return strong ? pt_ltl_u(pool, a, b) : pt_ltl_w(pool, a, b);
    }
    if (n_release && m_release && (is_and ? n.a == m.a : n.b == m.b)) {
        bool strong = is_and ? n.op == PT_LTL_M || m.op == PT_LTL_M : n.op == PT_LTL_M && m.op == PT_LTL_M;
        pt_ltl a = is_and ? n.a : pt_ltl_or2(pool, n.a, m.a), b = is_and ? pt_ltl_and2(pool, n.b, m.b) : n.b;
        return strong ? pt_ltl_m(pool, a, b) : pt_ltl_r(pool, a, b);
    }
    if (is_and && m.op == PT_LTL_F) {
        if (n.op == PT_LTL_W && n.b == m.a)
            return pt_ltl_u(pool, n.a, n.b);
        if (n.op == PT_LTL_R && n.a == m.a)
            return pt_ltl_m(pool, n.a, n.b);
    }
    if (!is_and && m.op == PT_LTL_G) {
        if (n.op == PT_LTL_U && n.a == m.a)
            return pt_ltl_w(pool, n.a, n.b);
        if (n.op == PT_LTL_M && n.b == m.a)
            return pt_ltl_r(pool, n.a, n.b);
    }
    return PT_NONE;
}

/* The operands of a conjunction (or f alone) as a boolean formula and a pure eventual one, when they are no more. */
static bool split_goal(struct pt_ltls *pool, pt_ltl f, pt_ltl *ret_boolean)
{
    struct pt_ltl_node n = pool->nodes[f];
    if (n.op != PT_LTL_AND || n.flags & PT_LTL_BOOLEAN)
        return false;
    struct list boolean = {0};
    bool fits = true;
    for (uint32_t k = 0; k < n.b; k++) {
        pt_ltl kid = pool->kids[n.a + k];
        if (pt_ltl_is(pool, kid, PT_LTL_BOOLEAN))
            push(&boolean, kid);
        else
            fits = fits && is_eventual(pool, kid);
    }
    fits = fits && boolean.len > 0;
    if (fits)
        *ret_boolean = pt_ltl_and(pool, boolean.items, boolean.len);
    free(boolean.items);
    return fits;
}

static bool are_complements(struct pt_ltls *pool, pt_ltl f, pt_ltl g)
{
    return pt_ltl_is(pool, f, PT_LTL_BOOLEAN) && pt_ltl_is(pool, g, PT_LTL_BOOLEAN) &&
           pool->nodes[f].bdd == pt_bdd_not(pool->bdds, pool->nodes[g].bdd);
}

/*
 * When e is eventual, only the first d counts in c U (d and e): if e holds at some d, it holds at all earlier ones. So
 *   G x or F (d and e)           = x W (d and e)                          when x = not d,
 *   (a R b) or (c U (d and e))   = (b and not a) W ((a and b) or (d and e)) when b = not d and c = not a,
 * which decide without guessing.
 */
static pt_ltl merge_first(struct pt_ltls *pool, struct pt_ltl_node n, struct pt_ltl_node m)
{
    pt_ltl goal = m.op == PT_LTL_F ? m.a : m.b, d;
    if ((m.op != PT_LTL_F && m.op != PT_LTL_U) || !split_goal(pool, goal, &d))
        return PT_NONE;
    if (n.op == PT_LTL_G && m.op == PT_LTL_F && are_complements(pool, n.a, d))
        return pt_ltl_w(pool, n.a, goal);
    if (n.op == PT_LTL_R && m.op == PT_LTL_U && are_complements(pool, n.b, d) && are_complements(pool, n.a, m.a))
        return pt_ltl_w(pool, pt_ltl_and2(pool, n.b, m.a), pt_ltl_or2(pool, pt_ltl_and2(pool, n.a, n.b), goal));
    return PT_NONE;
}

static pt_ltl merge_pair(struct pt_ltls *pool, enum pt_ltl_op op, pt_ltl f, pt_ltl g)
{
    struct pt_ltl_node n = pool->nodes[f], m = pool->nodes[g];
    enum pt_ltl_op same = op == PT_LTL_AND ? PT_LTL_G : PT_LTL_F, other = op == PT_LTL_AND ? PT_LTL_F : PT_LTL_G;
    if (n.op == PT_LTL_X && m.op == PT_LTL_X)
        return pt_ltl_x(pool, join2(pool, op, n.a, m.a));
    if (n.op == same && m.op == same && !is_suspendable(pool, f) && !is_suspendable(pool, g))
        return make_fg(pool, same, join2(pool, op, n.a, m.a));
    if (n.op == other && m.op == other && op_of(pool, n.a) == same && op_of(pool, m.a) == same) {
        pt_ltl inner = join2(pool, op, pool->nodes[n.a].a, pool->nodes[m.a].a);
        return make_fg(pool, other, make_fg(pool, same, inner));
    }
    pt_ltl merged = merge_binary(pool, op, n, m);
    if (merged == PT_NONE && op == PT_LTL_OR)
        merged = merge_first(pool, n, m);
    if (merged == PT_NONE && op == PT_LTL_OR)
        merged = merge_first(pool, m, n);
    return merged != PT_NONE ? merged : merge_binary(pool, op, m, n);
}

static int by_id(const void *a, const void *b)
{
    pt_ltl f = *(const pt_ltl *)a, g = *(const pt_ltl *)b;
    return (f > g) - (f < g);
}

static void flatten(const struct pt_ltls *pool, enum pt_ltl_op op, const pt_ltl *kids, uint32_t count,
                    struct list *list)
{
    for (uint32_t k = 0; k < count; k++) {
        struct pt_ltl_node n = pool->nodes[kids[k]];
        if (n.op == op)
            for (uint32_t i = 0; i < n.b; i++)
                push(list, pool->kids[n.a + i]);
        else
            push(list, kids[k]);
    }
    if (list->len > 0)
        qsort(list->items, list->len, sizeof *list->items, by_id);
}

/* Removes what another operand makes superfluous; true when the operands together are the absorbing constant. */
static bool absorb(struct pt_ltls *pool, enum pt_ltl_op op, struct list *list)
{
    bool is_and = op == PT_LTL_AND;
    pt_bdd boolean = is_and ? PT_BDD_TRUE : PT_BDD_FALSE;
    for (uint32_t i = 0; i < list->len; i++) {
        const struct pt_ltl_node *n = &pool->nodes[list->items[i]];
        if (n->flags & PT_LTL_BOOLEAN)
            boolean = is_and ? pt_bdd_and(pool->bdds, boolean, n->bdd) : pt_bdd_or(pool->bdds, boolean, n->bdd);
    }
    if (boolean == (is_and ? PT_BDD_FALSE : PT_BDD_TRUE))
        return true;
    for (uint32_t i = 0; i < list->len; i++) {
        bool superfluous = false;
        for (uint32_t j = 0; j < list->len && !superfluous; j++) {
            if (i == j || list->items[j] == PT_NONE)
                continue;
            pt_ltl f = list->items[i], g = list->items[j];
            superfluous = is_and ? pt_ltl_implies(pool, g, f) : pt_ltl_implies(pool, f, g);
            pt_ltl not_g = pool->nodes[g].neg;
            if (not_g != PT_NONE && (is_and ? pt_ltl_implies(pool, f, not_g) : pt_ltl_implies(pool, not_g, f)))
                return true;
        }
        if (superfluous)
            list->items[i] = PT_NONE;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->len; i++)
        if (list->items[i] != PT_NONE)
            list->items[kept++] = list->items[i];
    list->len = kept;
    return false;
}

static bool merge_some(struct pt_ltls *pool, enum pt_ltl_op op, struct list *list)
{
    for (uint32_t i = 0; i < list->len; i++)
        for (uint32_t j = i + 1; j < list->len; j++) {
            pt_ltl merged = merge_pair(pool, op, list->items[i], list->items[j]);
            if (merged == PT_NONE)
                continue;
            list->items[i] = merged;
            list->items[j] = list->items[--list->len];
            return true;
        }
    return false;
}

static pt_ltl make_list(struct pt_ltls *pool, enum pt_ltl_op op, const pt_ltl *kids, uint32_t count)
{
    pt_ltl zero = op == PT_LTL_AND ? PT_LTL_FALSE : PT_LTL_TRUE, one = op == PT_LTL_AND ? PT_LTL_TRUE : PT_LTL_FALSE;
    struct list list = {0};
    flatten(pool, op, kids, count, &list);
    pt_ltl result;
    if (absorb(pool, op, &list)) {
        result = zero;
    } else if (merge_some(pool, op, &list)) {
        result = make_list(pool, op, list.items, list.len);
    } else if (list.len == 0) {
        result = one;
    } else if (list.len == 1) {
        result = list.items[0];
    } else {
        result = pt_ltl_intern_list(pool, op, list.items, list.len);
    }
    free(list.items);
    return result;
}

pt_ltl pt_ltl_plain_list(struct pt_ltls *pool, enum pt_ltl_op op, const pt_ltl *kids, uint32_t count)
{
    pt_ltl zero = op == PT_LTL_AND ? PT_LTL_FALSE : PT_LTL_TRUE, one = op == PT_LTL_AND ? PT_LTL_TRUE : PT_LTL_FALSE;
    struct list list = {0};
    flatten(pool, op, kids, count, &list);
    uint32_t kept = 0;
    bool absorbed = false;
    for (uint32_t i = 0; i < list.len; i++) {
        absorbed |= list.items[i] == zero;
        if (list.items[i] != one && (kept == 0 || list.items[i] != list.items[kept - 1]))
            list.items[kept++] = list.items[i];
    }
    pt_ltl result = zero;
    if (!absorbed)
        result = kept > 1 ? pt_ltl_intern_list(pool, op, list.items, kept) : kept ? list.items[0] : one;
    free(list.items);
    return result;
}

pt_ltl pt_ltl_and(struct pt_ltls *pool, const pt_ltl *kids, uint32_t count)
{
    return make_list(pool, PT_LTL_AND, kids, count);
}

pt_ltl pt_ltl_or(struct pt_ltls *pool, const pt_ltl *kids, uint32_t count)
{
    return make_list(pool, PT_LTL_OR, kids, count);
}
