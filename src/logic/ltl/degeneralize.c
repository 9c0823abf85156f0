/*
 * From generalised, transition-based to plain, state-based Büchi acceptance: copies of a state count the marks seen
 * so far in a fixed order and accept when the count is full (Gastin and Oddoux 2001; component by component as in
 * Babiak et al., SPIN 2013).
 *
 * - Each accepting component has its own order, of those marks only that are missing from some of its edges;
 *   rejecting components need one copy.
 * - Marks that all edges leaving a state carry are counted on arrival already. An occurrence is then counted at most
 *   twice, so counting infinitely often still needs infinitely many occurrences.
 * - Formulas over letters that are to hold infinitely often (fairness.c) are counted as marks are: an edge goes to one
 *   copy with the letters that have the next of them, and to another with those that have not, so that n of them take
 *   n + 1 edges where edges with each set of marks would be 2^n.
 * - All copies of a state accept the same words, so edges from outside may enter any copy, and of the copies of a
 *   component only one smallest bottom component is kept.
 *
 * Cost: at most (marks + 1) copies of each state and edge; of an edge, where letters are counted, as many again.
 */
#include "logic/ltl/tgba.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MAX_COUNTED = 128, LETTERS = 64 }; /* number 64 + i in an order is the letters' i-th formula */

struct copy {
    uint32_t state, level;
};

/* Of edges, and of their letters. */
struct marks {
    uint64_t edges, letters;
};

struct degeneralizer {
    const struct pt_tgba *tgba;
    struct pt_sccs sccs;
    const struct pt_recurring *recurring; /* may be NULL */
    struct marks *needed;                 /* per component: the marks to count */
    struct marks *common_out;             /* per state: the marks of all its edges inside its component */
    uint8_t (*order)[MAX_COUNTED];        /* per component */
    struct pt_map64 copy_of;              /* state * 256 + level */
    struct copy *copies;
    uint32_t copy_count;
    size_t copy_cap;
    struct pt_tgba *out;
};

static bool accepts(const struct degeneralizer *d, uint32_t scc)
{
    return pt_scc_accepts(&d->sccs, scc, d->tgba->all_marks);
}

/* The permutation number `number` (in the factorial number system, modulo what there is) of the edges' marks in the
 * set. Those of the letters come behind them, or before them when the number is odd. */
static void permute(struct marks marks, uint32_t number, uint8_t *ret_order)
{
    uint8_t list[64];
    uint32_t count = 0, letters = (uint32_t)__builtin_popcountll(marks.letters), i, k;
    for (uint64_t left = marks.edges; left; left &= left - 1)
        list[count++] = (uint8_t)__builtin_ctzll(left);
    i = number & 1 ? letters : 0;
    k = number & 1 ? 0 : count;
    for (; count > 0; i++) {
        uint32_t pick = number == PT_LAST_ORDER ? count - 1 : number % count;
        number /= number == PT_LAST_ORDER ? 1 : count;
        ret_order[i] = list[pick];
        memmove(list + pick, list + pick + 1, count - pick - 1);
        count--;
    }
    for (uint64_t left = marks.letters; left; left &= left - 1)
        ret_order[k++] = (uint8_t)(LETTERS + __builtin_ctzll(left));
}

static uint32_t count_of(struct marks marks)
{
    return (uint32_t)(__builtin_popcountll(marks.edges) + __builtin_popcountll(marks.letters));
}

/* The formulas over letters that all letters of the edge satisfy. */
static uint64_t letters_of(const struct degeneralizer *d, const struct pt_tedge *e)
{
    uint64_t all = 0;
    for (uint64_t left = d->recurring ? d->recurring->of_state[e->src] : 0; left; left &= left - 1)
        if (pt_bdd_implies(d->tgba->bdds, e->label, d->recurring->letters[__builtin_ctzll(left)]))
            all |= left & -left;
    return all;
}

static void analyse(struct degeneralizer *d, uint32_t order)
{
    const struct pt_tgba *tgba = d->tgba;
    pt_sccs_init(&d->sccs, tgba);
    d->needed = pt_xcalloc(d->sccs.count, sizeof *d->needed);
    d->order = pt_xcalloc(d->sccs.count, sizeof *d->order);
    d->common_out = pt_xmalloc(tgba->state_count * sizeof *d->common_out);
    memset(d->common_out, 0xff, tgba->state_count * sizeof *d->common_out);
    for (uint32_t i = 0; i < tgba->edge_count; i++) {
        const struct pt_tedge *e = &tgba->edges[i];
        uint32_t c = d->sccs.of[e->src];
        if (c != d->sccs.of[e->dst])
            continue;
        uint64_t letters = letters_of(d, e);
        d->needed[c].edges |= tgba->all_marks & ~e->marks;
        d->needed[c].letters |= d->recurring ? d->recurring->of_state[e->src] & ~letters : 0;
        d->common_out[e->src].edges &= e->marks;
        d->common_out[e->src].letters &= letters;
    }
    for (uint32_t c = 0; c < d->sccs.count; c++)
        permute(d->needed[c], order, d->order[c]);
}

static uint32_t copy_at(struct degeneralizer *d, uint32_t state, uint32_t level)
{
    uint32_t *copy = pt_map64_at(&d->copy_of, (uint64_t)state * 2 * MAX_COUNTED + level);
    if (*copy == PT_NONE) {
        *copy = d->copy_count;
        PT_PUSH(d->copies, d->copy_count, d->copy_cap, ((struct copy){state, level}));
    }
    return *copy;
}

/* The copy of the state for whoever comes with this level of its component. */
static uint32_t arrive(struct degeneralizer *d, uint32_t state, uint32_t level)
{
    uint32_t c = d->sccs.of[state];
    struct marks common = d->common_out[state];
    if (!accepts(d, c))
        return copy_at(d, state, 0);
    for (uint32_t full = count_of(d->needed[c]); level < full; level++) {
        uint8_t mark = d->order[c][level];
        if (!((mark < LETTERS ? common.edges >> mark : common.letters >> (mark - LETTERS)) & 1))
            break;
    }
    return copy_at(d, state, level);
}

/* The edges of copy k that the edge e of its state stands for: its letters by how far they count. */
static void follow(struct degeneralizer *d, uint32_t k, const struct pt_tedge *e, bool accepting)
{
    struct pt_bdds *bdds = d->tgba->bdds;
    uint32_t c = d->sccs.of[e->src], full = count_of(d->needed[c]), level = 0;
    pt_bdd label = e->label;
    if (c == d->sccs.of[e->dst] && accepts(d, c)) {
        for (level = d->copies[k].level == full ? 0 : d->copies[k].level; level < full; level++) {
            uint8_t mark = d->order[c][level];
            if (mark < LETTERS && !(e->marks >> mark & 1))
                break;
            if (mark < LETTERS)
                continue;
            pt_bdd letters = d->recurring->letters[mark - LETTERS];
            pt_bdd others = pt_bdd_ite(bdds, letters, PT_BDD_FALSE, label);
            if (others != PT_BDD_FALSE)
                pt_tgba_add(d->out, k, arrive(d, e->dst, level), others, accepting);
            label = pt_bdd_and(bdds, label, letters);
            if (label == PT_BDD_FALSE)
                return;
        }
    }
    pt_tgba_add(d->out, k, arrive(d, e->dst, level), label, accepting);
}

static bool expand(struct degeneralizer *d, uint32_t state_limit)
{
    const struct pt_tgba *tgba = d->tgba;
    copy_at(d, tgba->initial, 0);
    for (uint32_t k = 0; k < d->copy_count; k++) {
        if (d->copy_count > state_limit)
            return false;
        struct copy from = d->copies[k];
        uint32_t c = d->sccs.of[from.state];
        bool accepting = accepts(d, c) && from.level == count_of(d->needed[c]);
        for (uint32_t i = tgba->first[from.state]; i < tgba->first[from.state + 1]; i++)
            follow(d, k, &tgba->edges[i], accepting);
    }
    d->out->state_count = d->copy_count;
    return pt_tgba_finish(d->out);
}

/* Per component of the input: the component of copies to keep, a smallest one of those that no edge leaves for other
 * copies of the same. */
static uint32_t *choose_bottoms(const struct degeneralizer *d, const struct pt_sccs *copies)
{
    uint32_t *best = pt_xmalloc(d->sccs.count * sizeof *best);
    uint32_t *size = pt_xcalloc(copies->count, sizeof *size);
    bool *leaves = pt_xcalloc(copies->count, sizeof *leaves);
    memset(best, 0xff, d->sccs.count * sizeof *best);
    for (uint32_t k = 0; k < d->copy_count; k++)
        size[copies->of[k]]++;
    for (uint32_t i = 0; i < d->out->edge_count; i++) {
        const struct pt_tedge *e = &d->out->edges[i];
        if (copies->of[e->src] != copies->of[e->dst] &&
            d->sccs.of[d->copies[e->src].state] == d->sccs.of[d->copies[e->dst].state])
            leaves[copies->of[e->src]] = true;
    }
    for (uint32_t k = 0; k < d->copy_count; k++) {
        uint32_t c = d->sccs.of[d->copies[k].state], candidate = copies->of[k];
        if (!leaves[candidate] && (best[c] == PT_NONE || size[candidate] < size[best[c]]))
            best[c] = candidate;
    }
    free(size);
    free(leaves);
    return best;
}

/* Redirects every edge that does not stay among the kept copies of its component to a kept copy of its target. */
static void redirect(struct degeneralizer *d)
{
    struct pt_sccs copies;
    pt_sccs_init(&copies, d->out);
    uint32_t *best = choose_bottoms(d, &copies);
    uint32_t *entry = pt_xmalloc(d->tgba->state_count * sizeof *entry);
    memset(entry, 0xff, d->tgba->state_count * sizeof *entry);
    for (uint32_t k = 0; k < d->copy_count; k++) {
        uint32_t s = d->copies[k].state;
        if (entry[s] == PT_NONE && copies.of[k] == best[d->sccs.of[s]])
            entry[s] = k;
    }
    for (uint32_t i = 0; i < d->out->edge_count; i++) {
        struct pt_tedge *e = &d->out->edges[i];
        uint32_t s = d->copies[e->dst].state;
        if (copies.of[e->dst] != best[d->sccs.of[s]] || d->sccs.of[s] != d->sccs.of[d->copies[e->src].state])
            e->dst = entry[s];
    }
    d->out->initial = entry[d->tgba->initial];
    free(entry);
    free(best);
    pt_sccs_release(&copies);
}

struct pt_tgba *pt_tgba_degeneralize(const struct pt_tgba *tgba, const struct pt_recurring *recurring, uint32_t order,
                                     uint32_t state_limit)
{
    struct degeneralizer d = {.tgba = tgba, .recurring = recurring};
    d.out = pt_tgba_new(tgba->bdds, 1, 0, 1);
    d.out->state_based = true;
    pt_map64_init(&d.copy_of);
    analyse(&d, order);
    bool fits = expand(&d, state_limit);
    if (fits) {
        redirect(&d);
        fits = pt_tgba_finish(d.out);
    }
    if (fits) {
        pt_tgba_prune(d.out);
    } else {
        pt_tgba_free(d.out);
        d.out = NULL;
    }
    pt_sccs_release(&d.sccs);
    pt_map64_release(&d.copy_of);
    free(d.needed);
    free(d.order);
    free(d.common_out);
    free(d.copies);
    return d.out;
}
