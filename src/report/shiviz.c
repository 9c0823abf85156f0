/*
 * A file for ShiViz: the regular expression that parses a line, the one that separates executions, then the lines. A
 * host's clock must count its own events from 1, one by one; a run that begins later in the actual one is renumbered.
 */
#include "report/shiviz.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/format.h"
#include "report/json_writer.h"
#include "report/words.h"

/* Hosts are one word each, the same in both places of a line. */
static void put_host(struct pt_buf *buf, const char *name)
{
    struct pt_buf clean;
    pt_buf_init(&clean);
    pt_style_clean(&clean, name, strlen(name));
    for (size_t i = 0; i < clean.len; i++)
        if (strchr(" {}\"\\", clean.text[i]))
            clean.text[i] = '_';
    pt_buf_puts(buf, clean.len ? clean.text : "_");
    pt_buf_release(&clean);
}

static void put_event(struct pt_buf *buf, const struct pt_finding *finding, const struct pt_step *step,
                      const uint64_t *base)
{
    put_host(buf, step->thread);
    pt_buf_puts(buf, " {");
    bool before = false;
    for (uint32_t t = 0; t < finding->thread_count; t++) {
        if (step->clock[t] <= base[t])
            continue;
        pt_buf_puts(buf, before ? ", \"" : "\"");
        put_host(buf, finding->threads[t]);
        pt_buf_printf(buf, "\": %" PRIu64, step->clock[t] - base[t]);
        before = true;
    }
    char *words = pt_words_step(step);
    pt_buf_puts(buf, "} ");
    pt_style_clean(buf, words, strlen(words));
    pt_buf_puts(buf, "\n");
    free(words);
}

static void put_run(struct pt_buf *buf, const struct pt_finding *finding, const char *name, const struct pt_step *steps,
                    uint32_t count)
{
    uint64_t *base = pt_xmalloc((finding->thread_count + 1) * sizeof *base);
    memset(base, 0xff, finding->thread_count * sizeof *base);
    for (uint32_t i = 0; i < finding->actual_count; i++) { /* what lies before both runs */
        const struct pt_step *step = &finding->actual[i];
        if (step->clock[step->thread_index] - 1 < base[step->thread_index])
            base[step->thread_index] = step->clock[step->thread_index] - 1;
    }
    pt_buf_puts(buf, "=== ");
    pt_style_clean(buf, finding->property, strlen(finding->property));
    pt_buf_printf(buf, ": %s ===\n", name);
    for (uint32_t i = 0; i < count; i++)
        put_event(buf, finding, &steps[i], base);
    free(base);
}

void pt_report_shiviz(const struct pt_loaded *loaded, struct pt_buf *buf)
{
    pt_buf_puts(buf, "(?<host>\\S+) (?<clock>\\{[^}]*\\}) (?<event>.*)\n^=== (?<trace>.*) ===$\n");
    for (uint32_t i = 0; i < loaded->result.count; i++) {
        const struct pt_finding *finding = loaded->result.findings[i];
        if (finding->verdict != PT_VERDICT_VIOLATED || !finding->threads || finding->witness_count == 0)
            continue;
        put_run(buf, finding, finding->how == PT_HOW_OBSERVED ? "violating run" : "predicted run", finding->witness,
                finding->witness_count);
        put_run(buf, finding, "your run", finding->actual, finding->actual_count);
    }
}

static void from_result(const struct pt_loaded *loaded, const struct pt_report_context *context, struct pt_buf *buf)
{
    (void)context;
    pt_report_shiviz(loaded, buf);
}

const struct pt_report_format pt_report_format_shiviz = {
    .name = "shiviz",
    .from_result = from_result,
};
