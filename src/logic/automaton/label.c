/*
 * What the writers of automata share: edges with the same ends joined, and the size that labels have as sums of
 * products. The latter is counted without making the products: the recursion of Minato and Morreale (the one behind
 * pt_bdd_cubes) with a memo, so that counting takes time polynomial in the diagrams where writing would not end:
 * parity of n propositions has a diagram of 2n nodes and 2^(n-1) products.
 */
#include "logic/automaton/label.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/table.h"

enum { MAX_PRODUCTS = 1 << 20 };

struct cover {
    pt_bdd covered;    /* what the products cover */
    uint32_t products; /* at most MAX_PRODUCTS + 1, which stands for more */
};

struct counter {
    struct pt_bdds *bdds;
    struct pt_map64 known; /* (lower, upper) to an index into covers */
    struct cover *covers;
    uint32_t count;
    size_t cap;
};

uint32_t pt_label_merged_edges(struct pt_automaton *aut, uint32_t state, struct pt_edge *out)
{
    uint32_t count = 0;
    for (uint32_t e = aut->first[state]; e < aut->first[state + 1]; e++) {
        if (aut->edges[e].label == PT_BDD_FALSE)
            continue;
        uint32_t same = 0;
        while (same < count && out[same].dst != aut->edges[e].dst)
            same++;
        if (same == count) {
            out[count++] = aut->edges[e];
            continue;
        }
        pt_bdd both = pt_bdd_or(aut->bdds, out[same].label, aut->edges[e].label);
        if (both == PT_BDD_OVERFLOW)
            out[count++] = aut->edges[e]; /* two edges say the same as one */
        else
            out[same].label = both;
    }
    return count;
}

uint32_t pt_label_max_degree(const struct pt_automaton *aut)
{
    uint32_t most = 0;
    for (uint32_t s = 0; s < aut->state_count; s++)
        if (aut->first[s + 1] - aut->first[s] > most)
            most = aut->first[s + 1] - aut->first[s];
    return most;
}

static uint32_t top_var(const struct counter *c, pt_bdd f)
{
    return f == PT_BDD_FALSE || f == PT_BDD_TRUE ? PT_NONE : pt_bdd_top(c->bdds, f);
}

static pt_bdd branch(const struct counter *c, pt_bdd f, uint32_t var, bool high)
{
    if (top_var(c, f) != var)
        return f;
    return high ? pt_bdd_high(c->bdds, f) : pt_bdd_low(c->bdds, f);
}

/* f and not g */
static pt_bdd minus(const struct counter *c, pt_bdd f, pt_bdd g)
{
    return pt_bdd_and(c->bdds, f, pt_bdd_not(c->bdds, g));
}

static struct cover too_many(void)
{
    return (struct cover){.covered = PT_BDD_TRUE, .products = MAX_PRODUCTS + 1};
}

/* An irredundant cover of something between `lower` and `upper`. As deep as there are propositions. */
static struct cover count_between(struct counter *c, pt_bdd lower, pt_bdd upper)
{
    if (lower == PT_BDD_OVERFLOW || upper == PT_BDD_OVERFLOW || c->count > MAX_PRODUCTS)
        return too_many();
    if (lower == PT_BDD_FALSE)
        return (struct cover){.covered = PT_BDD_FALSE, .products = 0};
    if (upper == PT_BDD_TRUE)
        return (struct cover){.covered = PT_BDD_TRUE, .products = 1};
    uint64_t key = (uint64_t)lower << 32 | upper;
    uint32_t known = pt_map64_get(&c->known, key);
    if (known != PT_NONE)
        return c->covers[known];
    uint32_t of_lower = top_var(c, lower), of_upper = top_var(c, upper);
    uint32_t var = of_lower < of_upper ? of_lower : of_upper;
    pt_bdd l0 = branch(c, lower, var, false), l1 = branch(c, lower, var, true);
    pt_bdd u0 = branch(c, upper, var, false), u1 = branch(c, upper, var, true);
    struct cover without = count_between(c, minus(c, l0, u1), u0); /* products with the negated variable */
    struct cover with = count_between(c, minus(c, l1, u0), u1);
    pt_bdd rest = pt_bdd_or(c->bdds, minus(c, l0, without.covered), minus(c, l1, with.covered));
    struct cover both = count_between(c, rest, pt_bdd_and(c->bdds, u0, u1)); /* products without the variable */
    uint64_t products = (uint64_t)without.products + with.products + both.products;
    pt_bdd split = pt_bdd_ite(c->bdds, pt_bdd_var(c->bdds, var), with.covered, without.covered);
    struct cover cover = {.covered = pt_bdd_or(c->bdds, split, both.covered), .products = (uint32_t)products};
    if (products > MAX_PRODUCTS || cover.covered == PT_BDD_OVERFLOW)
        cover = too_many();
    *pt_map64_at(&c->known, key) = c->count;
    PT_PUSH(c->covers, c->count, c->cap, cover);
    return cover;
}

static uint64_t count_edges(struct counter *c, const struct pt_edge *edges, uint32_t count)
{
    uint64_t products = 0;
    for (uint32_t e = 0; e < count; e++)
        products += count_between(c, edges[e].label, edges[e].label).products;
    return products;
}

enum pt_status pt_automaton_check_labels(struct pt_automaton *aut, const struct pt_dfa *dfa, struct pt_err *err)
{
    struct counter c = {.bdds = aut->bdds};
    pt_map64_init(&c.known);
    uint64_t products = 0;
    struct pt_edge *edges = pt_xmalloc(((size_t)pt_label_max_degree(aut) + 1) * sizeof *edges);
    for (uint32_t s = 0; !dfa && s < aut->state_count && products <= MAX_PRODUCTS; s++)
        products += count_edges(&c, edges, pt_label_merged_edges(aut, s, edges));
    for (uint32_t s = 0; dfa && s < dfa->state_count && products <= MAX_PRODUCTS; s++)
        products += count_edges(&c, dfa->edges + dfa->first[s], dfa->first[s + 1] - dfa->first[s]);
    free(edges);
    free(c.covers);
    pt_map64_release(&c.known);
    if (products > MAX_PRODUCTS)
        return pt_err_set(err, PT_ELIMIT,
                          "the labels of the automaton are too long to be written: more than %d products",
                          MAX_PRODUCTS);
    return PT_OK;
}
