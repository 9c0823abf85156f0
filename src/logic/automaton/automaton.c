/*
 * The Büchi automaton of a formula: see README.md of this folder for the whole construction. This file tries the
 * variants of the tableau and of the degeneralisation, reduces or shrinks each, and keeps the smallest result; and it
 * turns automata into the form that others see. Every choice is made by fixed order, so the result is a function of the
 * formula alone.
 */
#include "logic/automaton/automaton.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "logic/automaton/convert.h"
#include "logic/ltl/choices.h"
#include "logic/ltl/fairness.h"
#include "logic/ltl/tgba.h"

enum {
    NODE_LIMIT = 1 << 22,     /* BDD nodes of a construction */
    STEP_LIMIT = 1 << 25,     /* and steps, some seconds */
    MAX_DEPTH = 1000,         /* nesting of formulas; the simplifier is recursive */
    SMALL = 100,              /* states (times marks) up to which further variants are worth their time */
    FEW_STATES = 16,          /* up to which the tableau of a fairness formula may lead to fewer, and is small, */
    FEW_PROPS = 8,            /* with so many propositions */
    MANY_EDGES = 500,         /* and edges */
    SOME_EDGES = 1 << 12,     /* up to which a second order of marks is worth its time */
    WEAK_LIMIT = 1 << 13,     /* sets of states of a language that is known to be an obligation */
    WEAK_TRY_LIMIT = 1 << 10, /* and of one that may be none */
    MAX_ORDERS = 24,          /* orders of marks to try */
    MANY_PROPS = 10,          /* with more, decision diagrams of whole steps may be too large */
    SHRINK_STATES = 64,       /* up to which language decides what is merged, */
    SHRINK_TABLEAU = 1 << 10, /* states of tableaux made for that, */
    SHRINK_NODES = 1 << 18,   /* decision diagrams */
    SHRINK_STEPS = 1 << 21,   /* and steps with them, */
    SHRINK_WORK = 1 << 22,    /* and edges of products looked at */
};

void pt_automaton_free(struct pt_automaton *aut)
{
    if (!aut)
        return;
    pt_bdds_free(aut->bdds);
    for (uint32_t i = 0; i < aut->prop_count; i++)
        free(aut->props[i]);
    free(aut->props);
    free(aut->first);
    free(aut->edges);
    free(aut->accepting);
    free(aut);
}

struct pt_tgba *pt_tgba_of_automaton(const struct pt_automaton *aut)
{
    struct pt_tgba *tgba = pt_tgba_new(aut->bdds, aut->state_count, aut->initial, 1);
    tgba->state_based = true;
    for (uint32_t s = 0; s < aut->state_count; s++)
        for (uint32_t i = aut->first[s]; i < aut->first[s + 1]; i++)
            pt_tgba_add(tgba, s, aut->edges[i].dst, aut->edges[i].label, aut->accepting[s]);
    return tgba;
}

/* Replaces the graph of the automaton by that of a state-based one over the same BDDs. */
static void set_graph(struct pt_automaton *aut, const struct pt_tgba *tgba)
{
    free(aut->first);
    free(aut->edges);
    free(aut->accepting);
    aut->initial = tgba->initial;
    aut->state_count = tgba->state_count;
    aut->first = pt_xmalloc(((size_t)tgba->state_count + 1) * sizeof *aut->first);
    memcpy(aut->first, tgba->first, ((size_t)tgba->state_count + 1) * sizeof *aut->first);
    aut->edges = pt_xmalloc(((size_t)tgba->edge_count + 1) * sizeof *aut->edges);
    aut->accepting = pt_xcalloc(tgba->state_count, sizeof *aut->accepting);
    for (uint32_t i = 0; i < tgba->edge_count; i++) {
        const struct pt_tedge *e = &tgba->edges[i];
        aut->edges[i] = (struct pt_edge){e->dst, e->label};
        aut->accepting[e->src] |= e->marks != 0;
    }
}

void pt_automaton_prune(struct pt_automaton *aut)
{
    struct pt_tgba *tgba = pt_tgba_of_automaton(aut);
    bool fits = pt_tgba_finish(tgba); /* an automaton's labels have not overflowed */
    assert(fits);
    pt_tgba_prune(tgba);
    set_graph(aut, tgba);
    pt_tgba_free(tgba);
}

/* Whether the first automaton is the better one: fewer states, then fewer edges. */
static bool better(const struct pt_tgba *a, const struct pt_tgba *b)
{
    if (!a || !b)
        return a != NULL;
    if (a->state_count != b->state_count)
        return a->state_count < b->state_count;
    return a->edge_count < b->edge_count;
}

/* Keeps the better one in *best and frees the other. */
static void offer(struct pt_tgba **best, struct pt_tgba *candidate)
{
    if (better(candidate, *best)) {
        struct pt_tgba *t = *best;
        *best = candidate;
        candidate = t;
    }
    pt_tgba_free(candidate);
}

/* What pt_tgba_shrink asks for. */
struct shrinking {
    struct pt_tgba *negation;
    uint64_t work;
};

/* A degeneralised automaton, reduced or shrunk. */
static void offer_reduced(struct pt_tgba **best, struct pt_tgba *candidate, struct shrinking *shrinking)
{
    if (candidate && shrinking) {
        offer(best, pt_tgba_shrink(candidate, shrinking->negation, (*best)->state_count, &shrinking->work));
        pt_tgba_free(candidate);
    } else if (candidate) {
        offer(best, pt_tgba_reduce(candidate));
    }
}

/* Degeneralised in every order worth trying. */
static void offer_orders(struct pt_tgba **best, const struct pt_tgba *tgba, uint32_t state_limit,
                         struct shrinking *shrinking)
{
    uint32_t marks = (uint32_t)__builtin_popcountll(tgba->all_marks), orders = 1;
    for (uint32_t k = 2; k <= marks && orders < MAX_ORDERS; k++)
        orders *= k;
    if (tgba->state_count * marks > SMALL || tgba->edge_count > MANY_EDGES)
        orders = 1;
    for (uint32_t order = 0; order < orders && order < MAX_ORDERS; order++)
        offer_reduced(best, pt_tgba_degeneralize(tgba, NULL, order, state_limit), shrinking);
    if (marks > 2 && tgba->edge_count <= SOME_EDGES) /* of two marks both orders were tried */
        offer_reduced(best, pt_tgba_degeneralize(tgba, NULL, PT_LAST_ORDER, state_limit), shrinking);
}

static struct pt_tgba *tableau_of(struct pt_ltls *pool, pt_ltl f, uint32_t prop_count, uint32_t state_limit)
{
    struct pt_tgba *tgba = prop_count > MANY_PROPS ? pt_tgba_by_choices(pool, f, state_limit) : NULL;
    if (!tgba)
        tgba = pt_tgba_of_ltl(pool, f, state_limit);
    if (tgba)
        pt_tgba_prune(tgba);
    return tgba;
}

/* The minimal weak automaton, if there is one. Without a syntactic proof that there is, the complement decides. */
static struct pt_tgba *weak_of(struct pt_ltls *pool, pt_ltl f, uint32_t prop_count, const struct pt_tgba *tgba)
{
    if (pt_ltl_is(pool, f, PT_LTL_OBLIGATION))
        return pt_tgba_weak(tgba, NULL, WEAK_LIMIT);
    struct pt_tgba *negation = tableau_of(pool, pt_ltl_not(pool, f), prop_count, WEAK_TRY_LIMIT);
    if (!negation)
        return NULL;
    negation = pt_tgba_reduce(negation);
    struct pt_tgba *weak = pt_tgba_weak(tgba, negation, WEAK_TRY_LIMIT);
    pt_tgba_free(negation);
    return weak;
}

/* Of the tableau: the smallest automaton found is kept in *best. */
static void construct_by_tableau(struct pt_ltls *pool, pt_ltl f, uint32_t prop_count, uint32_t state_limit,
                                 struct pt_tgba **best)
{
    struct pt_tgba *tgba = tableau_of(pool, f, prop_count, state_limit);
    if (!tgba)
        return;
    struct pt_tgba *weak = weak_of(pool, f, prop_count, tgba);
    pool->limit[0] = '\0'; /* that of the negation does not matter */
    /* A large tableau whose weak automaton is no larger: no reduction would be likely to pay. */
    bool pays = !weak || tgba->state_count <= SMALL || weak->state_count > tgba->state_count;
    offer(best, weak);
    if (pays) {
        tgba = pt_tgba_reduce(tgba);
        offer_orders(best, tgba, state_limit, NULL);
    }
    pt_tgba_free(tgba);
}

static struct pt_tgba *construct(struct pt_ltls *pool, pt_ltl f, uint32_t prop_count, uint32_t state_limit);

/* Both automata's runs: a new initial state begins as either. They are freed. */
static struct pt_tgba *unite(struct pt_tgba *a, struct pt_tgba *b)
{
    const struct pt_tgba *parts[2] = {a, b};
    struct pt_tgba *both = pt_tgba_new(a->bdds, 1 + a->state_count + b->state_count, 0, 1);
    both->state_based = true;
    for (uint32_t i = 0, first = 1; i < 2; first += parts[i++]->state_count)
        for (uint32_t k = 0; k < parts[i]->edge_count; k++) {
            const struct pt_tedge *e = &parts[i]->edges[k];
            pt_tgba_add(both, first + e->src, first + e->dst, e->label, e->marks);
            if (e->src == parts[i]->initial)
                pt_tgba_add(both, 0, first + e->dst, e->label, 0);
        }
    bool fits = pt_tgba_finish(both); /* the labels are as they were */
    assert(fits);
    pt_tgba_free(a);
    pt_tgba_free(b);
    return both;
}

/* The operands of a list that are fairness formulas, and the others, each joined as they were. False unless there are
 * some of both. */
static bool split_fair(struct pt_ltls *pool, pt_ltl f, pt_ltl *ret_fair, pt_ltl *ret_rest)
{
    struct pt_ltl_node n = pool->nodes[f];
    bool is_and = n.op == PT_LTL_AND;
    if (!is_and && n.op != PT_LTL_OR)
        return false;
    pt_ltl *rest = pt_xmalloc(n.b * sizeof *rest), *fair = pt_xmalloc(n.b * sizeof *fair);
    uint32_t rest_count = 0, fair_count = 0;
    for (uint32_t i = 0; i < n.b; i++) {
        pt_ltl kid = pool->kids[n.a + i];
        if (pt_ltl_is_fairness(pool, kid))
            fair[fair_count++] = kid;
        else
            rest[rest_count++] = kid;
    }
    bool both = fair_count > 0 && rest_count > 0;
    if (both) {
        *ret_fair = is_and ? pt_ltl_and(pool, fair, fair_count) : pt_ltl_or(pool, fair, fair_count);
        *ret_rest = is_and ? pt_ltl_and(pool, rest, rest_count) : pt_ltl_or(pool, rest, rest_count);
    }
    free(rest);
    free(fair);
    return both;
}

/*
 * The fairness asks nothing of any prefix, so it is suspended until a run stays where the rest accepts (Babiak, Badie,
 * Duret-Lutz, Křetínský and Strejček, "Compositional approach to suspension and other improvements to LTL translation",
 * SPIN 2013). Of the two automata of the rest that there are, the one that leads to fewer states.
 */
static struct pt_tgba *construct_suspended(struct pt_ltls *pool, pt_ltl fair, pt_ltl rest, uint32_t prop_count,
                                           uint32_t state_limit)
{
    struct pt_tgba *best = NULL, *parts[2] = {construct(pool, rest, prop_count, state_limit), NULL};
    if (parts[0] && parts[0]->state_count <= SMALL)
        parts[1] = tableau_of(pool, rest, prop_count, SMALL * SMALL);
    if (parts[1])
        parts[1] = pt_tgba_reduce(parts[1]);
    for (uint32_t i = 0; i < 4; i++) { /* each in two orders */
        const struct pt_tgba *part = parts[i / 2];
        struct pt_tgba *both = part ? pt_tgba_with_fairness(pool, part, fair, i % 2, state_limit) : NULL;
        offer(&best, both ? pt_tgba_reduce(both) : NULL);
    }
    pt_tgba_free(parts[0]);
    pt_tgba_free(parts[1]);
    return best;
}

/*
 * Formulas that are fairness formulas, or such a one `or` something else, as `fair -> f` is, or `and` something else:
 * no tableau is made of the fairness. NULL: it is none, or past a limit.
 */
static struct pt_tgba *construct_fair(struct pt_ltls *pool, pt_ltl f, uint32_t prop_count, uint32_t state_limit)
{
    struct pt_tgba *whole = pt_tgba_of_fairness(pool, f, state_limit), *other;
    pt_ltl fair, rest;
    if (whole || !split_fair(pool, f, &fair, &rest))
        return whole;
    if (pool->nodes[f].op == PT_LTL_AND)
        return construct_suspended(pool, fair, rest, prop_count, state_limit);
    whole = pt_tgba_of_fairness(pool, fair, state_limit);
    other = whole ? construct(pool, rest, prop_count, state_limit) : NULL;
    if (other)
        return unite(whole, other);
    pt_tgba_free(whole);
    return NULL;
}

/* The smallest automaton found, or NULL past a limit. */
static struct pt_tgba *construct(struct pt_ltls *pool, pt_ltl f, uint32_t prop_count, uint32_t state_limit)
{
    struct pt_tgba *best = construct_fair(pool, f, prop_count, state_limit);
    if (best)
        best = pt_tgba_reduce(best);
    /* Suspended fairness is no more than a tableau had to do before. */
    uint32_t few = pool->nodes[f].op == PT_LTL_AND && !pt_ltl_is_fairness(pool, f) ? SMALL : FEW_STATES;
    if (!best || (best->state_count <= few && prop_count <= FEW_PROPS))
        construct_by_tableau(pool, f, prop_count, state_limit, &best);
    if (best)
        pt_tgba_set_idle_marks(best, false);
    return best;
}

/*
 * Shrinks the best automaton and those that the tableau's orders of marks lead to, before reduction: simulation is
 * quicker to merge states, but then fewer others can be. In BDDs of its own, so that what it fails in costs little.
 */
static void shrink(const struct pt_fpool *formulas, pt_formula formula, uint32_t prop_count, struct pt_tgba **best)
{
    if ((*best)->state_count < 2 || (*best)->state_count > SHRINK_STATES)
        return;
    struct pt_bdds *bdds = pt_bdds_new(SHRINK_NODES);
    struct pt_ltls pool;
    pt_bdds_limit_steps(bdds, SHRINK_STEPS);
    pt_ltls_init(&pool, bdds);
    struct pt_tgba *smallest = pt_tgba_copy(*best, bdds), *tgba = NULL;
    struct shrinking shrinking = {NULL, SHRINK_WORK};
    if (smallest && pt_tgba_has_few_letters(smallest)) {
        pt_ltl f = pt_ltl_of_formula(&pool, formulas, formula);
        shrinking.negation = tableau_of(&pool, pt_ltl_not(&pool, f), prop_count, SHRINK_TABLEAU);
        tgba = shrinking.negation ? tableau_of(&pool, f, prop_count, SHRINK_TABLEAU) : NULL;
    }
    if (tgba) {
        shrinking.negation = pt_tgba_reduce(shrinking.negation);
        offer(&smallest, pt_tgba_shrink(smallest, shrinking.negation, smallest->state_count, &shrinking.work));
        tgba = pt_tgba_reduce(tgba);
        offer_orders(&smallest, tgba, SHRINK_TABLEAU, &shrinking);
    }
    offer(best, smallest ? pt_tgba_copy(smallest, (*best)->bdds) : NULL);
    pt_tgba_set_idle_marks(*best, false);
    pt_tgba_free(smallest);
    pt_tgba_free(tgba);
    pt_tgba_free(shrinking.negation);
    pt_ltls_release(&pool);
    pt_bdds_free(bdds);
}

/* An automaton of its own: its BDDs are its labels and nothing else. */
static struct pt_automaton *export(const struct pt_tgba *tgba, const char *const *props, uint32_t prop_count)
{
    struct pt_automaton *aut = pt_xcalloc(1, sizeof *aut);
    aut->bdds = pt_bdds_new(NODE_LIMIT);
    aut->props = pt_xcalloc((size_t)prop_count + 1, sizeof *aut->props);
    for (uint32_t i = 0; i < prop_count; i++)
        aut->props[i] = pt_xstrdup(props[i]);
    aut->prop_count = prop_count;
    set_graph(aut, tgba);
    struct pt_map64 copied;
    pt_map64_init(&copied);
    for (uint32_t i = 0; i < tgba->edge_count; i++)
        aut->edges[i].label = pt_bdd_copy(tgba->bdds, tgba->edges[i].label, aut->bdds, &copied);
    pt_map64_release(&copied);
    return aut;
}

/* How deeply the formula is nested; operands have smaller ids than their operators. */
static uint32_t depth_of(const struct pt_fpool *pool, pt_formula formula)
{
    uint32_t *depth = pt_xcalloc((size_t)formula + 1, sizeof *depth);
    for (uint32_t f = 0; f <= formula; f++) {
        const struct pt_fnode *n = &pool->nodes[f];
        if (n->op <= PT_F_PROP)
            continue;
        uint32_t below = depth[n->a];
        if (pt_fop_is_binary(n->op) && depth[n->b] > below)
            below = depth[n->b];
        depth[f] = below + 1;
    }
    uint32_t result = depth[formula];
    free(depth);
    return result;
}

static enum pt_status make(const struct pt_fpool *pool, pt_formula formula, const char *const *props,
                           uint32_t prop_count, uint32_t state_limit, bool timed, struct pt_automaton **ret_aut,
                           struct pt_err *err)
{
    assert(!pool->nodes[formula].has_past);
    if (prop_count > 64)
        return pt_err_set(err, PT_ELIMIT, "a temporal formula may have 64 different atoms, this one has %u",
                          prop_count);
    if (depth_of(pool, formula) > MAX_DEPTH)
        return pt_err_set(err, PT_ELIMIT, "the formula is nested more than %d operators deep", MAX_DEPTH);
    struct pt_bdds *bdds = pt_bdds_new(NODE_LIMIT);
    struct pt_ltls ltls;
    pt_bdds_limit_steps(bdds, STEP_LIMIT);
    pt_ltls_init(&ltls, bdds);
    struct pt_tgba *best = construct(&ltls, pt_ltl_of_formula(&ltls, pool, formula), prop_count, state_limit);
    enum pt_status status = PT_OK;
    if (best && !timed)
        shrink(pool, formula, prop_count, &best);
    if (best && best->state_count <= state_limit)
        *ret_aut = export(best, props, prop_count);
    else if (best || !ltls.limit[0])
        status = pt_err_set(err, PT_ELIMIT, "the formula's automaton needs more than %u states", state_limit);
    else
        status = pt_err_set(err, PT_ELIMIT, "the formula's automaton needs %s", ltls.limit);
    pt_tgba_free(best);
    pt_ltls_release(&ltls);
    pt_bdds_free(bdds);
    return status;
}

enum pt_status pt_automaton_of_formula(const struct pt_fpool *pool, pt_formula formula, const char *const *props,
                                       uint32_t prop_count, uint32_t state_limit, struct pt_automaton **ret_aut,
                                       struct pt_err *err)
{
    return make(pool, formula, props, prop_count, state_limit, false, ret_aut, err);
}

enum pt_status pt_automaton_of_timed_formula(const struct pt_fpool *pool, pt_formula formula, const char *const *props,
                                             uint32_t prop_count, uint32_t state_limit, struct pt_automaton **ret_aut,
                                             struct pt_err *err)
{
    return make(pool, formula, props, prop_count, state_limit, true, ret_aut, err);
}
