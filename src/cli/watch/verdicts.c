/*
 * What `watch` prints while the stream lasts. After each event the verdict of every property is compared with the one
 * that was shown last, and a change is printed behind the log's line of the same event. Lines are collected and
 * written when nothing more comes at once, or FLUSH_BYTES are waiting. Per event the cost is one look at each
 * property.
 */
#include "cli/watch/verdicts.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/common/diag.h"
#include "logic/monitor/monitor.h"
#include "report/change.h"
#include "report/json.h"
#include "report/within.h"

enum { FLUSH_BYTES = 1 << 16 };

void pt_verdicts_begin(struct pt_verdicts *verdicts, struct pt_output *output, struct pt_analysis_options *engine)
{
    verdicts->output = output;
    verdicts->options = output->options;
    verdicts->found = engine->found;
    /* What the engine finds is reported in pt_verdicts_after, behind the log's line of the same event. */
    engine->found = NULL;
    engine->observed = NULL;
    pt_buf_init(&verdicts->lines);
}

void pt_verdicts_attach(struct pt_verdicts *verdicts, struct pt_analysis *analysis)
{
    verdicts->analysis = analysis;
    verdicts->findings = pt_analysis_findings(analysis, &verdicts->count);
    verdicts->shown = pt_xcalloc((size_t)verdicts->count + 1, sizeof *verdicts->shown);
}

void pt_verdicts_release(struct pt_verdicts *verdicts)
{
    free(verdicts->shown);
    pt_buf_release(&verdicts->lines);
}

enum pt_verdict pt_verdicts_now(const struct pt_verdicts *verdicts, uint32_t index)
{
    const struct pt_within *within = pt_analysis_within(verdicts->analysis, index);
    enum pt_verdict verdict = verdicts->findings[index]->verdict;
    if (verdict == PT_VERDICT_HOLDS && within && pt_within_verdict(within) == PT_WITHIN_UNKNOWN)
        return PT_VERDICT_UNKNOWN;
    return verdict;
}

void pt_verdicts_flush(struct pt_verdicts *verdicts)
{
    if (verdicts->lines.len)
        verdicts->output->failed |= !pt_output(&verdicts->lines);
    verdicts->lines.len = 0;
}

static void log_event(struct pt_verdicts *verdicts, const struct pt_event *event)
{
    for (uint32_t i = 0; i < verdicts->count; i++) {
        const struct pt_within *within = pt_analysis_within(verdicts->analysis, i);
        uint32_t count;
        bool final;
        if (!within || (verdicts->shown[i] != PT_VERDICT_HOLDS && verdicts->shown[i] != PT_VERDICT_UNKNOWN))
            continue;
        const uint32_t *states = pt_within_states(within, &count, &final);
        if (verdicts->options->process)
            pt_buf_printf(&verdicts->lines, "%s: ", verdicts->options->process);
        if (verdicts->count > 1)
            pt_buf_printf(&verdicts->lines, "%s: ", verdicts->findings[i]->property);
        pt_within_log(verdicts->names, event, verdicts->before ? verdicts->before : event->time, states, count, final,
                      &verdicts->lines);
        pt_buf_puts(&verdicts->lines, "\n");
    }
    if (verdicts->lines.len > FLUSH_BYTES)
        pt_verdicts_flush(verdicts);
}

/* --json: the whole result as it is now, and why it is printed. */
static void put_json(struct pt_verdicts *verdicts, const struct pt_change *change)
{
    const char *program[] = {verdicts->program, NULL};
    struct pt_result result = {.trace = verdicts->trace,
                               .program = verdicts->program ? program : NULL,
                               .pid = verdicts->pid,
                               .count = verdicts->count,
                               .change = change};
    struct pt_finding *now = pt_xcalloc((size_t)verdicts->count + 1, sizeof *now),
                      **list = pt_xcalloc((size_t)verdicts->count + 1, sizeof *list);
    pt_analysis_counts(verdicts->analysis, &result.events, &result.threads);
    for (uint32_t i = 0; i < verdicts->count; i++) {
        now[i] = *verdicts->findings[i];
        list[i] = &now[i];
        now[i].verdict = pt_verdicts_now(verdicts, i);
        if (now[i].verdict == PT_VERDICT_UNKNOWN && !now[i].message)
            now[i].message = "events were lost";
        if (now[i].verdict == PT_VERDICT_HOLDS || now[i].verdict == PT_VERDICT_UNKNOWN)
            now[i].within.events = result.events + verdicts->lost;
    }
    result.findings = list;
    pt_report_json(&result, &verdicts->lines);
    pt_verdicts_flush(verdicts);
    free(now);
    free(list);
}

static void put_text(struct pt_verdicts *verdicts, const struct pt_finding *finding, const struct pt_change *change)
{
    if (change->to == PT_VERDICT_VIOLATED) {
        pt_verdicts_flush(verdicts);
        if (verdicts->found)
            verdicts->found(verdicts->output, finding);
        return;
    }
    if (verdicts->options->process)
        pt_buf_printf(&verdicts->lines, "In %s:\n", verdicts->options->process);
    if (change->to == PT_VERDICT_ERROR)
        pt_report_text(finding, &verdicts->options->style, &verdicts->lines);
    else
        pt_change_text(change, &verdicts->options->style, &verdicts->lines);
    pt_verdicts_flush(verdicts);
}

static struct pt_step step_of(const struct pt_names *names, const struct pt_event *event)
{
    return (struct pt_step){.thread = pt_name(names, PT_SPACE_THREAD, event->thread),
                            .op = pt_op_word(event->op),
                            .object = pt_name(names, pt_op_space(event->op), event->object),
                            .loc = pt_name(names, PT_SPACE_LOC, event->loc),
                            .value = event->value};
}

static void report_change(struct pt_verdicts *verdicts, uint32_t i, enum pt_verdict to, const struct pt_event *event)
{
    const struct pt_finding *finding = verdicts->findings[i];
    const struct pt_within *within = pt_analysis_within(verdicts->analysis, i);
    struct pt_change change = {.property = finding->property, .from = verdicts->shown[i], .to = to};
    struct pt_step step;
    uint64_t threads;
    bool final;
    pt_analysis_counts(verdicts->analysis, &change.event, &threads);
    change.event += verdicts->lost;
    change.timed = event->has_time;
    change.time = event->time;
    if (event->op == PT_OP_LOST) {
        change.lost = (uint64_t)event->value.i;
        change.event -= change.lost;
    } else if (event->thread != PT_NONE) {
        step = step_of(verdicts->names, event);
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
    verdicts->shown[i] = to;
    if (verdicts->changed)
        verdicts->changed(verdicts->context, i, &change);
    if (verdicts->silent || verdicts->options->quiet)
        return;
    if (verdicts->options->json)
        put_json(verdicts, &change);
    else
        put_text(verdicts, finding, &change);
}

void pt_verdicts_after(struct pt_verdicts *verdicts, const struct pt_event *event)
{
    if (event->op == PT_OP_LOST)
        verdicts->lost += (uint64_t)event->value.i;
    if (verdicts->log && event->thread != PT_NONE)
        log_event(verdicts, event);
    for (uint32_t i = 0; i < verdicts->count; i++) {
        enum pt_verdict now = pt_verdicts_now(verdicts, i);
        if (now != verdicts->shown[i])
            report_change(verdicts, i, now, event);
    }
    if (event->thread != PT_NONE)
        verdicts->before = event->time;
}

bool pt_verdicts_is_settled(const struct pt_verdicts *verdicts)
{
    for (uint32_t i = 0; i < verdicts->count; i++) {
        enum pt_verdict verdict = verdicts->findings[i]->verdict; /* a `within` that is unknown may be known again */
        if (verdict == PT_VERDICT_HOLDS)
            return false;
    }
    return verdicts->count > 0;
}

/* A variable of the property that the stream never mentioned; NULL: none. `unseen` has its events too. */
static const char *unseen_variable(const struct pt_finding *finding, const struct pt_analysis_input *input)
{
    uint32_t count;
    const struct pt_varref *vars = input->monitor ? pt_monitor_vars(input->monitor, &count) : NULL;
    for (const char *const *name = finding->unseen; vars && name && *name; name++) {
        for (uint32_t v = 0; v < count; v++) {
            if (strcmp(vars[v].name, *name) == 0)
                return *name;
        }
    }
    return NULL;
}

void pt_verdicts_doubt_unseen(struct pt_verdicts *verdicts, const struct pt_analysis_input *inputs)
{
    for (uint32_t i = 0; i < verdicts->count; i++) {
        struct pt_finding *finding = verdicts->findings[i];
        const char *name = finding->verdict == PT_VERDICT_HOLDS ? unseen_variable(finding, &inputs[i]) : NULL;
        if (!name)
            continue;
        struct pt_buf text;
        pt_buf_init(&text);
        pt_buf_printf(&text, "the stream never mentioned '%s', so its values are not known", name);
        finding->verdict = PT_VERDICT_UNKNOWN;
        finding->message = pt_arena_strndup(&finding->arena, text.text, text.len);
        finding->complete = false;
        pt_buf_release(&text);
    }
}

int pt_verdicts_end(struct pt_verdicts *verdicts, struct pt_result *result)
{
    const char *program[] = {verdicts->program, NULL};
    result->program = verdicts->program ? program : NULL;
    result->pid = verdicts->pid;
    pt_verdicts_flush(verdicts);
    result->findings = verdicts->findings;
    result->count = verdicts->count;
    pt_analysis_counts(verdicts->analysis, &result->events, &result->threads);
    return pt_output_end(verdicts->output, result);
}
