/*
 * Obligation properties (boolean combinations of safety and guarantee) have a unique minimal weak deterministic Büchi
 * automaton: Dax, Eisinger and Klaedtke, "Mechanizing the powerset construction for restricted classes of
 * omega-automata" (ATVA 2007), and Löding, "Efficient minimization of deterministic weak omega-automata" (IPL 2001).
 *
 * 1. Powerset of the (pruned) automaton, acceptance forgotten.
 * 2. A component of the powerset accepts when the automaton accepts some word that stays in it. If the language is
 *    an obligation, then all words that stay in it agree.
 * 3. Components are coloured so that transient ones agree with what follows; then Moore's minimisation applies.
 * 4. The result accepts every word of the language by 2; if it accepts no word of the complement, it is equivalent.
 *
 * Letters stay symbolic throughout: a set of states is a BDD, see tgba.h. Cost: exponential in the states at worst;
 * the limit ends it.
 */
#include "logic/ltl/powerset.h"

#include <stdlib.h>

#include "base/mem.h"

enum { MAX_PRODUCT_EDGES = 1 << 21, SCRATCH_NODES = 1 << 18 };

/* Pairs (set, state) with numbers, as far as they have been met. */
struct pairs {
    struct pt_map64 number;
    struct pt_tgba *graph;
    uint32_t count;
};

static uint32_t pair_at(struct pairs *pairs, uint32_t a, uint32_t b)
{
    uint32_t *number = pt_map64_at(&pairs->number, (uint64_t)a << 32 | b);
    if (*number == PT_NONE)
        *number = pairs->count++;
    return *number;
}

static bool compatible(struct pt_bdds *bdds, pt_bdd f, pt_bdd g)
{
    return f == g || pt_bdd_and(bdds, f, g) != PT_BDD_FALSE;
}

/* The steps that the automaton's state s and the set k take together without leaving their components. */
static bool join_steps(struct pt_powerset *p, const struct pt_sccs *sets, const struct pt_sccs *states, uint32_t k,
                       uint32_t s, struct pairs *pairs, struct pt_map64 *set_of_pair)
{
    const struct pt_tgba *tgba = p->tgba;
    for (uint32_t i = p->graph->first[k]; i < p->graph->first[k + 1]; i++) {
        const struct pt_tedge *e = &p->graph->edges[i];
        if (sets->of[e->dst] != sets->of[k])
            continue;
        for (uint32_t j = tgba->first[s]; j < tgba->first[s + 1]; j++) {
            const struct pt_tedge *f = &tgba->edges[j];
            if (states->of[f->dst] != states->of[s] || !compatible(p->bdds, e->label, f->label))
                continue;
            uint32_t src = pair_at(pairs, k, s);
            *pt_map64_at(set_of_pair, src) = k;
            pt_tgba_add(pairs->graph, src, pair_at(pairs, e->dst, f->dst), PT_BDD_TRUE, f->marks);
        }
    }
    return pairs->graph->edge_count <= MAX_PRODUCT_EDGES;
}

/* Marks in `accepting` (per component of sets) those in which some accepted word stays. */
static bool find_accepting(struct pt_powerset *p, const struct pt_sccs *sets, bool *accepting)
{
    struct pt_sccs states;
    pt_sccs_init(&states, p->tgba);
    struct pairs pairs = {.graph = pt_tgba_new(p->bdds, 1, 0, p->tgba->all_marks)};
    struct pt_map64 set_of_pair;
    pt_map64_init(&pairs.number);
    pt_map64_init(&set_of_pair);
    bool fits = true;
    for (uint32_t k = 0; k < p->count && fits; k++)
        for (pt_bdd rest = p->sets[k]; rest != PT_BDD_TRUE && fits; rest = pt_bdd_high(p->bdds, rest)) {
            uint32_t s = pt_bdd_top(p->bdds, rest) - PT_TGBA_VARS;
            if (pt_scc_accepts(&states, states.of[s], p->tgba->all_marks))
                fits = join_steps(p, sets, &states, k, s, &pairs, &set_of_pair);
        }
    pairs.graph->state_count = pairs.count ? pairs.count : 1;
    if (fits && pt_tgba_finish(pairs.graph)) {
        struct pt_sccs joint;
        pt_sccs_init(&joint, pairs.graph);
        for (uint32_t i = 0; i < pairs.count; i++) {
            uint32_t k = pt_map64_get(&set_of_pair, i);
            if (k != PT_NONE && pt_scc_accepts(&joint, joint.of[i], p->tgba->all_marks))
                accepting[sets->of[k]] = true;
        }
        pt_sccs_release(&joint);
    } else {
        fits = false;
    }
    pt_map64_release(&pairs.number);
    pt_map64_release(&set_of_pair);
    pt_tgba_free(pairs.graph);
    pt_sccs_release(&states);
    return fits;
}

/*
 * Löding's colours, even for accepting: the greatest numbers that fall along no edge and have the right parity in
 * every cyclic component. Components are numbered against the edges. The empty set, which every set that lacks a
 * letter leads to, rejects for ever and has the greatest odd colour.
 */
static void colour(const struct pt_powerset *p, const struct pt_sccs *sets, const bool *accepting, uint32_t *colour_of)
{
    uint32_t top = 2 * sets->count + 2; /* even; top + 1 is the colour of the empty set */
    uint32_t *least = pt_xmalloc(sets->count * sizeof *least);
    uint32_t *order = pt_xmalloc(p->count * sizeof *order), *start = pt_xcalloc(sets->count + 1, sizeof *start);
    for (uint32_t k = 0; k < p->count; k++)
        start[sets->of[k] + 1]++;
    for (uint32_t c = 0; c < sets->count; c++)
        start[c + 1] += start[c];
    for (uint32_t k = 0; k < p->count; k++)
        order[start[sets->of[k]]++] = k;
    for (uint32_t i = 0, c = 0; c < sets->count; c++) {
        least[c] = top + 1;
        for (; i < p->count && sets->of[order[i]] == c; i++)
            for (uint32_t e = p->graph->first[order[i]]; e < p->graph->first[order[i] + 1]; e++) {
                uint32_t to = sets->of[p->graph->edges[e].dst];
                if (to != c && least[to] < least[c])
                    least[c] = least[to];
            }
        if (sets->cyclic[c] && (least[c] & 1) == accepting[c])
            least[c]--;
    }
    for (uint32_t k = 0; k < p->count; k++)
        colour_of[k] = least[sets->of[k]];
    free(least);
    free(order);
    free(start);
}

static bool add_class_edges(struct pt_moore *m, struct pt_tgba *out, uint32_t class, pt_bdd signature, bool accepting)
{
    struct pt_leaf *leaves;
    uint32_t count;
    if (!pt_bdd_leaves(m->p->bdds, signature, PT_LEAVES_LIMIT, &leaves, &count))
        return false;
    for (uint32_t l = 0; l < count; l++)
        pt_tgba_add(out, class, pt_bdd_top(m->p->bdds, leaves[l].set) - PT_TGBA_VARS, leaves[l].label, accepting);
    free(leaves);
    return true;
}

static struct pt_tgba *build_minimal(struct pt_moore *m, const uint32_t *colour_of)
{
    struct pt_tgba *out = pt_tgba_new(m->p->bdds, m->class_count, m->class_of[0], 1);
    out->state_based = true;
    bool *done = pt_xcalloc(m->class_count, sizeof *done);
    bool fits = true;
    for (uint32_t k = 0; k < m->p->count && fits; k++) {
        uint32_t class = m->class_of[k];
        if (!done[class])
            fits = add_class_edges(m, out, class, m->signature[k], !(colour_of[k] & 1));
        done[class] = true;
    }
    free(done);
    if (!fits || !pt_tgba_finish(out)) {
        pt_tgba_free(out);
        return NULL;
    }
    pt_tgba_prune(out);
    return out;
}

static struct pt_tgba *minimal_weak(struct pt_powerset *p, uint32_t state_limit)
{
    if (!pt_powerset_build(p, state_limit))
        return NULL;
    struct pt_sccs sets;
    pt_sccs_init(&sets, p->graph);
    bool *accepting = pt_xcalloc(sets.count, sizeof *accepting);
    uint32_t *colour_of = pt_xmalloc(p->count * sizeof *colour_of);
    struct pt_moore m = {.p = p, .class_count = 2};
    m.class_of = pt_xcalloc((size_t)p->count + 1, sizeof *m.class_of);
    m.signature = pt_xcalloc((size_t)p->count + 1, sizeof *m.signature);
    struct pt_tgba *out = NULL;
    if (find_accepting(p, &sets, accepting)) {
        colour(p, &sets, accepting, colour_of);
        for (uint32_t k = 0; k < p->count; k++)
            m.class_of[k] = colour_of[k] & 1;
        m.class_of[p->count] = 1;
        if (pt_moore_minimize(&m))
            out = build_minimal(&m, colour_of);
    }
    pt_sccs_release(&sets);
    free(accepting);
    free(colour_of);
    free(m.class_of);
    free(m.signature);
    return out;
}

/* Whether a state-based, weak automaton and another one share no word. */
static bool disjoint(const struct pt_tgba *weak, const struct pt_tgba *other)
{
    struct pairs pairs = {.graph = pt_tgba_new(weak->bdds, 1, 0, other->all_marks)};
    pt_map64_init(&pairs.number);
    uint64_t *queue = NULL;
    size_t len = 0, cap = 0;
    pair_at(&pairs, weak->initial, other->initial);
    PT_PUSH(queue, len, cap, (uint64_t)weak->initial << 32 | other->initial);
    for (uint32_t head = 0; head < len && len <= MAX_PRODUCT_EDGES; head++) {
        uint32_t a = (uint32_t)(queue[head] >> 32), b = (uint32_t)queue[head];
        for (uint32_t i = weak->first[a]; i < weak->first[a + 1]; i++)
            for (uint32_t j = other->first[b]; j < other->first[b + 1]; j++) {
                const struct pt_tedge *e = &weak->edges[i], *f = &other->edges[j];
                if (!compatible(weak->bdds, e->label, f->label))
                    continue;
                uint32_t known = pairs.count, dst = pair_at(&pairs, e->dst, f->dst);
                if (dst == known)
                    PT_PUSH(queue, len, cap, (uint64_t)e->dst << 32 | f->dst);
                if (e->marks) /* only the weak automaton's accepting states can be on a common accepting cycle */
                    pt_tgba_add(pairs.graph, head, dst, PT_BDD_TRUE, f->marks);
            }
    }
    pairs.graph->state_count = pairs.count;
    bool empty = len <= MAX_PRODUCT_EDGES && pt_tgba_finish(pairs.graph);
    if (empty) {
        struct pt_sccs sccs;
        pt_sccs_init(&sccs, pairs.graph);
        for (uint32_t c = 0; c < sccs.count && empty; c++)
            empty = !pt_scc_accepts(&sccs, c, other->all_marks);
        pt_sccs_release(&sccs);
    }
    free(queue);
    pt_map64_release(&pairs.number);
    pt_tgba_free(pairs.graph);
    return empty;
}

struct pt_tgba *pt_tgba_weak(const struct pt_tgba *tgba, const struct pt_tgba *negation, uint32_t state_limit)
{
    struct pt_bdds *scratch = pt_bdds_new(SCRATCH_NODES);
    struct pt_tgba *in = pt_tgba_copy(tgba, scratch), *out = NULL, *result = NULL;
    if (in) {
        struct pt_powerset p;
        pt_powerset_init(&p, in);
        out = minimal_weak(&p, state_limit);
        pt_powerset_release(&p);
    }
    if (out)
        result = pt_tgba_copy(out, tgba->bdds);
    if (result && negation && !disjoint(result, negation)) {
        pt_tgba_free(result);
        result = NULL;
    }
    pt_tgba_free(in);
    pt_tgba_free(out);
    pt_bdds_free(scratch);
    return result;
}
