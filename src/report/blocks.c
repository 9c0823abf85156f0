/*
 * Atomic blocks as text: verdicts, the run that shows that a block is not atomic, the SUMMARY lines for scripts, and
 * the count. `model`, `check --atomicity` and `report` share it, so the same result reads the same everywhere. Names
 * are made harmless before they are printed. Linear in the blocks and their steps.
 */
#include "report/blocks.h"

#include <inttypes.h>
#include <string.h>

#include "report/words.h"

enum {
    MARGIN = 2,
    THREAD_COLUMNS = 14,
    LINE_COLUMNS = 6,
    PLACE_COLUMNS = 22,
    MARK_COLUMNS = 20,
    MAX_TEXT_COLUMNS = 50
};

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

/* "block 1 of clerk, 'increment'" */
static void put_name(const struct pt_block *block, struct pt_buf *buf)
{
    pt_buf_printf(buf, "block %" PRIu32 " of ", block->number);
    if (block->thread_name[0])
        put_clean(buf, block->thread_name);
    else
        pt_buf_printf(buf, "thread %" PRIu32, block->thread);
    if (block->name[0]) {
        pt_buf_puts(buf, ", '");
        put_clean(buf, block->name);
        pt_buf_puts(buf, "'");
    }
}

static void put_occurrences(const struct pt_block *block, struct pt_buf *buf)
{
    if (block->violated)
        pt_buf_printf(buf, ", in %" PRIu64 " of %" PRIu64 " occurrence%s", block->violated, block->occurrences,
                      pt_words_plural(block->occurrences));
    else
        pt_buf_printf(buf, " (%" PRIu64 " occurrence%s)", block->occurrences, pt_words_plural(block->occurrences));
    if (block->unfinished)
        pt_buf_printf(buf, ", %" PRIu64 " unfinished", block->unfinished);
}

/* Why it does not count, and in how many results it was found. */
static void put_suppressed(const struct pt_block *block, struct pt_buf *buf)
{
    if (block->suppressed) {
        pt_buf_puts(buf, "; ");
        put_clean(buf, block->suppressed);
        pt_buf_puts(buf, " suppresses it");
    } else if (block->known) {
        pt_buf_puts(buf, "; the baseline knows it");
    }
    if (block->tried)
        pt_buf_puts(buf, block->tried->confirm == PT_CONFIRM_YES ? "; another run disturbed it, too"
                                                                 : "; another run did not disturb it");
    if (block->times > 1)
        pt_buf_printf(buf, " (in %" PRIu32 " results)", block->times);
}

void pt_blocks_json_suppressed(const struct pt_block *block, struct pt_json *json)
{
    if (pt_block_violated(block))
        pt_json_string(json, "id", pt_block_id(block).text);
    if (block->suppressed)
        pt_json_string(json, "suppressed", block->suppressed);
    if (block->known)
        pt_json_bool(json, "known", true);
    if (block->times > 1)
        pt_json_uint(json, "times", block->times);
}

void pt_blocks_verdict(const struct pt_block *block, const struct pt_style *style, struct pt_buf *buf)
{
    if (block->file[0] && block->line) {
        put_clean(buf, block->file);
        pt_buf_printf(buf, ":%" PRIu32, block->line);
        if (block->column)
            pt_buf_printf(buf, ":%" PRIu32, block->column);
        pt_buf_puts(buf, ": ");
    }
    put_name(block, buf);
    const char *verdict = block->unknown   ? "unknown, no violation found"
                          : !block->atomic ? "not causally atomic"
                          : block->of_run  ? "causally atomic in this run"
                                           : "causally atomic";
    enum pt_color color = block->unknown ? PT_COLOR_YELLOW : block->atomic ? PT_COLOR_GREEN : PT_COLOR_RED;
    pt_buf_printf(buf, ": %s%s%s", pt_style_color(style, color), verdict, pt_style_color(style, PT_COLOR_RESET));
    if (block->of_run)
        put_occurrences(block, buf);
    else if (!block->atomic && !block->unknown)
        pt_buf_puts(buf, "; the guards' values were not considered");
    put_suppressed(block, buf);
    pt_buf_puts(buf, "\n");
}

static const char *mark_of(const char *role)
{
    return strcmp(role, "begin") == 0     ? "<- the block begins"
           : strcmp(role, "foreign") == 0 ? "<- another thread"
           : strcmp(role, "later") == 0   ? "<- the block again"
                                          : "";
}

/* `thread line step` of a program, `thread event place` of a run; then a mark, with columns of its own. */
static void put_step(const struct pt_block_step *step, bool of_run, const struct pt_style *style, struct pt_buf *buf)
{
    const char *mark = mark_of(step->role);
    size_t room = style->width - MARGIN - THREAD_COLUMNS - 2, text = room - MARK_COLUMNS;
    pt_buf_printf(buf, "%*s%s", MARGIN, "", mark[0] ? pt_style_color(style, PT_COLOR_BOLD) : "");
    put_fitted(buf, step->thread, THREAD_COLUMNS, PT_CUT_END);
    if (of_run) {
        size_t place = text / 2 < PLACE_COLUMNS ? text / 2 : PLACE_COLUMNS;
        text -= place;
        pt_buf_puts(buf, " ");
        put_fitted(buf, step->text, text < MAX_TEXT_COLUMNS ? text : MAX_TEXT_COLUMNS, PT_CUT_END);
        pt_buf_puts(buf, " ");
        put_fitted(buf, strcmp(step->loc, "-") == 0 ? "" : step->loc, place, PT_CUT_START);
    } else {
        text = (mark[0] ? text : room) - LINE_COLUMNS;
        pt_buf_printf(buf, "%*" PRIu32 "  ", LINE_COLUMNS, step->line);
        put_fitted(buf, step->text, text < MAX_TEXT_COLUMNS || !mark[0] ? text : MAX_TEXT_COLUMNS, PT_CUT_END);
    }
    while (!mark[0] && buf->text[buf->len - 1] == ' ')
        buf->len--;
    pt_buf_printf(buf, "%s%s%s\n", mark[0] ? " " : "", mark, mark[0] ? pt_style_color(style, PT_COLOR_RESET) : "");
}

void pt_blocks_run(const struct pt_block_step *steps, uint32_t count, bool of_run, const struct pt_style *style,
                   struct pt_buf *buf)
{
    pt_words_paragraph(buf, style, MARGIN, MARGIN,
                       "In every run that %s another thread comes in between: each marked %s is causally after the one "
                       "marked before it.",
                       of_run ? "keeps the causal order of this one" : "is equivalent to this one",
                       of_run ? "event" : "step");
    pt_buf_puts(buf, "\n");
    if (!of_run)
        pt_buf_printf(buf, "%*s%-*s%*s  step\n", MARGIN, "", THREAD_COLUMNS, "thread", LINE_COLUMNS, "line");
    for (uint32_t i = 0; i < count; i++)
        put_step(&steps[i], of_run, style, buf);
    pt_buf_puts(buf, "\n");
}

void pt_blocks_summary(const struct pt_block *block, const struct pt_style *style, struct pt_buf *buf)
{
    pt_buf_printf(buf, "%s%sSUMMARY: portent: not causally atomic: ", pt_style_color(style, PT_COLOR_BOLD),
                  pt_style_color(style, PT_COLOR_RED));
    put_name(block, buf);
    if (block->file[0] && block->line) {
        pt_buf_puts(buf, " (");
        put_clean(buf, block->file);
        pt_buf_printf(buf, ":%" PRIu32 ")", block->line);
    }
    pt_buf_printf(buf, "%s\n\n", pt_style_color(style, PT_COLOR_RESET));
}

void pt_blocks_count(const struct pt_block *blocks, uint32_t count, const char *limit, const struct pt_style *style,
                     struct pt_buf *buf)
{
    uint32_t atomic = 0, unknown = 0, suppressed = 0;
    if (count == 0) {
        pt_words_paragraph(buf, style, 0, 2, "0 blocks: no begin and end (in C: portent_begin, portent_end) mark any");
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        unknown += blocks[i].unknown;
        suppressed += pt_block_violated(&blocks[i]) && !pt_block_counts(&blocks[i]);
        atomic += blocks[i].atomic && !blocks[i].unknown;
    }
    struct pt_buf tail;
    pt_buf_init(&tail);
    pt_buf_puts(&tail, "");
    if (suppressed)
        pt_buf_printf(&tail, " (%" PRIu32 " suppressed)", suppressed);
    if (unknown)
        pt_buf_printf(&tail, ", %" PRIu32 " unknown%s%s", unknown, limit ? ": " : "", limit ? limit : "");
    pt_words_paragraph(buf, style, 0, 2, "%" PRIu32 " block%s: %" PRIu32 " causally atomic%s, %" PRIu32 " not%s", count,
                       pt_words_plural(count), atomic, blocks[0].of_run ? " in this run" : "", count - atomic - unknown,
                       tail.text);
    pt_buf_release(&tail);
}

void pt_report_blocks(const struct pt_loaded *loaded, const struct pt_style *style, struct pt_buf *buf)
{
    for (uint32_t i = 0; i < loaded->block_count; i++) {
        const struct pt_block *block = &loaded->blocks[i];
        pt_blocks_verdict(block, style, buf);
        if (block->step_count && !block->suppressed && !block->known)
            pt_blocks_run(block->steps, block->step_count, block->of_run, style, buf);
        if (pt_block_counts(block))
            pt_blocks_summary(block, style, buf);
    }
    pt_blocks_count(loaded->blocks, loaded->block_count, loaded->limit, style, buf);
}
