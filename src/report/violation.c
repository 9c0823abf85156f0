/*
 * A violation as text. Everything printed is in the finding; sentences are wrapped to the style's width, and names and
 * values from traces are made harmless on the way (style.h). Cost: linear in the finding.
 */
#include "report/violation.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "report/check.h"
#include "report/local.h"
#include "report/runs.h"
#include "report/words.h"

enum {
    MAX_REASONS = 6,
    MAX_TRUTHS = 40,
    MAX_TRUTH_INDENT = 10,
    LEGEND_WIDTH = 75, /* of the marks in one line */
};

static void put_bold(struct pt_buf *buf, const struct pt_style *style, enum pt_color color)
{
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_BOLD));
    pt_buf_puts(buf, pt_style_color(style, color));
}

static void put_reset(struct pt_buf *buf, const struct pt_style *style)
{
    pt_buf_puts(buf, pt_style_color(style, PT_COLOR_RESET));
}

/* What another run has to keep, where that is less than the recorded order. */
static const char *order_words(const struct pt_finding *finding)
{
    if (finding->order && strcmp(finding->order, "sync") == 0)
        return ": some threads go less far, and all reads see the writes they saw (order sync)";
    if (finding->order && strcmp(finding->order, "values") == 0)
        return ", while all reads return the values they returned (order values)";
    if (pt_words_is_sliced(finding))
        return ": parts of your run one after the other, in which all reads see the writes they saw (order slices)";
    return "";
}

static void put_sentence(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    put_bold(buf, style, PT_COLOR_RED);
    if (finding->how != PT_HOW_OBSERVED)
        pt_words_paragraph(
            buf, style, 0, 0,
            "Property '%s' can be violated (predicted). Your run passed, but the same events may also happen "
            "in an order that breaks it%s.",
            finding->property, order_words(finding));
    else if (finding->witness_lost)
        pt_words_paragraph(buf, style, 0, 0, "Property '%s' is violated (observed): your run itself breaks it.",
                           finding->property);
    else if (finding->witness_count == 0 && finding->witness_from == 0)
        pt_words_paragraph(buf, style, 0, 0,
                           "Property '%s' is violated (observed): the initial state already breaks it.",
                           finding->property);
    else if (pt_runs_same(finding))
        pt_words_paragraph(buf, style, 0, 0, "Property '%s' is violated (observed): your run itself breaks it.",
                           finding->property);
    else
        pt_words_paragraph(
            buf, style, 0, 0,
            "Property '%s' is violated (observed): your run itself breaks it, and another order of its events "
            "does so sooner.",
            finding->property);
    put_reset(buf, style);
    if (finding->text && finding->text[0]) {
        pt_buf_puts(buf, "\n");
        pt_words_paragraph(buf, style, 2, 4, "%s:%" PRIu32 ": %s: %s", finding->file ? finding->file : "formula",
                           finding->line, finding->property, finding->text);
    }
}

/* What the marks mean, on one line where that fits. */
static void put_legend(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    const char *const marks[] = {finding->move_count ? "> earlier than in your run" : NULL,
                                 finding->actual_count > finding->witness_count ? "- not needed for it" : NULL,
                                 "! breaks the property"};
    const char *gap = style->width < LEGEND_WIDTH ? "\n  " : "   ";
    for (size_t i = 0, shown = 0; i < sizeof marks / sizeof *marks; i++) {
        if (marks[i])
            pt_buf_printf(buf, "%s%s", shown++ ? gap : "\n  ", marks[i]);
    }
    pt_buf_puts(buf, "\n");
}

static void put_runs(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    if (finding->witness_lost) {
        pt_buf_puts(buf, "\n");
        pt_words_paragraph(buf, style, 2, 4, "No run is shown: %s.", finding->message);
        return;
    }
    if (finding->witness_from > 0) {
        pt_buf_puts(buf, "\n");
        char *values = pt_words_start(finding->from_values, finding->from_count);
        pt_words_paragraph(buf, style, 2, 4, "After the first %" PRIu64 " relevant event%s of your run: %s",
                           finding->witness_from, pt_words_plural(finding->witness_from), values);
        free(values);
    } else if (finding->value_count > 0) {
        pt_buf_puts(buf, "\n");
        char *values = pt_words_start(finding->initial, finding->value_count);
        pt_words_paragraph(buf, style, 2, 4, "Initially: %s", values);
        free(values);
    }
    if (finding->witness_count == 0)
        return;
    pt_buf_puts(buf, "\n");
    pt_runs_write(finding, style, buf);
    put_legend(finding, style, buf);
}

static void put_truth(const struct pt_truth *truth, const struct pt_style *style, struct pt_buf *buf)
{
    static const struct {
        const char *word;
        enum pt_color color;
    } shown[] = {[PT_TRUTH_FALSE] = {"false", PT_COLOR_RED},
                 [PT_TRUTH_TRUE] = {"true", PT_COLOR_GREEN},
                 [PT_TRUTH_OPEN] = {"open", PT_COLOR_YELLOW}};
    unsigned indent = 2 * (truth->depth < MAX_TRUTH_INDENT ? truth->depth : MAX_TRUTH_INDENT);
    struct pt_buf line;
    pt_buf_init(&line);
    pt_style_clean(&line, truth->text, strlen(truth->text));
    pt_buf_printf(buf, "    %s%-5s%s  %*s", pt_style_color(style, shown[truth->value].color), shown[truth->value].word,
                  pt_style_color(style, PT_COLOR_RESET), (int)indent, "");
    size_t room = style->width - 11 - indent, need = line.text ? pt_style_columns(line.text) : 0;
    pt_style_fit(buf, line.text ? line.text : "", need < room ? need : room, PT_CUT_END);
    pt_buf_puts(buf, "\n");
    pt_buf_release(&line);
}

/* Where the list alone does not show why the property is violated: the sentence that does. */
static const char *conclusion(const struct pt_finding *finding)
{
    if (strcmp(finding->kind, "ere") == 0)
        return "The run up to here is matched by the expression.";
    bool open_root = finding->truths[0].depth == 0 && finding->truths[0].value == PT_TRUTH_OPEN;
    if (strcmp(finding->kind, "hoa") == 0 || open_root)
        return "No accepting continuation is left.";
    return NULL;
}

static void put_truths(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    uint32_t count = finding->truth_count;
    bool cut_off = count == 0 && finding->witness_from > 0 && finding->text && finding->text[0];
    if (count == 0 && finding->value_count == 0)
        return;
    char *values = pt_words_values(finding->final, finding->value_count);
    pt_buf_puts(buf, "\n");
    pt_words_paragraph(buf, style, 2, 4, "In the violating state%s%s%s", values[0] ? ", " : "", values,
                       count ? ":" : ".");
    free(values);
    if (cut_off)
        pt_words_paragraph(buf, style, 4, 4,
                           "(no formula breakdown: that needs the run's beginning, which is not kept)");
    bool open = false;
    for (uint32_t i = 0; i < count && i < MAX_TRUTHS; i++) {
        put_truth(&finding->truths[i], style, buf);
        open |= finding->truths[i].value == PT_TRUTH_OPEN;
    }
    if (count > MAX_TRUTHS)
        pt_buf_printf(buf, "    ... %" PRIu32 " more\n", count - MAX_TRUTHS);
    if (open)
        pt_buf_puts(buf, "    (open: depends on what would follow)\n");
    const char *sentence = count ? conclusion(finding) : NULL;
    if (sentence)
        pt_words_paragraph(buf, style, 4, 4, "%s", sentence);
}

/* Numbers the pairs (moved thread, overtaken thread) from 0 in the order they first occur. */
static uint32_t pair_of(struct pt_strtab *pairs, const struct pt_finding *finding, const struct pt_move *move)
{
    struct pt_buf key;
    pt_buf_init(&key);
    const char *thread = finding->witness[move->step].thread;
    pt_buf_add(&key, thread, strlen(thread) + 1);
    pt_buf_puts(&key, move->over.thread);
    uint32_t pair = pt_strtab_intern(pairs, key.text, key.len);
    pt_buf_release(&key);
    return pair;
}

/* One reason per pair of threads, the first. */
static void put_reasons(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    if (finding->move_count == 0)
        return;
    struct pt_strtab pairs;
    pt_strtab_init(&pairs);
    pt_buf_puts(buf, "\n  Why this order is possible:\n");
    for (uint32_t i = 0; i < finding->move_count; i++) {
        const struct pt_move *move = &finding->moves[i];
        const struct pt_step *step = &finding->witness[move->step];
        uint32_t before = pairs.count;
        if (pair_of(&pairs, finding, move) != before || before >= MAX_REASONS)
            continue;
        char *moved = pt_words_step(step), *over = pt_words_step(&move->over);
        pt_words_paragraph(buf, style, 4, 6, "%s may come before %s: nothing %s did until then depends on that %s.",
                           moved, over, step->thread, strcmp(move->over.op, "event") == 0 ? "event" : "write");
        free(moved);
        free(over);
    }
    if (pairs.count > MAX_REASONS)
        pt_buf_printf(buf, "    and %" PRIu32 " more, of other threads.\n", pairs.count - MAX_REASONS);
    pt_strtab_release(&pairs);
}

static void put_explored(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    if (!finding->states) {
        pt_words_paragraph(buf, style, 2, 4, "Explored: nothing; it was seen while your run was read.");
        return;
    }
    char *explored = pt_words_explored(finding);
    bool stopped = finding->levels < finding->relevant + 1;
    bool bounded = finding->window != PT_ALL || finding->lookahead != PT_ALL;
    pt_words_paragraph(buf, style, 2, 4, "Explored: %s%s%s.", explored, stopped ? "; stopped at the violation" : "",
                       finding->complete ? ""
                       : bounded         ? "; orders beyond the window were left out"
                                         : "; not everything was explored");
    free(explored);
}

static void put_confirmed(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    char *words = pt_words_confirmed(finding);
    if (words)
        pt_words_paragraph(buf, style, 2, 4, "%s", words);
    free(words);
}

/* What a built-in check's finding is about, and where its sides are; of a race the later one first. */
static void put_places(const struct pt_finding *finding, struct pt_buf *line)
{
    enum { MOST = 4 };
    uint32_t count = finding->side_count, shown = count < MOST ? count : MOST;
    bool race = pt_check_is_of(finding, "race");
    char *about = pt_words_about(finding);
    pt_buf_printf(line, " on %s", about);
    free(about);
    for (uint32_t i = 0; i < shown; i++)
        pt_buf_printf(line, "%s%s",
                      i == 0           ? " at "
                      : i + 1 == shown ? " and "
                                       : ", ",
                      finding->sides[race ? count - 1 - i : i].step.loc);
    if (shown < count)
        pt_buf_puts(line, ", ...");
}

void pt_violation_summary(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    struct pt_buf line;
    pt_buf_init(&line);
    pt_buf_printf(&line, "SUMMARY: portent: %s violation of '%s'",
                  finding->how == PT_HOW_OBSERVED ? "observed" : "predicted", finding->property);
    if (pt_check_title(finding)) {
        put_places(finding, &line);
    } else if (finding->builtin) {
        const struct pt_step *breaks = pt_finding_breaks(finding);
        char *side = breaks ? pt_words_step(breaks) : NULL;
        pt_buf_printf(&line, "%s%s", side ? " at " : "", side ? side : "");
        free(side);
    } else if (pt_local_is(finding)) {
        char *place = pt_local_place(finding);
        pt_buf_printf(&line, " at %s", place);
        free(place);
    } else if (finding->witness_count) {
        char *last = pt_words_step(&finding->witness[finding->witness_count - 1]);
        bool sooner = finding->how == PT_HOW_OBSERVED && !pt_runs_same(finding);
        pt_buf_printf(&line, "%s at %s", sooner ? ", soonest" : "", last);
        free(last);
    } else if (!finding->witness_lost) {
        pt_buf_puts(&line, " in the initial state");
    }
    if (finding->times > 1)
        pt_buf_printf(&line, " (%" PRIu32 " times)", finding->times);
    put_bold(buf, style, PT_COLOR_RED);
    pt_style_clean(buf, line.text, line.len);
    put_reset(buf, style);
    pt_buf_puts(buf, "\n");
    pt_buf_release(&line);
}

void pt_violation_write(const struct pt_finding *finding, const struct pt_style *style, struct pt_buf *buf)
{
    if (pt_local_is(finding)) {
        pt_local_violated(finding, style, buf);
        return;
    }
    put_sentence(finding, style, buf);
    put_runs(finding, style, buf);
    put_truths(finding, style, buf);
    put_reasons(finding, style, buf);
    pt_buf_puts(buf, "\n");
    put_explored(finding, style, buf);
    put_confirmed(finding, style, buf);
    pt_violation_summary(finding, style, buf);
}
