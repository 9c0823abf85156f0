/*
 * One result of all phases: where the tests were one program, its results are merged as `report` merges them; where
 * they were several processes, the run's list of them grows by what prediction and exploration say of each, so that
 * findings keep the name of their process. The reports are those of `portent report` on that result, and the summary is
 * its Markdown below a table of the phases. Linear in the size of the results.
 */
#include "cli/ci/summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/file.h"
#include "cli/common/made.h"
#include "cli/common/source_roots.h"
#include "cli/common/sources.h"
#include "report/format.h"
#include "report/json.h"
#include "report/json_writer.h"
#include "report/text.h"
#include "report/words.h"

/* --- one result --- */

/* One program: all of it together. */
static enum pt_status merge(const struct pt_ci *ci, struct pt_buf *json, struct pt_err *err)
{
    struct pt_loaded *all, *more;
    enum pt_status status = pt_file_result(ci->results[0].path, &all, err);
    if (status != PT_OK)
        return status;
    for (uint32_t i = 1; i < ci->result_count && status == PT_OK; i++) {
        status = pt_file_result(ci->results[i].path, &more, err);
        if (status == PT_OK)
            pt_loaded_merge(all, more);
    }
    if (status == PT_OK)
        pt_report_json(&all->result, json);
    pt_loaded_free(all);
    return status;
}

/* The list of processes is the last member of the run's result; what is added stands before its end. */
static enum pt_status extend(const struct pt_ci *ci, struct pt_buf *json, struct pt_err *err)
{
    char *text;
    size_t len;
    enum pt_status status = pt_file_read(ci->results[0].path, &text, &len, err);
    if (status != PT_OK)
        return status;
    while (len && strchr("}] \n", text[len - 1]))
        if (text[--len] == ']')
            break;
    pt_buf_add(json, text, len);
    bool before = len && text[len - 1] != '[';
    free(text);
    for (uint32_t i = 1; i < ci->result_count && status == PT_OK; i++) {
        struct pt_json item = {.buf = json, .has_before = before};
        status = pt_file_read(ci->results[i].path, &text, &len, err);
        if (status != PT_OK)
            break;
        pt_json_open(&item, NULL, '{');
        pt_json_uint(&item, "pid", ci->results[i].pid);
        pt_json_string(&item, "program", ci->results[i].program);
        pt_json_text(&item, "result", text);
        pt_json_close(&item, '}');
        before = true;
        free(text);
    }
    pt_buf_puts(json, "]}\n");
    return status;
}

/* Nothing was observed: an empty result, so that every report is there all the same. */
static void put_empty(const struct pt_ci *ci, struct pt_buf *json)
{
    struct pt_result none = {.trace = ci->command[0], .program = ci->command};
    pt_report_json(&none, json);
}

static enum pt_status combine(const struct pt_ci *ci, const char *path, struct pt_err *err)
{
    struct pt_buf json;
    enum pt_status status = PT_OK;
    pt_buf_init(&json);
    if (!ci->result_count)
        put_empty(ci, &json);
    else
        status = ci->plan.several ? extend(ci, &json, err) : merge(ci, &json, err);
    if (status == PT_OK)
        status = pt_file_write(path, &json, err);
    pt_buf_release(&json);
    return status;
}

/* --- the summary --- */

static void put_phases(const struct pt_ci *ci, struct pt_buf *buf)
{
    static const char *const names[] = {"run", "predict", "explore"};
    pt_buf_puts(buf, "\n| phase | | seconds |\n|---|---|---:|\n");
    for (uint32_t i = 0; i < PT_CI_PHASES; i++) {
        const struct pt_ci_row *row = &ci->rows[i];
        pt_buf_printf(buf, "| %s | %s | ", names[i], row->words.text ? row->words.text : "");
        if (row->done)
            pt_buf_printf(buf, "%.1f", row->seconds);
        pt_buf_puts(buf, " |\n");
    }
}

/* Lines of text as a list. */
static void put_list(struct pt_buf *buf, const char *title, const struct pt_buf *lines)
{
    if (!lines->len)
        return;
    pt_buf_printf(buf, "\n%s\n\n", title);
    for (const char *line = lines->text; *line;) {
        size_t len = strcspn(line, "\n");
        pt_buf_printf(buf, "- %.*s\n", (int)len, line);
        line += len + (line[len] == '\n');
    }
}

static void put_summary(const struct pt_ci *ci, const struct pt_loaded *loaded, const struct pt_report_context *context,
                        struct pt_buf *buf)
{
    pt_report_format_markdown.from_result(loaded, context, buf);
    pt_buf_printf(buf, "\nThe tests ended with status %d.\n", ci->tests_status);
    put_phases(ci, buf);
    put_list(buf, "**Not whole:**", &ci->reasons);
    put_list(buf, "Not done to the end:", &ci->notes);
}

/* Where GitHub's runners show it on the page of the job. */
static void append_to_job(const struct pt_buf *summary)
{
    const char *path = getenv("GITHUB_STEP_SUMMARY");
    FILE *file = path && *path ? fopen(path, "ae") : NULL;
    if (!path || !*path)
        return;
    bool written = file && fwrite(summary->text, 1, summary->len, file) == summary->len;
    if (file && fclose(file) != 0)
        written = false;
    if (!written)
        fprintf(stderr, "portent ci: %s cannot be written: %s\n", path, strerror(errno));
}

/* --- all of them --- */

static void count(const struct pt_loaded *loaded, struct pt_ci_counts *counts)
{
    *counts = (struct pt_ci_counts){0};
    for (uint32_t i = 0; i < loaded->result.count; i++) {
        const struct pt_finding *finding = loaded->result.findings[i];
        if (!pt_finding_counts(finding))
            continue;
        counts->observed += finding->how == PT_HOW_OBSERVED;
        counts->predicted += finding->how == PT_HOW_PREDICTED;
        counts->other += finding->how != PT_HOW_OBSERVED && finding->how != PT_HOW_PREDICTED;
    }
}

/* What counts, and everything that is no violation in one line each. */
static void put_text(const struct pt_loaded *loaded, const struct pt_style *style, struct pt_buf *text)
{
    uint32_t left_out = 0;
    for (uint32_t i = 0; i < loaded->result.count; i++) {
        const struct pt_finding *finding = loaded->result.findings[i];
        if (finding->verdict == PT_VERDICT_VIOLATED && !pt_finding_counts(finding)) {
            left_out++;
            continue;
        }
        if (finding->process && finding->verdict == PT_VERDICT_VIOLATED)
            pt_words_paragraph(text, style, 0, 0, "In %s:", finding->process);
        pt_report_text(finding, style, text);
        pt_buf_puts(text, "\n");
    }
    if (left_out)
        pt_buf_printf(text, "%" PRIu32 " suppressed, or in the baseline.\n", left_out);
}

static enum pt_status write_reports(const struct pt_ci *ci, const struct pt_loaded *loaded,
                                    const struct pt_report_context *context, struct pt_err *err)
{
    static const struct {
        const struct pt_report_format *format;
        const char *file;
    } reports[] = {{&pt_report_format_html, "report.html"},
                   {&pt_report_format_sarif, "portent.sarif"},
                   {&pt_report_format_junit, "portent.xml"},
                   {&pt_report_format_gitlab, "gitlab.json"}};
    enum pt_status status = PT_OK;
    for (size_t i = 0; i < sizeof reports / sizeof *reports && status == PT_OK; i++) {
        char *path = pt_ci_file(ci, reports[i].file);
        struct pt_buf buf;
        pt_buf_init(&buf);
        reports[i].format->from_result(loaded, context, &buf);
        status = pt_file_write(path, &buf, err);
        pt_buf_release(&buf);
        free(path);
    }
    return status;
}

static enum pt_status write_summary(const struct pt_ci *ci, const struct pt_loaded *loaded,
                                    const struct pt_report_context *context, struct pt_err *err)
{
    char *path = pt_ci_file(ci, "summary.md");
    struct pt_buf buf;
    pt_buf_init(&buf);
    put_summary(ci, loaded, context, &buf);
    enum pt_status status = pt_file_write(path, &buf, err);
    if (status == PT_OK)
        append_to_job(&buf);
    pt_buf_release(&buf);
    free(path);
    return status;
}

enum pt_status pt_ci_summarise(struct pt_ci *ci, const struct pt_style *style, struct pt_ci_counts *ret_counts,
                               struct pt_buf *text, struct pt_err *err)
{
    struct pt_loaded *loaded;
    char *path = pt_ci_file(ci, "result.json"), *folder = getcwd(NULL, 0);
    struct pt_source_roots *roots = pt_source_roots_new();
    struct pt_source_files *files = pt_source_files_new(roots);
    enum pt_status status = combine(ci, path, err);
    if (status == PT_OK)
        status = pt_file_result(path, &loaded, err);
    if (status == PT_OK) {
        struct pt_report_context context = {.name = path,
                                            .folder = folder,
                                            .lines = pt_source_files_lend(files),
                                            .style = *style,
                                            .made = pt_made_now()};
        pt_source_roots_record(roots, loaded->result.source_roots);
        count(loaded, ret_counts);
        status = write_reports(ci, loaded, &context, err);
        if (status == PT_OK)
            status = write_summary(ci, loaded, &context, err);
        put_text(loaded, style, text);
        pt_loaded_free(loaded);
    }
    pt_source_files_free(files);
    pt_source_roots_free(roots);
    free(folder);
    free(path);
    return status;
}
