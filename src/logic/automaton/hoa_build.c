/*
 * From what a HOA file says to a state-based automaton with one initial state.
 *
 * Transition-based acceptance: a state is accepting when it was entered by a marked edge, so only a state that is
 * entered both ways is doubled, and a pass happens at the letter that takes the marked edge. What the file already
 * marks on states stays as it is: `hoa` in a property pins an automaton exactly.
 */
#include "logic/automaton/hoa_raw.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/table.h"

void pt_hoa_raw_release(struct hoa_raw *raw)
{
    for (uint32_t i = 0; i < raw->prop_count; i++)
        free(raw->props[i]);
    free(raw->props);
    pt_bdds_free(raw->bdds);
    free(raw->states);
    free(raw->starts);
    free(raw->edges);
}

void pt_hoa_cover_state(struct hoa_raw *raw, uint32_t state)
{
    while (raw->state_count <= state)
        PT_PUSH(raw->states, raw->state_count, raw->states_cap, (struct hoa_raw_state){0});
}

/* Gives the automaton one initial state, if need be a new one with the edges of all the others. */
static uint32_t single_start(struct hoa_raw *raw)
{
    bool same = raw->start_count > 0;
    for (uint32_t i = 1; i < raw->start_count; i++)
        same = same && raw->starts[i] == raw->starts[0];
    if (same)
        return raw->starts[0];
    uint32_t fresh = raw->state_count, old_edges = raw->edge_count;
    bool *is_start = pt_xcalloc((size_t)fresh + 1, sizeof *is_start);
    bool all_marked = raw->start_count > 0;
    for (uint32_t i = 0; i < raw->start_count; i++) {
        is_start[raw->starts[i]] = true;
        all_marked = all_marked && raw->states[raw->starts[i]].marked;
    }
    pt_hoa_cover_state(raw, fresh);
    raw->states[fresh].marked = all_marked;
    for (uint32_t e = 0; e < old_edges; e++)
        if (is_start[raw->edges[e].src]) {
            struct hoa_raw_edge copy = raw->edges[e];
            copy.src = fresh;
            PT_PUSH(raw->edges, raw->edge_count, raw->edges_cap, copy);
        }
    free(is_start);
    return fresh;
}

enum { ENTERED_PLAIN = 1, ENTERED_MARKED = 2 };

/* How each state is entered; being the initial state is one way, without a mark. */
static unsigned char *entries(const struct hoa_raw *raw, uint32_t initial)
{
    unsigned char *entered = pt_xcalloc(raw->state_count, sizeof *entered);
    entered[initial] = ENTERED_PLAIN;
    for (uint32_t e = 0; e < raw->edge_count; e++)
        entered[raw->edges[e].dst] |= raw->edges[e].marked ? ENTERED_MARKED : ENTERED_PLAIN;
    return entered;
}

/* Lays out the edges by source in the order of the file; a state with a twin shares its edges with it. */
static void lay_out_edges(const struct hoa_raw *raw, const uint32_t *twin, struct pt_automaton *aut)
{
    uint32_t *first = aut->first;
    for (uint32_t e = 0; e < raw->edge_count; e++) {
        uint32_t src = raw->edges[e].src;
        first[src + 1]++;
        if (twin[src] != PT_NONE)
            first[twin[src] + 1]++;
    }
    for (uint32_t s = 0; s < aut->state_count; s++)
        first[s + 1] += first[s];
    aut->edges = pt_xmalloc(((size_t)first[aut->state_count] + 1) * sizeof *aut->edges);
    uint32_t total = first[aut->state_count];
    for (uint32_t e = raw->edge_count; e-- > 0;) {
        const struct hoa_raw_edge *edge = &raw->edges[e];
        bool to_twin = edge->marked && twin[edge->dst] != PT_NONE;
        struct pt_edge made = {.dst = to_twin ? twin[edge->dst] : edge->dst, .label = edge->label};
        aut->edges[--first[edge->src + 1]] = made;
        if (twin[edge->src] != PT_NONE)
            aut->edges[--first[twin[edge->src] + 1]] = made;
    }
    /* first[s + 1] has come down to where the edges of s begin; shift it into place. */
    for (uint32_t s = 0; s < aut->state_count; s++)
        first[s] = first[s + 1];
    first[aut->state_count] = total;
}

struct pt_automaton *pt_hoa_build(struct hoa_raw *raw)
{
    uint32_t initial = single_start(raw);
    unsigned char *entered = entries(raw, initial);
    uint32_t *twin = pt_xmalloc(raw->state_count * sizeof *twin), count = raw->state_count;
    for (uint32_t s = 0; s < raw->state_count; s++) {
        bool both = entered[s] == (ENTERED_PLAIN | ENTERED_MARKED);
        twin[s] = both && !raw->states[s].marked && !raw->trivial ? count++ : PT_NONE;
    }
    struct pt_automaton *aut = pt_xcalloc(1, sizeof *aut);
    aut->initial = initial;
    aut->state_count = count;
    aut->first = pt_xcalloc((size_t)count + 1, sizeof *aut->first);
    aut->accepting = pt_xmalloc(count * sizeof *aut->accepting);
    for (uint32_t s = 0; s < count; s++)
        aut->accepting[s] =
            s >= raw->state_count || raw->trivial || raw->states[s].marked || entered[s] == ENTERED_MARKED;
    lay_out_edges(raw, twin, aut);
    free(twin);
    free(entered);
    aut->bdds = raw->bdds;
    aut->props = raw->props;
    aut->prop_count = raw->prop_count;
    raw->bdds = NULL;
    raw->props = NULL;
    raw->prop_count = 0;
    return aut;
}
