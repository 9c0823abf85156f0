/*
 * Sets of automaton states as BDDs: the leaves of a step, and the prime implicants of what is left
 * below the propositions; and moving between managers. Cost: linear in the diagrams, except for the primes, of which
 * there can be many.
 */
#include "logic/ltl/tgba.h"

#include <stdlib.h>

#include "base/mem.h"

/* The nodes of a step that read propositions, each after all nodes above it; then the leaves. */
struct layers {
    struct pt_map64 number; /* node to its place in nodes */
    pt_bdd *nodes;
    uint32_t count, limit;
    size_t cap;
};

static bool is_leaf(const struct pt_bdds *bdds, pt_bdd f)
{
    return f <= PT_BDD_TRUE || pt_bdd_top(bdds, f) >= PT_TGBA_VARS;
}

static void collect(const struct pt_bdds *bdds, pt_bdd f, struct layers *layers)
{
    if (layers->count > layers->limit || *pt_map64_at(&layers->number, f) != PT_NONE)
        return;
    *pt_map64_at(&layers->number, f) = 0;
    if (!is_leaf(bdds, f)) {
        collect(bdds, pt_bdd_low(bdds, f), layers);
        collect(bdds, pt_bdd_high(bdds, f), layers);
    }
    *pt_map64_at(&layers->number, f) = layers->count;
    PT_PUSH(layers->nodes, layers->count, layers->cap, f);
}

bool pt_bdd_leaves(struct pt_bdds *bdds, pt_bdd step, uint32_t limit, struct pt_leaf **ret_leaves, uint32_t *ret_count)
{
    if (step == PT_BDD_OVERFLOW)
        return false;
    struct layers layers = {.limit = limit};
    pt_map64_init(&layers.number);
    collect(bdds, step, &layers);
    pt_bdd *reach = pt_xcalloc(layers.count, sizeof *reach); /* the letters that lead to the node */
    reach[layers.count - 1] = PT_BDD_TRUE;
    struct pt_leaf *leaves = NULL;
    uint32_t count = 0;
    size_t cap = 0;
    bool fits = layers.count <= limit;
    for (uint32_t i = layers.count; i-- > 0 && fits;) {
        pt_bdd f = layers.nodes[i];
        if (is_leaf(bdds, f)) {
            PT_PUSH(leaves, count, cap, ((struct pt_leaf){f, reach[i]}));
            continue;
        }
        pt_bdd var = pt_bdd_var(bdds, pt_bdd_top(bdds, f));
        pt_bdd *low = &reach[pt_map64_get(&layers.number, pt_bdd_low(bdds, f))];
        *low = pt_bdd_or(bdds, *low, pt_bdd_ite(bdds, var, PT_BDD_FALSE, reach[i]));
        pt_bdd *high = &reach[pt_map64_get(&layers.number, pt_bdd_high(bdds, f))];
        *high = pt_bdd_or(bdds, *high, pt_bdd_and(bdds, var, reach[i]));
        fits = *low != PT_BDD_OVERFLOW && *high != PT_BDD_OVERFLOW;
    }
    free(reach);
    free(layers.nodes);
    pt_map64_release(&layers.number);
    if (!fits) {
        free(leaves);
        return false;
    }
    *ret_leaves = leaves;
    *ret_count = count;
    return true;
}

/*
 * Minato's irredundant cover of some function between `lower` and `upper`, which is monotone in all variables but the
 * propositions; returns the function. What needs a literal of the top variable covers what the other branch of `upper`
 * lacks. A monotone function has one irredundant cover, all its primes. Every call that finds something to cover adds
 * an implicant, so the cost goes with the output.
 */
static pt_bdd cover(struct pt_bdds *bdds, pt_bdd lower, pt_bdd upper, struct pt_primes *p);

static pt_bdd cover_with(struct pt_bdds *bdds, uint32_t literal, pt_bdd lower, pt_bdd upper, struct pt_primes *p)
{
    PT_PUSH(p->path, p->path_len, p->path_cap, literal);
    pt_bdd f = cover(bdds, lower, upper, p);
    p->path_len--;
    return f;
}

static pt_bdd cover(struct pt_bdds *bdds, pt_bdd lower, pt_bdd upper, struct pt_primes *p)
{
    if (lower == PT_BDD_OVERFLOW || upper == PT_BDD_OVERFLOW || p->count > PT_PRIMES_LIMIT)
        return PT_BDD_OVERFLOW;
    if (lower == PT_BDD_FALSE)
        return PT_BDD_FALSE;
    if (upper == PT_BDD_TRUE) {
        for (uint32_t i = 0; i < p->path_len; i++)
            PT_PUSH(p->vars, p->var_count, p->var_cap, p->path[i]);
        PT_PUSH(p->ends, p->count, p->end_cap, (uint32_t)p->var_count);
        return PT_BDD_TRUE;
    }
    uint32_t lower_var = lower == PT_BDD_TRUE ? UINT32_MAX : pt_bdd_top(bdds, lower);
    uint32_t upper_var = pt_bdd_top(bdds, upper), var = lower_var < upper_var ? lower_var : upper_var;
    pt_bdd l0 = lower_var == var ? pt_bdd_low(bdds, lower) : lower;
    pt_bdd l1 = lower_var == var ? pt_bdd_high(bdds, lower) : lower;
    pt_bdd u0 = upper_var == var ? pt_bdd_low(bdds, upper) : upper;
    pt_bdd u1 = upper_var == var ? pt_bdd_high(bdds, upper) : upper;
    pt_bdd f0 = PT_BDD_FALSE;
    if (var < PT_TGBA_VARS)
        f0 = cover_with(bdds, var | PT_PRIME_NEGATIVE, pt_bdd_ite(bdds, u1, PT_BDD_FALSE, l0), u0, p);
    pt_bdd f1 = cover_with(bdds, var, pt_bdd_ite(bdds, u0, PT_BDD_FALSE, l1), u1, p);
    pt_bdd rest = pt_bdd_or(bdds, pt_bdd_ite(bdds, f0, PT_BDD_FALSE, l0), pt_bdd_ite(bdds, f1, PT_BDD_FALSE, l1));
    pt_bdd f = cover(bdds, rest, pt_bdd_and(bdds, u0, u1), p);
    return pt_bdd_or(bdds, f, pt_bdd_ite(bdds, pt_bdd_var(bdds, var), f1, f0));
}

bool pt_bdd_primes(struct pt_bdds *bdds, pt_bdd f, struct pt_primes *primes)
{
    return cover(bdds, f, f, primes) != PT_BDD_OVERFLOW;
}

void pt_primes_release(struct pt_primes *p)
{
    free(p->vars);
    free(p->ends);
    free(p->path);
}

pt_bdd pt_bdd_copy(const struct pt_bdds *from, pt_bdd f, struct pt_bdds *to, struct pt_map64 *copied)
{
    if (f <= PT_BDD_TRUE)
        return f;
    uint32_t known = pt_map64_get(copied, f);
    if (known != PT_NONE)
        return known;
    pt_bdd low = pt_bdd_copy(from, pt_bdd_low(from, f), to, copied);
    pt_bdd high = pt_bdd_copy(from, pt_bdd_high(from, f), to, copied);
    pt_bdd copy = pt_bdd_ite(to, pt_bdd_var(to, pt_bdd_top(from, f)), high, low);
    *pt_map64_at(copied, f) = copy;
    return copy;
}
