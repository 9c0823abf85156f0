#include "report/atomicity.h"

#include <inttypes.h>
#include <string.h>

#include "report/place.h"
#include "report/words.h"

static const char *role_word(enum pt_block_role role)
{
    static const char *const words[] = {[PT_BLOCK_OTHER] = "other",
                                        [PT_BLOCK_BEGIN] = "begin",
                                        [PT_BLOCK_FOREIGN] = "foreign",
                                        [PT_BLOCK_LATER] = "later"};
    return words[role];
}

/* "file" and "line", as `model` has them, where the place is of that form; "loc" in any case. */
static void put_place(struct pt_json *json, const char *loc)
{
    struct pt_place place = pt_place_of(loc);
    pt_json_string(json, "loc", loc);
    if (!place.line)
        return;
    struct pt_buf path;
    pt_buf_init(&path);
    pt_buf_add(&path, loc, place.path_len);
    pt_json_string(json, "file", path.text);
    pt_json_uint(json, "line", place.line);
    if (place.column)
        pt_json_uint(json, "column", place.column);
    pt_buf_release(&path);
}

static void put_event(struct pt_json *json, const struct pt_block_event *event, uint32_t index)
{
    const struct pt_step *step = &event->step;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_printf(&text, "%s(%s)", step->op, step->object);
    pt_json_open(json, NULL, '{');
    pt_json_string(json, "thread", step->thread);
    pt_json_string(json, "op", step->op);
    pt_json_string(json, "object", step->object);
    if (step->value.kind != PT_VALUE_UNKNOWN)
        pt_json_value(json, "value", step->value);
    pt_json_string(json, "text", text.text);
    put_place(json, step->loc);
    pt_json_string(json, "role", role_word(event->role));
    pt_json_open(json, "after", '['); /* numbers of its immediate causes, from 0 */
    if (index > 0)
        pt_json_uint(json, NULL, index - 1);
    pt_json_close(json, ']');
    pt_json_uint(json, "trace_line", step->line);
    pt_json_close(json, '}');
    pt_buf_release(&text);
}

static void put_block(struct pt_json *json, const struct pt_block_finding *block)
{
    pt_json_open(json, NULL, '{');
    pt_json_string(json, "thread", block->thread);
    pt_json_uint(json, "block", block->number);
    pt_json_string(json, "name", block->name);
    put_place(json, block->loc);
    if (block->verdict == PT_VERDICT_UNKNOWN)
        pt_json_null(json, "causally_atomic");
    else
        pt_json_bool(json, "causally_atomic", block->verdict == PT_VERDICT_HOLDS);
    pt_json_uint(json, "occurrences", block->occurrences);
    pt_json_uint(json, "violated", block->violated);
    pt_json_uint(json, "unfinished", block->unfinished);
    pt_json_open(json, "witness", '[');
    for (uint32_t i = 0; i < block->event_count; i++)
        put_event(json, &block->events[i], i);
    pt_json_close(json, ']');
    pt_json_close(json, '}');
}

void pt_atomicity_json(struct pt_json *json, const struct pt_block_findings *blocks)
{
    pt_json_open(json, "blocks", '[');
    for (uint32_t i = 0; i < blocks->count; i++)
        put_block(json, &blocks->items[i]);
    pt_json_close(json, ']');
    pt_json_open(json, "atomicity", '{');
    pt_json_bool(json, "complete", !blocks->message);
    if (blocks->message)
        pt_json_string(json, "message", blocks->message);
    pt_json_uint(json, "stray_ends", blocks->stray_ends);
    pt_json_seconds(json, "seconds", blocks->seconds);
    pt_json_uint(json, "peak_bytes", blocks->peak_bytes);
    pt_json_close(json, '}');
}

/* --- Text ------------------------------------------------------------------------------------------------------ */

static void put_clean(struct pt_buf *buf, const char *text)
{
    pt_style_clean(buf, text, strlen(text));
}

static void put_fitted(struct pt_buf *buf, const char *text, size_t columns, enum pt_cut cut)
{
    struct pt_buf clean;
    pt_buf_init(&clean);
    pt_buf_puts(&clean, "");
    put_clean(&clean, text);
    pt_style_fit(buf, clean.text, columns, cut);
    pt_buf_release(&clean);
}

static void put_row(const struct pt_block_event *event, const struct pt_style *style, struct pt_buf *buf)
{
    static const char *const marks[] = {[PT_BLOCK_OTHER] = "",
                                        [PT_BLOCK_BEGIN] = " <- the block begins",
                                        [PT_BLOCK_FOREIGN] = " <- another thread, causally after the begin",
                                        [PT_BLOCK_LATER] = " <- the block again, causally after that"};
    enum { THREAD_COLUMNS = 14, EVENT_COLUMNS = 24, PLACE_COLUMNS = 22 };
    bool marked = event->role != PT_BLOCK_OTHER;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_printf(&text, "%s(%s)", event->step.op, event->step.object);
    pt_buf_printf(buf, "  %s", marked ? pt_style_color(style, PT_COLOR_BOLD) : "");
    put_fitted(buf, event->step.thread, THREAD_COLUMNS, PT_CUT_END);
    pt_buf_puts(buf, " ");
    put_fitted(buf, text.text, EVENT_COLUMNS, PT_CUT_END);
    pt_buf_puts(buf, " ");
    if (marked)
        put_fitted(buf, event->step.loc, PLACE_COLUMNS, PT_CUT_START);
    else
        put_clean(buf, event->step.loc);
    pt_buf_printf(buf, "%s%s\n", marks[event->role], marked ? pt_style_color(style, PT_COLOR_RESET) : "");
    pt_buf_release(&text);
}

static void put_occurrences(const struct pt_block_finding *block, struct pt_buf *buf)
{
    if (block->verdict == PT_VERDICT_VIOLATED)
        pt_buf_printf(buf, ", in %" PRIu64 " of %" PRIu64 " occurrence%s", block->violated, block->occurrences,
                      pt_words_plural(block->occurrences));
    else
        pt_buf_printf(buf, " (%" PRIu64 " occurrence%s)", block->occurrences, pt_words_plural(block->occurrences));
    if (block->unfinished)
        pt_buf_printf(buf, ", %" PRIu64 " unfinished", block->unfinished);
    pt_buf_puts(buf, "\n");
}

static void put_verdict(const struct pt_block_finding *block, const struct pt_style *style, struct pt_buf *buf)
{
    static const char *const words[] = {[PT_VERDICT_HOLDS] = "causally atomic in this run",
                                        [PT_VERDICT_VIOLATED] = "not causally atomic",
                                        [PT_VERDICT_UNKNOWN] = "unknown, no violation found"};
    static const enum pt_color colors[] = {[PT_VERDICT_HOLDS] = PT_COLOR_GREEN,
                                           [PT_VERDICT_VIOLATED] = PT_COLOR_RED,
                                           [PT_VERDICT_UNKNOWN] = PT_COLOR_YELLOW};
    put_clean(buf, block->loc);
    pt_buf_printf(buf, ": block %" PRIu32 " of ", block->number);
    put_clean(buf, block->thread);
    pt_buf_puts(buf, ", '");
    put_clean(buf, block->name);
    pt_buf_printf(buf, "': %s%s%s", pt_style_color(style, colors[block->verdict]), words[block->verdict],
                  pt_style_color(style, PT_COLOR_RESET));
    put_occurrences(block, buf);
}

static void put_summary(const struct pt_block_findings *blocks, const struct pt_style *style, struct pt_buf *buf)
{
    uint32_t counts[4] = {0};
    for (uint32_t i = 0; i < blocks->count; i++)
        counts[blocks->items[i].verdict]++;
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_printf(&text, "%" PRIu32 " block%s: %" PRIu32 " causally atomic in this run, %" PRIu32 " not", blocks->count,
                  pt_words_plural(blocks->count), counts[PT_VERDICT_HOLDS], counts[PT_VERDICT_VIOLATED]);
    if (counts[PT_VERDICT_UNKNOWN])
        pt_buf_printf(&text, ", %" PRIu32 " unknown: %s", counts[PT_VERDICT_UNKNOWN], blocks->message);
    pt_words_paragraph(buf, style, 0, 2, "%s.", text.text);
    pt_buf_release(&text);
}

void pt_atomicity_text(const struct pt_block_findings *blocks, const struct pt_style *style, struct pt_buf *buf)
{
    if (blocks->count == 0)
        pt_words_paragraph(buf, style, 0, 2, "The trace has no atomic blocks (begin events).%s%s%s",
                           blocks->message ? " It is incomplete: " : "", blocks->message ? blocks->message : "",
                           blocks->message ? "." : "");
    for (uint32_t i = 0; i < blocks->count; i++) {
        const struct pt_block_finding *block = &blocks->items[i];
        put_verdict(block, style, buf);
        if (!block->event_count)
            continue;
        pt_buf_puts(buf, "  In every run that keeps the causal order of this one another thread comes in between:\n");
        for (uint32_t k = 0; k < block->event_count; k++)
            put_row(&block->events[k], style, buf);
        pt_buf_puts(buf, "\n");
    }
    if (blocks->stray_ends)
        pt_words_paragraph(buf, style, 0, 2, "%" PRIu64 " end event%s named no open block and %s ignored.",
                           blocks->stray_ends, pt_words_plural(blocks->stray_ends),
                           blocks->stray_ends == 1 ? "was" : "were");
    if (blocks->count)
        put_summary(blocks, style, buf);
}
