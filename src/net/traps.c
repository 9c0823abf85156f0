/*
 * Deadlocks that traps exclude. A *trap* is a set of places such that every transition that consumes from it also makes
 * or reads a token in it: once it has a token, it has one for ever (Commoner 1972). A dead marking lacks a token in the
 * preset of each transition. So what is asked for is a set of marked places that leaves no transition its preset, no
 * component (components.c) two tokens, and no trap that has a token at the start without one: clauses over one variable
 * for each place. There are too many traps to
 * list, so they are looked for where a solution lacks one (as Esparza and others, "An SMT-based approach to
 * coverability analysis", CAV 2014, refine the state equation): the union of all traps among its empty places is
 * the greatest one, and where that has a token at the start, small ones in it become clauses.
 *
 * Guarantee: no solution means no deadlock, whatever else the net can reach: it has not to be unfolded for that. A
 * solution that lacks no trap proves nothing: the marking may be out of reach. Cost: for each round a small question to
 * sat.c, and for each trap O(log places) times the arcs; all of it is bounded.
 */
#include "net/traps.h"

#include <stdlib.h>
#include <string.h>

#include "net/sat.h"

/* Beyond these the prefix is the better way: rounds; arcs looked at; memory of a question beyond its clauses. */
enum { MOST_ROUNDS = 2000, MOST_WORK = 2000000000, MOST_BYTES = 16 << 20 };

struct traps {
    const struct pt_net *net;
    const struct pt_components *components;
    uint32_t *maker_start, *makers;    /* by place: transitions that make or read a token there */
    uint32_t *left;                    /* by transition: of the places that it makes or reads, those in the set */
    uint32_t *gone;                    /* places that have left the set */
    uint32_t *literals, literal_count; /* of all clauses of traps, one after the other */
    size_t literal_cap;
    uint32_t *ends, count; /* where each ends */
    size_t end_cap;
    uint64_t work; /* so far */
};

static void index_makers(struct traps *x)
{
    const struct pt_net *net = x->net;
    uint32_t *start = x->maker_start = pt_xcalloc((size_t)net->place_count + 2, sizeof *start);
    x->makers = pt_xmalloc(((size_t)net->arc_count + 1) * sizeof *x->makers);
    for (uint32_t t = 0; t < net->transition_count; t++)
        for (uint32_t i = 0; i < net->transitions[t].post_count; i++)
            start[pt_net_post(net, t)[i] + 2]++;
    for (uint32_t p = 0; p < net->place_count; p++)
        start[p + 2] += start[p + 1];
    for (uint32_t t = 0; t < net->transition_count; t++)
        for (uint32_t i = 0; i < net->transitions[t].post_count; i++)
            x->makers[start[pt_net_post(net, t)[i] + 1]++] = t;
}

static void leave(bool *set, uint32_t place, uint32_t *gone, uint32_t *count)
{
    if (!set[place])
        return;
    set[place] = false;
    gone[(*count)++] = place;
}

/* Takes out of the set what is in no trap within it; whether what is left has a token at the start. */
static bool shrink_to_trap(struct traps *x, bool *set)
{
    const struct pt_net *net = x->net;
    uint32_t waiting = 0;
    bool marked = false;
    x->work += (uint64_t)net->arc_count + net->transition_count + net->place_count;
    for (uint32_t t = 0; t < net->transition_count; t++) {
        x->left[t] = 0;
        for (uint32_t i = 0; i < net->transitions[t].post_count; i++)
            x->left[t] += set[pt_net_post(net, t)[i]];
    }
    for (uint32_t t = 0; t < net->transition_count; t++)
        for (uint32_t i = 0; !x->left[t] && i < net->transitions[t].pre_count; i++)
            leave(set, pt_net_pre(net, t)[i], x->gone, &waiting);
    while (waiting) {
        uint32_t place = x->gone[--waiting];
        for (uint32_t k = x->maker_start[place]; k < x->maker_start[place + 1]; k++) {
            uint32_t t = x->makers[k];
            if (--x->left[t])
                continue;
            for (uint32_t i = 0; i < net->transitions[t].pre_count; i++)
                leave(set, pt_net_pre(net, t)[i], x->gone, &waiting);
        }
    }
    for (uint32_t p = 0; p < net->place_count; p++)
        marked |= set[p] && net->places[p].marked;
    return marked;
}

/* A trap with a token at the start to one of which no part can be taken out: halves first, then quarters, and so on. */
static void shrink(struct traps *x, bool *trap)
{
    uint32_t places = x->net->place_count;
    bool *fewer = pt_xmalloc((places + 1) * sizeof *fewer);
    for (uint32_t size = places; size > 0; size /= 2) {
        for (uint32_t from = 0; from < places; from += size) {
            bool any = false;
            for (uint32_t p = from; p < from + size && p < places; p++)
                any |= trap[p];
            if (!any)
                continue;
            memcpy(fewer, trap, places * sizeof *fewer);
            memset(fewer + from, 0, (from + size < places ? size : places - from) * sizeof *fewer);
            if (shrink_to_trap(x, fewer))
                memcpy(trap, fewer, places * sizeof *trap);
        }
    }
    free(fewer);
}

/* Traps among the empty places of a solution, disjoint ones; whether there is one. */
static bool add_traps(struct traps *x, bool *empty)
{
    uint32_t places = x->net->place_count, before = x->count;
    bool *trap = pt_xmalloc((places + 1) * sizeof *trap);
    for (;;) {
        memcpy(trap, empty, places * sizeof *trap);
        if (x->work > MOST_WORK || !shrink_to_trap(x, trap))
            break;
        shrink(x, trap);
        for (uint32_t p = 0; p < places; p++) {
            if (!trap[p])
                continue;
            PT_PUSH(x->literals, x->literal_count, x->literal_cap, pt_lit(p));
            empty[p] = false;
        }
        PT_PUSH(x->ends, x->count, x->end_cap, x->literal_count);
    }
    free(trap);
    return x->count > before;
}

/* A variable for each place, by its number. */
static struct pt_sat *clauses_of(const struct traps *x, const uint32_t *wanted, uint32_t wanted_count)
{
    const struct pt_net *net = x->net;
    struct pt_sat *sat = pt_sat_new();
    uint32_t *clause = pt_xmalloc(((size_t)net->arc_count + net->place_count + wanted_count + 1) * sizeof *clause);
    for (uint32_t p = 0; p < net->place_count; p++)
        (void)pt_sat_var(sat);
    for (uint32_t t = 0; t < net->transition_count; t++) {
        for (uint32_t i = 0; i < net->transitions[t].pre_count; i++)
            clause[i] = pt_not(pt_lit(pt_net_pre(net, t)[i]));
        pt_sat_clause(sat, clause, net->transitions[t].pre_count);
    }
    for (uint32_t i = 0; i < wanted_count; i++)
        clause[i] = pt_lit(wanted[i]);
    if (wanted)
        pt_sat_clause(sat, clause, wanted_count);
    const struct pt_components *components = x->components;
    for (uint32_t i = 0, at = 0; i < components->count; at = components->ends[i++]) {
        for (uint32_t k = at; k < components->ends[i]; k++)
            clause[k - at] = pt_lit(components->places[k]);
        pt_sat_at_most_one(sat, clause, components->ends[i] - at);
    }
    for (uint32_t i = 0, at = 0; i < x->count; at = x->ends[i++])
        pt_sat_clause(sat, x->literals + at, x->ends[i] - at);
    free(clause);
    return sat;
}

bool pt_net_traps_exclude_deadlock(const struct pt_net *net, const struct pt_components *components,
                                   const uint32_t *places, uint32_t place_count, uint32_t *ret_traps)
{
    struct traps x = {.net = net, .components = components};
    bool *empty = pt_xmalloc(((size_t)net->place_count + 1) * sizeof *empty), excluded = false;
    index_makers(&x);
    x.left = pt_xmalloc(((size_t)net->transition_count + 1) * sizeof *x.left);
    x.gone = pt_xmalloc(((size_t)net->place_count + 1) * sizeof *x.gone);
    for (uint32_t round = 0; round < MOST_ROUNDS; round++) {
        struct pt_sat *sat = clauses_of(&x, places, place_count);
        enum pt_sat_answer answer = pt_sat_solve(sat, pt_sat_bytes(sat) + MOST_BYTES);
        excluded = answer == PT_SAT_NO;
        for (uint32_t p = 0; p < net->place_count && answer == PT_SAT_YES; p++)
            empty[p] = !pt_sat_is_true(sat, p);
        pt_sat_free(sat);
        if (answer != PT_SAT_YES || x.work > MOST_WORK || !add_traps(&x, empty))
            break;
    }
    *ret_traps = x.count;
    free(empty);
    free(x.maker_start);
    free(x.makers);
    free(x.left);
    free(x.gone);
    free(x.literals);
    free(x.ends);
    return excluded;
}
