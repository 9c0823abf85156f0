/*
 * Components: sets of places that have one token at the start at most, in which no transition makes more than one, and
 * none without consuming or reading one in it. Such a set never has two tokens, and a net is 1-safe if every place is
 * in one. State machines (Hack, 1972) are the better ones: there no transition takes the token away, either.
 *
 * A state machine of a place is looked for by following its arcs: a transition at a place of it needs one place more,
 * on its other side. Where there are several to choose from, others have to be followed first, and what is still open
 * then is tried, one after the other. Where that takes long or finds none, a component is a question of a few clauses
 * for each transition (sat.c).
 *
 * Guarantee: what is found is one; 1-safe nets exist that are not covered. Cost: for each place the arcs of its
 * component where nothing has to be guessed, bounded; and a question at worst, linear in the arcs where nothing has to
 * be guessed; bounded, too.
 */
#include "net/components.h"

#include <stdlib.h>
#include <string.h>

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

/* --- By following arcs ------------------------------------------------------------------------------------------ */

enum { MOST_STEPS = 20000, MOST_GUESSES = 32 }; /* of the search for one component; and its arcs, at worst all */
enum { OPEN, IN, OUT };

/* The choice of a place for one side of a transition. */
struct need {
    uint32_t transition;
    bool after; /* of what it makes, or of what it consumes */
};

struct search {
    const struct pt_net *net;
    uint32_t *near_start, *near; /* by place: the transitions that have an arc to or from it */
    uint8_t *state;              /* by place */
    uint32_t *in, in_count;      /* the component so far, */
    uint32_t *out, out_count;    /* and what cannot be in it */
    struct need *needs;          /* what was left open on the way */
    uint32_t need_count;
    size_t need_cap;
    uint32_t marked; /* places of it that have a token at the start */
    uint32_t steps, most_steps;
    bool weak; /* transitions may take the token away */
};

static void index_near(struct search *s)
{
    const struct pt_net *net = s->net;
    uint32_t *start = s->near_start = pt_xcalloc((size_t)net->place_count + 2, sizeof *start);
    s->near = pt_xmalloc(((size_t)net->arc_count + 1) * sizeof *s->near);
    for (uint32_t fill = 0; fill < 2; fill++) {
        for (uint32_t t = 0; t < net->transition_count; t++) {
            const struct pt_net_transition *at = &net->transitions[t];
            for (uint32_t i = 0; i < at->pre_count + at->post_count; i++) {
                uint32_t p = i < at->pre_count ? pt_net_pre(net, t)[i] : pt_net_post(net, t)[i - at->pre_count];
                if (fill)
                    s->near[start[p + 1]++] = t;
                else
                    start[p + 2]++;
            }
        }
        for (uint32_t p = 0; !fill && p < net->place_count; p++)
            start[p + 2] += start[p + 1];
    }
}

static const uint32_t *side(const struct pt_net *net, struct need need, uint32_t *ret_count)
{
    const struct pt_net_transition *t = &net->transitions[need.transition];
    *ret_count = need.after ? t->post_count : t->pre_count;
    return need.after ? pt_net_post(net, need.transition) : pt_net_pre(net, need.transition);
}

/* Takes a place in. The others beside it, where a transition has it, are out. False: this cannot be. */
static bool take_in(struct search *s, uint32_t place)
{
    uint32_t count;
    s->state[place] = IN;
    s->in[s->in_count++] = place;
    s->marked += s->net->places[place].marked;
    for (uint32_t k = s->near_start[place]; k < s->near_start[place + 1]; k++) {
        for (int after = 0; after < 2; after++) {
            const uint32_t *places = side(s->net, (struct need){s->near[k], after}, &count);
            bool here = false;
            for (uint32_t i = 0; i < count; i++)
                here |= places[i] == place;
            for (uint32_t i = 0; here && i < count; i++) {
                if (places[i] == place || s->state[places[i]] == OUT)
                    continue;
                if (s->state[places[i]] == IN)
                    return false;
                s->state[places[i]] = OUT;
                s->out[s->out_count++] = places[i];
            }
            s->steps += count;
        }
    }
    return s->marked <= 1 && s->steps <= s->most_steps;
}

/* How many places there are to choose from, and the first of them; 1, with PT_NONE: one is in. */
static uint32_t choices(struct search *s, struct need need, uint32_t *ret_first)
{
    uint32_t count, found = 0;
    const uint32_t *places = side(s->net, need, &count);
    *ret_first = PT_NONE;
    s->steps += count;
    for (uint32_t i = 0; i < count; i++) {
        if (s->state[places[i]] == IN) {
            *ret_first = PT_NONE;
            return 1;
        }
        if (s->state[places[i]] == OPEN && found++ == 0)
            *ret_first = places[i];
    }
    return found;
}

/* Whether there need not be a place on this side of the transition. */
static bool can_leave(const struct search *s, struct need need)
{
    return need.after && (s->weak || s->net->transitions[need.transition].post_count == 0);
}

/* Follows the arcs of all places from `at` on; false: it cannot be. */
static bool follow(struct search *s, uint32_t at)
{
    uint32_t first;
    for (; at < s->in_count; at++) {
        uint32_t place = s->in[at];
        for (uint32_t k = s->near_start[place]; k < s->near_start[place + 1]; k++) {
            for (int after = 0; after < 2; after++) {
                struct need need = {s->near[k], after};
                uint32_t found = choices(s, need, &first);
                bool optional = can_leave(s, need);
                if ((found == 0 && !optional) || (found == 1 && first != PT_NONE && !optional && !take_in(s, first)))
                    return false;
                if (found > 1 || (found == 1 && first != PT_NONE && optional))
                    PT_PUSH(s->needs, s->need_count, s->need_cap, need);
            }
        }
    }
    return s->steps <= s->most_steps;
}

/* Goes back to how it was. */
static void undo(struct search *s, const struct search *before)
{
    for (uint32_t i = before->in_count; i < s->in_count; i++)
        s->state[s->in[i]] = OPEN;
    for (uint32_t i = before->out_count; i < s->out_count; i++)
        s->state[s->out[i]] = OPEN;
    s->in_count = before->in_count;
    s->out_count = before->out_count;
    s->need_count = before->need_count;
    s->marked = before->marked;
}

/* Closes what is open from `at` on. Where there is a choice, each is tried. */
static bool close_needs(struct search *s, uint32_t at, uint32_t guesses)
{
    uint32_t first, count;
    for (; at < s->need_count; at++) {
        struct need need = s->needs[at];
        uint32_t found = choices(s, need, &first), next = s->in_count;
        bool optional = can_leave(s, need);
        if (found == 0 && !optional)
            return false;
        if (first == PT_NONE)
            continue;
        if (found == 1 && !optional) {
            if (!take_in(s, first) || !follow(s, next))
                return false;
            continue;
        }
        const uint32_t *places = side(s->net, need, &count);
        for (uint32_t i = 0; i < count && guesses > 0 && s->steps <= s->most_steps; i++) {
            struct search before = *s;
            if (s->state[places[i]] != OPEN)
                continue;
            if (take_in(s, places[i]) && follow(s, next) && close_needs(s, at + 1, guesses - 1))
                return true;
            undo(s, &before);
        }
        if (!optional)
            return false;
    }
    return s->steps <= s->most_steps;
}

/* --- The cover -------------------------------------------------------------------------------------------------- */

/* The next place of a component. */
static void add_place(struct pt_components *to, uint32_t place, bool *covered)
{
    covered[place] = true;
    PT_PUSH(to->places, to->place_count, to->place_cap, place);
}

/* A component that has the place, if one is found: a state machine rather than another. */
static bool follow_arcs(struct search *s, uint32_t place, struct pt_components *to, bool *covered)
{
    static const struct search nothing = {0};
    bool found = false;
    s->steps = 0;
    for (int weak = 0; weak < 2 && !found; weak++) {
        s->weak = weak;
        found = take_in(s, place) && follow(s, 0) && close_needs(s, 0, MOST_GUESSES);
        for (uint32_t i = 0; found && i < s->in_count; i++)
            add_place(to, s->in[i], covered);
        undo(s, &nothing);
    }
    return found;
}

/* Any component that has the place, if there is one. */
static bool find_component(const struct pt_net *net, uint32_t place, uint32_t *clause, struct pt_components *to,
                           bool *covered)
{
    struct pt_sat *sat = component_of(net, place, clause);
    bool found = pt_sat_solve(sat, pt_sat_bytes(sat) + MOST_BYTES) == PT_SAT_YES;
    for (uint32_t p = 0; found && p < net->place_count; p++) {
        if (pt_sat_is_true(sat, p))
            add_place(to, p, covered);
    }
    pt_sat_free(sat);
    return found;
}

static void begin_search(const struct pt_net *net, struct search *s)
{
    size_t places = (size_t)net->place_count + 1;
    *s = (struct search){.net = net,
                         .most_steps = MOST_STEPS + net->arc_count,
                         .state = pt_xcalloc(places, sizeof *s->state),
                         .in = pt_xmalloc(places * sizeof *s->in),
                         .out = pt_xmalloc(places * sizeof *s->out)};
    index_near(s);
}

static void end_search(struct search *s)
{
    void *const all[] = {s->near_start, s->near, s->state, s->in, s->out, s->needs};
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

void pt_net_find_components(const struct pt_net *net, struct pt_components *ret_components)
{
    bool *covered = pt_xcalloc((size_t)net->place_count + 1, sizeof *covered);
    uint32_t *clause = pt_xmalloc(((size_t)net->place_count + net->arc_count + 2) * sizeof *clause);
    struct pt_components found = {.all = true};
    struct search search;
    uint64_t work = 0;
    begin_search(net, &search);
    for (uint32_t place = 0; place < net->place_count && work <= MOST_WORK; place++) {
        if (covered[place])
            continue;
        if (!follow_arcs(&search, place, &found, covered)) {
            work += (uint64_t)net->arc_count + net->place_count;
            if (!find_component(net, place, clause, &found, covered))
                continue;
        }
        work += search.steps;
        PT_PUSH(found.ends, found.count, found.end_cap, found.place_count);
    }
    for (uint32_t p = 0; p < net->place_count; p++)
        found.all &= covered[p];
    end_search(&search);
    free(covered);
    free(clause);
    *ret_components = found;
}

bool pt_net_follow_components(const struct pt_net *net, uint64_t *budget, struct pt_components *ret_components)
{
    if (*budget <= net->arc_count) {
        *budget = 0;
        return false;
    }
    *budget -= net->arc_count; /* listing them */
    bool *covered = pt_xcalloc((size_t)net->place_count + 1, sizeof *covered);
    struct pt_components found = {.all = true};
    struct search search;
    begin_search(net, &search);
    for (uint32_t place = 0; place < net->place_count && found.all; place++) {
        if (covered[place])
            continue;
        search.most_steps = *budget < search.most_steps ? (uint32_t)*budget : search.most_steps;
        found.all = follow_arcs(&search, place, &found, covered);
        *budget -= search.steps < *budget ? search.steps : *budget;
        if (found.all)
            PT_PUSH(found.ends, found.count, found.end_cap, found.place_count);
    }
    end_search(&search);
    free(covered);
    if (!found.all) {
        pt_components_release(&found);
        return false;
    }
    *ret_components = found;
    return true;
}

void pt_components_release(struct pt_components *components)
{
    free(components->places);
    free(components->ends);
    *components = (struct pt_components){0};
}
