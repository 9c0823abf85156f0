#include "cli/watch/verdicts.h"

#include <stdlib.h>

#include "base/mem.h"
#include "cli/common/diag.h"
#include "report/change.h"
#include "report/json.h"
#include "report/within.h"

enum { FLUSH_BYTES = 1 << 16 };

void pt_report_begin(struct pt_tell *tell, struct pt_output *output, struct pt_analysis_options *engine)
{
    tell->output = output;
    tell->options = output->options;
    tell->found = engine->found;
    /* What the engine finds is told in pt_report_after, behind the log's line of the same event. */
    engine->found = NULL;
    engine->observed = NULL;
    pt_buf_init(&tell->lines);
}

void pt_report_attach(struct pt_tell *tell, struct pt_analysis *analysis)
{
    tell->analysis = analysis;
    tell->findings = pt_analysis_findings(analysis, &tell->count);
    tell->shown = pt_xcalloc((size_t)tell->count + 1, sizeof *tell->shown);
}

void pt_report_release(struct pt_tell *tell)
{
    free(tell->shown);
    pt_buf_release(&tell->lines);
}

enum pt_verdict pt_report_verdict(const struct pt_tell *tell, uint32_t index)
{
    const struct pt_within *within = pt_analysis_within(tell->analysis, index);
    enum pt_verdict verdict = tell->findings[index]->verdict;
    if (verdict == PT_VERDICT_HOLDS && within && pt_within_verdict(within) == PT_WITHIN_UNKNOWN)
        return PT_VERDICT_UNKNOWN;
    return verdict;
}

void pt_report_flush(struct pt_tell *tell)
{
    if (tell->lines.len)
        tell->output->failed |= !pt_output(&tell->lines);
    tell->lines.len = 0;
}

static void log_event(struct pt_tell *tell, const struct pt_event *event)
{
    for (uint32_t i = 0; i < tell->count; i++) {
        const struct pt_within *within = pt_analysis_within(tell->analysis, i);
        uint32_t count;
        bool final;
        if (!within || (tell->shown[i] != PT_VERDICT_HOLDS && tell->shown[i] != PT_VERDICT_UNKNOWN))
            continue;
        const uint32_t *states = pt_within_states(within, &count, &final);
        if (tell->count > 1)
            pt_buf_printf(&tell->lines, "%s: ", tell->findings[i]->property);
        pt_within_log(tell->names, event, tell->before ? tell->before : event->time, states, count, final,
                      &tell->lines);
        pt_buf_puts(&tell->lines, "\n");
    }
    if (tell->lines.len > FLUSH_BYTES)
        pt_report_flush(tell);
}

/* --json: the whole result as it is now, and why it is told. */
static void put_json(struct pt_tell *tell, const struct pt_change *change)
{
    struct pt_result result = {.trace = tell->trace, .count = tell->count, .change = change};
    struct pt_finding *now = pt_xcalloc((size_t)tell->count + 1, sizeof *now),
                      **list = pt_xcalloc((size_t)tell->count + 1, sizeof *list);
    pt_analysis_counts(tell->analysis, &result.events, &result.threads);
    for (uint32_t i = 0; i < tell->count; i++) {
        now[i] = *tell->findings[i];
        list[i] = &now[i];
        now[i].verdict = pt_report_verdict(tell, i);
        if (now[i].verdict == PT_VERDICT_UNKNOWN && !now[i].message)
            now[i].message = "events were lost";
        if (now[i].verdict == PT_VERDICT_HOLDS || now[i].verdict == PT_VERDICT_UNKNOWN)
            now[i].within.events = result.events + tell->lost;
    }
    result.findings = list;
    pt_report_json(&result, &tell->lines);
    pt_report_flush(tell);
    free(now);
    free(list);
}

static void put_text(struct pt_tell *tell, const struct pt_finding *finding, const struct pt_change *change)
{
    if (change->to == PT_VERDICT_VIOLATED) {
        pt_report_flush(tell);
        if (tell->found)
            tell->found(tell->output, finding);
        return;
    }
    if (change->to == PT_VERDICT_ERROR)
        pt_report_text(finding, &tell->options->style, &tell->lines);
    else
        pt_change_text(change, &tell->options->style, &tell->lines);
    pt_report_flush(tell);
}

static struct pt_step step_of(const struct pt_names *names, const struct pt_event *event)
{
    return (struct pt_step){.thread = pt_name(names, PT_SPACE_THREAD, event->thread),
                            .op = pt_op_word(event->op),
                            .object = pt_name(names, pt_op_space(event->op), event->object),
                            .loc = pt_name(names, PT_SPACE_LOC, event->loc),
                            .value = event->value};
}

static void tell_change(struct pt_tell *tell, uint32_t i, enum pt_verdict to, const struct pt_event *event)
{
    const struct pt_finding *finding = tell->findings[i];
    const struct pt_within *within = pt_analysis_within(tell->analysis, i);
    struct pt_change change = {.property = finding->property, .from = tell->shown[i], .to = to};
    struct pt_step step;
    uint64_t threads;
    bool final;
    pt_analysis_counts(tell->analysis, &change.event, &threads);
    change.event += tell->lost;
    change.timed = event->has_time;
    change.time = event->time;
    if (event->op == PT_OP_LOST) {
        change.lost = (uint64_t)event->value.i;
        change.event -= change.lost;
    } else if (event->thread != PT_NONE) {
        step = step_of(tell->names, event);
        change.step = &step;
    }
    if (within && to == PT_VERDICT_VIOLATED) { /* of a silent verdict: when the window ended, not when we heard of it */
        change.event = finding->within.event;
        change.timed = finding->within.timed;
        change.time = finding->within.time;
        change.step = finding->within.step;
    }
    if (within)
        change.states = pt_within_states(within, &change.state_count, &final);
    tell->shown[i] = to;
    if (tell->changed)
        tell->changed(tell->context, i, &change);
    if (tell->silent || tell->options->quiet)
        return;
    if (tell->options->json)
        put_json(tell, &change);
    else
        put_text(tell, finding, &change);
}

void pt_report_after(struct pt_tell *tell, const struct pt_event *event)
{
    if (event->op == PT_OP_LOST)
        tell->lost += (uint64_t)event->value.i;
    if (tell->log && event->thread != PT_NONE)
        log_event(tell, event);
    for (uint32_t i = 0; i < tell->count; i++) {
        enum pt_verdict now = pt_report_verdict(tell, i);
        if (now != tell->shown[i])
            tell_change(tell, i, now, event);
    }
    if (event->thread != PT_NONE)
        tell->before = event->time;
}

bool pt_report_is_settled(const struct pt_tell *tell)
{
    for (uint32_t i = 0; i < tell->count; i++) {
        enum pt_verdict verdict = tell->findings[i]->verdict; /* a `within` that is unknown may be known again */
        if (verdict == PT_VERDICT_HOLDS)
            return false;
    }
    return tell->count > 0;
}

int pt_report_end(struct pt_tell *tell, struct pt_result *result)
{
    pt_report_flush(tell);
    result->findings = tell->findings;
    result->count = tell->count;
    pt_analysis_counts(tell->analysis, &result->events, &result->threads);
    return pt_output_end(tell->output, result);
}
