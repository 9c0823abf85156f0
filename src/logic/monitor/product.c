/*
 * States are pairs (memory of the past machine, state of the automaton). For one memory, every past subformula and
 * every next memory bit is a BDD over the atoms; splitting on the next bits one after the other partitions the letters
 * by next memory without enumerating them. Cost: reachable pairs times edges.
 */
#include "logic/monitor/product.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "logic/monitor/past.h"

enum { BDD_NODES = 4 << 20 };

/* One reachable memory of the past machine, expanded. */
struct memory {
    struct pt_past_memory state;
    bool expanded;
    pt_bdd *meaning; /* of the automaton's propositions, given this memory */
    struct branch {
        uint32_t memory; /* index of the next memory ... */
        pt_bdd letters;  /* ... under these letters */
    } * branches;
    uint32_t branch_count;
    size_t branch_cap;
};

struct product {
    struct pt_automaton *aut;
    struct pt_past past;
    const pt_formula *meaning;
    struct pt_bdds *bdds;
    struct memory *memories;
    uint32_t memory_count;
    size_t memory_cap;
    struct pt_map64 memory_ids; /* bits -> index; the first state has its own */
    struct pt_map64 pair_ids;   /* memory << 32 | automaton state -> product state */
    uint64_t *pairs;
    uint32_t pair_count;
    size_t pair_cap;
    struct pt_edge *edges;
    uint32_t edge_count;
    size_t edge_cap;
    uint32_t *first;
    size_t first_cap;
    uint32_t state_limit; /* of memories too: one memory may have 2^64 successors */
    bool overflow;        /* of the BDDs, or of memories */
};

static uint32_t memory_id(struct product *p, struct pt_past_memory state)
{
    uint32_t *id = NULL;
    if (!state.first) {
        id = pt_map64_at(&p->memory_ids, state.bits);
        if (*id != PT_NONE)
            return *id;
        *id = p->memory_count;
    }
    struct memory m = {.state = state};
    PT_PUSH(p->memories, p->memory_count, p->memory_cap, m);
    return p->memory_count - 1;
}

static uint32_t pair_id(struct product *p, uint32_t memory, uint32_t state)
{
    uint64_t pair = (uint64_t)memory << 32 | state;
    uint32_t *id = pt_map64_at(&p->pair_ids, pair);
    if (*id == PT_NONE) {
        *id = p->pair_count;
        PT_PUSH(p->pairs, p->pair_count, p->pair_cap, pair);
    }
    return *id;
}

static void add_branch(struct product *p, uint32_t memory, pt_bdd letters, uint64_t bits)
{
    struct branch branch = {memory_id(p, (struct pt_past_memory){bits, false}), letters};
    struct memory *m = &p->memories[memory]; /* after memory_id, which may move the array */
    PT_PUSH(m->branches, m->branch_count, m->branch_cap, branch);
}

/* Splits `letters` by the value of the next memory bits from `bit` on. At most 64 deep. */
static void split(struct product *p, uint32_t memory, const pt_bdd *next, uint32_t bit, pt_bdd letters, uint64_t bits)
{
    if (letters == PT_BDD_FALSE || p->overflow)
        return;
    if (letters == PT_BDD_OVERFLOW || p->memory_count > p->state_limit) {
        p->overflow = true;
        return;
    }
    if (bit == p->past.memory_bits) {
        add_branch(p, memory, letters, bits);
        return;
    }
    split(p, memory, next, bit + 1, pt_bdd_and(p->bdds, letters, next[bit]), bits | (uint64_t)1 << bit);
    split(p, memory, next, bit + 1, pt_bdd_and(p->bdds, letters, pt_bdd_not(p->bdds, next[bit])), bits);
}

static void expand_memory(struct product *p, uint32_t memory)
{
    if (p->memories[memory].expanded)
        return;
    pt_bdd next[64];
    pt_bdd *values = pt_xmalloc((p->past.node_count + 1) * sizeof *values);
    pt_past_step_symbolic(&p->past, p->memories[memory].state, p->bdds, values, next);
    pt_bdd *meaning = pt_xmalloc((p->aut->prop_count + 1) * sizeof *meaning);
    for (uint32_t i = 0; i < p->aut->prop_count; i++)
        meaning[i] = values[p->past.local[p->meaning[i]]];
    free(values);
    split(p, memory, next, 0, PT_BDD_TRUE, 0);
    p->memories[memory].meaning = meaning;
    p->memories[memory].expanded = true;
}

/* The label with its propositions replaced by their meaning; labels have at most 64 levels. */
static pt_bdd compose(struct product *p, pt_bdd label, const pt_bdd *meaning, struct pt_map64 *done)
{
    if (label <= PT_BDD_TRUE || p->overflow)
        return label;
    uint32_t known = pt_map64_get(done, label);
    if (known != PT_NONE)
        return known;
    pt_bdd low = compose(p, pt_bdd_low(p->aut->bdds, label), meaning, done);
    pt_bdd high = compose(p, pt_bdd_high(p->aut->bdds, label), meaning, done);
    pt_bdd result = pt_bdd_ite(p->bdds, meaning[pt_bdd_top(p->aut->bdds, label)], high, low);
    if (result == PT_BDD_OVERFLOW)
        p->overflow = true;
    else
        *pt_map64_at(done, label) = result;
    return result;
}

static void expand_pair(struct product *p, uint32_t pair)
{
    uint32_t memory = (uint32_t)(p->pairs[pair] >> 32), state = (uint32_t)p->pairs[pair];
    struct pt_map64 done;
    expand_memory(p, memory);
    pt_map64_init(&done);
    for (uint32_t e = p->aut->first[state]; e < p->aut->first[state + 1] && !p->overflow; e++) {
        pt_bdd label = compose(p, p->aut->edges[e].label, p->memories[memory].meaning, &done);
        for (uint32_t k = 0; k < p->memories[memory].branch_count && !p->overflow; k++) {
            struct branch branch = p->memories[memory].branches[k];
            pt_bdd both = pt_bdd_and(p->bdds, label, branch.letters);
            if (both == PT_BDD_OVERFLOW)
                p->overflow = true;
            if (both == PT_BDD_FALSE || p->overflow)
                continue;
            struct pt_edge edge = {pair_id(p, branch.memory, p->aut->edges[e].dst), both};
            PT_PUSH(p->edges, p->edge_count, p->edge_cap, edge);
        }
    }
    pt_map64_release(&done);
}

static void product_release(struct product *p)
{
    for (uint32_t i = 0; i < p->memory_count; i++) {
        free(p->memories[i].meaning);
        free(p->memories[i].branches);
    }
    free(p->memories);
    pt_map64_release(&p->memory_ids);
    pt_map64_release(&p->pair_ids);
    pt_past_release(&p->past);
    free(p->pairs);
}

/* Moves what was built into an automaton. */
static struct pt_automaton *product_finish(struct product *p, const char *const *props, uint32_t prop_count)
{
    struct pt_automaton *aut = pt_xcalloc(1, sizeof *aut);
    aut->bdds = p->bdds;
    aut->props = pt_xcalloc(prop_count, sizeof *aut->props);
    for (uint32_t i = 0; i < prop_count; i++)
        aut->props[i] = pt_xstrdup(props[i]);
    aut->prop_count = prop_count;
    aut->state_count = p->pair_count;
    aut->first = p->first;
    aut->edges = p->edges;
    aut->accepting = pt_xcalloc(p->pair_count, sizeof *aut->accepting);
    for (uint32_t s = 0; s < p->pair_count; s++)
        aut->accepting[s] = p->aut->accepting[(uint32_t)p->pairs[s]];
    return aut;
}

enum pt_status pt_automaton_substitute(struct pt_automaton *aut, const struct pt_fpool *pool, const pt_formula *meaning,
                                       const char *const *props, uint32_t prop_count, uint32_t state_limit,
                                       struct pt_automaton **ret_aut, struct pt_err *err)
{
    struct product p = {.aut = aut, .meaning = meaning, .state_limit = state_limit};
    enum pt_status status = pt_past_init(&p.past, pool, meaning, aut->prop_count, err);
    if (status != PT_OK)
        return status;
    p.bdds = pt_bdds_new(BDD_NODES);
    pt_map64_init(&p.memory_ids);
    pt_map64_init(&p.pair_ids);
    pair_id(&p, memory_id(&p, pt_past_start(&p.past)), aut->initial);
    uint32_t s = 0, entries = 0;
    for (; s < p.pair_count && p.pair_count <= state_limit && !p.overflow; s++) {
        PT_PUSH(p.first, entries, p.first_cap, p.edge_count);
        expand_pair(&p, s);
    }
    if (s < p.pair_count || p.overflow) {
        status = pt_err_set(err, PT_ELIMIT, "the property needs more than %u automaton states (--automaton-limit)",
                            state_limit);
        pt_bdds_free(p.bdds);
        free(p.edges);
        free(p.first);
    } else {
        PT_PUSH(p.first, entries, p.first_cap, p.edge_count);
        *ret_aut = product_finish(&p, props, prop_count);
    }
    product_release(&p);
    return status;
}
