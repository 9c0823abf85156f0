/*
 * One finding as text. Everything printed is in the finding; sentences are wrapped to the style's width, and names and
 * values from traces are made harmless on the way (style.h).
 */
#include "report/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/runs.h"
#include "trace/writer.h"

enum {
    MAX_REASONS = 5,
    MAX_TRUTHS = 40,
    MAX_TRUTH_INDENT = 10,
    MAX_VALUES = 12,
};

/* Formats, makes harmless and wraps one paragraph. */
static void __attribute__((format(printf, 5, 6)))
paragraph(struct pt_buf *buf, const struct pt_style *style, unsigned first, unsigned rest, const char *fmt, ...)
{
    char *raw;
    va_list ap;
    va_start(ap, fmt);
    int len = vasprintf(&raw, fmt, ap);
    va_end(ap);
    if (len < 0)
        abort(); /* vasprintf fails on lack of memory only */
    struct pt_buf clean;
    pt_buf_init(&clean);
    pt_style_clean(&clean, raw, (size_t)len);
    pt_style_wrap(buf, clean.text ? clean.text : "", first, rest, style->width);
    pt_buf_release(&clean);
    free(raw);
}

static void put_bold(struct pt_buf *buf, const struct pt_style *style, enum pt_color color)
{
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_BOLD));
    pt_buf_puts(buf, pt_style_color(style, color));
}

static void put_reset(struct pt_buf *buf, const struct pt_style *style)
{
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RESET));
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

/* "w(w)=27 by T2 (water.c:20)" */
static char *step_words(const struct pt_step *step)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_printf(&buf, "%s(%s)", step->op, step->object);
    if (step->value.kind != PT_VALUE_UNKNOWN) {
        pt_buf_puts(&buf, "=");
        pt_value_to_text(step->value, &buf);
    }
    pt_buf_printf(&buf, " by %s", step->thread);
    if (step->loc[0] && strcmp(step->loc, "-") != 0)
        pt_buf_printf(&buf, " (%s)", step->loc);
    return pt_buf_take(&buf);
}

/* "w = 20, v = 40" */
static char *binding_words(const struct pt_binding *bindings, uint32_t count)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    for (uint32_t i = 0; i < count && i < MAX_VALUES; i++) {
        pt_buf_printf(&buf, "%s%s = ", i ? ", " : "", bindings[i].name);
        if (bindings[i].value.kind == PT_VALUE_UNKNOWN)
            pt_buf_puts(&buf, "?");
        else
            pt_value_to_text(bindings[i].value, &buf);
    }
    if (count > MAX_VALUES)
        pt_buf_printf(&buf, ", and %" PRIu32 " more", count - MAX_VALUES);
    return pt_buf_take(&buf);
}

static char *bound_words(uint64_t bound)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    if (bound == PT_ALL)
        pt_buf_puts(&buf, "all");
    else
        pt_buf_printf(&buf, "%" PRIu64, bound);
    return pt_buf_take(&buf);
}

/* "7 levels, 11 states, 6 runs over 6 relevant events (window all, lookahead all)" */
static char *explored_words(const struct pt_finding *finding)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_printf(&buf, "%" PRIu64 " level%s, %" PRIu64 " state%s, ", finding->levels, plural(finding->levels),
                  finding->states, plural(finding->states));
    if (finding->runs_overflow)
        pt_buf_printf(&buf, "more than %" PRIu64 " runs", UINT64_MAX);
    else
        pt_buf_printf(&buf, "%" PRIu64 " run%s", finding->runs, plural(finding->runs));
    char *window = bound_words(finding->window), *lookahead = bound_words(finding->lookahead);
    pt_buf_printf(&buf, " over %" PRIu64 " relevant event%s (window %s, lookahead %s)", finding->relevant,
                  plural(finding->relevant), window, lookahead);
    free(window);
    free(lookahead);
    return pt_buf_take(&buf);
}

static void put_sentence(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    put_bold(buf, style, PT_COLOR_RED);
    if (finding->how != PT_HOW_OBSERVED)
        paragraph(buf, style, 0, 0,
                  "Property '%s' can be violated (predicted). Your run passed, but the same events may also happen "
                  "in an order that breaks it.",
                  finding->property);
    else if (finding->witness_lost)
        paragraph(buf, style, 0, 0, "Property '%s' is violated (observed): your run itself breaks it.",
                  finding->property);
    else if (finding->witness_count == 0 && finding->witness_from == 0)
        paragraph(buf, style, 0, 0, "Property '%s' is violated (observed): the initial state already breaks it.",
                  finding->property);
    else if (pt_runs_same(finding))
        paragraph(buf, style, 0, 0, "Property '%s' is violated (observed): your run itself breaks it.",
                  finding->property);
    else
        paragraph(buf, style, 0, 0,
                  "Property '%s' is violated (observed): your run itself breaks it, and another order of its events "
                  "does so sooner.",
                  finding->property);
    put_reset(buf, style);
    if (finding->text && finding->text[0]) {
        pt_buf_puts(buf, "\n");
        paragraph(buf, style, 2, 4, "%s:%" PRIu32 ": %s: %s", finding->file ? finding->file : "formula", finding->line,
                  finding->property, finding->text);
    }
}

static void put_runs(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    if (finding->witness_lost) {
        pt_buf_puts(buf, "\n");
        paragraph(buf, style, 2, 4, "No run is shown: %s.", finding->message);
        return;
    }
    if (finding->witness_from > 0) {
        pt_buf_puts(buf, "\n");
        char *values = binding_words(finding->from_values, finding->from_count);
        paragraph(buf, style, 2, 4, "After the first %" PRIu64 " relevant event%s of your run: %s",
                  finding->witness_from, plural(finding->witness_from), values);
        free(values);
    } else if (finding->value_count > 0) {
        pt_buf_puts(buf, "\n");
        char *values = binding_words(finding->initial, finding->value_count);
        paragraph(buf, style, 2, 4, "Initially: %s", values);
        free(values);
    }
    if (finding->witness_count == 0)
        return;
    pt_buf_puts(buf, "\n");
    pt_runs_write(finding, style, buf);
    bool left_out = finding->actual_count > finding->witness_count;
    pt_buf_puts(buf, "\n");
    paragraph(buf, style, 2, 4, "%s%s! breaks the property", finding->move_count ? "> earlier than in your run   " : "",
              left_out ? "- not needed for it   " : "");
}

static void put_truths(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    static const char *const words[] = {[PT_TRUTH_FALSE] = "false", [PT_TRUTH_TRUE] = "true", [PT_TRUTH_OPEN] = "open"};
    if (finding->truth_count == 0 && finding->value_count == 0)
        return;
    char *values = binding_words(finding->final, finding->value_count);
    pt_buf_puts(buf, "\n");
    paragraph(buf, style, 2, 4, "In the violating state%s%s%s", values[0] ? ", " : "", values,
              finding->truth_count ? ":" : "");
    free(values);
    bool open = false;
    for (uint32_t i = 0; i < finding->truth_count && i < MAX_TRUTHS; i++) {
        const struct pt_truth *truth = &finding->truths[i];
        unsigned indent = 2 * (truth->depth < MAX_TRUTH_INDENT ? truth->depth : MAX_TRUTH_INDENT);
        struct pt_buf line;
        pt_buf_init(&line);
        pt_style_clean(&line, truth->text, strlen(truth->text));
        pt_buf_printf(buf, "    %s%-5s%s  %*s",
                      pt_style_color(style, truth->value == PT_TRUTH_FALSE  ? PT_COLOR_RED
                                            : truth->value == PT_TRUTH_TRUE ? PT_COLOR_GREEN
                                                                            : PT_COLOR_YELLOW),
                      words[truth->value], pt_style_color(style, PT_COLOR_RESET), (int)indent, "");
        size_t room = style->width - 11 - indent, need = line.text ? pt_style_columns(line.text) : 0;
        pt_style_fit(buf, line.text ? line.text : "", need < room ? need : room, PT_CUT_END);
        pt_buf_puts(buf, "\n");
        pt_buf_release(&line);
        open |= truth->value == PT_TRUTH_OPEN;
    }
    if (finding->truth_count > MAX_TRUTHS)
        pt_buf_printf(buf, "    ... %" PRIu32 " more\n", finding->truth_count - MAX_TRUTHS);
    if (open)
        pt_buf_puts(buf, "    (open: depends on what would follow)\n");
}

/* Whether moves a and b tell of the same two threads. */
static bool same_threads(const struct pt_finding *finding, const struct pt_move *a, const struct pt_move *b)
{
    return strcmp(finding->witness[a->step].thread, finding->witness[b->step].thread) == 0 &&
           strcmp(a->over.thread, b->over.thread) == 0;
}

/* One reason per pair of threads: the first move stands for the others, which are counted. */
static void put_reasons(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    uint32_t firsts[MAX_REASONS], more[MAX_REASONS] = {0}, count = 0, beyond = 0;
    for (uint32_t i = 0; i < finding->move_count; i++) {
        uint32_t r = 0;
        while (r < count && !same_threads(finding, &finding->moves[firsts[r]], &finding->moves[i]))
            r++;
        if (r < count)
            more[r]++;
        else if (count < MAX_REASONS)
            firsts[count++] = i;
        else
            beyond++;
    }
    if (count == 0)
        return;
    pt_buf_puts(buf, "\n  Why this order is possible:\n");
    for (uint32_t r = 0; r < count; r++) {
        const struct pt_move *move = &finding->moves[firsts[r]];
        const struct pt_step *step = &finding->witness[move->step];
        char *moved = step_words(step), *over = step_words(&move->over);
        struct pt_buf others;
        pt_buf_init(&others);
        if (more[r])
            pt_buf_printf(&others, " (the same for %" PRIu32 " more pair%s of events of %s and %s)", more[r],
                          plural(more[r]), step->thread, move->over.thread);
        paragraph(buf, style, 4, 6, "%s may come before %s: nothing %s did until then depends on it%s", moved, over,
                  step->thread, others.text ? others.text : "");
        pt_buf_release(&others);
        free(moved);
        free(over);
    }
    if (beyond)
        pt_buf_printf(buf, "    and %" PRIu32 " more, of other threads\n", beyond);
}

static void put_explored(const struct pt_finding *finding, const struct pt_style *style, unsigned indent,
                         struct pt_buf *buf)
{
    char *explored = explored_words(finding);
    bool stopped = finding->levels < finding->relevant + 1;
    paragraph(buf, style, indent, indent + 2, "Explored: %s%s%s", explored, stopped ? "; stopped at the violation" : "",
              finding->complete ? "" : "; orders beyond the window were left out");
    free(explored);
}

static void put_summary(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    struct pt_buf line;
    pt_buf_init(&line);
    pt_buf_printf(&line, "SUMMARY: portent: %s violation of '%s'",
                  finding->how == PT_HOW_OBSERVED ? "observed" : "predicted", finding->property);
    if (finding->witness_count) {
        char *last = step_words(&finding->witness[finding->witness_count - 1]);
        pt_buf_printf(&line, " at %s", last);
        free(last);
    } else if (!finding->witness_lost) {
        pt_buf_puts(&line, " in the initial state");
    }
    put_bold(buf, style, PT_COLOR_RED);
    pt_style_clean(buf, line.text, line.len);
    put_reset(buf, style);
    pt_buf_puts(buf, "\n");
    pt_buf_release(&line);
}

static void put_violation(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    put_sentence(finding, style, buf);
    put_runs(finding, style, buf);
    put_truths(finding, style, buf);
    put_reasons(finding, style, buf);
    pt_buf_puts(buf, "\n");
    put_explored(finding, style, 2, buf);
    put_summary(finding, style, buf);
}

static void put_holds(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    char *explored = explored_words(finding);
    if (!finding->monitorable)
        paragraph(
            buf, style, 0, 2,
            "Property '%s' cannot be violated by any finite prefix of a run, so this trace says nothing about it.",
            finding->property);
    else if (finding->complete)
        paragraph(buf, style, 0, 2, "Property '%s' holds in every run that the order of the events allows: %s.",
                  finding->property, explored);
    else
        paragraph(buf, style, 0, 2,
                  "Property '%s' holds in your run and in all others that were explored: %s. Orders beyond the window "
                  "were left out.",
                  finding->property, explored);
    free(explored);
}

static void put_no_answer(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    bool error = finding->verdict == PT_VERDICT_ERROR;
    const char *place = finding->message_place;
    put_bold(buf, style, error ? PT_COLOR_RED : PT_COLOR_YELLOW);
    paragraph(buf, style, 0, 2, "Property '%s' %s: %s%s%s%s", finding->property,
              error ? "cannot be evaluated" : "is unknown", finding->message ? finding->message : "no reason given",
              place ? " (" : "", place ? place : "", place ? ")" : "");
    put_reset(buf, style);
    if (!error) {
        char *explored = explored_words(finding);
        paragraph(buf, style, 2, 4, "No violation in what was explored: %s", explored);
        free(explored);
    }
}

void pt_report_text(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    switch (finding->verdict) {
    case PT_VERDICT_VIOLATED:
        put_violation(finding, style, buf);
        return;
    case PT_VERDICT_HOLDS:
        put_holds(finding, style, buf);
        return;
    case PT_VERDICT_UNKNOWN:
    case PT_VERDICT_ERROR:
        put_no_answer(finding, style, buf);
    }
}

void pt_report_text_again(const struct pt_finding *finding, enum pt_how how, const struct pt_style *style,
                          struct pt_buf *buf)
{
    if (finding->verdict != PT_VERDICT_VIOLATED) {
        pt_report_text(finding, style, buf);
        return;
    }
    if (how != finding->how && finding->how == PT_HOW_OBSERVED)
        paragraph(buf, style, 0, 2,
                  "Property '%s': the violation reported above was predicted; later your run itself broke the "
                  "property.",
                  finding->property);
    else
        paragraph(buf, style, 0, 2, "Property '%s' is violated, as reported above.", finding->property);
    put_explored(finding, style, 2, buf);
    put_summary(finding, style, buf);
}
