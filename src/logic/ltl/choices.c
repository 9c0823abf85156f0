/*
 * The tableau of translate.c without decision diagrams of whole steps, for formulas over many propositions: what a
 * state may do next is a list of choices, built along the formula as in Gastin and Oddoux, "Fast LTL to Büchi automata
 * translation" (CAV 2001). `p1 U (p2 U ... pn)` has n choices, where a diagram with the propositions on top has 2^n
 * nodes.
 *
 * States are formulas as they are written, so equivalent ones may stay apart that translate.c would make one; it is
 * used only where every state has few choices. Cost: the square of the choices for each state (dominated ones are left
 * out).
 */
#include "logic/ltl/choices.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MAX_CHOICES = 64, MAX_MARKS = 64, MAX_DEPTH = 256, MAX_WORK = 1 << 16 };

/* One way to go on: letters, what must hold from the next position on (a conjunction), and what is put off. */
struct choice {
    pt_bdd label;
    pt_ltl next;
    uint64_t promises;
};

struct choices {
    struct choice items[MAX_CHOICES];
    uint32_t count;
    bool too_many;
};

struct expansion {
    struct pt_ltls *pool;
    bool guarantee;          /* the whole formula is one */
    struct pt_map64 mark_of; /* what is promised to its mark */
    uint32_t mark_count;
    uint32_t work;            /* lists that were made: shared subformulas are gone through again */
    struct pt_map64 state_of; /* formula to state */
    pt_ltl *states;
    uint32_t state_count;
    size_t state_cap;
};

/* Whether some formula of the list implies f. */
static bool some_implies(struct pt_ltls *pool, const pt_ltl *kids, uint32_t count, pt_ltl f)
{
    for (uint32_t k = 0; k < count; k++)
        if (pt_ltl_implies(pool, kids[k], f))
            return true;
    return false;
}

/*
 * Whether each kid of b, a conjunction or one formula, is among those of a or follows from one of them. For leaving out
 * a choice that is enough, promises or not: take a word that is a model, and at each position the choice that puts off
 * no more than what is false there. What is taken in its place has the word's rest as a model, too, and puts off no
 * more; so what is put off for ever is false for ever, and no model has that.
 */
static bool asks_for_all(struct pt_ltls *pool, pt_ltl a, pt_ltl b)
{
    const struct pt_ltl_node *na = &pool->nodes[a], *nb = &pool->nodes[b];
    const pt_ltl *as = na->op == PT_LTL_AND ? pool->kids + na->a : &a;
    const pt_ltl *bs = nb->op == PT_LTL_AND ? pool->kids + nb->a : &b;
    uint32_t a_count = na->op == PT_LTL_AND ? na->b : 1, b_count = nb->op == PT_LTL_AND ? nb->b : 1, i = 0;
    if (b == PT_LTL_TRUE)
        return true;
    for (uint32_t k = 0; k < b_count; k++) { /* both are sorted */
        while (i < a_count && as[i] < bs[k])
            i++;
        if ((i == a_count || as[i] != bs[k]) && !some_implies(pool, as, a_count, bs[k]))
            return false;
    }
    return true;
}

/* Whether whoever takes `a` could as well take `b`. */
static bool dominated(struct expansion *x, const struct choice *a, const struct choice *b)
{
    return !(b->promises & ~a->promises) && asks_for_all(x->pool, a->next, b->next) &&
           pt_bdd_implies(x->pool->bdds, a->label, b->label);
}

static void add(struct expansion *x, struct choices *list, struct choice c)
{
    if (c.label == PT_BDD_FALSE || c.next == PT_LTL_FALSE)
        return;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (dominated(x, &c, &list->items[i]))
            return;
    for (uint32_t i = 0; i < list->count; i++)
        if (!dominated(x, &list->items[i], &c))
            list->items[kept++] = list->items[i];
    list->count = kept;
    if (kept == MAX_CHOICES || c.label == PT_BDD_OVERFLOW)
        list->too_many = true;
    else
        list->items[list->count++] = c;
}

static void add_all(struct expansion *x, struct choices *list, const struct choices *more)
{
    list->too_many |= more->too_many;
    for (uint32_t i = 0; i < more->count && !list->too_many; i++)
        add(x, list, more->items[i]);
}

/* Whether what f asks of its first position has all that g asks of it: f and g, one after the other, are f. */
static bool contains(const struct pt_ltls *pool, pt_ltl f, pt_ltl g)
{
    while (f != g) {
        struct pt_ltl_node n = pool->nodes[f];
        if (n.op != PT_LTL_R && n.op != PT_LTL_M && n.op != PT_LTL_G)
            return false;
        f = n.op == PT_LTL_G ? n.a : n.b;
    }
    return true;
}

static uint32_t drop_contained(const struct pt_ltls *pool, pt_ltl *kids, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool contained = false; /* a formula is smaller than those that contain it: no two contain each other */
        for (uint32_t k = 0; k < count && !contained; k++)
            contained = k != i && kids[k] != kids[i] && contains(pool, kids[k], kids[i]);
        if (!contained)
            kids[kept++] = kids[i];
    }
    return kept;
}

/* Both formulas, without what others contain, and without safety formulas that others imply (implies.c says why these,
 * and nothing else). */
static pt_ltl both_next(struct expansion *x, pt_ltl a, pt_ltl b)
{
    pt_ltl both = pt_ltl_plain_list(x->pool, PT_LTL_AND, (pt_ltl[]){a, b}, 2);
    struct pt_ltl_node n = x->pool->nodes[both];
    if (n.op != PT_LTL_AND || both == a || both == b)
        return both;
    pt_ltl *kids = pt_xmalloc(n.b * sizeof *kids);
    memcpy(kids, x->pool->kids + n.a, n.b * sizeof *kids);
    uint32_t kept = drop_contained(x->pool, kids, n.b);
    kept = pt_ltl_drop_implied_safety(x->pool, kids, kept);
    if (kept < n.b)
        both = pt_ltl_plain_list(x->pool, PT_LTL_AND, kids, kept);
    free(kids);
    return both;
}

/* Everything that a choice of each list asks for. */
static void multiply(struct expansion *x, const struct choices *a, const struct choices *b, struct choices *ret)
{
    ret->too_many |= a->too_many || b->too_many;
    for (uint32_t i = 0; i < a->count && !ret->too_many; i++)
        for (uint32_t j = 0; j < b->count && !ret->too_many; j++) {
            const struct choice *c = &a->items[i], *d = &b->items[j];
            pt_bdd label = pt_bdd_and(x->pool->bdds, c->label, d->label);
            if (label != PT_BDD_FALSE)
                add(x, ret, (struct choice){label, both_next(x, c->next, d->next), c->promises | d->promises});
        }
}

/* A model of a guarantee formula has a prefix that is enough, so that nothing is put off behind it: one mark does for
 * all, and choices need not be told apart by what they put off. */
static uint64_t promise(struct expansion *x, pt_ltl f)
{
    if (x->guarantee)
        f = PT_LTL_TRUE;
    uint32_t *mark = pt_map64_at(&x->mark_of, f);
    if (*mark == PT_NONE)
        *mark = x->mark_count++;
    return *mark < MAX_MARKS ? (uint64_t)1 << *mark : 0; /* past the limit nothing of it is used */
}

static struct choices *choices_of(struct expansion *x, pt_ltl f, uint32_t depth);

static void choose_list(struct expansion *x, struct pt_ltl_node n, uint32_t depth, struct choices *ret)
{
    if (n.op == PT_LTL_AND)
        add(x, ret, (struct choice){PT_BDD_TRUE, PT_LTL_TRUE, 0});
    for (uint32_t k = 0; k < n.b && !ret->too_many; k++) {
        struct choices *kid = choices_of(x, x->pool->kids[n.a + k], depth);
        if (n.op == PT_LTL_AND) {
            struct choices sofar = *ret;
            *ret = (struct choices){0};
            multiply(x, &sofar, kid, ret);
        } else {
            add_all(x, ret, kid);
        }
        free(kid);
    }
}

/* Operators that may go on: now is what ends them, or what they keep, together with themselves at the next position. */
static void choose_temporal(struct expansion *x, pt_ltl f, struct pt_ltl_node n, uint32_t depth, struct choices *ret)
{
    struct choices again = {.items = {{PT_BDD_TRUE, f, 0}}, .count = 1};
    struct choices *a = choices_of(x, n.a, depth);
    bool binary = n.op == PT_LTL_U || n.op == PT_LTL_W || n.op == PT_LTL_R || n.op == PT_LTL_M;
    struct choices *b = binary ? choices_of(x, n.b, depth) : NULL;
    if (n.op == PT_LTL_G) {
        multiply(x, a, &again, ret);
    } else if (n.op == PT_LTL_F) {
        again.items[0].promises = promise(x, n.a);
        add_all(x, ret, a);
        add_all(x, ret, &again);
    } else if (n.op == PT_LTL_U || n.op == PT_LTL_W) {
        again.items[0].promises = n.op == PT_LTL_U ? promise(x, n.b) : 0;
        add_all(x, ret, b);
        struct choices kept = {0};
        multiply(x, a, &again, &kept);
        add_all(x, ret, &kept);
    } else {
        again.items[0].promises = n.op == PT_LTL_M ? promise(x, n.a) : 0;
        add_all(x, a, &again);
        multiply(x, b, a, ret);
    }
    free(a);
    free(b);
}

static struct choices *choices_of(struct expansion *x, pt_ltl f, uint32_t depth)
{
    struct choices *ret = pt_xcalloc(1, sizeof *ret);
    struct pt_ltl_node n = x->pool->nodes[f];
    if (depth == MAX_DEPTH || x->work++ >= MAX_WORK)
        ret->too_many = true;
    else if (n.flags & PT_LTL_BOOLEAN)
        add(x, ret, (struct choice){n.bdd, PT_LTL_TRUE, 0});
    else if (n.op == PT_LTL_AND || n.op == PT_LTL_OR)
        choose_list(x, n, depth + 1, ret);
    else if (n.op == PT_LTL_X)
        add(x, ret, (struct choice){PT_BDD_TRUE, n.a, 0});
    else
        choose_temporal(x, f, n, depth + 1, ret);
    return ret;
}

static uint32_t state_at(struct expansion *x, pt_ltl f)
{
    uint32_t *state = pt_map64_at(&x->state_of, f);
    if (*state == PT_NONE) {
        *state = x->state_count;
        PT_PUSH(x->states, x->state_count, x->state_cap, f);
    }
    return *state;
}

struct pt_tgba *pt_tgba_by_choices(struct pt_ltls *pool, pt_ltl formula, uint32_t state_limit)
{
    struct expansion x = {.pool = pool, .guarantee = pt_ltl_is(pool, formula, PT_LTL_GUARANTEE)};
    pt_map64_init(&x.mark_of);
    pt_map64_init(&x.state_of);
    struct pt_tgba *tgba = pt_tgba_new(pool->bdds, 1, 0, 0);
    state_at(&x, formula);
    bool fits = true;
    for (uint32_t s = 0; s < x.state_count && fits; s++) {
        struct choices *list = choices_of(&x, x.states[s], 0);
        fits = !list->too_many && x.mark_count <= MAX_MARKS && x.state_count <= state_limit;
        for (uint32_t i = 0; i < list->count && fits; i++)
            pt_tgba_add(tgba, s, state_at(&x, list->items[i].next), list->items[i].label, list->items[i].promises);
        free(list);
    }
    tgba->state_count = x.state_count;
    tgba->all_marks = x.mark_count >= 64 ? UINT64_MAX : ((uint64_t)1 << x.mark_count) - 1;
    for (uint32_t i = 0; i < tgba->edge_count; i++) /* an edge has the marks of what it does not put off */
        tgba->edges[i].marks = tgba->all_marks & ~tgba->edges[i].marks;
    if (!fits || !pt_tgba_finish(tgba)) {
        pt_tgba_free(tgba);
        tgba = NULL;
    }
    pt_map64_release(&x.mark_of);
    pt_map64_release(&x.state_of);
    free(x.states);
    return tgba;
}
