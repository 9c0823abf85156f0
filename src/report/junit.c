/*
 * A property that holds passes; a violation fails, with the text report; a property that cannot be evaluated is an
 * error; an unknown verdict and a violation that does not count (suppressed, in the baseline) are skipped, with the
 * reason.
 */
#include "report/junit.h"

#include <inttypes.h>
#include <string.h>

#include "base/table.h"
#include "base/utf8.h"
#include "report/format.h"
#include "report/text.h"

enum outcome { PASSED, FAILED, BROKEN, SKIPPED };

static const struct pt_style plain = {.width = 100};

static void put_attribute(struct pt_buf *buf, const char *name, const char *text)
{
    pt_buf_printf(buf, " %s=\"", name);
    pt_xml_escape(buf, text);
    pt_buf_puts(buf, "\"");
}

static enum outcome outcome_of(const struct pt_finding *finding)
{
    switch (finding->verdict) {
    case PT_VERDICT_HOLDS:
        return PASSED;
    case PT_VERDICT_VIOLATED:
        return pt_finding_counts(finding) ? FAILED : SKIPPED;
    case PT_VERDICT_UNKNOWN:
        return SKIPPED;
    case PT_VERDICT_ERROR:
        break;
    }
    return BROKEN;
}

static void put_failure(struct pt_buf *buf, const struct pt_finding *finding)
{
    struct pt_buf text;
    pt_buf_init(&text);
    pt_report_text(finding, &plain, &text);
    pt_buf_puts(buf, "      <failure");
    static const char *const types[] = {[PT_HOW_NONE] = "violation",
                                        [PT_HOW_OBSERVED] = "observed violation",
                                        [PT_HOW_PREDICTED] = "predicted violation",
                                        [PT_HOW_DEAD] = "dead",
                                        [PT_HOW_LATE] = "late"};
    put_attribute(buf, "type", types[finding->how]);
    put_attribute(buf, "message", finding->text && finding->text[0] ? finding->text : finding->property);
    pt_buf_puts(buf, ">");
    pt_xml_escape(buf, text.text);
    pt_buf_puts(buf, "</failure>\n");
    pt_buf_release(&text);
}

/* Why a case is skipped: it does not count, or `otherwise`. */
static void put_reason(struct pt_buf *buf, const char *suppressed, bool known, const char *otherwise)
{
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_printf(&text, "violated, but suppressed by %s", suppressed ? suppressed : "");
    put_attribute(buf, "message", suppressed ? text.text : known ? "violated, but in the baseline" : otherwise);
    pt_buf_puts(buf, "/>\n");
    pt_buf_release(&text);
}

static enum outcome block_outcome(const struct pt_block *block)
{
    return block->atomic ? PASSED : pt_block_counts(block) ? FAILED : SKIPPED;
}

/* Each violation of a check has a name of its own: what it is about and where its sides are; a number where that is not
 * enough. */
static void put_name(struct pt_buf *buf, const struct pt_finding *finding, struct pt_strtab *names)
{
    struct pt_buf name;
    pt_buf_init(&name);
    pt_buf_puts(&name, finding->property);
    if (finding->side_count)
        pt_buf_printf(&name, ": %s", finding->object);
    for (uint32_t i = 0; i < finding->side_count; i++)
        pt_buf_printf(&name, "%s%s", i ? " and " : " at ", finding->sides[i].step.loc);
    uint32_t known = names->count;
    size_t len = name.len;
    for (unsigned n = 2; finding->side_count && pt_strtab_intern(names, name.text, name.len) != known; n++) {
        name.len = len;
        pt_buf_printf(&name, " (%u)", n);
    }
    put_attribute(buf, "name", name.text);
    pt_buf_release(&name);
}

static void put_case(struct pt_buf *buf, const struct pt_finding *finding, struct pt_strtab *names)
{
    enum outcome outcome = outcome_of(finding);
    const char *message = finding->message ? finding->message : "no reason given";
    pt_buf_puts(buf, "    <testcase classname=\"portent\"");
    put_name(buf, finding, names);
    if (finding->file) {
        put_attribute(buf, "file", finding->file);
        pt_buf_printf(buf, " line=\"%" PRIu32 "\"", finding->line);
    }
    pt_buf_printf(buf, " time=\"%.6f\"%s\n", finding->seconds, outcome == PASSED ? "/>" : ">");
    if (outcome == PASSED)
        return;
    if (outcome == FAILED) {
        put_failure(buf, finding);
    } else {
        pt_buf_puts(buf, outcome == BROKEN ? "      <error type=\"evaluation\"" : "      <skipped");
        put_reason(buf, finding->suppressed, finding->known, message);
    }
    pt_buf_puts(buf, "    </testcase>\n");
}

static void put_block(struct pt_buf *buf, const struct pt_block *block)
{
    pt_buf_puts(buf, "    <testcase classname=\"portent\" name=\"");
    if (block->thread_name[0])
        pt_xml_escape(buf, block->thread_name);
    else
        pt_buf_printf(buf, "thread %" PRIu32, block->thread);
    pt_buf_printf(buf, ", block %" PRIu32, block->number);
    if (block->name[0]) {
        pt_buf_puts(buf, ": ");
        pt_xml_escape(buf, block->name);
    }
    pt_buf_puts(buf, "\"");
    if (block->file[0])
        put_attribute(buf, "file", block->file);
    pt_buf_printf(buf, " line=\"%" PRIu32 "\"%s\n", block->line, block->atomic ? "/>" : ">");
    if (block->atomic)
        return;
    if (block_outcome(block) == SKIPPED) {
        pt_buf_puts(buf, "      <skipped");
        put_reason(buf, block->suppressed, block->known, "unknown");
        pt_buf_puts(buf, "    </testcase>\n");
        return;
    }
    pt_buf_puts(buf, "      <failure type=\"causal atomicity\" message=\"not causally atomic\">");
    for (uint32_t i = 0; i < block->step_count; i++) {
        pt_xml_escape(buf, block->steps[i].thread);
        pt_buf_puts(buf, ": ");
        pt_xml_escape(buf, block->steps[i].text);
        pt_buf_printf(buf, " (line %" PRIu32 ")\n", block->steps[i].line);
    }
    pt_buf_puts(buf, "</failure>\n    </testcase>\n");
}

void pt_report_junit(const struct pt_loaded *loaded, struct pt_buf *buf)
{
    const struct pt_result *result = &loaded->result;
    uint32_t counts[4] = {0};
    double seconds = 0;
    for (uint32_t i = 0; i < result->count; i++) {
        counts[outcome_of(result->findings[i])]++;
        seconds += result->findings[i]->seconds;
    }
    for (uint32_t i = 0; i < loaded->block_count; i++)
        counts[block_outcome(&loaded->blocks[i])]++;
    pt_buf_puts(buf, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite");
    put_attribute(buf, "name", !result->trace[0] && result->program ? result->program[0] : result->trace);
    pt_buf_printf(buf,
                  " tests=\"%" PRIu32 "\" failures=\"%" PRIu32 "\" errors=\"%" PRIu32 "\" skipped=\"%" PRIu32
                  "\" time=\"%.6f\">\n",
                  counts[PASSED] + counts[FAILED] + counts[BROKEN] + counts[SKIPPED], counts[FAILED], counts[BROKEN],
                  counts[SKIPPED], seconds);
    struct pt_strtab names;
    pt_strtab_init(&names);
    for (uint32_t i = 0; i < result->count; i++)
        put_case(buf, result->findings[i], &names);
    pt_strtab_release(&names);
    for (uint32_t i = 0; i < loaded->block_count; i++)
        put_block(buf, &loaded->blocks[i]);
    pt_buf_puts(buf, "  </testsuite>\n</testsuites>\n");
}

static void from_result(const struct pt_loaded *loaded, const struct pt_report_context *context, struct pt_buf *buf)
{
    (void)context;
    pt_report_junit(loaded, buf);
}

const struct pt_report_format pt_report_format_junit = {
    .name = "junit",
    .from_result = from_result,
};
