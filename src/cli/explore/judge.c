/*
 * What recordings of runs say: which properties a run broke, in the order in which it went, and what they predict. A
 * predicted race or deadlock is one of the schedules that are tried next; a predicted violation of a property is run at
 * once, up to the event that breaks it, with the steps that its events need and no others. What is predicted counts
 * when it happens.
 *
 * Under `exhaustive` one run stands for all that differ in the order of independent steps. A property may see that
 * order. So there every run is predicted on in the order `access`, which is just these runs: only if that came to its
 * end in each of them, and each violation it found was run, the exploration is whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/explore/recorded.h"
#include "core/found.h"

enum { TRIES = 3 }; /* of a predicted violation, by its property and place */

static bool is_strategy(const struct pt_explorer *e, const char *name)
{
    return strcmp(e->request->strategy, name) == 0;
}

/* Recordings cost more than runs. Where prediction was asked for, all are analysed; of a mixture one of a round. Where
 * there are properties, each run that may end an exploration with a proof, too. */
static bool is_predicted_on(const struct pt_explorer *e, const struct pt_explore_plan *plan, uint32_t index)
{
    bool exhaustive = strcmp(plan->by, "exhaustive") == 0;
    if (is_strategy(e, "predict"))
        return true;
    if (is_strategy(e, "auto") && index == 0 && !exhaustive)
        return true;
    return exhaustive && e->properties;
}

static bool predicts(const struct pt_explorer *e, const struct pt_explore_plan *plan, uint32_t index)
{
    return (e->request->predicts || e->properties) && is_predicted_on(e, plan, index);
}

void pt_explorer_ask(const struct pt_explorer *e, struct pt_explore_plan *plans, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!e->properties && !predicts(e, &plans[i], i))
            continue;
        char *name = pt_explore_recorded_name(i);
        snprintf(plans[i].input.record, sizeof plans[i].input.record, "%s", name);
        free(name);
    }
}

/* --- the run itself --- */

/* An error is kept before what is not known; what is violated has a run of its own to show it. */
static bool is_worse(const struct pt_finding *finding, const struct pt_finding *known)
{
    return (finding->verdict == PT_VERDICT_ERROR && (!known || known->verdict != PT_VERDICT_ERROR)) ||
           (finding->verdict == PT_VERDICT_UNKNOWN && !known);
}

static bool keep_doubts(struct pt_explorer *e, const struct pt_explore_recorded *recorded)
{
    bool kept = false;
    for (uint32_t i = 0; i < recorded->property_count; i++) {
        struct pt_finding *finding = recorded->result.findings[i];
        if (!is_worse(finding, e->doubts[i]))
            continue;
        e->doubts[i] = finding;
        kept = true;
    }
    return kept;
}

/* Of a run that did not end by itself the recording may lack its end: what it had not broken by then is no doubt of its
 * own, but then nobody knows of all runs. One that ended, and was not recorded, is a doubt. */
void pt_explorer_judge(struct pt_explorer *e, const char *path, bool keeps, struct pt_explore_outcome *outcome)
{
    struct pt_explore_reading reading = {.properties = e->properties, .keeps = keeps};
    if (!e->properties)
        return;
    struct pt_explore_recorded *recorded = pt_explore_recorded_read(path, &reading);
    bool ended =
        outcome->result.end == PT_EXPLORE_BODY ||
        (outcome->result.end == PT_EXPLORE_RUNNING && !outcome->timed_out && WIFEXITED((int)outcome->wait_status));
    for (uint32_t i = 0; i < recorded->property_count; i++)
        if (pt_explore_is_broken(recorded->result.findings[i]))
            outcome->broken |= UINT64_C(1) << i;
    bool kept = ended && keep_doubts(e, recorded);
    e->torn |= !ended && recorded->torn;
    if (!e->first)
        e->first = recorded;
    if (kept || e->first == recorded)
        PT_PUSH(e->recordings, e->recording_count, e->recording_cap, recorded);
    else
        pt_explore_recorded_free(recorded);
}

/* --- predictions --- */

/* How often a violation of this property at this place was tried before. */
static uint32_t *tries_of(struct pt_explorer *e, uint32_t property, const struct pt_finding *finding)
{
    const struct pt_step *last = pt_finding_breaks(finding);
    uint64_t key = pt_fnv(PT_FNV_NOTHING, &property, sizeof property);
    if (last)
        key = pt_fnv(key, last->loc, strlen(last->loc));
    uint32_t *tries = pt_map64_at(&e->tried, key);
    if (*tries == PT_NONE)
        *tries = 0;
    return tries;
}

/* What is a scheduling point is as it was in the run that predicts it: or its steps would not be those. */
static bool run_predicted(struct pt_explorer *e, uint32_t property, const struct pt_finding *finding,
                          const struct pt_explore_outcome *outcome)
{
    struct pt_explore_names names = pt_program_names_for(e->names, &e->places);
    struct pt_explore_plan plan = {.input = e->base.input, .by = "predict"};
    struct pt_explore_outcome done;
    struct pt_err err;
    uint32_t fresh;
    plan.input.strategy = PT_EXPLORE_FIRST;
    plan.prefix = pt_explore_recorded_bring(finding, outcome, &names, &plan.input.prefix_count);
    if (!plan.prefix)
        return false;
    char *path = pt_explore_recorded_name(PT_EXPLORE_JOBS);
    snprintf(plan.input.record, sizeof plan.input.record, "%s", path);
    e->places.limit = e->shared;
    bool shown =
        pt_explore_crew_round(e->crew, &e->places, &plan, 1, NULL, NULL, &done, &fresh, &err) == PT_OK && done.started;
    e->places.limit = UINT32_MAX;
    if (shown) {
        pt_explorer_judge(e, path, false, &done);
        shown = done.broken >> property & 1;
        pt_explorer_count(e, &plan, &done);
    }
    pt_explore_outcome_release(&done);
    pt_explore_plan_release(&plan);
    free(path);
    return shown;
}

static void take_prediction(struct pt_explorer *e, uint32_t i, struct pt_finding *finding,
                            const struct pt_explore_outcome *outcome, bool proves)
{
    bool predicted = finding->verdict == PT_VERDICT_VIOLATED && finding->how == PT_HOW_PREDICTED;
    bool seen = outcome->broken >> i & 1 || pt_map64_get(&e->by_key, pt_explore_broken(i).key) != PT_NONE;
    if (proves &&
        (finding->verdict == PT_VERDICT_UNKNOWN || (finding->verdict == PT_VERDICT_HOLDS && !finding->complete)))
        e->partly = true;
    if (!predicted || seen || (e->seen_count && !e->request->keep_going))
        return;
    uint32_t *tries = tries_of(e, i, finding);
    bool shown = (*tries)++ < TRIES && run_predicted(e, i, finding, outcome);
    if (!shown && strcmp(finding->order, "access") == 0)
        e->unshown |= UINT64_C(1) << i;
}

/* What a run that was recorded predicts is tried next. It counts when it happens: what a recording says of locks that
 * are only tried, for instance, is less than the program knows. */
static void predict(struct pt_explorer *e, const struct pt_explore_plan *plan, const struct pt_explore_outcome *outcome)
{
    bool exhaustive = strcmp(plan->by, "exhaustive") == 0;
    struct pt_explore_reading reading = {.properties = e->properties, .predicts = true};
    if (e->request->predicts && !exhaustive)
        reading.checks = e->request->checks | 1u << PT_FOUND_DEADLOCK;
    struct pt_explore_recorded *recorded = pt_explore_recorded_read(plan->input.record, &reading);
    pt_explore_recorded_steer(recorded, outcome, &e->places, e->tactic);
    for (uint32_t i = 0; i < recorded->property_count; i++)
        take_prediction(e, i, recorded->result.findings[i], outcome, exhaustive);
    pt_explore_recorded_free(recorded);
}

void pt_explorer_read(struct pt_explorer *e, const struct pt_explore_plan *plan, uint32_t index,
                      struct pt_explore_outcome *outcome)
{
    bool wider = predicts(e, plan, index);
    if (plan->input.record[0])
        pt_explorer_judge(e, plan->input.record, wider, outcome);
    pt_explorer_count(e, plan, outcome);
    if (!plan->input.record[0] || !wider)
        return;
    if (pt_explore_outcome_counts(outcome) && pt_explore_outcome_is_whole(outcome))
        predict(e, plan, outcome);
    pt_explore_recorded_remove(plan->input.record);
}

void pt_explorer_predict_anew(struct pt_explorer *e)
{
    e->partly = false;
    e->unshown = 0;
    pt_map64_release(&e->tried);
    pt_map64_init(&e->tried);
}
