/*
 * The order `slices=K` of a trace that is not kept: its events are given once for the survey (sliced_layout.c) and once
 * for each pass (sliced.c), each time from the first one on, and forgotten at once.
 *
 * Why it is no single pass: a slice after the first begins where the ones before it have ended, and what ends there are
 * is known when all events were read; and which variables are shared, and for how long, is not known before either.
 * sliced_live.c does without both, and may have many more states for it.
 *
 * Guarantee: that of sliced.c, but for the judge, who needs the events: what is found here is no answer before it was
 * found again in the log of the events up to there. Cost: K+2 passes; memory for the states, and for the names, values
 * that atoms compare with others, threads, locks and objects of the trace, not for its events.
 */
#include <stdlib.h>

#include "engine/wide/sliced_impl.h"

struct pt_wide_stream {
    struct wide_problem problem; /* of no events: what the monitor needs */
    struct wide_search search;
    struct pt_wide_names names;
    struct pt_wide_figures figures;
    struct sliced x;
    uint32_t slices;
    uint32_t pass;            /* 0: none yet; 1: the survey; then slices 0..pass-2 */
    uint64_t number, counted; /* of the present event; how many the survey has seen */
    uint64_t found_at;        /* the number of the event with which the violation was complete */
    uint32_t actual;          /* configuration of the monitor in the actual run */
    bool over;
    enum pt_wide_end end;
};

struct pt_wide_stream *pt_wide_stream_new(struct pt_wide_log *log, uint32_t slices, struct pt_monitor *monitor,
                                          const struct pt_wide_names *names, const struct pt_analysis_options *options,
                                          uint64_t deadline, struct pt_finding *finding)
{
    struct pt_wide_stream *stream = pt_xcalloc(1, sizeof *stream);
    stream->names = *names;
    stream->slices = slices;
    wide_problem_init(&stream->problem, log, PT_POSSIBLE_VALUES, monitor, names);
    wide_search_init(&stream->search, &stream->problem, options, deadline, finding, &stream->figures);
    sliced_init(&stream->x, &stream->search);
    stream->actual = SLICED_FIRST;
    return stream;
}

void pt_wide_stream_free(struct pt_wide_stream *stream)
{
    if (!stream)
        return;
    sliced_release(&stream->x);
    wide_search_release(&stream->search);
    wide_problem_release(&stream->problem);
    free(stream);
}

static void end_with(struct pt_wide_stream *stream, enum pt_wide_end end, const char *why)
{
    stream->over = true;
    stream->end = end;
    if (why)
        stream->figures.cut = why;
}

/* The survey is done. */
static void settle(struct pt_wide_stream *stream)
{
    const struct sliced_config *first = &stream->x.monitor.configs[SLICED_FIRST];
    stream->counted = stream->number;
    sliced_survey_end(&stream->x.layout);
    if (stream->problem.ambiguous)
        end_with(stream, PT_WIDE_CUT, "the trace has two names for one variable of the property");
    else if (stream->x.layout.refuses)
        end_with(stream, PT_WIDE_CUT, stream->x.layout.refuses);
    else if (first->state == PT_MSTATE_ERROR || first->state == PT_MSTATE_BAD)
        end_with(stream, PT_WIDE_VIOLATED, NULL); /* without an event */
    else if (!stream->figures.relevant)
        end_with(stream, PT_WIDE_HOLDS, NULL); /* no event does anything to it */
}

/* The present pass is over. */
static void end_pass(struct pt_wide_stream *stream)
{
    if (stream->pass == 1) {
        settle(stream);
        return;
    }
    stream->figures.states += stream->x.made;
    if (stream->number != stream->counted)
        end_with(stream, PT_WIDE_CUT, SLICED_CHANGED);
    else if (stream->x.last == stream->slices)
        end_with(stream, sliced_end(&stream->x), NULL);
    else
        sliced_collect_starts(&stream->x);
}

bool pt_wide_stream_begin(struct pt_wide_stream *stream)
{
    if (!stream->over && stream->pass)
        end_pass(stream);
    if (stream->over)
        return false;
    stream->number = 0;
    if (stream->pass++ == 0)
        return true;
    sliced_rewind(&stream->x.layout);
    sliced_begin_pass(&stream->x, stream->pass - 2);
    stream->figures.levels = stream->pass - 1;
    return true;
}

/* What the event is to the property; true: it is relevant. */
static bool look_up(struct pt_wide_stream *stream, const struct pt_event *event, uint32_t *ret_var, uint32_t *ret_event)
{
    const struct pt_wide_names *names = &stream->names;
    *ret_var = pt_op_writes_var(event->op) && event->object < names->var_count ? names->vars[event->object] : PT_NONE;
    *ret_event =
        event->op == PT_OP_EVENT && event->object < names->event_count ? names->events[event->object] : PT_NONE;
    return *ret_var != PT_NONE || *ret_event != PT_NONE;
}

static void survey(struct pt_wide_stream *stream, const struct pt_event *event, const struct pt_recorded *recorded)
{
    uint32_t var, user_event;
    struct sliced_monitor *monitor = &stream->x.monitor;
    bool relevant = look_up(stream, event, &var, &user_event);
    stream->figures.relevant += relevant;
    if (relevant && !sliced_is_over(monitor, stream->actual)) {
        uint32_t letter = sliced_monitor_letter(monitor, var, user_event, recorded, stream->number);
        stream->actual = sliced_monitor_step(monitor, stream->actual, letter);
    }
    if (var != PT_NONE) {
        uint32_t *object = &stream->problem.object_of_var[var];
        stream->problem.ambiguous |= *object != PT_NONE && *object != event->object;
        *object = event->object;
    }
    sliced_survey(&stream->x.layout, recorded);
}

void pt_wide_stream_event(struct pt_wide_stream *stream, const struct pt_event *event)
{
    if (stream->over || event->thread == PT_NONE)
        return;
    struct pt_recorded recorded = pt_recorded(event);
    stream->number++;
    if (stream->pass == 1) {
        survey(stream, event, &recorded);
        return;
    }
    struct sliced *x = &stream->x;
    struct sliced_event told;
    uint32_t var, user_event;
    bool visible = look_up(stream, event, &var, &user_event);
    x->layout.end_count = x->layout.held_count = 0;
    if (!sliced_tell(&x->layout, &recorded, visible, &told)) {
        if (x->layout.refuses)
            end_with(stream, PT_WIDE_CUT, x->layout.refuses);
        return;
    }
    if (visible)
        told.letter = sliced_monitor_letter(&x->monitor, var, user_event, &recorded, told.place);
    bool whole = sliced_read(x, &told, 0);
    if (!x->found && whole)
        return;
    stream->figures.states += x->made;
    stream->found_at = stream->number;
    end_with(stream, x->found ? PT_WIDE_VIOLATED : PT_WIDE_CUT, NULL);
}

bool pt_wide_stream_is_observed(const struct pt_wide_stream *stream)
{
    return stream->x.monitor.configs[stream->actual].state == PT_MSTATE_BAD;
}

enum pt_wide_end pt_wide_stream_end(const struct pt_wide_stream *stream, struct pt_wide_figures *ret_figures,
                                    uint64_t *ret_found_at)
{
    *ret_figures = stream->figures;
    *ret_found_at = stream->found_at;
    if (stream->over)
        return stream->end;
    ret_figures->cut = "the trace was not read to its end again";
    return PT_WIDE_CUT;
}
