/*
 * GitLab's Code Quality report: a list with an object for each violation that counts, which merge requests show beside
 * the line. The finding's id is its fingerprint, so GitLab itself tells old ones from new ones. Every object needs a
 * file and a line: a violation that names none stands at the first line of the trace or program it was found in. GitLab
 * compares whole reports, so what is suppressed, or in the baseline, is left out.
 */
#include <stdlib.h>
#include <string.h>

#include "report/format.h"
#include "report/json_writer.h"
#include "report/place.h"
#include "report/sentence.h"

struct entry {
    char *words;
    const char *check, *severity, *fingerprint;
    struct pt_sentence_place place;
};

static void put_entry(struct pt_json *json, const struct entry *entry, const char *base)
{
    size_t len = entry->place.len;
    const char *path = pt_loc_below(base, entry->place.path, &len);
    char *file = pt_xcalloc(len + 1, 1);
    memcpy(file, path, len);
    pt_json_open(json, NULL, '{');
    pt_json_string(json, "description", entry->words);
    pt_json_string(json, "check_name", entry->check);
    pt_json_string(json, "fingerprint", entry->fingerprint);
    pt_json_string(json, "severity", entry->severity);
    pt_json_open(json, "location", '{');
    pt_json_string(json, "path", file);
    pt_json_open(json, "lines", '{');
    pt_json_uint(json, "begin", entry->place.line ? entry->place.line : 1);
    pt_json_close(json, '}');
    pt_json_close(json, '}');
    pt_json_close(json, '}');
    free(file);
}

static struct pt_sentence_place somewhere(const struct pt_result *result)
{
    const char *path = result->trace && result->trace[0] ? result->trace
                       : result->program                 ? result->program[0]
                                                         : "portent";
    return (struct pt_sentence_place){path, strlen(path), 1, 0};
}

static void put_finding(struct pt_json *json, const struct pt_finding *finding, const struct pt_result *result,
                        const char *base)
{
    struct pt_finding_id id = pt_finding_id(finding);
    struct pt_buf check;
    pt_buf_init(&check);
    pt_buf_printf(&check, "portent/%s", finding->property);
    struct entry entry = {.words = pt_sentence_finding(finding),
                          .check = check.text,
                          /* What has happened is worse than what may. */
                          .severity = finding->how == PT_HOW_PREDICTED ? "critical" : "blocker",
                          .fingerprint = id.text,
                          .place = pt_sentence_place(finding)};
    if (!entry.place.path)
        entry.place = somewhere(result);
    put_entry(json, &entry, base);
    pt_buf_release(&check);
    free(entry.words);
}

static void put_block(struct pt_json *json, const struct pt_block *block, const struct pt_result *result,
                      const char *base)
{
    struct pt_finding_id id = pt_block_id(block);
    struct entry entry = {.words = pt_sentence_block(block),
                          .check = "portent/causal-atomicity",
                          .severity = "critical",
                          .fingerprint = id.text,
                          .place = {block->file, strlen(block->file), block->line, 0}};
    if (!block->file[0])
        entry.place = somewhere(result);
    put_entry(json, &entry, base);
    free(entry.words);
}

static void from_result(const struct pt_loaded *loaded, const struct pt_report_context *context, struct pt_buf *buf)
{
    struct pt_json json = {.buf = buf};
    pt_json_open(&json, NULL, '[');
    for (uint32_t i = 0; i < loaded->result.count; i++)
        if (pt_finding_counts(loaded->result.findings[i]))
            put_finding(&json, loaded->result.findings[i], &loaded->result, context->folder);
    for (uint32_t i = 0; i < loaded->block_count; i++)
        if (pt_block_counts(&loaded->blocks[i]))
            put_block(&json, &loaded->blocks[i], &loaded->result, context->folder);
    pt_json_close(&json, ']');
    pt_buf_puts(buf, "\n");
}

const struct pt_report_format pt_report_format_gitlab = {
    .name = "gitlab",
    .from_result = from_result,
};
