/*
 * What check, run and watch print, and when: violations as soon as they are found where the trace is a stream, the
 * rest at the end, each finding once. The exit status is the worst of all properties (contract section 1). Memory: one
 * entry for each finding that was printed early.
 */
#include "cli/common/output.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/diag.h"
#include "cli/common/interrupt.h"
#include "base/suggest.h"
#include "report/atomicity.h"
#include "report/json.h"
#include "report/words.h"

enum { MAX_NAMES_SEARCHED = 100000, MAX_UNSEEN_LISTED = 5 };

static void show_progress(void *context, const char *property, uint64_t level, uint64_t states)
{
    struct pt_output *output = context;
    pt_progress_show(&output->progress, property, level, states);
}

static const struct pt_pending_report *report_of(const struct pt_output *output, const struct pt_finding *finding)
{
    for (uint32_t i = 0; i < output->reported_count; i++) {
        if (output->reported[i].finding == finding)
            return &output->reported[i];
    }
    return NULL;
}

/* What is said, below the name of the process. A blank line that sets it apart from what is before comes first. */
static void put_named(struct pt_buf *all, const char *in, const char *process, const struct pt_buf *buf)
{
    size_t blank = buf->text[0] == '\n';
    pt_buf_printf(all, "%s%s %s:\n", blank ? "\n" : "", in, process);
    pt_buf_add(all, buf->text + blank, buf->len - blank);
}

/* In one piece, since others may write there, too. */
static void put_on_stderr(const struct pt_output *output, const struct pt_buf *buf)
{
    struct pt_buf all;
    pt_buf_init(&all);
    if (output->options->process)
        put_named(&all, "portent: in", output->options->process, buf);
    else
        pt_buf_add(&all, buf->text, buf->len);
    fwrite(all.text, 1, all.len, stderr);
    pt_buf_release(&all);
}

static bool put_on_stdout(const struct pt_output *output, const struct pt_buf *buf)
{
    struct pt_buf all;
    if (!output->options->process || output->options->json || !buf->len)
        return pt_output(buf);
    pt_buf_init(&all);
    put_named(&all, "In", output->options->process, buf);
    bool ok = pt_output(&all);
    pt_buf_release(&all);
    return ok;
}

static bool put(const struct pt_output *output, const struct pt_buf *buf)
{
    if (!output->options->on_stderr)
        return put_on_stdout(output, buf);
    if (buf->len)
        put_on_stderr(output, buf);
    return true; /* there is nowhere to complain */
}

static void print_now(struct pt_output *output, struct pt_buf *buf)
{
    pt_progress_clear(&output->progress);
    output->failed |= !put(output, buf);
    pt_buf_release(buf);
}

static bool finding_is_suppressed(void *context, const struct pt_finding *finding)
{
    const struct pt_output *output = context;
    return pt_triage_suppresses(output->options->triage, finding);
}

static void print_found(void *context, const struct pt_finding *finding)
{
    struct pt_output *output = context;
    if (output->trace_ended || pt_triage_suppresses(output->options->triage, finding))
        return;
    struct pt_buf buf;
    pt_buf_init(&buf);
    if (output->reported_count)
        pt_buf_puts(&buf, "\n");
    pt_report_text(finding, &output->options->style, &buf);
    print_now(output, &buf);
    struct pt_pending_report reported = {finding, finding->how, finding->levels, finding->states};
    PT_PUSH(output->reported, output->reported_count, output->reported_cap, reported);
}

static void print_observed(void *context, const struct pt_finding *finding, const struct pt_step *step)
{
    struct pt_output *output = context;
    if (pt_triage_may_suppress(output->options->triage, finding))
        return;
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_report_text_observed(finding, step, report_of(output, finding), &buf);
    print_now(output, &buf);
}

/*
 * Ends an exploration that goes on after the trace was read. While it is read, the reading stops instead, and what a
 * bounded exploration is behind by then is little and still done: it may hold the violation just announced.
 */
static bool is_interrupted(void *context)
{
    const struct pt_output *output = context;
    return pt_interrupted() && output->trace_ended && !(output->interrupted && output->bounded);
}

void pt_output_begin(struct pt_output *output, const struct pt_output_options *options, bool progress,
                     struct pt_analysis_options *engine)
{
    *output =
        (struct pt_output){.options = options, .bounded = engine->window != PT_ALL && engine->lookahead != PT_ALL};
    pt_progress_init(&output->progress, progress);
    engine->context = output;
    engine->interrupted = is_interrupted;
    if (options->triage && (options->triage->known_count || options->triage->suppressions.count))
        engine->suppressed = finding_is_suppressed;
    if (output->progress.on)
        engine->progress = show_progress;
    if (options->stream && !options->json && !options->quiet) {
        engine->found = print_found;
        engine->observed = print_observed;
    }
}

/* Names that the trace never mentioned, with the property that has them. The findings keep the names, we the list. */
struct unseen {
    struct unseen_name {
        const char *name;
        uint32_t property;
    } * items;
    uint32_t count;
    size_t cap;
};

static void collect_unseen(struct pt_finding *const *findings, uint32_t count, struct unseen *unseen)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *const *names = findings[i]->unseen;
        for (; names && *names; names++)
            PT_PUSH(unseen->items, unseen->count, unseen->cap, ((struct unseen_name){*names, i}));
    }
}

static bool is_unseen(const struct unseen *unseen, const char *name)
{
    for (uint32_t i = 0; i < unseen->count; i++) {
        if (strcmp(unseen->items[i].name, name) == 0)
            return true;
    }
    return false;
}

/* The name of the trace, or else of the property files, that was probably meant. */
static const char *nearest(const struct unseen *unseen, const struct pt_names *names, const struct pt_properties *props,
                           const char *name)
{
    static const enum pt_space spaces[] = {PT_SPACE_VAR, PT_SPACE_EVENT, PT_SPACE_LOCAL, PT_SPACE_THREAD};
    struct pt_suggest suggest;
    pt_suggest_init(&suggest, name, strlen(name));
    for (size_t s = 0; s < sizeof spaces / sizeof *spaces; s++) {
        const struct pt_strtab *table = &names->space[spaces[s]];
        for (uint32_t id = 0; id < table->count && id < MAX_NAMES_SEARCHED; id++) {
            /* The engine may have interned the properties' own names. */
            if (!is_unseen(unseen, pt_strtab_text(table, id)))
                pt_suggest_offer(&suggest, pt_strtab_text(table, id));
        }
    }
    if (suggest.best)
        return suggest.best;
    const char *declared = pt_properties_nearest(props, name);
    return declared && strcmp(declared, name) != 0 ? declared : NULL;
}

/* One warning about the names of one property, which stand at *at and after; *at moves past them. */
static void warn_unseen(const struct unseen *unseen, uint32_t *at, const struct pt_finding *finding,
                        const struct pt_names *names, const struct pt_properties *props)
{
    uint32_t owner = unseen->items[*at].property, first = *at, listed = 0;
    struct pt_buf list;
    pt_buf_init(&list);
    for (; *at < unseen->count && unseen->items[*at].property == owner; ++*at, ++listed) {
        const char *name = unseen->items[*at].name;
        if (listed == MAX_UNSEEN_LISTED)
            pt_buf_puts(&list, ", ...");
        if (listed >= MAX_UNSEEN_LISTED)
            continue;
        const char *near = nearest(unseen, names, props, name);
        pt_buf_printf(&list, "%s'%s'", listed ? ", " : "", name);
        if (near)
            pt_buf_printf(&list, " (did you mean '%s'?)", near);
    }
    struct pt_err warning;
    (void)pt_err_set(&warning, PT_OK, "property '%s' names %s, which the trace never mentions", finding->property,
                     list.text);
    for (uint32_t i = first; i < *at && !warning.hint[0]; i++)
        pt_diag_hint_arrow(finding->text ? finding->text : "", unseen->items[i].name, &warning);
    pt_diag_warning(&warning);
    pt_buf_release(&list);
}

void pt_output_unseen(struct pt_output *output, struct pt_analysis *analysis, const struct pt_names *names,
                      const struct pt_properties *props)
{
    uint32_t count;
    struct pt_finding **findings = pt_analysis_findings(analysis, &count);
    struct unseen unseen = {0};
    collect_unseen(findings, count, &unseen);
    pt_progress_clear(&output->progress);
    for (uint32_t at = 0; at < unseen.count;)
        warn_unseen(&unseen, &at, findings[unseen.items[at].property], names, props);
    free(unseen.items);
}

/* What there is to say without properties. */
static void put_counts(const struct pt_output *output, const struct pt_result *result, struct pt_buf *buf)
{
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_printf(&text, "The trace%s is well formed: %" PRIu64 " event%s",
                  output->interrupted ? ", as far as it was read,"
                  : result->torn      ? ", up to its tear,"
                                      : "",
                  result->events, pt_words_plural(result->events));
    pt_buf_printf(&text, ", %" PRIu64 " thread%s. No property was given.", result->threads,
                  pt_words_plural(result->threads));
    pt_style_wrap(buf, text.text, 0, 2, output->options->style.width);
    pt_buf_release(&text);
}

static void put_text(const struct pt_output *output, const struct pt_result *result, struct pt_buf *buf)
{
    const struct pt_style *style = &output->options->style;
    if (result->count == 0 && !result->blocks)
        put_counts(output, result, buf);
    /* A blank line sets reports of several lines apart. */
    bool long_before = output->reported_count > 0;
    for (uint32_t i = 0; i < result->count; i++) {
        const struct pt_finding *finding = result->findings[i];
        const struct pt_pending_report *reported = NULL;
        for (uint32_t k = 0; k <= finding->more_count; k++) {
            const struct pt_finding *one = k ? finding->more[k - 1] : finding;
            const struct pt_pending_report *before = report_of(output, one);
            reported = reported ? reported : before;
            if (pt_finding_is_suppressed(one) || before)
                continue;
            bool is_long = one->verdict == PT_VERDICT_VIOLATED;
            if (long_before || (is_long && buf->len > 0))
                pt_buf_puts(buf, "\n");
            pt_report_text(one, style, buf);
            long_before = is_long;
        }
        if (!reported)
            continue;
        if (long_before)
            pt_buf_puts(buf, "\n");
        pt_report_text_later(finding, reported, style, buf);
        long_before = false;
    }
    if (result->blocks) {
        if (buf->len || long_before)
            pt_buf_puts(buf, "\n");
        pt_atomicity_text(result->blocks, style, buf);
        long_before = false;
    }
    struct pt_buf suppressed;
    pt_buf_init(&suppressed);
    pt_triage_text(result, style, &suppressed);
    if (suppressed.len && long_before)
        pt_buf_puts(buf, "\n");
    if (suppressed.len)
        pt_buf_add(buf, suppressed.text, suppressed.len);
    pt_buf_release(&suppressed);
}

/* Whether all that is to be said of a process is that the built-in checks, and nothing else, have found nothing. */
static bool is_clean(const struct pt_output *output, const struct pt_result *result)
{
    for (uint32_t i = 0; i < result->count; i++) {
        const struct pt_finding *finding = result->findings[i];
        bool checked = finding->builtin && !finding->file && strcmp(finding->kind, "schedule") != 0;
        if (!checked || finding->verdict != PT_VERDICT_HOLDS || finding->message ||
            (finding->order && strcmp(finding->order, "sync") == 0))
            return false;
    }
    return result->count && !result->blocks && !output->reported_count;
}

/* A program that starts many others has a line for each. */
static void put_clean(struct pt_output *output, const struct pt_result *result)
{
    struct pt_buf line;
    pt_buf_init(&line);
    pt_buf_printf(&line, "portent: in %s: check%s", output->options->process, pt_words_plural(result->count));
    for (uint32_t i = 0; i < result->count; i++)
        pt_buf_printf(&line, "%s '%s'", !i ? "" : i + 1 < result->count ? "," : " and", result->findings[i]->property);
    pt_buf_puts(&line, ": nothing was found in the observed run.\n");
    pt_progress_clear(&output->progress);
    fwrite(line.text, 1, line.len, stderr);
    pt_buf_release(&line);
}

/* Contract section 1: 2 before 1 before 3 before 0. */
static int exit_status(const struct pt_output *output, const struct pt_result *result)
{
    switch (pt_result_verdict(result)) {
    case PT_VERDICT_ERROR:
        return PT_EXIT_BAD;
    case PT_VERDICT_VIOLATED:
        return PT_EXIT_VIOLATED;
    case PT_VERDICT_UNKNOWN:
        return PT_EXIT_UNKNOWN;
    case PT_VERDICT_HOLDS:
        break;
    }
    return output->interrupted ? PT_EXIT_UNKNOWN : PT_EXIT_HOLDS;
}

int pt_output_end(struct pt_output *output, const struct pt_result *result)
{
    struct pt_buf buf;
    bool brief = output->options->process && output->options->on_stderr && is_clean(output, result);
    pt_buf_init(&buf);
    if (output->options->json)
        pt_report_json(result, &buf);
    else if (!output->options->quiet && brief)
        put_clean(output, result);
    else if (!output->options->quiet)
        put_text(output, result, &buf);
    pt_progress_clear(&output->progress);
    bool ok = !output->failed && put(output, &buf);
    pt_buf_release(&buf);
    pt_output_abandon(output);
    return ok ? exit_status(output, result) : PT_EXIT_BAD;
}

void pt_output_abandon(struct pt_output *output)
{
    pt_progress_clear(&output->progress);
    free(output->reported);
    output->reported = NULL;
}
