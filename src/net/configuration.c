/*
 * Configurations as clauses (Heljanko 1999; Khomenko and Koutny 2000; Rodríguez and Schwoon 2013). One variable for
 * each event that is no cut-off, with its history: it is in the configuration. Its causes are in with it, of the events
 * that consume one condition at most one is in, and with it all reads of the condition that are in are in its history.
 * (Variables for histories, not for events: asymmetric conflict needs no cycles to be excluded then.)
 *
 * Every reachable marking is that of a configuration without cut-offs, and each transition that is enabled there has
 * an event, cut-offs included, whose whole preset is in its cut: that is what a complete prefix is. So
 *
 *   - nothing is enabled iff for each event a condition of its preset is missing, or consumed: one clause per event,
 * whatever its history;
 *   - a place is empty iff every condition of it is missing or consumed: one clause per condition; and marked iff one
 * of its conditions is in the cut, which gets a variable.
 *
 * Answers are exact. The clauses are linear in the arcs of the prefix; finding a solution is as hard as it is
 * (NP-complete in the prefix), and sat.c's matter.
 */
#include "net/configuration.h"

#include <stdlib.h>
#include <string.h>

struct encoding {
    const struct pt_unfolding *u;
    struct pt_sat *sat;
    uint32_t *var;                        /* by event; PT_NONE: never in */
    uint32_t *consumer_start, *consumers; /* by condition: events */
    uint32_t *stamp;                      /* by condition: a mark that has been seen */
    uint32_t *clause, count;              /* the one being made */
    size_t cap;
};

static void begin_clause(struct encoding *e)
{
    e->count = 0;
}

static void add_literal(struct encoding *e, uint32_t literal)
{
    PT_PUSH(e->clause, e->count, e->cap, literal);
}

static void end_clause(struct encoding *e)
{
    pt_sat_clause(e->sat, e->clause, e->count);
}

static uint32_t pre_count(const struct pt_unfolding *u, uint32_t event)
{
    return u->net->transitions[u->events[event].transition].pre_count;
}

static uint32_t consumed_count(const struct pt_unfolding *u, uint32_t event)
{
    return pt_net_consumed(u->net, u->events[event].transition);
}

static void index_consumers(struct encoding *e)
{
    const struct pt_unfolding *u = e->u;
    uint32_t *start = e->consumer_start = pt_xcalloc((size_t)u->condition_count + 2, sizeof *start);
    e->consumers = pt_xmalloc(((size_t)u->pre_count + 1) * sizeof *e->consumers);
    for (uint32_t event = 1; event < u->event_count; event++) {
        for (uint32_t i = 0; i < consumed_count(u, event); i++)
            start[u->pre[u->events[event].pre_start + i] + 2]++;
    }
    for (uint32_t c = 0; c < u->condition_count; c++)
        start[c + 2] += start[c + 1];
    for (uint32_t event = 1; event < u->event_count; event++) {
        for (uint32_t i = 0; i < consumed_count(u, event); i++)
            e->consumers[start[u->pre[u->events[event].pre_start + i] + 1]++] = event;
    }
}

/* To the clause: the condition is not made, or is consumed. */
static void add_not_in_cut(struct encoding *e, uint32_t condition)
{
    uint32_t maker = e->u->condition_event[condition];
    if (maker != 0)
        add_literal(e, pt_not(pt_lit(e->var[maker])));
    for (uint32_t k = e->consumer_start[condition]; k < e->consumer_start[condition + 1]; k++) {
        if (e->var[e->consumers[k]] != PT_NONE)
            add_literal(e, pt_lit(e->var[e->consumers[k]]));
    }
}

static void add_events(struct encoding *e)
{
    const struct pt_unfolding *u = e->u;
    for (uint32_t event = 0; event < u->event_count; event++)
        e->var[event] = event == 0 || u->events[event].cutoff ? PT_NONE : pt_sat_var(e->sat);
    for (uint32_t event = 1; event < u->event_count; event++) {
        if (e->var[event] == PT_NONE)
            continue;
        for (uint32_t i = 0; i < u->events[event].cause_count; i++) {
            uint32_t cause = u->causes[u->events[event].cause_start + i];
            pt_sat_clause(e->sat, (uint32_t[]){pt_not(pt_lit(e->var[event])), pt_lit(e->var[cause])}, 2);
        }
    }
    for (uint32_t c = 0; c < u->condition_count; c++) {
        begin_clause(e);
        for (uint32_t k = e->consumer_start[c]; k < e->consumer_start[c + 1]; k++) {
            if (e->var[e->consumers[k]] != PT_NONE)
                add_literal(e, pt_lit(e->var[e->consumers[k]]));
        }
        pt_sat_at_most_one(e->sat, e->clause, e->count);
    }
}

/* Stamps the reads of a condition in the history of an event that consumes it. */
static void stamp_reads(struct encoding *e, uint32_t event, uint32_t condition, uint32_t stamp)
{
    const struct pt_unfolding *u = e->u;
    e->count = 0; /* here: events whose `over` is to be looked at */
    add_literal(e, event);
    for (uint32_t i = 0; i < e->count; i++) {
        const struct pt_unfold_event *at = &u->events[e->clause[i]];
        for (uint32_t k = 0; k < at->over_count; k++) {
            uint32_t mark = u->over[at->over_start + k];
            if (u->condition_read[mark] != condition || e->stamp[mark] == stamp)
                continue;
            e->stamp[mark] = stamp;
            add_literal(e, u->condition_event[mark]);
        }
    }
}

/* Who consumes a condition excludes the reads of it that are not in its history. */
static void add_reads(struct encoding *e)
{
    const struct pt_unfolding *u = e->u;
    uint32_t *start = pt_xcalloc((size_t)u->condition_count + 2, sizeof *start), now = 0;
    uint32_t *marks = pt_xmalloc(((size_t)u->condition_count + 1) * sizeof *marks);
    for (uint32_t c = 0; c < u->condition_count; c++) {
        if (u->condition_read[c] != PT_NONE)
            start[u->condition_read[c] + 2]++;
    }
    for (uint32_t c = 0; c < u->condition_count; c++)
        start[c + 2] += start[c + 1];
    for (uint32_t c = 0; c < u->condition_count; c++) {
        if (u->condition_read[c] != PT_NONE)
            marks[start[u->condition_read[c] + 1]++] = c;
    }
    for (uint32_t c = 0; c < u->condition_count; c++) {
        for (uint32_t k = e->consumer_start[c]; start[c] < start[c + 1] && k < e->consumer_start[c + 1]; k++) {
            uint32_t var = e->var[e->consumers[k]];
            if (var == PT_NONE)
                continue;
            stamp_reads(e, e->consumers[k], c, ++now);
            for (uint32_t i = start[c]; i < start[c + 1]; i++) {
                uint32_t reader = e->var[u->condition_event[marks[i]]];
                if (e->stamp[marks[i]] != now)
                    pt_sat_clause(e->sat, (uint32_t[]){pt_not(pt_lit(var)), pt_not(pt_lit(reader))}, 2);
            }
        }
    }
    free(start);
    free(marks);
}

static void add_dead(struct encoding *e)
{
    const struct pt_unfolding *u = e->u;
    for (uint32_t event = 1; event < u->event_count; event++) {
        if (u->events[event].mark_count > 0)
            continue; /* the same conditions have an event whose history has nothing beside theirs */
        begin_clause(e);
        for (uint32_t i = 0; i < pre_count(u, event); i++)
            add_not_in_cut(e, u->pre[u->events[event].pre_start + i]);
        end_clause(e);
    }
}

/* A variable that is true only if the condition is in the cut. */
static uint32_t in_cut(struct encoding *e, uint32_t condition)
{
    uint32_t is_in = pt_lit(pt_sat_var(e->sat)), maker = e->u->condition_event[condition];
    if (maker != 0)
        pt_sat_clause(e->sat, (uint32_t[]){pt_not(is_in), pt_lit(e->var[maker])}, 2);
    for (uint32_t k = e->consumer_start[condition]; k < e->consumer_start[condition + 1]; k++) {
        uint32_t var = e->var[e->consumers[k]];
        if (var != PT_NONE)
            pt_sat_clause(e->sat, (uint32_t[]){pt_not(is_in), pt_not(pt_lit(var))}, 2);
    }
    return is_in;
}

/* At least one condition of these places is in the cut. */
static void add_some(struct encoding *e, const bool *places)
{
    uint32_t *literals = pt_xmalloc(((size_t)e->u->condition_count + 1) * sizeof *literals), count = 0;
    for (uint32_t c = 0; c < e->u->condition_count; c++) {
        if (e->u->condition_place[c] != PT_NONE && places[e->u->condition_place[c]])
            literals[count++] = in_cut(e, c);
    }
    pt_sat_clause(e->sat, literals, count);
    free(literals);
}

static void add_exactly(struct encoding *e, const bool *marked)
{
    const struct pt_unfolding *u = e->u;
    bool *one = pt_xcalloc((size_t)u->net->place_count + 1, sizeof *one);
    for (uint32_t c = 0; c < u->condition_count; c++) {
        if (u->condition_place[c] == PT_NONE || marked[u->condition_place[c]])
            continue;
        begin_clause(e);
        add_not_in_cut(e, c);
        end_clause(e);
    }
    for (uint32_t p = 0; p < u->net->place_count; p++) {
        if (!marked[p])
            continue;
        one[p] = true;
        add_some(e, one);
        one[p] = false;
    }
    free(one);
}

static void add_wanted(struct encoding *e, const struct pt_wanted *wanted)
{
    if (wanted->dead)
        add_dead(e);
    if (wanted->exactly)
        add_exactly(e, wanted->exactly);
    if (wanted->one_of) {
        bool *places = pt_xcalloc((size_t)e->u->net->place_count + 1, sizeof *places);
        for (uint32_t i = 0; i < wanted->one_of_count; i++)
            places[wanted->one_of[i]] = true;
        add_some(e, places);
        free(places);
    }
}

enum pt_sat_answer pt_configuration_find(const struct pt_unfolding *u, const struct pt_wanted *wanted,
                                         uint64_t memory_limit, uint32_t **ret_firings, uint32_t *ret_count,
                                         uint64_t *ret_bytes)
{
    struct encoding e = {.u = u, .sat = pt_sat_new()};
    e.var = pt_xmalloc((size_t)u->event_count * sizeof *e.var);
    index_consumers(&e);
    e.stamp = pt_xcalloc((size_t)u->condition_count + 1, sizeof *e.stamp);
    add_events(&e);
    add_reads(&e);
    add_wanted(&e, wanted);
    enum pt_sat_answer answer = pt_sat_solve(e.sat, memory_limit);
    if (answer == PT_SAT_YES) {
        uint32_t *firings = pt_xmalloc((size_t)u->event_count * sizeof *firings), count = 0;
        for (uint32_t event = 1; event < u->event_count; event++) { /* causes have smaller numbers */
            if (e.var[event] != PT_NONE && pt_sat_is_true(e.sat, e.var[event]))
                firings[count++] = u->events[event].transition;
        }
        *ret_firings = firings;
        *ret_count = count;
    }
    *ret_bytes = pt_sat_bytes(e.sat);
    pt_sat_free(e.sat);
    free(e.var);
    free(e.consumer_start);
    free(e.consumers);
    free(e.stamp);
    free(e.clause);
    return answer;
}
