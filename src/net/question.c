/*
 * Coverability: the net gets one more transition, which consumes from all the places asked about and makes nothing; it
 * can fire iff they can be marked at once, and the unfolder finds a shortest local configuration for it first. 1-safety
 * is checked on the way, as far as the prefix is built: all of it, where the answer is no.
 */
#include "net/question.h"

#include <stdlib.h>

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

static void take_answer(const struct pt_unfolding *u, struct pt_answer *answer)
{
    *answer = (struct pt_answer){.conditions = u->condition_total,
                                 .events = u->event_count - 1,
                                 .cutoffs = u->cutoff_count,
                                 .peak_bytes = u->peak_bytes,
                                 .limit = u->limit,
                                 .coverable = u->violation_count > 0};
    if (!answer->coverable)
        return;
    answer->events -= u->violation_count; /* the goal's is none of the net's */
    uint32_t *firings = pt_unfolding_history(u, u->violations[0].event, &answer->firing_count);
    answer->firing_count--;
    for (uint32_t i = 0; i < answer->firing_count; i++)
        firings[i] = u->events[firings[i]].transition;
    answer->firings = firings;
}

enum pt_status pt_net_cover(struct pt_net *net, const struct pt_question *question, struct pt_answer *ret_answer,
                            struct pt_err *err)
{
    enum pt_status status = check_sources(net, err);
    if (status != PT_OK)
        return status;
    uint32_t transitions = net->transition_count, arcs = net->arc_count;
    struct pt_meaning *meanings = pt_xcalloc((size_t)transitions + 1, sizeof *meanings);
    for (uint32_t t = 0; t <= transitions; t++)
        meanings[t] = (struct pt_meaning){.thread = PT_NONE, .block = PT_NONE};
    if (question->place_count > 0) {
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
    if (status == PT_OK) {
        take_answer(&u, ret_answer);
        pt_unfolding_release(&u);
    }
    net->transition_count = transitions;
    net->arc_count = arcs;
    free(meanings);
    return status;
}
