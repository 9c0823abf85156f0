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

enum { MAX_CLAUSES = 1 << 10, MAX_RECURRING = 64 };

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
    if (c.always == PT_BDD_OVERFLOW || list->count == MAX_CLAUSES)
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

static bool read_formula(struct form *form, pt_ltl f, enum pt_ltl_op around, struct clauses *ret);

static void multiply(struct form *form, const struct clauses *a, const struct clauses *b, struct clauses *ret)
{
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t k = 0; k < b->count && !form->too_many; k++)
            add(form, ret,
                (struct clause){pt_bdd_and(form->pool->bdds, a->items[i].always, b->items[k].always),
                                a->items[i].recurring | b->items[k].recurring});
}

static bool read_list(struct form *form, struct pt_ltl_node n, enum pt_ltl_op around, struct clauses *ret)
{
    bool read = true;
    if (n.op == PT_LTL_AND)
        add(form, ret, (struct clause){PT_BDD_TRUE, 0});
    for (uint32_t i = 0; i < n.b && read && !form->too_many; i++) {
        struct clauses kid = {0}, sofar = *ret;
        read = read_formula(form, form->pool->kids[n.a + i], around, &kid);
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
    return read;
}

/*
 * The clauses of f, which stands under the operator `around` (PT_LTL_CONST: none): G passes through conjunctions, F
 * through disjunctions, as the simplifier joins them. False: f is of another kind.
 */
static bool read_formula(struct form *form, pt_ltl f, enum pt_ltl_op around, struct clauses *ret)
{
    struct pt_ltl_node n = form->pool->nodes[f];
    bool passes = around == PT_LTL_CONST || (around == PT_LTL_G) == (n.op == PT_LTL_AND);
    if ((n.op == PT_LTL_AND || n.op == PT_LTL_OR) && passes)
        return read_list(form, n, around, ret);
    if (n.op != PT_LTL_F && n.op != PT_LTL_G)
        return false;
    if (around == PT_LTL_CONST)
        return read_formula(form, n.a, n.op, ret);
    if (around == (enum pt_ltl_op)n.op || !pt_ltl_is(form->pool, n.a, PT_LTL_BOOLEAN))
        return false;
    pt_bdd inner = form->pool->nodes[n.a].bdd;
    add(form, ret,
        n.op == PT_LTL_G ? (struct clause){inner, 0}
                         : (struct clause){PT_BDD_TRUE, (uint64_t)1 << recurring(form, inner)});
    return true;
}

/* The states of a clause from `first` on: in number i the formulas before the i-th were seen in this round, and in the
 * last one, which accepts, all. */
static void add_clause(struct form *form, struct pt_tgba *tgba, uint32_t first, const struct clause *c)
{
    struct pt_bdds *bdds = form->pool->bdds;
    uint32_t order[MAX_RECURRING], count = 0;
    for (uint64_t left = c->recurring; left; left &= left - 1)
        order[count++] = (uint32_t)__builtin_ctzll(left);
    for (uint32_t level = 0; level <= count; level++) {
        bool full = level == count;
        pt_bdd label = c->always;
        for (uint32_t next = full ? 0 : level; next <= count; next++) {
            pt_bdd stays = label;
            if (next < count) {
                pt_bdd seen = form->recurring[order[next]];
                stays = pt_bdd_ite(bdds, seen, PT_BDD_FALSE, label);
                label = pt_bdd_and(bdds, label, seen);
            }
            if (stays != PT_BDD_FALSE)
                pt_tgba_add(tgba, first + level, first + next, stays, full);
        }
    }
}

static struct pt_tgba *write_automaton(struct form *form, const struct clauses *list, uint32_t state_limit)
{
    uint32_t states = 1;
    for (uint32_t i = 0; i < list->count; i++)
        states += (uint32_t)__builtin_popcountll(list->items[i].recurring) + 1;
    if (states > state_limit)
        return NULL;
    struct pt_tgba *tgba = pt_tgba_new(form->pool->bdds, states, 0, 1);
    tgba->state_based = true;
    if (list->count == 1 && list->items[0].always == PT_BDD_TRUE)
        tgba->initial = 1; /* nothing to wait for */
    else if (list->count > 0)
        pt_tgba_add(tgba, 0, 0, PT_BDD_TRUE, 0);
    for (uint32_t i = 0, first = 1; i < list->count; i++) {
        uint32_t count = (uint32_t)__builtin_popcountll(list->items[i].recurring);
        pt_tgba_add(tgba, 0, first + count, PT_BDD_TRUE,
                    0); /* its states have the same models: enter where it accepts */
        add_clause(form, tgba, first, &list->items[i]);
        first += count + 1;
    }
    if (!pt_tgba_finish(tgba)) {
        pt_tgba_free(tgba);
        return NULL;
    }
    return tgba;
}

struct pt_tgba *pt_tgba_of_fairness(struct pt_ltls *pool, pt_ltl formula, uint32_t state_limit)
{
    struct form form = {.pool = pool};
    struct clauses list = {0};
    bool read = read_formula(&form, formula, PT_LTL_CONST, &list);
    struct pt_tgba *tgba = read && !form.too_many ? write_automaton(&form, &list, state_limit) : NULL;
    free(list.items);
    return tgba;
}
