/*
 * portent report: a result or a trace, as something to look at or to hand on. What an input is, its first bytes tell:
 * a result is a JSON object, everything else is taken for a trace. Each format is a row of a table, with one function
 * for results and one for traces; the output appears under its name only when it is whole.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/diag.h"
#include "cli/file.h"

enum { OPT_HTML, OPT_SARIF, OPT_JUNIT, OPT_PERFETTO, OPT_SHIVIZ, OPT_TIMELINE, OPT_OUTPUT };

static const struct pt_option options_table[] = {
    [OPT_HTML] = {"html", 0, NULL, NULL, "one self-contained page for a browser"},
    [OPT_SARIF] = {"sarif", 0, NULL, NULL, "SARIF 2.1.0, for code review pages"},
    [OPT_JUNIT] = {"junit", 0, NULL, NULL, "JUnit XML, for test runners"},
    [OPT_PERFETTO] = {"perfetto", 0, NULL, NULL, "JSON for the Perfetto trace viewer"},
    [OPT_SHIVIZ] = {"shiviz", 0, NULL, NULL, "a log for ShiViz, with the regular expression it asks for"},
    [OPT_TIMELINE] = {"timeline", 0, NULL, NULL, "what each thread did when, as text; of a trace"},
    [OPT_OUTPUT] = {NULL, 'o', "FILE", NULL, "where to write (default: standard output)"},
    {0},
};

struct request {
    const char *input, *output;
    uint32_t format; /* an index into the table, or PT_NONE: the text that `check` prints */
};

/* Fills `buf` with the report of the file at `path`. */
typedef enum pt_status (*make_report)(const char *path, struct pt_buf *buf, struct pt_err *err);

/* NULL: this format cannot be made from that. */
static const struct {
    make_report from_result, from_trace;
} formats[OPT_OUTPUT] = {
    [OPT_HTML] = {NULL, NULL},
};

static bool set_options(struct request *request, const struct pt_parsed *parsed)
{
    *request = (struct request){.format = PT_NONE};
    for (uint32_t i = 0; i < parsed->option_count; i++) {
        uint32_t index = parsed->options[i].index;
        if (index == OPT_OUTPUT) {
            request->output = parsed->options[i].argument;
        } else if (request->format != PT_NONE && request->format != index) {
            pt_diag_usage("report", "--%s and --%s exclude each other", options_table[request->format].name,
                          options_table[index].name);
            return false;
        } else {
            request->format = index;
        }
    }
    if (parsed->operand_count != 1) {
        pt_diag_usage("report", "report takes one result or trace, not %u", parsed->operand_count);
        return false;
    }
    request->input = parsed->operands[0];
    return true;
}

static enum pt_status make(const struct request *request, struct pt_buf *buf, struct pt_err *err)
{
    bool result = pt_file_is_json(request->input);
    make_report made = NULL;
    if (request->format != PT_NONE)
        made = result ? formats[request->format].from_result : formats[request->format].from_trace;
    if (!made)
        return pt_err_at(err, PT_EUSAGE, request->input, 0, 0, "%s%s is not made from a %s",
                         request->format == PT_NONE ? "text" : "--",
                         request->format == PT_NONE ? "" : options_table[request->format].name,
                         result ? "result" : "trace");
    return made(request->input, buf, err);
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

static const char *const usages[] = {"[FORMAT] RESULT|TRACE [-o FILE]", NULL};

const struct pt_command pt_command_report = {
    .name = "report",
    .summary = "show a result or a trace: page, SARIF, JUnit, Perfetto, ShiViz",
    .usages = usages,
    .about = "Turns a result (what 'check --json', 'run -r' and 'model --json' write) or a trace into a report.\n\n"
             "Exit status: 0 written, 2 bad usage or input.",
    .options = options_table,
    .run = run,
};
