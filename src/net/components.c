/*
 * Components: sets of places that have one token at the start at most, in which no transition makes more than one, and
 * none without consuming or reading one in it. Such a set never has two tokens (a weaker form of the state-machine
 * components of Hack, 1972), and a net is 1-safe if every place is in one. A component of a place is a question of a
 * few clauses for each transition (sat.c).
 *
 * Guarantee: what is found is one; 1-safe nets exist that are not covered. Cost: one question for each place at worst,
 * each linear in the arcs where nothing has to be guessed; bounded.
 */
#include "net/components.h"

#include <stdlib.h>

#include "net/sat.h"

/* Beyond these the prefix is the better way: arcs in all questions; memory of a question beyond its clauses. */
enum { MOST_WORK = 60000000, MOST_BYTES = 16 << 20 };

/* A variable for each place, by its number: it is in the component. */
static struct pt_sat *component_of(const struct pt_net *net, uint32_t place, uint32_t *clause)
{
    struct pt_sat *sat = pt_sat_new();
    uint32_t count = 0, one = pt_lit(place);
    for (uint32_t p = 0; p < net->place_count; p++)
        (void)pt_sat_var(sat);
    for (uint32_t p = 0; p < net->place_count; p++)
        if (net->places[p].marked)
            clause[count++] = pt_lit(p);
    pt_sat_at_most_one(sat, clause, count);
    for (uint32_t t = 0; t < net->transition_count; t++) {
        const struct pt_net_transition *at = &net->transitions[t];
        const uint32_t *pre = pt_net_pre(net, t), *post = pt_net_post(net, t);
        for (uint32_t i = 0; i < at->post_count; i++) {
            clause[0] = pt_not(pt_lit(post[i]));
            for (uint32_t k = 0; k < at->pre_count; k++)
                clause[k + 1] = pt_lit(pre[k]);
            pt_sat_clause(sat, clause, at->pre_count + 1);
        }
        for (uint32_t i = 0; i < at->post_count; i++)
            clause[i] = pt_lit(post[i]);
        pt_sat_at_most_one(sat, clause, at->post_count);
    }
    pt_sat_clause(sat, &one, 1);
    return sat;
}

/* Keeps the component that was found; its places need none of their own. */
static void take(const struct pt_net *net, const struct pt_sat *sat, struct pt_components *to, bool *covered)
{
    for (uint32_t p = 0; p < net->place_count; p++) {
        if (!pt_sat_is_true(sat, p))
            continue;
        covered[p] = true;
        PT_PUSH(to->places, to->place_count, to->place_cap, p);
    }
    PT_PUSH(to->ends, to->count, to->end_cap, to->place_count);
}

void pt_net_find_components(const struct pt_net *net, struct pt_components *ret_components)
{
    bool *covered = pt_xcalloc((size_t)net->place_count + 1, sizeof *covered);
    uint32_t *clause = pt_xmalloc(((size_t)net->place_count + net->arc_count + 2) * sizeof *clause);
    struct pt_components found = {.all = true};
    uint64_t work = 0;
    for (uint32_t place = 0; place < net->place_count && work <= MOST_WORK; place++) {
        if (covered[place])
            continue;
        struct pt_sat *sat = component_of(net, place, clause);
        work += (uint64_t)net->arc_count + net->place_count;
        if (pt_sat_solve(sat, pt_sat_bytes(sat) + MOST_BYTES) == PT_SAT_YES)
            take(net, sat, &found, covered);
        pt_sat_free(sat);
    }
    for (uint32_t p = 0; p < net->place_count; p++)
        found.all &= covered[p];
    free(covered);
    free(clause);
    *ret_components = found;
}

void pt_components_release(struct pt_components *components)
{
    free(components->places);
    free(components->ends);
    *components = (struct pt_components){0};
}
