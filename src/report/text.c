/*
 * One finding as text: violations are described by violation.c, everything else here; and what is said of a violation
 * while a trace still arrives. Whatever comes from traces is made harmless first (style.h). Linear in the finding.
 */
#include "report/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/blocks.h"
#include "report/check.h"
#include "report/format.h"
#include "report/local.h"
#include "report/violation.h"
#include "report/within.h"
#include "report/words.h"

/* Of `explore`. */
static void put_controlled(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    if (finding->complete)
        pt_words_paragraph(buf, style, 0, 2, "Property '%s' holds in all schedules.", finding->property);
    else
        pt_words_paragraph(buf, style, 0, 2,
                           "Property '%s' was not violated in %" PRIu64 " run%s, which says nothing about others.",
                           finding->property, finding->controlled, pt_words_plural(finding->controlled));
}

static void put_holds(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    if (!finding->monitorable) {
        pt_words_paragraph(
            buf, style, 0, 2,
            "Property '%s' cannot be violated by any finite prefix of a run, so this trace says nothing about it.",
            finding->property);
        return;
    }
    if (finding->complete)
        pt_words_paragraph(buf, style, 0, 2, "Property '%s' holds in %s.", finding->property,
                           pt_words_order_runs(finding));
    else
        pt_words_paragraph(buf, style, 0, 2,
                           "Property '%s' holds in your run and in all others that were explored. Orders beyond the "
                           "window were left out.",
                           finding->property);
    char *explored = pt_words_explored(finding);
    pt_words_paragraph(buf, style, 2, 4, "Explored: %s%s%s.", explored, finding->message ? "; it is " : "",
                       finding->message ? finding->message : "");
    free(explored);
    if (finding->wider)
        pt_words_paragraph(buf, style, 2, 4, "Wider orders than %s were not explored to the end: %s.", finding->order,
                           finding->wider);
    char *pinned = pt_words_pinned(finding);
    if (pinned)
        pt_words_paragraph(buf, style, 2, 4, "Pinned by data: %s.", pinned);
    free(pinned);
    if (finding->widen)
        pt_words_paragraph(buf, style, 2, 4, "To see more: %s.", finding->widen);
}

static void put_no_answer(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    bool error = finding->verdict == PT_VERDICT_ERROR;
    const char *place = finding->message_place;
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_BOLD));
    pt_buf_puts(buf, pt_style_color(style, error ? PT_COLOR_RED : PT_COLOR_YELLOW));
    pt_words_paragraph(buf, style, 0, 2, "%s '%s' %s: %s%s%s%s.", pt_finding_sort(finding), finding->property,
                       error ? "cannot be evaluated" : "is unknown",
                       finding->message ? finding->message : "no reason given", place ? " (" : "", place ? place : "",
                       place ? ")" : "");
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RESET));
    if (!error && !finding->builtin && !finding->controlled && !pt_within_is(finding) && !pt_local_is(finding)) {
        char *explored = pt_words_explored(finding);
        pt_words_paragraph(buf, style, 2, 4, "No violation in what was explored: %s.", explored);
        free(explored);
    }
}

void pt_report_text(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    switch (finding->verdict) {
    case PT_VERDICT_VIOLATED:
        if (finding->builtin)
            pt_check_violated(finding, style, buf);
        else if (pt_within_is(finding))
            pt_within_violation(finding, style, buf);
        else
            pt_violation_write(finding, style, buf);
        return;
    case PT_VERDICT_HOLDS:
        if (finding->controlled && finding->monitorable)
            put_controlled(finding, style, buf);
        else if (finding->builtin)
            pt_check_holds(finding, style, buf);
        else if (pt_within_is(finding))
            pt_within_holds(finding, style, buf);
        else if (pt_local_is(finding))
            pt_local_holds(finding, style, buf);
        else
            put_holds(finding, style, buf);
        return;
    case PT_VERDICT_UNKNOWN:
    case PT_VERDICT_ERROR:
        put_no_answer(finding, style, buf);
    }
}

void pt_report_text_observed(const struct pt_finding *finding, const struct pt_step *step, bool reported,
                             struct pt_buf *buf)
{
    struct pt_buf line;
    pt_buf_init(&line);
    char *words = step ? pt_words_step(step) : NULL;
    pt_buf_printf(&line, "Property '%s'%s: your run has just broken it, %s%s.%s", finding->property,
                  reported ? ", reported above as predicted" : "", words ? "at " : "in the initial state",
                  words ? words : "", reported ? "" : " The full report follows.");
    pt_style_clean(buf, line.text, line.len);
    pt_buf_puts(buf, "\n");
    free(words);
    pt_buf_release(&line);
}

void pt_report_text_later(const struct pt_finding *finding, const struct pt_pending_report *reported,
                          const struct pt_style *style, struct pt_buf *buf)
{
    if (finding->verdict != PT_VERDICT_VIOLATED) {
        pt_report_text(finding, style, buf);
        return;
    }
    if (pt_local_is(finding)) {
        pt_local_again(finding, style, buf);
        return;
    }
    if (finding->builtin) {
        pt_check_again(finding, style, buf);
        return;
    }
    bool broken = reported->how != finding->how && finding->how == PT_HOW_OBSERVED;
    bool grown = reported->levels != finding->levels || reported->states != finding->states;
    char *explored = pt_words_explored(finding);
    pt_words_paragraph(buf, style, 0, 2, "Property '%s' is violated%s.%s%s%s", finding->property,
                       broken ? ": predicted above, and later your run itself broke it" : ", as reported above",
                       grown ? " Explored in the end: " : "", grown ? explored : "", grown ? "." : "");
    free(explored);
    if (broken)
        pt_violation_summary(finding, style, buf);
}

static void put_process(const struct pt_finding *finding, struct pt_buf *buf)
{
    if (!finding->process || finding->verdict != PT_VERDICT_VIOLATED)
        return;
    pt_buf_puts(buf, "In ");
    pt_style_clean(buf, finding->process, strlen(finding->process));
    pt_buf_puts(buf, finding->times > 1 ? ", and in others:\n" : ":\n");
}

static void from_result(const struct pt_loaded *loaded, const struct pt_report_context *context, struct pt_buf *buf)
{
    for (uint32_t i = 0; i < loaded->result.count; i++) {
        if (i > 0)
            pt_buf_puts(buf, "\n");
        put_process(loaded->result.findings[i], buf);
        pt_report_text(loaded->result.findings[i], &context->style, buf);
    }
    if (loaded->is_model || loaded->block_count) {
        pt_buf_puts(buf, loaded->result.count ? "\n" : "");
        pt_report_blocks(loaded, &context->style, buf);
    }
}

const struct pt_report_format pt_report_format_text = {
    .name = "text",
    .from_result = from_result,
};
