/*
 * Reduced ordered BDDs after Bryant (1986): one unique table (open addressing) and one lossy operation cache.
 * Everything is an if-then-else, except the implication test, which builds no node and therefore
 * cannot overflow. Recursion is as deep as there are variables in the operands, and bounded; a test of implication
 * that would go deeper says no, which its callers take for "not known". Cost of an operation: the product of the
 * operands' sizes, as long as the cache does not forget.
 */
#include "logic/formula/bdd.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/unique.h"

#define CONST_VAR   UINT32_MAX       /* below every variable */
#define TAG_IMPLIES (UINT32_MAX - 1) /* third operand of a cached implication; no node id */

struct node {
    uint32_t var;
    pt_bdd low, high;
};

struct cached {
    pt_bdd f, g, h, result;
};

struct pt_bdds {
    struct node *nodes;
    uint32_t count, limit;
    bool refused;               /* a node, by the limit */
    uint64_t steps, step_limit; /* steps that are left, of so many */
    uint32_t depth;             /* of the recursion at hand */
    size_t cap;
    struct pt_unique unique; /* of all nodes but the constants */
    struct cached *cache;
    uint32_t cache_mask;
};

enum { FIRST_SLOTS = 1024, FIRST_CACHE = FIRST_SLOTS, MAX_CACHE = 1 << 20 };
enum { MAX_DEPTH = 8000 }; /* deeper operations overflow, rather than the C stack */

struct pt_bdds *pt_bdds_new(uint32_t node_limit)
{
    struct pt_bdds *bdds = pt_xcalloc(1, sizeof *bdds);
    bdds->limit = node_limit < TAG_IMPLIES ? node_limit : TAG_IMPLIES - 1;
    bdds->steps = UINT64_MAX;
    pt_unique_init(&bdds->unique, FIRST_SLOTS);
    bdds->cache_mask = FIRST_CACHE - 1;
    bdds->cache = pt_xcalloc(FIRST_CACHE, sizeof *bdds->cache);
    PT_GROW(bdds->nodes, bdds->cap, 2);
    bdds->nodes[PT_BDD_FALSE] = (struct node){CONST_VAR, PT_BDD_FALSE, PT_BDD_FALSE};
    bdds->nodes[PT_BDD_TRUE] = (struct node){CONST_VAR, PT_BDD_TRUE, PT_BDD_TRUE};
    bdds->count = 2;
    return bdds;
}

uint32_t pt_bdds_exhausted(const struct pt_bdds *bdds)
{
    return bdds->refused ? bdds->limit : 0;
}

void pt_bdds_limit_steps(struct pt_bdds *bdds, uint64_t steps)
{
    bdds->steps = bdds->step_limit = steps;
}

uint64_t pt_bdds_overworked(const struct pt_bdds *bdds)
{
    return bdds->steps == 0 ? bdds->step_limit : 0;
}

void pt_bdds_free(struct pt_bdds *bdds)
{
    if (!bdds)
        return;
    free(bdds->nodes);
    pt_unique_release(&bdds->unique);
    free(bdds->cache);
    free(bdds);
}

/* The cache grows with the node table, so that it forgets little; its entries may be lost at any time. */
static void grow_cache(struct pt_bdds *bdds)
{
    free(bdds->cache);
    bdds->cache_mask = bdds->cache_mask * 2 + 1;
    bdds->cache = pt_xcalloc((size_t)bdds->cache_mask + 1, sizeof *bdds->cache);
}

static pt_bdd make_node(struct pt_bdds *bdds, uint32_t var, pt_bdd low, pt_bdd high)
{
    if (low == PT_BDD_OVERFLOW || high == PT_BDD_OVERFLOW)
        return PT_BDD_OVERFLOW;
    if (low == high)
        return low;
    uint32_t hash = pt_unique_hash(var, low, high);
    for (uint32_t at = hash, id; (id = pt_unique_next(&bdds->unique, hash, &at)) != PT_NONE;) {
        const struct node *n = &bdds->nodes[id];
        if (n->var == var && n->low == low && n->high == high)
            return id;
    }
    if (bdds->count >= bdds->limit) {
        bdds->refused = true;
        return PT_BDD_OVERFLOW;
    }
    pt_unique_add(&bdds->unique, hash, bdds->count);
    PT_PUSH(bdds->nodes, bdds->count, bdds->cap, ((struct node){var, low, high}));
    if (bdds->cache_mask < bdds->unique.mask && bdds->cache_mask + 1 < MAX_CACHE)
        grow_cache(bdds);
    return bdds->count - 1;
}

pt_bdd pt_bdd_var(struct pt_bdds *bdds, uint32_t var)
{
    assert(var != CONST_VAR);
    return make_node(bdds, var, PT_BDD_FALSE, PT_BDD_TRUE);
}

static struct cached *cache_entry(struct pt_bdds *bdds, pt_bdd f, pt_bdd g, pt_bdd h)
{
    return &bdds->cache[pt_unique_hash(f, g, h) & bdds->cache_mask];
}

/* An all-zero entry belongs to no operation: the operations settle constant operands before they look here. */
static bool cache_hit(const struct cached *e, pt_bdd f, pt_bdd g, pt_bdd h)
{
    return e->f == f && e->g == g && e->h == h;
}

static inline pt_bdd branch(const struct node *n, pt_bdd f, uint32_t var, bool high)
{
    return n->var != var ? f : high ? n->high : n->low;
}

pt_bdd pt_bdd_ite(struct pt_bdds *bdds, pt_bdd f, pt_bdd g, pt_bdd h)
{
    if (f == PT_BDD_OVERFLOW || g == PT_BDD_OVERFLOW || h == PT_BDD_OVERFLOW)
        return PT_BDD_OVERFLOW;
    if (f == PT_BDD_TRUE || g == h)
        return g;
    if (f == PT_BDD_FALSE)
        return h;
    if (f == g)
        g = PT_BDD_TRUE;
    if (f == h)
        h = PT_BDD_FALSE;
    if (g == PT_BDD_TRUE && h == PT_BDD_FALSE)
        return f;
    /* Conjunction and disjunction commute: one order, one cache entry. */
    if (h == PT_BDD_FALSE && g < f) {
        pt_bdd t = f;
        f = g, g = t;
    } else if (g == PT_BDD_TRUE && h < f) {
        pt_bdd t = f;
        f = h, h = t;
    }
    if (f == PT_BDD_TRUE || f == PT_BDD_FALSE)
        return f == PT_BDD_TRUE ? g : h;
    const struct cached *e = cache_entry(bdds, f, g, h);
    if (cache_hit(e, f, g, h))
        return e->result;
    struct node nf = bdds->nodes[f], ng = bdds->nodes[g], nh = bdds->nodes[h];
    uint32_t var = nf.var;
    if (ng.var < var)
        var = ng.var;
    if (nh.var < var)
        var = nh.var;
    if (bdds->depth >= MAX_DEPTH || bdds->steps == 0)
        return PT_BDD_OVERFLOW;
    bdds->depth++;
    bdds->steps--;
    pt_bdd low = pt_bdd_ite(bdds, branch(&nf, f, var, false), branch(&ng, g, var, false), branch(&nh, h, var, false));
    pt_bdd high = PT_BDD_OVERFLOW;
    if (low != PT_BDD_OVERFLOW)
        high = pt_bdd_ite(bdds, branch(&nf, f, var, true), branch(&ng, g, var, true), branch(&nh, h, var, true));
    bdds->depth--;
    pt_bdd result = make_node(bdds, var, low, high);
    if (result != PT_BDD_OVERFLOW)
        *cache_entry(bdds, f, g, h) = (struct cached){f, g, h, result};
    return result;
}

pt_bdd pt_bdd_not(struct pt_bdds *bdds, pt_bdd f)
{
    return pt_bdd_ite(bdds, f, PT_BDD_FALSE, PT_BDD_TRUE);
}

pt_bdd pt_bdd_and(struct pt_bdds *bdds, pt_bdd f, pt_bdd g)
{
    return pt_bdd_ite(bdds, f, g, PT_BDD_FALSE);
}

pt_bdd pt_bdd_or(struct pt_bdds *bdds, pt_bdd f, pt_bdd g)
{
    return pt_bdd_ite(bdds, f, PT_BDD_TRUE, g);
}

bool pt_bdd_implies(struct pt_bdds *bdds, pt_bdd f, pt_bdd g)
{
    if (f == PT_BDD_OVERFLOW || g == PT_BDD_OVERFLOW)
        return false;
    if (f == PT_BDD_FALSE || g == PT_BDD_TRUE || f == g)
        return true;
    if (f == PT_BDD_TRUE || g == PT_BDD_FALSE)
        return false;
    struct cached *e = cache_entry(bdds, f, g, TAG_IMPLIES);
    if (cache_hit(e, f, g, TAG_IMPLIES))
        return e->result;
    if (bdds->depth >= MAX_DEPTH)
        return false;
    const struct node *nf = &bdds->nodes[f], *ng = &bdds->nodes[g];
    uint32_t var = nf->var < ng->var ? nf->var : ng->var;
    bdds->depth++;
    bool result = pt_bdd_implies(bdds, branch(nf, f, var, false), branch(ng, g, var, false)) &&
                  pt_bdd_implies(bdds, branch(nf, f, var, true), branch(ng, g, var, true));
    bdds->depth--;
    *e = (struct cached){f, g, TAG_IMPLIES, result};
    return result;
}

bool pt_bdd_eval(const struct pt_bdds *bdds, pt_bdd f, uint64_t letter)
{
    while (f > PT_BDD_TRUE) {
        const struct node *n = &bdds->nodes[f];
        f = letter >> n->var & 1 ? n->high : n->low;
    }
    return f == PT_BDD_TRUE;
}

uint32_t pt_bdd_top(const struct pt_bdds *bdds, pt_bdd f)
{
    return bdds->nodes[f].var;
}

pt_bdd pt_bdd_low(const struct pt_bdds *bdds, pt_bdd f)
{
    return bdds->nodes[f].low;
}

pt_bdd pt_bdd_high(const struct pt_bdds *bdds, pt_bdd f)
{
    return bdds->nodes[f].high;
}

static uint64_t collect_support(const struct pt_bdds *bdds, pt_bdd f, struct pt_map64 *seen)
{
    if (f <= PT_BDD_TRUE)
        return 0;
    uint32_t *mark = pt_map64_at(seen, f);
    if (*mark != PT_NONE)
        return 0;
    *mark = 0;
    const struct node *n = &bdds->nodes[f];
    uint64_t below = collect_support(bdds, n->low, seen) | collect_support(bdds, n->high, seen);
    return below | (n->var < 64 ? (uint64_t)1 << n->var : 0);
}

uint64_t pt_bdd_support(struct pt_bdds *bdds, pt_bdd f)
{
    struct pt_map64 seen;
    pt_map64_init(&seen);
    uint64_t support = f == PT_BDD_OVERFLOW ? 0 : collect_support(bdds, f, &seen);
    pt_map64_release(&seen);
    return support;
}

struct cover {
    struct pt_cube *cubes;
    uint32_t count;
    size_t cap;
};

static void append_cubes(struct cover *cover, struct cover *part, uint64_t pos, uint64_t neg)
{
    for (uint32_t i = 0; i < part->count; i++) {
        struct pt_cube cube = {part->cubes[i].pos | pos, part->cubes[i].neg | neg};
        PT_PUSH(cover->cubes, cover->count, cover->cap, cube);
    }
    free(part->cubes);
}

/*
 * Minato (1992): an irredundant cover of some function between `lower` and `upper`; returns that function. Cubes that
 * need the literal !x cover what the low branch of `lower` has and the high branch of `upper` lacks, likewise for x;
 * the rest is covered without x.
 */
static pt_bdd isop(struct pt_bdds *bdds, pt_bdd lower, pt_bdd upper, struct cover *cover)
{
    if (lower == PT_BDD_OVERFLOW || upper == PT_BDD_OVERFLOW)
        return PT_BDD_OVERFLOW;
    if (lower == PT_BDD_FALSE)
        return PT_BDD_FALSE;
    if (upper == PT_BDD_TRUE) {
        PT_PUSH(cover->cubes, cover->count, cover->cap, ((struct pt_cube){0, 0}));
        return PT_BDD_TRUE;
    }
    struct node nl = bdds->nodes[lower], nu = bdds->nodes[upper];
    uint32_t var = nl.var < nu.var ? nl.var : nu.var;
    pt_bdd l0 = branch(&nl, lower, var, false), l1 = branch(&nl, lower, var, true);
    pt_bdd u0 = branch(&nu, upper, var, false), u1 = branch(&nu, upper, var, true);
    struct cover c0 = {0}, c1 = {0}, cd = {0};
    pt_bdd f0 = isop(bdds, pt_bdd_and(bdds, l0, pt_bdd_not(bdds, u1)), u0, &c0);
    pt_bdd f1 = isop(bdds, pt_bdd_and(bdds, l1, pt_bdd_not(bdds, u0)), u1, &c1);
    pt_bdd rest =
        pt_bdd_or(bdds, pt_bdd_and(bdds, l0, pt_bdd_not(bdds, f0)), pt_bdd_and(bdds, l1, pt_bdd_not(bdds, f1)));
    pt_bdd fd = isop(bdds, rest, pt_bdd_and(bdds, u0, u1), &cd);
    append_cubes(cover, &c0, 0, (uint64_t)1 << var);
    append_cubes(cover, &c1, (uint64_t)1 << var, 0);
    append_cubes(cover, &cd, 0, 0);
    return pt_bdd_or(bdds, fd, make_node(bdds, var, f0, f1));
}

/* The paths to TRUE: a cover that needs no new node, for when the manager is full. */
static void path_cubes(const struct pt_bdds *bdds, pt_bdd f, struct pt_cube path, struct cover *cover)
{
    if (f == PT_BDD_FALSE)
        return;
    if (f == PT_BDD_TRUE) {
        PT_PUSH(cover->cubes, cover->count, cover->cap, path);
        return;
    }
    const struct node *n = &bdds->nodes[f];
    uint64_t bit = (uint64_t)1 << n->var;
    path_cubes(bdds, n->low, (struct pt_cube){path.pos, path.neg | bit}, cover);
    path_cubes(bdds, n->high, (struct pt_cube){path.pos | bit, path.neg}, cover);
}

uint32_t pt_bdd_cubes(struct pt_bdds *bdds, pt_bdd f, struct pt_cube **ret_cubes)
{
    struct cover cover = {0};
    if (f != PT_BDD_OVERFLOW && isop(bdds, f, f, &cover) == PT_BDD_OVERFLOW) {
        cover.count = 0;
        path_cubes(bdds, f, (struct pt_cube){0, 0}, &cover);
    }
    *ret_cubes = cover.cubes;
    return cover.count;
}

pt_bdd pt_bdd_cube(struct pt_bdds *bdds, struct pt_cube cube)
{
    if (cube.pos & cube.neg)
        return PT_BDD_FALSE;
    pt_bdd f = PT_BDD_TRUE;
    for (uint32_t var = 64; var-- > 0;) {
        if (cube.pos >> var & 1)
            f = make_node(bdds, var, PT_BDD_FALSE, f);
        else if (cube.neg >> var & 1)
            f = make_node(bdds, var, f, PT_BDD_FALSE);
    }
    return f;
}
