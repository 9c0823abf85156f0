/*
 * Three questions, each answered by the prefix, exactly. 1-safety is checked on the way, as far as the prefix is built:
 * all of it, where the answer is no.
 *
 * Coverability: the net gets one more transition, which consumes from all the places asked about and makes nothing; it
 * can fire iff they can be marked at once, and the unfolder finds a shortest local configuration for it first.
 *
 * Reachability of a marking, and deadlock: the complete prefix is searched for a configuration (configuration.c). That
 * there is no deadlock may be shown by traps (traps.c); where components show besides that the net is 1-safe
 * (components.c), it is not unfolded at all.
 *
 * Firings are replayed on the net, and where they lead is compared with the question, before anybody sees them.
 */
#include "net/question.h"

#include <stdlib.h>
#include <string.h>

#include "net/configuration.h"
#include "net/firing.h"
#include "net/traps.h"

static enum pt_status check_sources(const struct pt_net *net, struct pt_err *err)
{
    for (uint32_t t = 0; t < net->transition_count; t++) {
        const struct pt_net_transition *at = &net->transitions[t];
        if (at->pre_count == 0 && at->post_count > 0)
            return pt_err_set(err, PT_EINPUT,
                              "the net is not 1-safe: transition '%.100s' consumes nothing and so puts tokens on place "
                              "'%.100s' again and again",
                              at->name ? at->name : "?", net->places[pt_net_post(net, t)[0]].name);
    }
    return PT_OK;
}

static void take_figures(const struct pt_unfolding *u, struct pt_answer *answer)
{
    *answer = (struct pt_answer){.unfolded = true,
                                 .conditions = u->condition_total,
                                 .events = u->occurrence_count,
                                 .histories = u->event_count - 1,
                                 .cutoffs = u->cutoff_count,
                                 .peak_bytes = u->peak_bytes,
                                 .limit = u->limit};
}

/* The goal of a coverability question, if it was reached. */
static void take_goal(const struct pt_unfolding *u, struct pt_answer *answer)
{
    if (u->violation_count == 0)
        return;
    answer->found = true;
    answer->events--; /* the goal's is none of the net's */
    answer->histories--;
    uint32_t *firings = pt_unfolding_history(u, u->violations[0].event, &answer->firing_count);
    answer->firing_count--;
    for (uint32_t i = 0; i < answer->firing_count; i++)
        firings[i] = u->events[firings[i]].transition;
    answer->firings = firings;
}

/* A transition without a preset is always enabled, and has no event. */
static bool always_enabled(const struct pt_net *net)
{
    for (uint32_t t = 0; t < net->transition_count; t++) {
        if (net->transitions[t].pre_count == 0)
            return true;
    }
    return false;
}

static void search(const struct pt_unfolding *u, const struct pt_question *question, struct pt_answer *answer)
{
    struct pt_wanted wanted = {.dead = question->kind == PT_ASK_DEADLOCK};
    if (wanted.dead && (answer->limit.status != PT_OK || always_enabled(u->net)))
        return; /* what an incomplete prefix does not have may be enabled */
    bool *exactly = pt_xcalloc((size_t)u->net->place_count + 1, sizeof *exactly);
    for (uint32_t i = 0; i < question->place_count; i++)
        exactly[question->places[i]] = true;
    if (!wanted.dead) {
        wanted.exactly = exactly;
    } else if (question->places) {
        wanted.one_of = question->places;
        wanted.one_of_count = question->place_count;
    }
    uint64_t bytes, left = question->memory_limit > u->peak_bytes ? question->memory_limit - u->peak_bytes : 1;
    enum pt_sat_answer found = pt_configuration_find(u, &wanted, question->memory_limit ? left : 0, &answer->firings,
                                                     &answer->firing_count, &bytes);
    answer->found = found == PT_SAT_YES;
    answer->peak_bytes += bytes;
    if (found == PT_SAT_UNKNOWN)
        (void)pt_err_set(&answer->limit, PT_ELIMIT, "the memory limit of %llu bytes was reached",
                         (unsigned long long)question->memory_limit);
    free(exactly);
}

/* Whether the marking is what was asked for. */
static bool fits(const struct pt_net *net, const struct pt_question *question, const bool *marked)
{
    uint32_t asked = 0, all = 0;
    for (uint32_t i = 0; i < question->place_count; i++)
        asked += marked[question->places[i]];
    for (uint32_t p = 0; p < net->place_count; p++)
        all += marked[p];
    switch (question->kind) {
    case PT_ASK_COVER:
        return asked == question->place_count;
    case PT_ASK_REACH:
        return asked == question->place_count && all == asked;
    case PT_ASK_DEADLOCK:
        return !pt_firing_enables(net, marked) && (!question->places || asked > 0);
    default:
        return false;
    }
}

static enum pt_status check_firings(const struct pt_net *net, const struct pt_question *question,
                                    struct pt_answer *answer, struct pt_err *err)
{
    if (!answer->found)
        return PT_OK;
    answer->marked = pt_xcalloc((size_t)net->place_count + 1, sizeof *answer->marked);
    if (pt_firing_replay(net, answer->firings, answer->firing_count, answer->marked) &&
        fits(net, question, answer->marked))
        return PT_OK;
    pt_answer_release(answer);
    return pt_err_set(err, PT_EUSAGE,
                      "a firing sequence failed its own check (this is a mistake in portent: please report the net)");
}

/* Whether the net's structure shows that there is no deadlock; and that it is 1-safe. */
static bool excludes_deadlock(const struct pt_net *net, const struct pt_question *question, uint32_t *ret_traps,
                              bool *ret_safe)
{
    if (question->kind != PT_ASK_DEADLOCK || question->unfold)
        return false;
    struct pt_components components;
    pt_net_find_components(net, &components);
    *ret_safe = components.all;
    bool excluded = pt_net_traps_exclude_deadlock(net, &components, question->places, question->place_count, ret_traps);
    pt_components_release(&components);
    return excluded;
}

enum pt_status pt_net_ask(struct pt_net *net, const struct pt_question *question, struct pt_answer *ret_answer,
                          struct pt_err *err)
{
    enum pt_status status = check_sources(net, err);
    if (status != PT_OK)
        return status;
    struct pt_answer answer = {0};
    uint32_t traps = 0;
    bool safe = false, excluded = excludes_deadlock(net, question, &traps, &safe);
    if (excluded && safe) {
        *ret_answer = (struct pt_answer){.traps = traps};
        return PT_OK;
    }
    if (!question->plain)
        pt_net_find_reads(net);
    uint32_t transitions = net->transition_count, arcs = net->arc_count;
    struct pt_meaning *meanings = pt_xcalloc((size_t)transitions + 1, sizeof *meanings);
    for (uint32_t t = 0; t <= transitions; t++)
        meanings[t] = (struct pt_meaning){.thread = PT_NONE, .block = PT_NONE};
    if (question->kind == PT_ASK_COVER) {
        uint32_t goal = pt_net_add_transition(net, NULL, question->places, question->place_count, NULL, 0);
        meanings[goal].role = PT_ROLE_GOAL;
    }
    struct pt_unfold_options options = {.net = net,
                                        .meanings = meanings,
                                        .check_safe = true,
                                        .event_limit = question->event_limit,
                                        .memory_limit = question->memory_limit,
                                        .progress = question->progress,
                                        .progress_context = question->progress_context};
    struct pt_unfolding u;
    status = pt_unfold(&options, &u, err);
    net->transition_count = transitions;
    net->arc_count = arcs;
    if (status == PT_OK) {
        take_figures(&u, &answer);
        if (question->kind == PT_ASK_COVER)
            take_goal(&u, &answer);
        else if (question->kind != PT_ASK_NOTHING && !excluded)
            search(&u, question, &answer);
        answer.traps = excluded ? traps : 0;
        pt_unfolding_release(&u);
        status = check_firings(net, question, &answer, err);
    }
    free(meanings);
    if (status == PT_OK)
        *ret_answer = answer;
    return status;
}

void pt_answer_release(struct pt_answer *answer)
{
    free(answer->firings);
    free(answer->marked);
    *answer = (struct pt_answer){0};
}
