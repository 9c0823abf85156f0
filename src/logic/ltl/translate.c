/*
 * From a formula to a transition-based generalised Büchi automaton: the symbolic tableau of Couvreur, "On-the-fly
 * verification of linear temporal logic" (FM 1999), as refined by Duret-Lutz and others.
 *
 * A formula becomes a BDD over propositions, variables Next[f] ("f holds from the next position on") and variables
 * Promise[g] ("g was deferred once more"): r(f U g) = r(g) or (r(f) and Next[f U g] and Promise[g]). Propositions are
 * on top, so the sub-diagrams below them are what is left after reading a letter, and their prime implicants (they
 * are monotone) are the ways to go on. An edge has the mark of every g that it does not promise. Formulas with the
 * same BDD are the same state.
 *
 * Cost: exponential in the formula at worst, as it must be; every limit ends in NULL.
 */
#include "logic/ltl/tgba.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

enum { MAX_MARKS = 64, MAX_EDGES = 1 << 22, FEW_LEAVES = 1 << 13, LEAVES_PER_PRIME = 8 };

struct var {
    pt_ltl formula;
    uint32_t mark; /* PT_NONE: a Next variable */
};

struct tableau {
    struct pt_ltls *pool;
    struct pt_bdds *bdds;
    bool guarantee; /* the whole formula is one */
    uint32_t state_limit;
    struct var *vars; /* of BDD variable PT_TGBA_VARS + i */
    uint32_t var_count;
    size_t var_cap;
    struct pt_map64 var_of;  /* 2 * formula (Next) or 2 * formula + 1 (Promise) */
    struct pt_map64 step_of; /* formula to r(formula) */
    uint32_t mark_count;
    struct pt_map64 state_of; /* r(formula) to state */
    pt_bdd *states;           /* r(formula) per state */
    uint32_t state_count;
    size_t state_cap;
    struct pt_map64 ways_of; /* what is left after a letter to the number of its ways */
    struct ways {            /* from where on in `targets`, and how many */
        uint32_t first, count;
    } * ways;
    uint32_t way_count;
    size_t way_cap;
    struct target {
        uint32_t state;
        uint64_t promises;
    } * targets;
    uint32_t target_count;
    size_t target_cap;
    struct pt_tedge *edges; /* `marks` holds the promises until all of them are known */
    uint32_t edge_count;
    size_t edge_cap;
    bool out_of_edges;
};

/* Of a guarantee formula one promise does for all (choices.c says why). */
static pt_bdd variable(struct tableau *t, pt_ltl f, bool promise)
{
    if (promise && t->guarantee)
        f = PT_LTL_TRUE;
    uint32_t *var = pt_map64_at(&t->var_of, (uint64_t)f * 2 + promise);
    if (*var == PT_NONE) {
        *var = t->var_count;
        PT_PUSH(t->vars, t->var_count, t->var_cap, ((struct var){f, promise ? t->mark_count++ : PT_NONE}));
    }
    return pt_bdd_var(t->bdds, PT_TGBA_VARS + *var);
}

static pt_bdd next(struct tableau *t, pt_ltl f)
{
    struct pt_ltl_node n = t->pool->nodes[f];
    if (n.op == PT_LTL_CONST)
        return n.bdd;
    if (n.op != PT_LTL_AND)
        return variable(t, f, false);
    pt_bdd result = PT_BDD_TRUE;
    for (uint32_t k = 0; k < n.b; k++)
        result = pt_bdd_and(t->bdds, result, next(t, t->pool->kids[n.a + k]));
    return result;
}

static pt_bdd step(struct tableau *t, pt_ltl f);

static pt_bdd step_list(struct tableau *t, struct pt_ltl_node n, pt_bdd (*of)(struct tableau *t, pt_ltl f))
{
    pt_bdd result = n.op == PT_LTL_AND ? PT_BDD_TRUE : PT_BDD_FALSE;
    for (uint32_t k = 0; k < n.b; k++) {
        pt_bdd kid = of(t, t->pool->kids[n.a + k]);
        result = n.op == PT_LTL_AND ? pt_bdd_and(t->bdds, result, kid) : pt_bdd_or(t->bdds, result, kid);
    }
    return result;
}

/* Under G an F need not be carried on by a Next of its own: the G asks for it again at the next position. */
static pt_bdd step_recurring(struct tableau *t, pt_ltl f)
{
    struct pt_ltl_node n = t->pool->nodes[f];
    if (n.op == PT_LTL_AND)
        return step_list(t, n, step_recurring);
    if (n.op == PT_LTL_F)
        return pt_bdd_or(t->bdds, step(t, n.a), variable(t, n.a, true));
    return step(t, f);
}

/* Letters at which g need not be deferred: when g is d and e with a boolean d and an eventual e, then the first d is as
 * good as any later one. */
static pt_bdd not_yet(struct tableau *t, pt_ltl g)
{
    struct pt_ltl_node n = t->pool->nodes[g];
    if (n.op != PT_LTL_AND)
        return PT_BDD_TRUE;
    pt_bdd d = PT_BDD_TRUE;
    for (uint32_t k = 0; k < n.b; k++) {
        const struct pt_ltl_node *kid = &t->pool->nodes[t->pool->kids[n.a + k]];
        if (kid->flags & PT_LTL_BOOLEAN)
            d = pt_bdd_and(t->bdds, d, kid->bdd);
        else if (!(kid->flags & PT_LTL_EVENTUAL))
            return PT_BDD_TRUE;
    }
    return pt_bdd_not(t->bdds, d);
}

static pt_bdd compute_step(struct tableau *t, pt_ltl f)
{
    struct pt_bdds *bdds = t->bdds;
    struct pt_ltl_node n = t->pool->nodes[f];
    if (n.flags & PT_LTL_BOOLEAN)
        return n.bdd;
    if (n.op == PT_LTL_AND || n.op == PT_LTL_OR)
        return step_list(t, n, step);
    if (n.op == PT_LTL_X)
        return next(t, n.a);
    if (n.op == PT_LTL_G)
        return pt_bdd_and(bdds, step_recurring(t, n.a), next(t, f));
    pt_bdd again = next(t, f);
    pt_bdd a = step(t, n.a);
    if (n.op == PT_LTL_F) {
        again = pt_bdd_and(bdds, again, not_yet(t, n.a));
        return pt_bdd_or(bdds, a, pt_bdd_and(bdds, again, variable(t, n.a, true)));
    }
    pt_bdd b = step(t, n.b);
    if (n.op == PT_LTL_U)
        again = pt_bdd_and(bdds, again, not_yet(t, n.b));
    if (n.op == PT_LTL_U)
        again = pt_bdd_and(bdds, again, variable(t, n.b, true));
    if (n.op == PT_LTL_M)
        again = pt_bdd_and(bdds, again, variable(t, n.a, true));
    if (n.op == PT_LTL_U || n.op == PT_LTL_W)
        return pt_bdd_or(bdds, b, pt_bdd_and(bdds, a, again));
    return pt_bdd_and(bdds, b, pt_bdd_or(bdds, a, again));
}

static pt_bdd step(struct tableau *t, pt_ltl f)
{
    uint32_t known = pt_map64_get(&t->step_of, f);
    if (known != PT_NONE)
        return known;
    pt_bdd result = compute_step(t, f);
    *pt_map64_at(&t->step_of, f) = result; /* an overflow is PT_NONE and not remembered */
    return result;
}

static uint32_t state_of(struct tableau *t, pt_ltl f)
{
    pt_bdd meaning = step(t, f);
    if (meaning == PT_BDD_OVERFLOW)
        return PT_NONE;
    uint32_t *state = pt_map64_at(&t->state_of, meaning);
    if (*state == PT_NONE) {
        if (t->state_count >= t->state_limit)
            return PT_NONE;
        *state = t->state_count;
        PT_PUSH(t->states, t->state_count, t->state_cap, meaning);
    }
    return *state;
}

/* What one implicant asks for now, next, and puts off. */
struct choice {
    pt_bdd label;
    pt_ltl formula;
    uint64_t promises;
};

/*
 * Of the conjunction of the Next formulas only safety formulas that others imply are left out (implies.c). Nothing else
 * of it may be simplified: b R XF b implies F b, but dropping an F b
 * beside it, step after step, would forget the promise to see b for ever. That a contradiction has no successor is
 * always right.
 */
static struct choice read_prime(struct tableau *t, const uint32_t *vars, size_t len)
{
    struct choice c = {.label = PT_BDD_TRUE};
    pt_ltl *kids = pt_xmalloc((len + 1) * sizeof *kids);
    uint32_t count = 0;
    for (size_t i = 0; i < len; i++) {
        uint32_t id = vars[i] & ~PT_PRIME_NEGATIVE;
        if (id < PT_TGBA_VARS) {
            pt_bdd var = pt_bdd_var(t->bdds, id);
            if (vars[i] & PT_PRIME_NEGATIVE)
                c.label = pt_bdd_ite(t->bdds, var, PT_BDD_FALSE, c.label);
            else
                c.label = pt_bdd_and(t->bdds, var, c.label);
        } else if (t->vars[id - PT_TGBA_VARS].mark == PT_NONE) {
            kids[count++] = t->vars[id - PT_TGBA_VARS].formula;
        } else {
            c.promises |= (uint64_t)1 << t->vars[id - PT_TGBA_VARS].mark;
        }
    }
    c.formula = pt_ltl_and(t->pool, kids, count);
    if (c.formula != PT_LTL_FALSE)
        c.formula = pt_ltl_plain_list(t->pool, PT_LTL_AND, kids, pt_ltl_drop_implied_safety(t->pool, kids, count));
    free(kids);
    return c;
}

/* The edges of these implicants for the letters in `label`. */
static bool add_choices(struct tableau *t, uint32_t src, const struct pt_primes *p, pt_bdd label)
{
    bool fits = t->mark_count <= MAX_MARKS;
    for (uint32_t i = 0; i < p->count && fits; i++) {
        size_t start = i ? p->ends[i - 1] : 0;
        const uint32_t *vars = p->vars ? p->vars + start : NULL; /* the empty implicant may be the only one */
        struct choice c = read_prime(t, vars, p->ends[i] - start);
        if (c.formula == PT_LTL_FALSE)
            continue;
        struct pt_tedge edge = {src, state_of(t, c.formula), pt_bdd_and(t->bdds, label, c.label), c.promises};
        t->out_of_edges |= t->edge_count >= MAX_EDGES;
        fits = edge.dst != PT_NONE && !t->out_of_edges && t->mark_count <= MAX_MARKS;
        PT_PUSH(t->edges, t->edge_count, t->edge_cap, edge);
    }
    return fits;
}

/*
 * Where the implicants of what is left after a letter lead. States share most of what is left (of ((p1 U p2) U p3) ...
 * U pn there are 2^n such functions and 3.4^n pairs of a state and one), so they are looked for once. NULL: past a
 * limit.
 */
static const struct ways *ways_of(struct tableau *t, pt_bdd f)
{
    uint32_t known = pt_map64_get(&t->ways_of, f);
    if (known != PT_NONE)
        return &t->ways[known];
    struct pt_primes p = {0};
    struct ways ways = {t->target_count, 0};
    bool fits = pt_bdd_primes(t->bdds, f, &p);
    for (uint32_t i = 0; i < p.count && fits; i++) {
        size_t start = i ? p.ends[i - 1] : 0;
        struct choice c = read_prime(t, p.vars ? p.vars + start : NULL, p.ends[i] - start);
        if (c.formula == PT_LTL_FALSE)
            continue;
        struct target target = {state_of(t, c.formula), c.promises};
        fits = target.state != PT_NONE && t->mark_count <= MAX_MARKS;
        PT_PUSH(t->targets, t->target_count, t->target_cap, target);
        ways.count++;
    }
    pt_primes_release(&p);
    if (!fits)
        return NULL;
    *pt_map64_at(&t->ways_of, f) = t->way_count;
    PT_PUSH(t->ways, t->way_count, t->way_cap, ways);
    return &t->ways[t->way_count - 1];
}

/* The edges for the letters in `label` when `f` is left of the state's step. */
static bool expand(struct tableau *t, uint32_t src, pt_bdd f, pt_bdd label)
{
    const struct ways *ways = ways_of(t, f);
    t->out_of_edges |= ways && t->edge_count + ways->count > MAX_EDGES;
    if (!ways || t->out_of_edges)
        return false;
    for (uint32_t i = ways->first; i < ways->first + ways->count; i++) {
        struct pt_tedge edge = {src, t->targets[i].state, label, t->targets[i].promises};
        PT_PUSH(t->edges, t->edge_count, t->edge_cap, edge);
    }
    return true;
}

/* Letter by letter (as far as letters differ), which is more deterministic; or, when that is much more, by implicants
 * that mention propositions too: p1 U (p2 U ... pn) has n of those, and 2^n letters that differ. */
static bool expand_state(struct tableau *t, uint32_t state)
{
    struct pt_primes p = {0};
    struct pt_leaf *leaves;
    uint32_t count;
    bool few = pt_bdd_leaves(t->bdds, t->states[state], FEW_LEAVES, &leaves, &count);
    bool covered = !few && pt_bdd_primes(t->bdds, t->states[state], &p), fits = true;
    uint32_t limit = covered ? LEAVES_PER_PRIME * p.count : PT_LEAVES_LIMIT;
    if (few || pt_bdd_leaves(t->bdds, t->states[state], limit, &leaves, &count)) {
        for (uint32_t i = 0; i < count && fits; i++)
            fits = expand(t, state, leaves[i].set, leaves[i].label);
        free(leaves);
    } else {
        fits = covered && add_choices(t, state, &p, PT_BDD_TRUE);
    }
    pt_primes_release(&p);
    return fits;
}

static struct pt_tgba *to_tgba(struct tableau *t)
{
    uint64_t all = t->mark_count == 64 ? UINT64_MAX : ((uint64_t)1 << t->mark_count) - 1;
    struct pt_tgba *tgba = pt_tgba_new(t->bdds, t->state_count, 0, all);
    for (uint32_t i = 0; i < t->edge_count; i++)
        pt_tgba_add(tgba, t->edges[i].src, t->edges[i].dst, t->edges[i].label, all & ~t->edges[i].marks);
    if (!pt_tgba_finish(tgba)) {
        pt_tgba_free(tgba);
        return NULL;
    }
    return tgba;
}

/* Says which limit was reached. Where it is none of these, a step had too many prime implicants (symbolic.c). */
static void note_limit(struct tableau *t)
{
    char *text = t->pool->limit;
    size_t size = sizeof t->pool->limit;
    if (t->mark_count > MAX_MARKS)
        (void)snprintf(text, size, "more than %d operators that promise something (until, eventually)", MAX_MARKS);
    else if (t->out_of_edges)
        (void)snprintf(text, size, "more than %d edges", MAX_EDGES);
    else if (t->state_count >= t->state_limit)
        (void)snprintf(text, size, "more than %u states", t->state_limit);
    else if (pt_bdds_exhausted(t->bdds))
        (void)snprintf(text, size, "decision diagrams of more than %u nodes", pt_bdds_exhausted(t->bdds));
    else if (pt_bdds_overworked(t->bdds))
        (void)snprintf(text, size, "more than %llu steps with decision diagrams",
                       (unsigned long long)pt_bdds_overworked(t->bdds));
    else
        (void)snprintf(text, size, "more than %d choices in one of its steps", PT_PRIMES_LIMIT);
}

struct pt_tgba *pt_tgba_of_ltl(struct pt_ltls *pool, pt_ltl formula, uint32_t state_limit)
{
    struct tableau t = {.pool = pool, .bdds = pool->bdds, .state_limit = state_limit};
    t.guarantee = pt_ltl_is(pool, formula, PT_LTL_GUARANTEE);
    pt_map64_init(&t.var_of);
    pt_map64_init(&t.step_of);
    pt_map64_init(&t.state_of);
    pt_map64_init(&t.ways_of);
    bool fits = state_of(&t, formula) != PT_NONE;
    for (uint32_t s = 0; s < t.state_count && fits; s++)
        fits = expand_state(&t, s);
    struct pt_tgba *tgba = fits && t.mark_count <= MAX_MARKS ? to_tgba(&t) : NULL;
    if (!tgba)
        note_limit(&t);
    pt_map64_release(&t.var_of);
    pt_map64_release(&t.step_of);
    pt_map64_release(&t.state_of);
    pt_map64_release(&t.ways_of);
    free(t.ways);
    free(t.targets);
    free(t.vars);
    free(t.states);
    free(t.edges);
    return tgba;
}
