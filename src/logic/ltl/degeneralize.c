/*
 * From generalised, transition-based to plain, state-based Büchi acceptance: copies of a state count the marks seen
 * so far in a fixed order and accept when the count is full (Gastin and Oddoux 2001; component by component as in
 * Babiak et al., SPIN 2013).
 *
 * - Each accepting component has its own order, of those marks only that are missing from some of its edges;
 *   rejecting components need one copy.
 * - Marks that all edges leaving a state carry are counted on arrival already. An occurrence is then counted at most
 *   twice, so counting infinitely often still needs infinitely many occurrences.
 * - All copies of a state accept the same words, so edges from outside may enter any copy, and of the copies of a
 *   component only one smallest bottom component is kept.
 *
 * Cost: at most (marks + 1) copies of each state and edge.
 */
#include "logic/ltl/tgba.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct copy {
    uint32_t state, level;
};

struct degeneralizer {
    const struct pt_tgba *tgba;
    struct pt_sccs sccs;
    uint64_t *needed;        /* per component: the marks to count */
    uint64_t *common_out;    /* per state: the marks of all its edges inside its component */
    uint8_t (*order)[64];    /* per component */
    struct pt_map64 copy_of; /* state * 128 + level */
    struct copy *copies;
    uint32_t copy_count;
    size_t copy_cap;
    struct pt_tgba *out;
};

static bool accepts(const struct degeneralizer *d, uint32_t scc)
{
    return pt_scc_accepts(&d->sccs, scc, d->tgba->all_marks);
}

/* The permutation number `number` (in the factorial number system, modulo what there is) of the marks in the set. */
static void permute(uint64_t marks, uint32_t number, uint8_t *ret_order)
{
    uint8_t list[64];
    uint32_t count = 0;
    for (; marks; marks &= marks - 1)
        list[count++] = (uint8_t)__builtin_ctzll(marks);
    for (uint32_t i = 0; count > 0; i++) {
        uint32_t pick = number % count;
        number /= count;
        ret_order[i] = list[pick];
        memmove(list + pick, list + pick + 1, count - pick - 1);
        count--;
    }
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
        d->needed[c] |= tgba->all_marks & ~e->marks;
        d->common_out[e->src] &= e->marks;
    }
    for (uint32_t c = 0; c < d->sccs.count; c++)
        permute(d->needed[c], order, d->order[c]);
}

static uint32_t copy_at(struct degeneralizer *d, uint32_t state, uint32_t level)
{
    uint32_t *copy = pt_map64_at(&d->copy_of, (uint64_t)state * 128 + level);
    if (*copy == PT_NONE) {
        *copy = d->copy_count;
        PT_PUSH(d->copies, d->copy_count, d->copy_cap, ((struct copy){state, level}));
    }
    return *copy;
}

/* The level in component c after `level` once the marks were seen. */
static uint32_t count_marks(const struct degeneralizer *d, uint32_t c, uint32_t level, uint64_t marks)
{
    uint32_t full = (uint32_t)__builtin_popcountll(d->needed[c]);
    while (level < full && marks >> d->order[c][level] & 1)
        level++;
    return level;
}

static uint32_t follow(struct degeneralizer *d, struct copy from, const struct pt_tedge *e)
{
    uint32_t c = d->sccs.of[e->dst];
    if (!accepts(d, c))
        return copy_at(d, e->dst, 0);
    uint32_t level = 0;
    if (c == d->sccs.of[e->src]) {
        uint32_t full = (uint32_t)__builtin_popcountll(d->needed[c]);
        level = count_marks(d, c, from.level == full ? 0 : from.level, e->marks);
    }
    return copy_at(d, e->dst, count_marks(d, c, level, d->common_out[e->dst]));
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
        bool accepting = accepts(d, c) && from.level == (uint32_t)__builtin_popcountll(d->needed[c]);
        for (uint32_t i = tgba->first[from.state]; i < tgba->first[from.state + 1]; i++) {
            uint32_t dst = follow(d, from, &tgba->edges[i]);
            pt_tgba_add(d->out, k, dst, tgba->edges[i].label, accepting);
        }
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

struct pt_tgba *pt_tgba_degeneralize(const struct pt_tgba *tgba, uint32_t order, uint32_t state_limit)
{
    struct degeneralizer d = {.tgba = tgba};
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
