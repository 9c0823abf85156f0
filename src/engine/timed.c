/*
 * A `within` property between the events of a trace and its finding: letters and times go to within.h, and when the
 * verdict falls, the place where it did is written down. Guarantee: the finding is within.h's verdict, of the first
 * event that settles it. Cost: that of within.h per event; memory is looked at every thousand events or so.
 */
#include "engine/timed.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "engine/memory.h"
#include "engine/step_place.h"
#include "trace/writer.h"

enum { MAX_STATES_NAMED = 32, MEMORY_CHECK_EVERY = 1024 /* events; a power of two */ };

struct pt_timed {
    struct pt_within *within;
    struct pt_monitor *monitor;
    const struct pt_names *names;
    const struct pt_analysis_options *options;
    struct pt_finding *finding;
    struct pt_event last; /* the latest event line */
    uint64_t events;
    uint64_t began;     /* options->now */
    uint64_t announced; /* bytes in what all properties use */
    bool over;          /* the finding is final */
};

static const char *keep(struct pt_finding *finding, const char *text)
{
    return pt_arena_strndup(&finding->arena, text, strlen(text));
}

struct pt_timed *pt_timed_new(struct pt_monitor *monitor, const struct pt_names *names,
                              const struct pt_analysis_options *options, struct pt_finding *finding)
{
    struct pt_timed *t = pt_xcalloc(1, sizeof *t);
    const struct pt_property *property = pt_monitor_property(monitor);
    t->within = pt_within_new(monitor);
    t->monitor = monitor;
    t->names = names;
    t->options = options;
    t->finding = finding;
    t->began = options->now ? options->now() : 0;
    finding->complete = true;
    finding->within.bound = property->within_bound;
    finding->within.bound_in_events = property->within_events;
    return t;
}

void pt_timed_free(struct pt_timed *t)
{
    if (!t)
        return;
    pt_within_free(t->within);
    free(t);
}

void pt_timed_initial(struct pt_timed *t, uint32_t var, struct pt_value value)
{
    pt_within_initial(t->within, var, value);
}

struct pt_within *pt_timed_within(struct pt_timed *t)
{
    return t->within;
}

/* The latest event line as a step of the finding, which outlives the names. */
static struct pt_step *last_step(const struct pt_timed *t)
{
    struct pt_finding *f = t->finding;
    const struct pt_event *event = &t->last;
    if (t->events == 0)
        return NULL;
    struct pt_step *step = pt_arena_alloc(&f->arena, sizeof *step);
    step->thread = keep(f, pt_name(t->names, PT_SPACE_THREAD, event->thread));
    step->op = pt_op_word(event->op);
    step->object = keep(f, pt_name(t->names, pt_op_space(event->op), event->object));
    step->loc = keep(f, pt_name(t->names, PT_SPACE_LOC, event->loc));
    step->value = event->value;
    if (step->value.kind == PT_VALUE_STRING)
        step->value.s = pt_arena_strndup(&f->arena, event->value.s, event->value.len);
    step->number = t->events;
    step->line = event->line;
    return step;
}

/* "{1, 2, 4}" */
static const char *states_text(struct pt_finding *finding, const uint32_t *states, uint32_t count)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_puts(&buf, "{");
    for (uint32_t i = 0; i < count && i < MAX_STATES_NAMED; i++)
        pt_buf_printf(&buf, "%s%" PRIu32, i ? ", " : "", states[i]);
    pt_buf_puts(&buf, count > MAX_STATES_NAMED ? ", ...}" : "}");
    const char *text = keep(finding, buf.text);
    pt_buf_release(&buf);
    return text;
}

static void put_error(struct pt_timed *t)
{
    struct pt_finding *f = t->finding;
    const struct pt_step *step = last_step(t);
    struct pt_err err;
    pt_within_error(t->within, &err);
    f->verdict = PT_VERDICT_ERROR;
    f->message = keep(f, err.message);
    f->message_place = pt_step_place(f, step);
}

static void put_figures(struct pt_timed *t)
{
    t->finding->peak_bytes = pt_within_bytes(t->within);
    t->finding->within.events = t->events;
    if (t->options->now)
        t->finding->seconds = (double)(t->options->now() - t->began) / 1e9;
}

static void put_violation(struct pt_timed *t, enum pt_within_verdict verdict)
{
    struct pt_finding *f = t->finding;
    struct pt_within_place place = pt_within_place(t->within);
    uint32_t count;
    bool final;
    const uint32_t *states =
        place.silent ? pt_within_states(t->within, &count, &final) : pt_within_states_before(t->within, &count);
    f->verdict = PT_VERDICT_VIOLATED;
    f->how = verdict == PT_WITHIN_DEAD ? PT_HOW_DEAD : PT_HOW_LATE;
    f->within.event = place.event;
    f->within.time = place.time;
    f->within.timed = place.timed;
    f->within.silent = place.silent;
    f->within.passed = place.passed;
    f->within.last_pass = place.last_pass;
    f->within.states = states_text(f, states, count);
    f->within.step = last_step(t);
}

static void judge(struct pt_timed *t, enum pt_within_verdict verdict)
{
    if (verdict < PT_WITHIN_DEAD)
        return;
    t->over = true;
    if (verdict == PT_WITHIN_ERROR)
        put_error(t);
    else
        put_violation(t, verdict);
    put_figures(t);
    if (verdict != PT_WITHIN_ERROR && t->options->found)
        t->options->found(t->options->context, t->finding);
}

static void give_up(struct pt_timed *t, const char *why)
{
    t->over = true;
    t->finding->complete = false;
    t->finding->verdict = PT_VERDICT_UNKNOWN;
    t->finding->message = keep(t->finding, why);
    put_figures(t);
}

static bool is_over_memory(struct pt_timed *t)
{
    uint64_t bytes = pt_within_bytes(t->within);
    return bytes > pt_memory_share(t->options, &t->announced, bytes);
}

void pt_timed_event(struct pt_timed *t, const struct pt_event *event, uint32_t var, uint32_t user_event)
{
    if (t->over)
        return;
    if (event->has_time) {
        /* The silence before an event is judged first: then the event before it is the last one. */
        t->finding->within.timed = true;
        judge(t, pt_within_advance(t->within, event->time));
    }
    if (t->over || event->thread == PT_NONE || pt_event_is_tie(event))
        return;
    t->last = *event;
    t->events++;
    t->finding->relevant += var != PT_NONE || user_event != PT_NONE;
    struct pt_within_event e = {var, user_event, event->value, false, 0};
    judge(t, pt_within_event(t->within, &e));
    if (!t->over && t->options->memory_limit && t->events % MEMORY_CHECK_EVERY == 1 && is_over_memory(t))
        give_up(t, "the memory limit was reached by the automaton's steps");
}

void pt_timed_gap(struct pt_timed *t, uint64_t lost)
{
    if (t->over || lost == 0)
        return;
    t->finding->complete = false;
    t->events += lost;
    pt_within_gap(t->within, lost);
}

void pt_timed_finish(struct pt_timed *t, const char *lost)
{
    if (!t->over)
        judge(t, pt_within_end(t->within));
    if (t->over)
        return;
    if (lost || pt_within_verdict(t->within) == PT_WITHIN_UNKNOWN || !t->finding->complete)
        give_up(t, lost ? lost : "events were lost");
    else
        put_figures(t);
    t->over = true;
}
