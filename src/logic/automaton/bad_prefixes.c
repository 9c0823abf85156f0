/*
 * Bad prefixes: the finite words that no word of the automaton's language extends. Once states that reach no accepting
 * cycle are gone, a prefix is bad when it leads to the empty set of states (d'Amorim and Roşu, "Efficient monitoring
 * of omega-languages", CAV 2005). Without that pruning: the words after which no run is left. Exact. Cost: as many sets
 * as the powerset has, which the limit bounds.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "logic/automaton/convert.h"
#include "logic/ltl/powerset.h"

enum { MAX_ROUNDS = 16 };

static enum pt_status too_large(struct pt_err *err, uint32_t state_limit)
{
    return pt_err_set(err, PT_ELIMIT, "the bad prefixes need more than %u automaton states, or too much memory",
                      state_limit);
}

static struct pt_tgba *graph(const struct pt_automaton *aut)
{
    struct pt_tgba *tgba = pt_tgba_of_automaton(aut);
    bool fits = pt_tgba_finish(tgba); /* an automaton's labels have not overflowed */
    assert(fits);
    return tgba;
}

static struct pt_tgba *pruned_graph(const struct pt_automaton *aut)
{
    struct pt_tgba *tgba = graph(aut);
    pt_tgba_prune(tgba);
    return tgba;
}

/* After pruning, only the empty language has an initial state without edges. */
static bool is_empty(const struct pt_tgba *tgba)
{
    return tgba->first[tgba->initial] == tgba->first[tgba->initial + 1];
}

static bool add_edges(struct pt_moore *m, pt_bdd signature, uint32_t dead, const uint32_t *number, struct pt_dfa *dfa,
                      size_t *edge_cap)
{
    struct pt_leaf *leaves;
    uint32_t count, edge_count = dfa->first[dfa->state_count];
    if (!pt_bdd_leaves(m->p->bdds, signature, PT_LEAVES_LIMIT, &leaves, &count))
        return false;
    for (uint32_t l = 0; l < count; l++) {
        uint32_t class = pt_bdd_top(m->p->bdds, leaves[l].set) - PT_TGBA_VARS;
        struct pt_edge edge = {class == dead ? PT_NONE : number[class], leaves[l].label};
        PT_PUSH(dfa->edges, edge_count, *edge_cap, edge);
    }
    free(leaves);
    dfa->first[++dfa->state_count] = edge_count;
    return true;
}

/* The classes as a deterministic automaton, numbered by their first set; set 0 is the initial one. */
static struct pt_dfa *build_dfa(struct pt_moore *m)
{
    uint32_t n = m->p->count, dead = m->class_of[n], count = 0;
    uint32_t *number = pt_xmalloc(m->class_count * sizeof *number);
    uint32_t *member = pt_xmalloc(m->class_count * sizeof *member);
    memset(number, 0xff, m->class_count * sizeof *number);
    for (uint32_t k = 0; k < n; k++)
        if (number[m->class_of[k]] == PT_NONE) {
            member[count] = k;
            number[m->class_of[k]] = count++;
        }
    struct pt_dfa *dfa = pt_xcalloc(1, sizeof *dfa);
    dfa->first = pt_xcalloc((size_t)count + 1, sizeof *dfa->first);
    size_t edge_cap = 0;
    bool fits = true;
    for (uint32_t c = 0; c < count && fits; c++)
        fits = add_edges(m, m->signature[member[c]], dead, number, dfa, &edge_cap);
    free(number);
    free(member);
    if (!fits) {
        pt_dfa_free(dfa);
        return NULL;
    }
    return dfa;
}

static struct pt_dfa *determinize(const struct pt_tgba *tgba, uint32_t state_limit)
{
    struct pt_powerset p;
    pt_powerset_init(&p, tgba);
    struct pt_dfa *dfa = NULL;
    if (pt_powerset_build(&p, state_limit)) {
        struct pt_moore m = {.p = &p, .class_count = 2};
        m.class_of = pt_xcalloc((size_t)p.count + 1, sizeof *m.class_of);
        m.signature = pt_xcalloc((size_t)p.count + 1, sizeof *m.signature);
        m.class_of[p.count] = 1;
        if (pt_moore_minimize(&m))
            dfa = build_dfa(&m);
        free(m.class_of);
        free(m.signature);
    }
    pt_powerset_release(&p);
    return dfa;
}

enum pt_status pt_automaton_bad_prefixes(struct pt_automaton *aut, uint32_t state_limit, struct pt_dfa **ret_dfa,
                                         struct pt_err *err)
{
    struct pt_tgba *tgba = pruned_graph(aut);
    struct pt_dfa *dfa;
    if (is_empty(tgba)) {
        dfa = pt_xcalloc(1, sizeof *dfa);
        dfa->initial = PT_NONE;
        dfa->first = pt_xcalloc(1, sizeof *dfa->first);
    } else {
        dfa = determinize(tgba, state_limit);
    }
    pt_tgba_free(tgba);
    if (!dfa)
        return too_large(err, state_limit);
    *ret_dfa = dfa;
    return PT_OK;
}

enum pt_status pt_automaton_stuck_prefixes(struct pt_automaton *aut, uint32_t state_limit, struct pt_dfa **ret_dfa,
                                           struct pt_err *err)
{
    struct pt_tgba *tgba = graph(aut);
    *ret_dfa = determinize(tgba, state_limit);
    pt_tgba_free(tgba);
    return *ret_dfa ? PT_OK : too_large(err, state_limit);
}

void pt_dfa_free(struct pt_dfa *dfa)
{
    if (!dfa)
        return;
    free(dfa->first);
    free(dfa->edges);
    free(dfa);
}

/* The sets met so far of which no other one is a subset: what a superset reaches says nothing new about emptiness (De
 * Wulf, Doyen, Henzinger and Raskin, CAV 2006). */
struct antichain {
    pt_bdd *sets;
    uint32_t len, next; /* sets from `next` on are still to be expanded */
    size_t cap;
    struct pt_map64 met; /* all that were ever inserted: most are met again and again */
};

static void insert(struct pt_bdds *bdds, struct antichain *chain, pt_bdd set)
{
    uint32_t *met = pt_map64_at(&chain->met, set);
    if (*met != PT_NONE)
        return;
    *met = 0;
    for (uint32_t i = 0; i < chain->len; i++)
        if (pt_bdd_implies(bdds, set, chain->sets[i])) /* sets[i] is a subset */
            return;
    uint32_t kept = 0, next = 0;
    for (uint32_t i = 0; i < chain->len; i++)
        if (!pt_bdd_implies(bdds, chain->sets[i], set)) {
            next += i < chain->next;
            chain->sets[kept++] = chain->sets[i];
        }
    chain->len = kept;
    chain->next = next;
    PT_PUSH(chain->sets, chain->len, chain->cap, set);
}

/* Whether the empty set is reachable: 1 yes, 0 no, -1 a limit was reached. */
static int reaches_empty(struct pt_powerset *p, uint32_t state_limit)
{
    struct antichain chain = {0};
    pt_map64_init(&chain.met);
    insert(p->bdds, &chain, pt_bdd_var(p->bdds, PT_TGBA_VARS + p->tgba->initial));
    int result = 0;
    while (chain.next < chain.len) {
        struct pt_leaf *leaves;
        uint32_t count;
        pt_bdd set = chain.sets[chain.next++];
        if (pt_powerset_can_fail(p, set)) { /* before its step is made, which may be large */
            result = 1;
            break;
        }
        pt_bdd step = pt_powerset_step(p, set);
        if (chain.len > state_limit || !pt_bdd_leaves(p->bdds, step, PT_LEAVES_LIMIT, &leaves, &count)) {
            result = -1;
            break;
        }
        for (uint32_t l = 0; l < count; l++)
            if (p->universal == PT_NONE || !pt_set_contains(p->bdds, leaves[l].set, p->universal))
                insert(p->bdds, &chain, leaves[l].set);
        free(leaves);
    }
    pt_map64_release(&chain.met);
    free(chain.sets);
    return result;
}

/* Whether the state has an edge to one of these for each letter. */
static bool is_total(const struct pt_tgba *tgba, uint32_t state, const bool *among)
{
    pt_bdd enabled = PT_BDD_FALSE;
    for (uint32_t i = tgba->first[state]; i < tgba->first[state + 1] && enabled != PT_BDD_TRUE; i++)
        if (among[tgba->edges[i].dst])
            enabled = pt_bdd_or(tgba->bdds, enabled, tgba->edges[i].label);
    return enabled == PT_BDD_TRUE;
}

/*
 * Whether the initial state is one of some states that have an edge to one of them for each letter: then no prefix
 * leads to nowhere, and no sets have to be looked at. The greatest such set is found by leaving out others; false, too,
 * when that takes long.
 */
static bool never_fails(const struct pt_tgba *tgba)
{
    bool *among = pt_xmalloc(tgba->state_count * sizeof *among), changed = true;
    memset(among, true, tgba->state_count * sizeof *among);
    for (uint32_t round = 0; round < MAX_ROUNDS && changed && among[tgba->initial]; round++) {
        changed = false;
        for (uint32_t s = 0; s < tgba->state_count; s++)
            if (among[s] && !is_total(tgba, s, among)) {
                among[s] = false;
                changed = true;
            }
    }
    bool never = !changed && among[tgba->initial];
    free(among);
    return never;
}

enum pt_status pt_automaton_monitorable(struct pt_automaton *aut, uint32_t state_limit, bool *ret_monitorable,
                                        struct pt_err *err)
{
    struct pt_tgba *tgba = pruned_graph(aut);
    int result = 1;
    if (never_fails(tgba)) {
        result = 0;
    } else if (!is_empty(tgba)) {
        struct pt_powerset p;
        pt_powerset_init(&p, tgba);
        result = reaches_empty(&p, state_limit);
        pt_powerset_release(&p);
    }
    pt_tgba_free(tgba);
    if (result < 0)
        return too_large(err, state_limit);
    *ret_monitorable = result;
    return PT_OK;
}
