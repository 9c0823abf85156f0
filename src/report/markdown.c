/*
 * A summary for the page of a CI job or a merge request: a table of the violations that count, each with its text
 * report to unfold, then what holds, what is unknown and why, and what was left out. Names come from programs and
 * traces, so everything that Markdown or HTML could take for its own is escaped, and a report stands in a fence that it
 * cannot close. GitHub shows a megabyte of it: after MAX_TEXTS violations there are no more text reports, after
 * MAX_ROWS no more rows.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/blocks.h"
#include "report/format.h"
#include "report/place.h"
#include "report/sentence.h"
#include "report/text.h"
#include "report/words.h"

enum { MAX_ROWS = 200, MAX_TEXTS = 20, MAX_TEXT = 20000 };

static const struct pt_style plain = {.width = 100};

static void put_escaped(struct pt_buf *buf, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '<')
            pt_buf_puts(buf, "&lt;");
        else if (c == '&')
            pt_buf_puts(buf, "&amp;");
        else if (c < ' ' || c == 127)
            pt_buf_puts(buf, " ");
        else if (strchr("\\`*_{}[]()#|~!@>", c))
            pt_buf_printf(buf, "\\%c", c);
        else
            pt_buf_add(buf, text + i, 1);
    }
}

static void put_line(struct pt_buf *buf, const char *text)
{
    put_escaped(buf, text, strlen(text));
}

/* As code, whatever it holds: the fence is longer than any row of back quotes in it. */
static void put_fenced(struct pt_buf *buf, const char *text)
{
    size_t longest = 0, row = 0, len = strlen(text);
    for (size_t i = 0; i < len; i++) {
        row = text[i] == '`' ? row + 1 : 0;
        longest = row > longest ? row : longest;
    }
    char fence[64] = "```";
    if (longest >= 3 && longest < sizeof fence - 2)
        memset(fence, '`', longest + 1);
    bool short_enough = len <= MAX_TEXT && longest < sizeof fence - 2;
    pt_buf_printf(buf, "%stext\n", fence);
    if (short_enough)
        pt_buf_puts(buf, text);
    else
        pt_buf_puts(buf, "(too long for this page)\n");
    pt_buf_printf(buf, "%s\n", fence);
}

static void put_where(struct pt_buf *buf, const struct pt_sentence_place *place, const char *base)
{
    size_t len = place->len;
    if (!place->path)
        return;
    const char *path = pt_loc_below(base, place->path, &len);
    put_escaped(buf, path, len);
    if (place->line)
        pt_buf_printf(buf, ":%" PRIu64, place->line);
}

static const char *how_words(const struct pt_finding *finding)
{
    switch (finding->how) {
    case PT_HOW_OBSERVED:
        return "observed";
    case PT_HOW_PREDICTED:
        return finding->confirm == PT_CONFIRM_YES ? "predicted, confirmed" : "predicted";
    case PT_HOW_DEAD:
        return "dead";
    case PT_HOW_LATE:
        return "late";
    case PT_HOW_NONE:
        break;
    }
    return "found";
}

static void put_row(struct pt_buf *buf, const char *how, const char *words, const struct pt_sentence_place *place,
                    const char *base)
{
    pt_buf_printf(buf, "| %s | ", how);
    put_line(buf, words);
    pt_buf_puts(buf, " | ");
    put_where(buf, place, base);
    pt_buf_puts(buf, " |\n");
}

static void put_rows(struct pt_buf *buf, const struct pt_loaded *loaded, const char *base, uint32_t count)
{
    uint32_t rows = 0;
    pt_buf_puts(buf, "\n| | finding | where |\n|---|---|---|\n");
    for (uint32_t i = 0; i < loaded->result.count; i++) {
        const struct pt_finding *finding = loaded->result.findings[i];
        if (!pt_finding_counts(finding) || rows++ >= MAX_ROWS)
            continue;
        struct pt_sentence_place place = pt_sentence_place(finding);
        char *words = pt_sentence_finding(finding);
        put_row(buf, how_words(finding), words, &place, base);
        free(words);
    }
    for (uint32_t i = 0; i < loaded->block_count; i++) {
        const struct pt_block *block = &loaded->blocks[i];
        if (!pt_block_counts(block) || rows++ >= MAX_ROWS)
            continue;
        struct pt_sentence_place place = {block->file[0] ? block->file : NULL, strlen(block->file), block->line, 0};
        char *words = pt_sentence_block(block);
        put_row(buf, "found", words, &place, base);
        free(words);
    }
    if (count > MAX_ROWS)
        pt_buf_printf(buf, "\nand %" PRIu32 " more.\n", count - MAX_ROWS);
}

static void put_texts(struct pt_buf *buf, const struct pt_loaded *loaded)
{
    uint32_t texts = 0;
    for (uint32_t i = 0; i < loaded->result.count; i++) {
        const struct pt_finding *finding = loaded->result.findings[i];
        if (!pt_finding_counts(finding) || texts++ >= MAX_TEXTS)
            continue;
        struct pt_finding_id id = pt_finding_id(finding);
        struct pt_buf text;
        pt_buf_init(&text);
        pt_report_text(finding, &plain, &text);
        pt_buf_puts(buf, "\n<details><summary>");
        put_line(buf, finding->property);
        if (finding->process) {
            pt_buf_puts(buf, ", ");
            put_line(buf, finding->process);
        }
        pt_buf_printf(buf, " (id %s)</summary>\n\n", id.text);
        put_fenced(buf, text.text ? text.text : "");
        pt_buf_puts(buf, "\n</details>\n");
        pt_buf_release(&text);
    }
}

/* What is no violation that counts, in a line each. */
static void put_others(struct pt_buf *buf, const struct pt_loaded *loaded)
{
    uint32_t holds = 0, left_out = 0;
    pt_buf_puts(buf, "\n");
    for (uint32_t i = 0; i < loaded->result.count; i++) {
        const struct pt_finding *finding = loaded->result.findings[i];
        holds += finding->verdict == PT_VERDICT_HOLDS;
        left_out += finding->verdict == PT_VERDICT_VIOLATED && !pt_finding_counts(finding);
        if (finding->verdict != PT_VERDICT_UNKNOWN && finding->verdict != PT_VERDICT_ERROR)
            continue;
        pt_buf_printf(buf, "- %s '", pt_finding_sort(finding));
        put_line(buf, finding->property);
        pt_buf_printf(buf, "' %s: ", finding->verdict == PT_VERDICT_ERROR ? "cannot be evaluated" : "is **unknown**");
        put_line(buf, finding->message ? finding->message : "no reason given");
        pt_buf_puts(buf, "\n");
    }
    for (uint32_t i = 0; i < loaded->block_count; i++) {
        holds += loaded->blocks[i].atomic;
        left_out += pt_block_violated(&loaded->blocks[i]) && !pt_block_counts(&loaded->blocks[i]);
    }
    if (holds)
        pt_buf_printf(buf, "- %" PRIu32 " without a violation\n", holds);
    if (left_out)
        pt_buf_printf(buf, "- %" PRIu32 " suppressed, or in the baseline\n", left_out);
}

static void from_result(const struct pt_loaded *loaded, const struct pt_report_context *context, struct pt_buf *buf)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < loaded->result.count; i++)
        count += pt_finding_counts(loaded->result.findings[i]);
    for (uint32_t i = 0; i < loaded->block_count; i++)
        count += pt_block_counts(&loaded->blocks[i]);
    pt_buf_puts(buf, "### Portent: ");
    if (count)
        pt_buf_printf(buf, "%" PRIu32 " finding%s\n", count, pt_words_plural(count));
    else
        pt_buf_puts(buf, "nothing found\n");
    if (count)
        put_rows(buf, loaded, context->folder, count);
    put_others(buf, loaded);
    put_texts(buf, loaded);
}

const struct pt_report_format pt_report_format_markdown = {
    .name = "markdown",
    .from_result = from_result,
};
