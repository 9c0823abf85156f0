/*
 * The result of a command as one line of JSON (contract section 4), member by member. What stands in a finding is
 * written and nothing is computed, so that result_read.c gives back the same findings. Linear in the findings.
 */
#include "report/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "finding/made.h"
#include "report/atomicity.h"
#include "report/change.h"
#include "report/check.h"
#include "report/json_detail.h"
#include "report/json_writer.h"
#include "report/played.h"
#include "report/words.h"

static void put_bound(struct pt_json *json, const char *key, uint64_t bound)
{
    if (bound == PT_ALL)
        pt_json_string(json, key, "all");
    else
        pt_json_uint(json, key, bound);
}

static void put_step(struct pt_json *json, const char *key, const struct pt_step *step)
{
    pt_json_open(json, key, '{');
    pt_json_step(json, step);
    pt_json_close(json, '}');
}

static const char *how_word(enum pt_how how)
{
    switch (how) {
    case PT_HOW_OBSERVED:
        return "observed";
    case PT_HOW_DEAD:
        return "dead";
    case PT_HOW_LATE:
        return "late";
    case PT_HOW_NONE:
    case PT_HOW_PREDICTED:
        break;
    }
    return "predicted";
}

/*
 * A `within` property reads the actual run alone: there is no lattice and no witness to describe. `event` and `time`
 * are promised; "within" holds the rest of what the text report says.
 */
static void put_within(struct pt_json *json, const struct pt_finding *finding)
{
    const struct pt_finding_within *w = &finding->within;
    bool violated = finding->verdict == PT_VERDICT_VIOLATED;
    pt_json_uint(json, "relevant", finding->relevant);
    if (violated) {
        pt_json_uint(json, "event", w->event);
        if (w->timed)
            pt_json_uint(json, "time", w->time);
        else
            pt_json_null(json, "time");
    }
    pt_json_open(json, "within", '{');
    pt_json_uint(json, "bound", w->bound);
    pt_json_string(json, "unit", w->bound_in_events ? "events" : "ns");
    pt_json_uint(json, "letters", w->events);
    pt_json_bool(json, "timed", w->timed);
    if (violated) {
        pt_json_bool(json, "silent", w->silent);
        pt_json_bool(json, "passed", w->passed);
        pt_json_uint(json, "last_pass", w->last_pass);
        pt_json_string(json, "states", w->states ? w->states : "{}");
    }
    if (violated && w->step) {
        pt_json_open(json, "step", '{');
        pt_json_step(json, w->step);
        pt_json_uint(json, "line", w->step->line);
        pt_json_close(json, '}');
    }
    pt_json_close(json, '}');
}

static void put_violation(struct pt_json *json, const struct pt_finding *finding)
{
    if (finding->witness_from > 0) {
        pt_json_open(json, "witness_from", '{');
        pt_json_uint(json, "events", finding->witness_from);
        pt_json_open(json, "values", '{');
        for (uint32_t i = 0; i < finding->from_count; i++)
            pt_json_value(json, finding->from_values[i].name, finding->from_values[i].value);
        pt_json_close(json, '}');
        pt_json_close(json, '}');
    }
    if (finding->witness_lost) {
        pt_json_null(json, "witness");
        pt_json_null(json, "observed");
        return;
    }
    pt_json_steps(json, "witness", finding->witness, finding->witness_count);
    pt_json_steps(json, "observed", finding->observed, finding->witness_count);
    pt_json_schedule(json, finding);
}

/* The violating states of one thread. */
static void put_states(struct pt_json *json, const char *key, const struct pt_local *local)
{
    pt_json_open(json, key, '[');
    for (uint32_t i = 0; local && i < local->state_count; i++)
        pt_json_uint(json, NULL, local->states[i]);
    pt_json_close(json, ']');
}

static void put_known(struct pt_json *json, const struct pt_known *known)
{
    pt_json_open(json, NULL, '{');
    pt_json_string(json, "text", known->text);
    pt_json_string(json, "thread", known->thread);
    if (known->value.kind != PT_VALUE_UNKNOWN)
        pt_json_value(json, "value", known->value);
    pt_json_uint(json, "state", known->state);
    pt_json_bool(json, "heard", known->heard);
    if (known->state > 0)
        put_step(json, "event", &known->from);
    pt_json_close(json, '}');
}

/* A violating state, and what its thread knew of the others. */
static void put_first(struct pt_json *json, const struct pt_finding *finding)
{
    pt_json_string(json, "thread", finding->first.thread);
    pt_json_uint(json, "state", finding->first.state);
    if (finding->first.state > 0)
        put_step(json, "event", &finding->first.event);
    pt_json_open(json, "values", '{');
    for (uint32_t i = 0; i < finding->first.value_count; i++)
        pt_json_value(json, finding->first.values[i].name, finding->first.values[i].value);
    pt_json_close(json, '}');
    pt_json_open(json, "knew", '[');
    for (uint32_t i = 0; i < finding->first.knew_count; i++)
        put_known(json, &finding->first.knew[i]);
    pt_json_close(json, ']');
}

static void put_more(struct pt_json *json, const struct pt_finding *finding)
{
    pt_json_open(json, "more", '[');
    for (uint32_t i = 0; i < finding->more_count; i++) {
        const struct pt_finding *other = finding->more[i];
        pt_json_open(json, NULL, '{');
        pt_json_string(json, "id", pt_finding_id(other).text);
        put_first(json, other);
        if (other->suppressed)
            pt_json_string(json, "suppressed", other->suppressed);
        if (other->known)
            pt_json_bool(json, "known", true);
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
}

/* A decentralised property: where it is false, and what the first thread that broke it knew. */
static void put_local(struct pt_json *json, const struct pt_finding *finding)
{
    pt_json_string(json, "order", finding->order ? finding->order : "access");
    pt_json_uint(json, "states", finding->states);
    if (!finding->at_each) {
        const struct pt_local *local = finding->local_count ? &finding->locals[0] : NULL;
        if (local)
            pt_json_string(json, "thread", local->thread);
        put_states(json, "at", local);
    } else {
        pt_json_open(json, "at", '[');
        for (uint32_t i = 0; i < finding->local_count; i++) {
            pt_json_open(json, NULL, '{');
            pt_json_string(json, "thread", finding->locals[i].thread);
            put_states(json, "states", &finding->locals[i]);
            pt_json_close(json, '}');
        }
        pt_json_close(json, ']');
    }
    if (finding->verdict != PT_VERDICT_VIOLATED)
        return;
    pt_json_open(json, "first", '{');
    put_first(json, finding);
    pt_json_close(json, '}');
    if (finding->more_count)
        put_more(json, finding);
    if (finding->untold)
        pt_json_uint(json, "untold", finding->untold);
}

static void put_message(struct pt_json *json, const struct pt_finding *finding)
{
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_puts(&text, finding->message);
    if (finding->message_place)
        pt_buf_printf(&text, " (%s)", finding->message_place);
    pt_json_string(json, "message", text.text);
    pt_buf_release(&text);
}

/* What kept the events where they were. */
static void put_pinned(struct pt_json *json, const struct pt_pinned *pinned)
{
    pt_json_open(json, "pinned", '{');
    pt_json_uint(json, "reads", pinned->reads);
    pt_json_uint(json, "of_reads", pinned->of_reads);
    pt_json_uint(json, "sections", pinned->sections);
    pt_json_uint(json, "of_sections", pinned->of_sections);
    pt_json_uint(json, "without_value", pinned->unknown);
    if (pinned->most)
        pt_json_string(json, "most", pinned->most);
    pt_json_close(json, '}');
}

static void put_explored(struct pt_json *json, const struct pt_finding *finding)
{
    pt_json_string(json, "order", finding->order ? finding->order : "access");
    pt_json_uint(json, "relevant", finding->relevant);
    pt_json_uint(json, "levels", finding->levels);
    pt_json_uint(json, "states", finding->states);
    pt_json_uint(json, "width", finding->width);
    char runs[32];
    snprintf(runs, sizeof runs, "%s%" PRIu64, finding->runs_overflow ? ">" : "",
             finding->runs_overflow ? UINT64_MAX : finding->runs);
    pt_json_string(json, "runs", runs);
    if (finding->wider)
        pt_json_string(json, "wider", finding->wider);
    if (finding->pinned.counted)
        put_pinned(json, &finding->pinned);
    if (finding->widen)
        pt_json_string(json, "widen", finding->widen);
}

static void put_finding(struct pt_json *json, const struct pt_finding *finding)
{
    bool violated = finding->verdict == PT_VERDICT_VIOLATED;
    pt_json_open(json, NULL, '{');
    pt_json_string(json, "name", finding->property);
    pt_json_string(json, "kind", finding->kind);
    pt_json_string(json, "verdict", pt_words_verdict(finding->verdict));
    if (finding->message)
        put_message(json, finding);
    if (violated && !finding->builtin)
        pt_json_string(json, "how", how_word(finding->how));
    pt_json_bool(json, "monitorable", finding->monitorable);
    bool within = strcmp(finding->kind, "within") == 0, local = strcmp(finding->kind, "mttl") == 0;
    bool explored = !within && !local && !finding->builtin;
    if (finding->builtin)
        pt_check_json(json, finding);
    else if (within)
        put_within(json, finding);
    else if (local)
        put_local(json, finding);
    else
        put_explored(json, finding);
    if (finding->unseen && finding->unseen[0]) {
        pt_json_open(json, "unseen", '[');
        for (const char *const *name = finding->unseen; *name; name++)
            pt_json_string(json, NULL, *name);
        pt_json_close(json, ']');
    }
    if (explored) {
        put_bound(json, "window", finding->window);
        put_bound(json, "lookahead", finding->lookahead);
    }
    pt_json_bool(json, "complete", finding->complete);
    if (finding->controlled)
        pt_json_uint(json, "controlled_runs", finding->controlled);
    if (violated && explored)
        put_violation(json, finding);
    pt_json_detail(json, finding);
    pt_json_seconds(json, "seconds", finding->seconds);
    pt_json_uint(json, "peak_bytes", finding->peak_bytes);
    pt_json_close(json, '}');
}

void pt_report_json_suppressions(const struct pt_result *result, struct pt_json *json)
{
    if (!result->suppression_count)
        return;
    pt_json_open(json, "suppressions", '[');
    for (uint32_t i = 0; i < result->suppression_count; i++) {
        const struct pt_suppression *suppression = &result->suppressions[i];
        pt_json_open(json, NULL, '{');
        pt_json_string(json, "text", suppression->text);
        pt_json_string(json, "file", suppression->file);
        pt_json_uint(json, "line", suppression->line);
        pt_json_uint(json, "used", suppression->used);
        pt_json_close(json, '}');
    }
    pt_json_close(json, ']');
}

static void put_words(struct pt_json *json, const char *key, const char *const *words)
{
    if (!words)
        return;
    pt_json_open(json, key, '[');
    for (; *words; words++)
        pt_json_string(json, NULL, *words);
    pt_json_close(json, ']');
}

void pt_report_json_made(const struct pt_made *made, struct pt_json *json)
{
    if (!made)
        return;
    pt_json_open(json, "made", '{');
    pt_json_string(json, "time", made->time);
    pt_json_string(json, "version", made->version);
    pt_json_string(json, "command", made->command);
    pt_json_string(json, "host", made->host);
    if (made->commit)
        pt_json_string(json, "commit", made->commit);
    pt_json_close(json, '}');
}

void pt_report_json(const struct pt_result *result, struct pt_buf *buf)
{
    struct pt_json json = {.buf = buf};
    pt_json_open(&json, NULL, '{');
    pt_json_uint(&json, "portent", 1);
    pt_report_json_made(result->made, &json);
    pt_json_string(&json, "trace", result->trace);
    put_words(&json, "program", result->program);
    if (result->pid)
        pt_json_uint(&json, "pid", result->pid);
    if (result->ended)
        pt_json_uint(&json, "program_status", (uint64_t)result->program_status);
    put_words(&json, "source_roots", result->source_roots);
    pt_json_uint(&json, "events", result->events);
    pt_json_uint(&json, "threads", result->threads);
    if (result->torn)
        pt_json_string(&json, "torn", result->torn_message);
    if (result->explored)
        pt_explored_json(&json, result->explored);
    if (result->change)
        pt_change_json(result->change, &json);
    pt_json_open(&json, "properties", '[');
    for (uint32_t i = 0; i < result->count; i++)
        put_finding(&json, result->findings[i]);
    pt_json_close(&json, ']');
    if (result->blocks)
        pt_atomicity_json(&json, result->blocks);
    pt_report_json_suppressions(result, &json);
    pt_json_close(&json, '}');
    pt_buf_puts(buf, "\n");
}
