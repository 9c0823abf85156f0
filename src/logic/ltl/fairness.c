/*
 * Conjunctions and disjunctions of G F a and F G b with boolean a, b: what assumptions of fairness and Rabin and
 * Streett conditions are made of. Whether a word is a model does not depend on any prefix of it, so the tableau, which
 * carries every subset of what was promised along, does far too much: (G F p1 or F G q1) and ... of seven has thousands
 * of states there.
 *
 * Instead: the disjunctive form, whose clauses are F G b and G F a1 and ... G F an, since F G b and F G c are F G (b
 * and c); less the clauses that others contain. The automaton waits as long as it likes, guesses a clause, and then
 * reads letters of b alone while it counts a1, ... an round and round as degeneralize.c does. A clause c is contained
 * in d when b_c implies b_d and each G F a of d follows from c: from b_c (F G b implies G F a if b implies a) or from
 * one of c's own (G F a' implies G F a if a' implies a).
 *
 * States: one, and n + 1 for each clause. Cost: the square of the number of clauses at each operator.
 */
#include "logic/ltl/fairness.h"

#include <stdlib.h>

#include "base/mem.h"

enum { MAX_CLAUSES = 1 << 13, MAX_COMPARISONS = 1 << 25, MAX_RECURRING = 64 };

struct clause {
    pt_bdd always;      /* b: from some position on */
    uint64_t recurring; /* a: infinitely often, by their numbers */
};

struct clauses {
    struct clause *items;
    uint32_t count;
    size_t cap;
};

struct form {
    struct pt_ltls *pool;
    pt_bdd recurring[MAX_RECURRING];
    uint32_t recurring_count;
    uint32_t comparisons; /* of clauses */
    bool too_many;
};

static bool clause_implies(struct form *form, const struct clause *c, pt_bdd a)
{
    struct pt_bdds *bdds = form->pool->bdds;
    bool implied = pt_bdd_implies(bdds, c->always, a);
    for (uint64_t left = c->recurring; left && !implied; left &= left - 1)
        implied = pt_bdd_implies(bdds, form->recurring[__builtin_ctzll(left)], a);
    return implied;
}

static bool contained(struct form *form, const struct clause *c, const struct clause *d)
{
    bool all = pt_bdd_implies(form->pool->bdds, c->always, d->always);
    for (uint64_t left = d->recurring; left && all; left &= left - 1)
        all = clause_implies(form, c, form->recurring[__builtin_ctzll(left)]);
    return all;
}

/* Leaves out what the rest of the clause implies. False: it has no model. */
static bool tidy(struct form *form, struct clause *c)
{
    struct pt_bdds *bdds = form->pool->bdds;
    for (uint64_t left = c->recurring; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        struct clause rest = {c->always, c->recurring & ~((uint64_t)1 << i)};
        if (pt_bdd_and(bdds, c->always, form->recurring[i]) == PT_BDD_FALSE)
            return false;
        if (clause_implies(form, &rest, form->recurring[i]))
            c->recurring = rest.recurring;
    }
    return c->always != PT_BDD_FALSE;
}

static void add(struct form *form, struct clauses *list, struct clause c)
{
    form->comparisons += 2 * list->count;
    if (c.always == PT_BDD_OVERFLOW || list->count == MAX_CLAUSES || form->comparisons > MAX_COMPARISONS)
        form->too_many = true;
    if (form->too_many || !tidy(form, &c))
        return;
    for (uint32_t i = 0; i < list->count; i++)
        if (contained(form, &c, &list->items[i]))
            return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (!contained(form, &list->items[i], &c))
            list->items[kept++] = list->items[i];
    list->count = kept;
    PT_PUSH(list->items, list->count, list->cap, c);
}

/* The number of a formula that is to hold infinitely often. */
static uint32_t recurring(struct form *form, pt_bdd a)
{
    for (uint32_t i = 0; i < form->recurring_count; i++)
        if (form->recurring[i] == a)
            return i;
    if (form->recurring_count == MAX_RECURRING) {
        form->too_many = true;
        return 0;
    }
    form->recurring[form->recurring_count] = a;
    return form->recurring_count++;
}

/* f stands under the operator `around` (PT_LTL_CONST: none): G passes through conjunctions, F through disjunctions, as
 * the simplifier joins them. */
static bool passes(struct pt_ltl_node n, enum pt_ltl_op around)
{
    bool list = n.op == PT_LTL_AND || n.op == PT_LTL_OR;
    return list && (around == PT_LTL_CONST || (around == PT_LTL_G) == (n.op == PT_LTL_AND));
}

static bool is_fairness(const struct pt_ltls *pool, pt_ltl f, enum pt_ltl_op around)
{
    struct pt_ltl_node n = pool->nodes[f];
    bool is = passes(n, around);
    for (uint32_t i = 0; i < n.b && is && passes(n, around); i++)
        is = is_fairness(pool, pool->kids[n.a + i], around);
    if (passes(n, around) || (n.op != PT_LTL_F && n.op != PT_LTL_G))
        return is;
    if (around == PT_LTL_CONST)
        return is_fairness(pool, n.a, (enum pt_ltl_op)n.op);
    return around != (enum pt_ltl_op)n.op && pt_ltl_is(pool, n.a, PT_LTL_BOOLEAN);
}

bool pt_ltl_is_fairness(const struct pt_ltls *pool, pt_ltl formula)
{
    return is_fairness(pool, formula, PT_LTL_CONST);
}

static void read_formula(struct form *form, pt_ltl f, enum pt_ltl_op around, struct clauses *ret);

static void multiply(struct form *form, const struct clauses *a, const struct clauses *b, struct clauses *ret)
{
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count && !form->too_many; k++)
            add(form, ret,
                (struct clause){pt_bdd_and(form->pool->bdds, a->items[i].always, b->items[k].always),
                                a->items[i].recurring | b->items[k].recurring});
}

static void read_list(struct form *form, struct pt_ltl_node n, enum pt_ltl_op around, struct clauses *ret)
{
    if (n.op == PT_LTL_AND)
        add(form, ret, (struct clause){PT_BDD_TRUE, 0});
    for (uint32_t i = 0; i < n.b && !form->too_many; i++) {
        struct clauses kid = {0}, sofar = *ret;
        read_formula(form, form->pool->kids[n.a + i], around, &kid);
        if (n.op == PT_LTL_AND) {
            *ret = (struct clauses){0};
            multiply(form, &sofar, &kid, ret);
            free(sofar.items);
        } else {
            for (uint32_t k = 0; k < kid.count; k++)
                add(form, ret, kid.items[k]);
        }
        free(kid.items);
    }
}

/* The clauses of f, which is a fairness formula. */
static void read_formula(struct form *form, pt_ltl f, enum pt_ltl_op around, struct clauses *ret)
{
    struct pt_ltl_node n = form->pool->nodes[f];
    if (passes(n, around)) {
        read_list(form, n, around, ret);
    } else if (around == PT_LTL_CONST) {
        read_formula(form, n.a, (enum pt_ltl_op)n.op, ret);
    } else {
        pt_bdd inner = form->pool->nodes[n.a].bdd;
        add(form, ret,
            n.op == PT_LTL_G ? (struct clause){inner, 0}
                             : (struct clause){PT_BDD_TRUE, (uint64_t)1 << recurring(form, inner)});
    }
}

/* `rest` once for each clause, where it can accept, and before that, where several can be chosen or one has to wait. */
struct product {
    const struct pt_tgba *rest;
    struct pt_sccs sccs;
    const struct clauses *list;
    bool waits;
    struct pt_tgba *out;
    uint64_t *recurring; /* per state of `out` */
};

static bool accepts(const struct product *p, uint32_t state)
{
    return pt_scc_accepts(&p->sccs, p->sccs.of[state], p->rest->all_marks);
}

/* The part of a clause, which begins with state `first`: edges that stay in an accepting component, with letters of
 * what holds from now on. Whoever waits may come in at every state. */
static void add_clause(struct product *p, uint32_t first, const struct clause *c)
{
    struct pt_bdds *bdds = p->rest->bdds;
    for (uint32_t i = 0; i < p->rest->edge_count; i++) {
        const struct pt_tedge *e = &p->rest->edges[i];
        bool inside = p->sccs.of[e->src] == p->sccs.of[e->dst] && accepts(p, e->src);
        uint64_t marks = p->rest->all_marks ? e->marks : p->out->all_marks;
        if (inside || !p->waits)
            pt_tgba_add(p->out, first + e->src, first + e->dst, pt_bdd_and(bdds, e->label, c->always), marks);
        if (p->waits && accepts(p, e->dst))
            pt_tgba_add(p->out, e->src, first + e->dst, e->label, 0);
    }
    for (uint32_t s = 0; s < p->rest->state_count; s++)
        p->recurring[first + s] = c->recurring;
}

/* Words of `rest` that are models of some clause. Pruned; NULL past the limit. */
static struct pt_tgba *restrict_to(struct form *form, const struct pt_tgba *rest, const struct clauses *list,
                                   uint32_t order, uint32_t state_limit)
{
    uint32_t n = rest->state_count;
    struct product p = {.rest = rest, .list = list};
    p.waits = list->count != 1 || list->items[0].always != PT_BDD_TRUE;
    uint64_t states = (uint64_t)n * (list->count + p.waits);
    if (states > state_limit)
        return NULL;
    pt_sccs_init(&p.sccs, rest);
    p.out = pt_tgba_new(rest->bdds, (uint32_t)states, rest->initial, rest->all_marks ? rest->all_marks : 1);
    p.recurring = pt_xcalloc(states, sizeof *p.recurring);
    for (uint32_t i = 0; i < rest->edge_count && p.waits; i++)
        pt_tgba_add(p.out, rest->edges[i].src, rest->edges[i].dst, rest->edges[i].label, 0);
    for (uint32_t i = 0; i < list->count; i++)
        add_clause(&p, n * (i + p.waits), &list->items[i]);
    struct pt_recurring recurring = {form->recurring, p.recurring};
    struct pt_tgba *result = pt_tgba_finish(p.out) ? pt_tgba_degeneralize(p.out, &recurring, order, state_limit) : NULL;
    pt_sccs_release(&p.sccs);
    pt_tgba_free(p.out);
    free(p.recurring);
    return result;
}

struct pt_tgba *pt_tgba_with_fairness(struct pt_ltls *pool, const struct pt_tgba *rest, pt_ltl formula, uint32_t order,
                                      uint32_t state_limit)
{
    struct form form = {.pool = pool};
    struct clauses list = {0};
    if (!pt_ltl_is_fairness(pool, formula))
        return NULL;
    read_formula(&form, formula, PT_LTL_CONST, &list);
    struct pt_tgba *tgba = !form.too_many ? restrict_to(&form, rest, &list, order, state_limit) : NULL;
    free(list.items);
    return tgba;
}

struct pt_tgba *pt_tgba_of_fairness(struct pt_ltls *pool, pt_ltl formula, uint32_t state_limit)
{
    struct pt_tgba *all = pt_tgba_new(pool->bdds, 1, 0, 0);
    pt_tgba_add(all, 0, 0, PT_BDD_TRUE, 0);
    bool fits = pt_tgba_finish(all);
    struct pt_tgba *tgba = fits ? pt_tgba_with_fairness(pool, all, formula, 0, state_limit) : NULL;
    pt_tgba_free(all);
    return tgba;
}
