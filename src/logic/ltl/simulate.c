/*
 * Reduction by direct simulation, forward and backward, on signatures: Babiak, Badie, Duret-Lutz, Křetínský and
 * Strejček, "Compositional approach to suspension and other improvements to LTL translation" (SPIN 2013), section 4.
 *
 * The signature of a state is a BDD: the disjunction over its edges of label, missing marks, and the classes that
 * simulate the target's class. s is simulated by t when s's signature implies t's; refining from "all are alike"
 * until nothing changes gives the largest simulation. The quotient is rebuilt from the prime implicants of the
 * signatures, which leave out every edge that another one dominates. Backward: the same on incoming edges, where the
 * initial state and acceptance of states are observable too.
 *
 * Cost per round: one signature per state, and an implication test for each pair of classes still related.
 */
#include "logic/ltl/tgba.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MAX_STATES = 1 << 10, MAX_EDGES = 1 << 15, SCRATCH_NODES = 1 << 18, MAX_LEAVES = 1 << 11, FEW_PROPS = 8 };

/* Variables: the missing marks, "is initial", "is not accepting", the classes. */
enum { VAR_MARKS = PT_TGBA_VARS, VAR_INITIAL = VAR_MARKS + 64, VAR_REJECTS, VAR_CLASSES };

struct simulation {
    const struct pt_tgba *tgba;
    struct pt_bdds *bdds;
    bool backward;
    uint32_t *class_of;
    uint32_t class_count;
    uint32_t *member;  /* per class: a state */
    pt_bdd *signature; /* per class */
    pt_bdd *above;     /* per class: the conjunction of the classes that simulate it */
    uint32_t *above_count;
    bool *simulated; /* class i by class j: [i * class_count + j] */
    uint64_t pairs;
    uint32_t *in_first, *in_edges; /* edges by target; backward only */
};

static void index_incoming(struct simulation *sim)
{
    const struct pt_tgba *tgba = sim->tgba;
    sim->in_first = pt_xcalloc((size_t)tgba->state_count + 2, sizeof *sim->in_first);
    sim->in_edges = pt_xmalloc((tgba->edge_count + 1) * sizeof *sim->in_edges);
    for (uint32_t i = 0; i < tgba->edge_count; i++)
        sim->in_first[tgba->edges[i].dst + 2]++;
    for (uint32_t s = 0; s < tgba->state_count; s++)
        sim->in_first[s + 2] += sim->in_first[s + 1];
    for (uint32_t i = 0; i < tgba->edge_count; i++)
        sim->in_edges[sim->in_first[tgba->edges[i].dst + 1]++] = i;
}

static pt_bdd missing_marks(struct simulation *sim, uint64_t marks)
{
    pt_bdd f = PT_BDD_TRUE;
    uint64_t missing = sim->tgba->all_marks & ~marks;
    for (uint32_t m = 64; m-- > 0;)
        if (missing >> m & 1)
            f = pt_bdd_and(sim->bdds, pt_bdd_var(sim->bdds, VAR_MARKS + m), f);
    return f;
}

static pt_bdd edge_term(struct simulation *sim, const struct pt_tedge *e)
{
    pt_bdd term = sim->above[sim->class_of[sim->backward ? e->src : e->dst]];
    term = pt_bdd_and(sim->bdds, missing_marks(sim, e->marks), term);
    return pt_bdd_and(sim->bdds, e->label, term);
}

static pt_bdd signature_of(struct simulation *sim, uint32_t s)
{
    const struct pt_tgba *tgba = sim->tgba;
    struct pt_bdds *bdds = sim->bdds;
    pt_bdd sig = PT_BDD_FALSE;
    if (!sim->backward) {
        for (uint32_t i = tgba->first[s]; i < tgba->first[s + 1]; i++)
            sig = pt_bdd_or(bdds, sig, edge_term(sim, &tgba->edges[i]));
        return sig;
    }
    for (uint32_t i = sim->in_first[s]; i < sim->in_first[s + 1]; i++)
        sig = pt_bdd_or(bdds, sig, edge_term(sim, &tgba->edges[sim->in_edges[i]]));
    if (s == tgba->initial)
        sig = pt_bdd_or(bdds, sig, pt_bdd_var(bdds, VAR_INITIAL));
    bool accepts = tgba->first[s] < tgba->first[s + 1] && tgba->edges[tgba->first[s]].marks;
    if (tgba->state_based && !accepts)
        sig = pt_bdd_and(bdds, sig, pt_bdd_var(bdds, VAR_REJECTS));
    return sig;
}

/* Classes of equal signature, numbered by their first state. False when the BDDs overflowed. */
static bool classify(struct simulation *sim, uint32_t *new_class, uint32_t *old_of_new, uint32_t *ret_count)
{
    struct pt_map64 classes;
    pt_map64_init(&classes);
    uint32_t count = 0;
    bool fits = true;
    for (uint32_t s = 0; s < sim->tgba->state_count && fits; s++) {
        pt_bdd sig = signature_of(sim, s);
        fits = sig != PT_BDD_OVERFLOW;
        uint32_t *class = pt_map64_at(&classes, sig);
        if (*class == PT_NONE) {
            *class = count;
            sim->signature[count] = sig;
            sim->member[count] = s;
            old_of_new[count++] = sim->class_of[s];
        }
        new_class[s] = *class;
    }
    pt_map64_release(&classes);
    *ret_count = count;
    return fits;
}

/* The relation between the new classes. It only shrinks, so unrelated old classes need no test. */
static void relate(struct simulation *sim, const uint32_t *old_of_new, uint32_t count)
{
    bool *related = pt_xcalloc((size_t)count * count, sizeof *related);
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < count; i++) {
        sim->above_count[i] = 0;
        for (uint32_t j = 0; j < count; j++) {
            if (!sim->simulated[(size_t)old_of_new[i] * sim->class_count + old_of_new[j]] ||
                !pt_bdd_implies(sim->bdds, sim->signature[i], sim->signature[j]))
                continue;
            related[(size_t)i * count + j] = true;
            sim->above_count[i]++;
            pairs++;
        }
    }
    free(sim->simulated);
    sim->simulated = related;
    sim->class_count = count;
    sim->pairs = pairs;
    for (uint32_t i = 0; i < count; i++) {
        pt_bdd above = PT_BDD_TRUE;
        for (uint32_t j = count; j-- > 0;)
            if (related[(size_t)i * count + j])
                above = pt_bdd_and(sim->bdds, pt_bdd_var(sim->bdds, VAR_CLASSES + j), above);
        sim->above[i] = above;
    }
}

static bool refine(struct simulation *sim)
{
    uint32_t n = sim->tgba->state_count;
    uint32_t *new_class = pt_xmalloc(n * sizeof *new_class), *old_of_new = pt_xmalloc(n * sizeof *old_of_new);
    bool fits, stable = false;
    do {
        uint32_t count = 0, old_count = sim->class_count;
        uint64_t old_pairs = sim->pairs;
        fits = classify(sim, new_class, old_of_new, &count);
        if (!fits)
            break;
        relate(sim, old_of_new, count);
        memcpy(sim->class_of, new_class, n * sizeof *new_class);
        stable = count == old_count && sim->pairs == old_pairs;
    } while (!stable);
    free(new_class);
    free(old_of_new);
    return fits;
}

/* The edge that a prime of class c's signature stands for. */
static void add_prime(struct simulation *sim, struct pt_tgba *out, uint32_t c, pt_bdd label, const uint32_t *vars,
                      uint32_t len)
{
    uint64_t missing = 0;
    uint32_t first_class = 0;
    for (; first_class < len && vars[first_class] < VAR_CLASSES; first_class++)
        if (vars[first_class] < VAR_INITIAL)
            missing |= (uint64_t)1 << (vars[first_class] - VAR_MARKS);
    for (uint32_t i = first_class; i < len; i++) {
        uint32_t end = vars[i] - VAR_CLASSES;
        /* The classes are those above `end`, its own included: the one that has as many above it. */
        if (sim->above_count[end] != len - first_class)
            continue;
        uint64_t marks = out->all_marks & ~missing;
        pt_tgba_add(out, sim->backward ? end : c, sim->backward ? c : end, label, marks);
        return;
    }
}

/* The edges of one member, when the signature's are too many: nothing dominated is left out then. */
static void add_member(struct simulation *sim, struct pt_tgba *out, uint32_t c)
{
    const struct pt_tgba *tgba = sim->tgba;
    uint32_t s = sim->member[c];
    const uint32_t *first = sim->backward ? sim->in_first : tgba->first;
    for (uint32_t i = first[s]; i < first[s + 1]; i++) {
        const struct pt_tedge *e = &tgba->edges[sim->backward ? sim->in_edges[i] : i];
        pt_tgba_add(out, sim->class_of[e->src], sim->class_of[e->dst], e->label, e->marks);
    }
}

static bool add_class(struct simulation *sim, struct pt_tgba *out, uint32_t c)
{
    struct pt_leaf *leaves;
    uint32_t leaf_count;
    if (!pt_bdd_leaves(sim->bdds, sim->signature[c], MAX_LEAVES, &leaves, &leaf_count)) {
        add_member(sim, out, c);
        return true;
    }
    bool fits = true;
    for (uint32_t l = 0; l < leaf_count && fits; l++) {
        struct pt_primes p = {0};
        fits = pt_bdd_primes(sim->bdds, leaves[l].set, &p);
        for (uint32_t i = 0; i < p.count && fits; i++) {
            uint32_t start = i ? p.ends[i - 1] : 0;
            add_prime(sim, out, c, leaves[l].label, p.vars + start, p.ends[i] - start);
        }
        pt_primes_release(&p);
    }
    free(leaves);
    return fits;
}

static struct pt_tgba *quotient(struct simulation *sim)
{
    const struct pt_tgba *tgba = sim->tgba;
    struct pt_tgba *out = pt_tgba_new(sim->bdds, sim->class_count, sim->class_of[tgba->initial], tgba->all_marks);
    out->state_based = tgba->state_based;
    bool fits = true;
    for (uint32_t c = 0; c < sim->class_count && fits; c++)
        fits = add_class(sim, out, c);
    if (!fits || !pt_tgba_finish(out)) {
        pt_tgba_free(out);
        return NULL;
    }
    return out;
}

static struct pt_tgba *simulate(const struct pt_tgba *tgba, bool backward)
{
    uint32_t n = tgba->state_count;
    struct simulation sim = {.tgba = tgba, .bdds = tgba->bdds, .backward = backward, .class_count = 1, .pairs = 1};
    sim.class_of = pt_xcalloc(n, sizeof *sim.class_of);
    sim.member = pt_xmalloc(n * sizeof *sim.member);
    sim.signature = pt_xmalloc(n * sizeof *sim.signature);
    sim.above = pt_xmalloc(n * sizeof *sim.above);
    sim.above_count = pt_xcalloc(n, sizeof *sim.above_count);
    sim.simulated = pt_xcalloc(1, sizeof *sim.simulated);
    sim.simulated[0] = true;
    sim.above[0] = pt_bdd_var(sim.bdds, VAR_CLASSES);
    if (backward)
        index_incoming(&sim);
    struct pt_tgba *out = refine(&sim) ? quotient(&sim) : NULL;
    free(sim.class_of);
    free(sim.member);
    free(sim.signature);
    free(sim.above);
    free(sim.above_count);
    free(sim.simulated);
    free(sim.in_first);
    free(sim.in_edges);
    return out;
}

/* Narrower labels alone may help the next turn, but where edges of one state read many different propositions, they
 * make its next signature exponential: `wait, or go on to i` becomes `wait, or go on to i when p_i`. */
static bool reads_few(const struct pt_tgba *tgba)
{
    uint64_t propositions = 0;
    for (uint32_t i = 0; i < tgba->edge_count; i++)
        propositions |= pt_bdd_support(tgba->bdds, tgba->edges[i].label);
    return __builtin_popcountll(propositions) <= FEW_PROPS;
}

/* One direction. False, and *tgba is as it was, when the work would be too large, or nothing is gained. */
static bool simulate_in_scratch(struct pt_tgba **tgba, bool backward)
{
    if ((*tgba)->state_count > MAX_STATES || (*tgba)->edge_count > MAX_EDGES)
        return false;
    struct pt_bdds *scratch = pt_bdds_new(SCRATCH_NODES);
    struct pt_tgba *in = pt_tgba_copy(*tgba, scratch);
    struct pt_tgba *out = in ? simulate(in, backward) : NULL;
    struct pt_tgba *result = out ? pt_tgba_copy(out, (*tgba)->bdds) : NULL;
    pt_tgba_free(in);
    pt_tgba_free(out);
    pt_bdds_free(scratch);
    if (!result)
        return false;
    bool kept =
        reads_few(*tgba) || result->state_count < (*tgba)->state_count || result->edge_count < (*tgba)->edge_count;
    pt_tgba_free(kept ? *tgba : result);
    if (kept)
        *tgba = result;
    return kept;
}

/* Both directions in turn until neither removes a state or an edge. */
static void simulate_both(struct pt_tgba **tgba)
{
    for (int direction = 0, idle = 0; idle < 2; direction ^= 1) {
        uint32_t states = (*tgba)->state_count, edges = (*tgba)->edge_count;
        if (simulate_in_scratch(tgba, direction))
            pt_tgba_prune(*tgba);
        idle = (*tgba)->state_count < states || (*tgba)->edge_count < edges ? 0 : idle + 1;
    }
}

struct pt_tgba *pt_tgba_reduce(struct pt_tgba *tgba)
{
    pt_tgba_prune(tgba);
    simulate_both(&tgba);
    for (int set = 0; set < 2; set++) {
        pt_tgba_set_idle_marks(tgba, set);
        simulate_both(&tgba);
    }
    return tgba;
}
