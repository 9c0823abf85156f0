/*
 * portent report: a result or a trace, as something to look at or to hand on. What an input is, its first bytes tell:
 * a result is a JSON object, everything else is taken for a trace. Each format is a row of a table, with one function
 * for results and one for traces; the output appears under its name only when it is whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/analyse.h"
#include "cli/commands.h"
#include "cli/common/diag.h"
#include "cli/common/file.h"
#include "cli/common/report_trace.h"
#include "cli/common/sources.h"
#include "report/blocks.h"
#include "report/junit.h"
#include "report/perfetto_run.h"
#include "report/result.h"
#include "report/sarif.h"
#include "report/shiviz.h"
#include "report/text.h"

enum { OPT_HTML, OPT_SARIF, OPT_JUNIT, OPT_PERFETTO, OPT_SHIVIZ, OPT_TIMELINE, OPT_OUTPUT, OPT_COLOR };

static const struct pt_option options_table[] = {
    [OPT_HTML] = {"html", 0, NULL, NULL, "one self-contained page for a browser"},
    [OPT_SARIF] = {"sarif", 0, NULL, NULL, "SARIF 2.1.0, for code review pages"},
    [OPT_JUNIT] = {"junit", 0, NULL, NULL, "JUnit XML, for test runners"},
    [OPT_PERFETTO] = {"perfetto", 0, NULL, NULL,
                      "JSON for the Perfetto trace viewer, of a result or a trace; of a trace speedscope reads it too"},
    [OPT_SHIVIZ] = {"shiviz", 0, NULL, NULL, "a log for ShiViz, with the regular expression it asks for"},
    [OPT_TIMELINE] = {"timeline", 0, NULL, NULL, "what each thread did when, as an SVG picture; of a trace"},
    [OPT_OUTPUT] = {NULL, 'o', "FILE", NULL, "where to write (default: standard output)"},
    [OPT_COLOR] = PT_OPTION_COLOR,
    {0},
};

struct request {
    const char *input, *output;
    const char *const *inputs; /* several results are put together */
    uint32_t input_count;
    const char *color;
    uint32_t format; /* an index into the table, or PT_NONE: the text that `check` prints */
};

static void put_html(const struct request *request, const struct pt_loaded *loaded, struct pt_buf *buf)
{
    struct pt_source_files *files = pt_source_files_new();
    struct pt_sources sources = pt_source_files_lend(files);
    pt_report_html(loaded, request->input, &sources, buf);
    pt_source_files_free(files);
}

static void put_sarif(const struct request *request, const struct pt_loaded *loaded, struct pt_buf *buf)
{
    (void)request;
    char *base = getcwd(NULL, 0);
    pt_report_sarif(loaded, base, buf);
    free(base);
}

static void put_junit(const struct request *request, const struct pt_loaded *loaded, struct pt_buf *buf)
{
    (void)request;
    pt_report_junit(loaded, buf);
}

static void put_perfetto(const struct request *request, const struct pt_loaded *loaded, struct pt_buf *buf)
{
    (void)request;
    pt_report_perfetto_runs(loaded, buf);
}

static void put_shiviz(const struct request *request, const struct pt_loaded *loaded, struct pt_buf *buf)
{
    (void)request;
    pt_report_shiviz(loaded, buf);
}

/* NULL: this format cannot be made from that. Traces are named, since they may be too long to be loaded. */
static const struct {
    void (*from_result)(const struct request *request, const struct pt_loaded *loaded, struct pt_buf *buf);
    enum pt_status (*from_trace)(const char *path, struct pt_buf *buf, struct pt_err *err);
} formats[OPT_OUTPUT] = {
    [OPT_HTML] = {put_html, NULL},     [OPT_SARIF] = {put_sarif, NULL},
    [OPT_JUNIT] = {put_junit, NULL},   [OPT_PERFETTO] = {put_perfetto, pt_report_trace_perfetto},
    [OPT_SHIVIZ] = {put_shiviz, NULL}, [OPT_TIMELINE] = {NULL, pt_report_trace_timeline},
};

static void put_text(const struct request *request, const struct pt_loaded *loaded, struct pt_buf *buf)
{
    bool to_file = request->output && strcmp(request->output, "-") != 0;
    struct pt_style style =
        pt_analyse_style(STDOUT_FILENO, to_file && strcmp(request->color, "auto") == 0 ? "never" : request->color);
    for (uint32_t i = 0; i < loaded->result.count; i++) {
        if (i > 0)
            pt_buf_puts(buf, "\n");
        pt_report_text(loaded->result.findings[i], &style, buf);
    }
    if (loaded->is_model || loaded->block_count) {
        pt_buf_puts(buf, loaded->result.count ? "\n" : "");
        pt_report_blocks(loaded, &style, buf);
    }
}

static bool set_options(struct request *request, const struct pt_parsed *parsed)
{
    *request = (struct request){.format = PT_NONE, .color = "auto"};
    for (uint32_t i = 0; i < parsed->option_count; i++) {
        uint32_t index = parsed->options[i].index;
        if (index == OPT_OUTPUT) {
            request->output = parsed->options[i].argument;
        } else if (index == OPT_COLOR) {
            request->color = parsed->options[i].argument;
        } else if (request->format != PT_NONE && request->format != index) {
            pt_diag_usage("report", "--%s and --%s exclude each other", options_table[request->format].name,
                          options_table[index].name);
            return false;
        } else {
            request->format = index;
        }
    }
    /* A picture is a file, as in --timeline FILE.svg TRACE. */
    uint32_t named = request->format == OPT_TIMELINE && parsed->operand_count == 2 && !request->output;
    if (named)
        request->output = parsed->operands[0];
    if (parsed->operand_count == 0) {
        pt_diag_usage("report", "a result or a trace is missing");
        return false;
    }
    request->inputs = parsed->operands + named;
    request->input_count = parsed->operand_count - named;
    request->input = request->inputs[0];
    return true;
}

static enum pt_status not_made(const struct request *request, const char *from, struct pt_err *err)
{
    return pt_err_at(err, PT_EUSAGE, request->input, 0, 0, "%s%s cannot be made from a %s",
                     request->format == PT_NONE ? "text" : "--",
                     request->format == PT_NONE ? "" : options_table[request->format].name, from);
}

/* All results of the command line as one. */
static enum pt_status load_all(const struct request *request, struct pt_loaded **ret_loaded, struct pt_err *err)
{
    struct pt_loaded *all = NULL, *more;
    enum pt_status status = pt_file_result(request->inputs[0], &all, err);
    for (uint32_t i = 1; i < request->input_count && status == PT_OK; i++) {
        status = pt_file_result(request->inputs[i], &more, err);
        if (status != PT_OK)
            break;
        pt_loaded_merge(all, more);
    }
    if (status == PT_OK)
        *ret_loaded = all;
    else
        pt_loaded_free(all);
    return status;
}

static enum pt_status from_result(const struct request *request, struct pt_buf *buf, struct pt_err *err)
{
    void (*put)(const struct request *, const struct pt_loaded *, struct pt_buf *) =
        request->format == PT_NONE ? put_text : formats[request->format].from_result;
    struct pt_loaded *loaded;
    if (!put)
        return not_made(request, "result", err);
    enum pt_status status = load_all(request, &loaded, err);
    if (status == PT_OK) {
        put(request, loaded, buf);
        pt_loaded_free(loaded);
    }
    return status;
}

static enum pt_status make(const struct request *request, struct pt_buf *buf, struct pt_err *err)
{
    bool text = request->format == PT_NONE, of_results = text || formats[request->format].from_result;
    bool unreadable = access(request->input, R_OK) != 0; /* reading it as what is wanted will say why */
    if (pt_file_is_json(request->input) || (of_results && unreadable))
        return from_result(request, buf, err);
    if (text || !formats[request->format].from_trace)
        return not_made(request, "trace", err);
    if (request->input_count > 1)
        return pt_err_at(err, PT_EUSAGE, request->inputs[1], 0, 0, "traces are reported one by one");
    return formats[request->format].from_trace(request->input, buf, err);
}

static int run(const struct pt_parsed *parsed)
{
    struct request request;
    struct pt_err err;
    if (!set_options(&request, parsed))
        return PT_EXIT_BAD;
    struct pt_buf buf;
    pt_buf_init(&buf);
    bool ok = true;
    enum pt_status status = make(&request, &buf, &err);
    if (status == PT_OK && request.output && strcmp(request.output, "-") != 0)
        status = pt_file_write(request.output, &buf, &err);
    else if (status == PT_OK)
        ok = pt_output(&buf);
    if (status != PT_OK)
        pt_diag_error(&err);
    pt_buf_release(&buf);
    return ok && status == PT_OK ? 0 : PT_EXIT_BAD;
}

static const char *const usages[] = {"[FORMAT] RESULT... [-o FILE]", "--perfetto TRACE [-o FILE]",
                                     "--timeline FILE.svg TRACE", NULL};

const struct pt_command pt_command_report = {
    .name = "report",
    .summary = "show a result or a trace: page, SARIF, JUnit, Perfetto, ShiViz",
    .usages = usages,
    .about =
        "Turns a result (what 'check --json', 'run -r' and 'model --json' write) or a trace into a report; without "
        "a format, into the text that these commands print. Several results become one, in which the same "
        "violation stands once with a count.\n\n"
        "Exit status: 0 written, 2 bad usage or input.",
    .options = options_table,
    .run = run,
};
