/*
 * portent report: a result or a trace, as something to look at or to hand on. An input is recognised by its first
 * bytes: a result is a JSON object, everything else is taken for a trace. Each report is a row of report/formats.def,
 * with one function for results and some for traces; the output appears under its name only when it is whole. A trace
 * streams through, a result and the report are held in memory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/common/analyse.h"
#include "cli/commands.h"
#include "cli/common/diag.h"
#include "cli/common/file.h"
#include "cli/common/made.h"
#include "cli/common/sources.h"
#include "cli/common/spool.h"
#include "cli/common/whatis.h"
#include "report/format.h"
#include "trace/source.h"
#include "trace/validate.h"

enum {
#define PT_REPORT(name, help) OPT_FORMAT_##name,
#include "report/formats.def"
    OPT_OUTPUT,
    OPT_SOURCE_ROOT,
    OPT_AT,
    OPT_COLOR,
    OPT_COUNT
};

static const struct pt_option options_table[] = {
#define PT_REPORT(name, help) [OPT_FORMAT_##name] = {#name, 0, NULL, NULL, help},
#include "report/formats.def"
    [OPT_OUTPUT] = {NULL, 'o', "FILE", NULL, "where to write (default: standard output)"},
    [OPT_SOURCE_ROOT] = {"source-root", 0, "DIR", NULL, "--html: quote lines of source files below DIR, too"},
    [OPT_AT] = {"at", 0, "EVENT", NULL, "of a trace: begin at this event, counted from 1"},
    [OPT_COLOR] = PT_OPTION_COLOR,
    [OPT_COUNT] = {0},
};

/* What the options choose. */
static const struct pt_report_format *const formats[OPT_OUTPUT] = {
#define PT_REPORT(name, help) [OPT_FORMAT_##name] = &pt_report_format_##name,
#include "report/formats.def"
};

struct request {
    const char *input, *output;
    const char *const *inputs; /* several results are put together */
    const char *const *named;  /* as the command line has them */
    uint32_t input_count;
    const char *color;
    const struct pt_report_format *format;
    struct pt_source_roots *roots;
    uint64_t at; /* the event to begin with; 0: nobody has said */
};

static bool set_options(struct request *request, const struct pt_parsed *parsed)
{
    *request = (struct request){.format = &pt_report_format_text, .color = "auto"};
    for (uint32_t i = 0; i < parsed->option_count; i++) {
        uint32_t index = parsed->options[i].index;
        if (index == OPT_OUTPUT) {
            request->output = parsed->options[i].argument;
        } else if (index == OPT_COLOR) {
            request->color = parsed->options[i].argument;
        } else if (index == OPT_AT) {
            if (!pt_parse_count("at", parsed->options[i].argument, UINT64_MAX, &request->at))
                return false;
        } else if (index == OPT_SOURCE_ROOT) {
            continue; /* add_roots */
        } else if (request->format != &pt_report_format_text && request->format != formats[index]) {
            pt_diag_usage("report", "--%s and --%s exclude each other", request->format->name, formats[index]->name);
            return false;
        } else {
            request->format = formats[index];
        }
    }
    uint32_t named = request->format->is_picture && parsed->operand_count == 2 && !request->output;
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

static enum pt_status add_roots(const struct request *request, const struct pt_parsed *parsed, struct pt_err *err)
{
    enum pt_status status = PT_OK;
    for (uint32_t i = 0; i < parsed->option_count && status == PT_OK; i++)
        if (parsed->options[i].index == OPT_SOURCE_ROOT)
            status = pt_source_roots_add(request->roots, parsed->options[i].argument, err);
    return status;
}

/* The file is of another kind than the report needs: what it is, and what is done with it. */
static enum pt_status not_made(const struct request *request, const char *from, struct pt_err *err)
{
    enum pt_file_kind kind = pt_whatis(request->input);
    bool text = request->format == &pt_report_format_text;
    if (kind != PT_FILE_RESULT && kind != PT_FILE_TRACE && kind != PT_FILE_UNKNOWN) {
        (void)pt_err_at(err, PT_EUSAGE, request->input, 1, 1, "this is %s: a report is made from a result or a trace",
                        pt_whatis_words(kind));
        pt_whatis_hint(request->input, kind, err);
        return PT_EUSAGE;
    }
    (void)pt_err_at(err, PT_EUSAGE, request->input, 0, 0, "%s%s cannot be made from a %s", text ? "" : "--",
                    request->format->name, from);
    if (request->format->from_result)
        pt_err_hint(err, "'portent check --json %s' makes a result; of a trace there are --timeline and --perfetto",
                    request->named[0]);
    else
        pt_err_hint(err, "it is drawn from a trace: 'portent run -o FILE.trace' and 'portent watch -o' record one");
    return PT_EUSAGE;
}

/* A result, and when its file was written: not all say when they were made. */
static enum pt_status load(const char *path, const char *named, struct pt_loaded **ret_loaded, struct pt_err *err)
{
    struct stat about;
    char text[PT_MADE_TIME];
    enum pt_status status = pt_file_result(path, ret_loaded, err);
    if (status == PT_OK && stat(path, &about) == 0 && S_ISREG(about.st_mode)) {
        pt_made_time(about.st_mtime, text);
        (*ret_loaded)->file = named;
        (*ret_loaded)->written = pt_arena_strndup(&(*ret_loaded)->arena, text, strlen(text));
    }
    return status;
}

/* All results of the command line as one. */
static enum pt_status load_all(const struct request *request, struct pt_loaded **ret_loaded, struct pt_err *err)
{
    struct pt_loaded *all = NULL, *more;
    enum pt_status status = load(request->inputs[0], request->named[0], &all, err);
    for (uint32_t i = 1; i < request->input_count && status == PT_OK; i++) {
        status = load(request->inputs[i], request->named[i], &more, err);
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

/* They have no events in an order, which is what these draw. */
static void warn_of_schedules(const struct request *request, const struct pt_loaded *loaded)
{
    struct pt_err warning;
    if (!loaded->result.explored ||
        (strcmp(request->format->name, "shiviz") != 0 && strcmp(request->format->name, "perfetto") != 0))
        return;
    (void)pt_err_set(&warning, PT_OK, "--%s does not show the schedules that 'explore' found: --html and text do",
                     request->format->name);
    pt_diag_warning(&warning);
}

static enum pt_status from_result(const struct request *request, const struct pt_report_context *context,
                                  struct pt_buf *buf, struct pt_err *err)
{
    struct pt_loaded *loaded;
    if (!request->format->from_result)
        return not_made(request, "result", err);
    if (request->at && access(request->input, R_OK) == 0)
        return pt_err_at(err, PT_EUSAGE, request->input, 0, 0, "--at is for traces, and this is a result");
    enum pt_status status = load_all(request, &loaded, err);
    if (status == PT_OK) {
        pt_source_roots_record(request->roots, loaded->result.source_roots);
        warn_of_schedules(request, loaded);
        request->format->from_result(loaded, context, buf);
        pt_loaded_free(loaded);
    }
    return status;
}

/* Every event of the trace, each a possible one after those before it; from the middle on, that is not known. A torn
 * trace is a warning. */
static enum pt_status read_trace(struct pt_source *source, uint64_t at, const struct pt_report_events *report,
                                 void *state, struct pt_err *err)
{
    struct pt_validator *validator = pt_validator_new(pt_source_label(source), pt_source_names(source));
    struct pt_event event;
    enum pt_status status = PT_OK;
    bool any = false;
    enum pt_read read = at ? pt_source_seek(source, at, err) : PT_READ_EVENT;
    while (read == PT_READ_EVENT && (read = pt_source_next(source, &event, err)) == PT_READ_EVENT) {
        status = at ? PT_OK : pt_validator_check(validator, &event, err);
        if (status != PT_OK)
            break;
        report->event(state, &event);
        any = true;
    }
    if (read == PT_READ_END && at && !any)
        status = pt_err_at(err, PT_EUSAGE, pt_source_label(source), 0, 0, "the trace ends before event %" PRIu64, at);
    if (read == PT_READ_TORN)
        pt_diag_warning(err);
    pt_validator_free(validator);
    return read == PT_READ_ERROR ? err->status : status;
}

static void warn_of_limits(const char *limits)
{
    struct pt_err warning;
    (void)pt_err_set(&warning, PT_OK, "the picture does not hold everything: %s", limits);
    pt_diag_warning(&warning);
}

static enum pt_status from_trace(const struct request *request, const struct pt_report_context *context,
                                 struct pt_buf *buf, struct pt_err *err)
{
    const struct pt_report_events *report = request->format->from_trace;
    struct pt_names names;
    struct pt_source *source;
    if (!report)
        return not_made(request, "trace", err);
    if (request->input_count > 1)
        return pt_err_at(err, PT_EUSAGE, request->inputs[1], 0, 0, "traces are reported one by one");
    pt_names_init(&names);
    enum pt_status status = pt_source_open(request->input, &names, &source, err);
    if (status == PT_OK) {
        void *state = report->begin(context, &names, buf);
        status = read_trace(source, request->at, report, state, err);
        const char *limits = status == PT_OK && report->limits ? report->limits(state) : "";
        if (limits[0])
            warn_of_limits(limits);
        report->finish(state, buf);
        pt_source_free(source);
        if (status != PT_OK) {
            pt_whatis_mend(request->input, PT_FILE_TRACE, err);
            pt_file_show_line(request->input, err);
        }
    }
    pt_names_release(&names);
    return status;
}

static enum pt_status make(const struct request *request, const struct pt_report_context *context, struct pt_buf *buf,
                           struct pt_err *err)
{
    struct stat about;
    if (strcmp(request->input, "-") == 0 && request->format->from_trace)
        return from_trace(request, context, buf, err);
    if (stat(request->input, &about) == 0 && S_ISDIR(about.st_mode))
        return pt_err_at(err, PT_EUSAGE, request->input, 0, 0,
                         "this is a folder: a report is made from a result or a trace");
    bool unreadable = access(request->input, R_OK) != 0; /* reading it as what is wanted will say why */
    if (pt_file_is_json(request->input) || (request->format->from_result && unreadable))
        return from_result(request, context, buf, err);
    return from_trace(request, context, buf, err);
}

/* Pipes among the inputs become files; the others stay. Messages are to speak of what the user has named. */
static enum pt_status spool(struct request *request, char ***ret_copies, struct pt_err *err)
{
    const char **inputs = pt_xcalloc(request->input_count, sizeof *inputs);
    char **copies = pt_xcalloc(request->input_count, sizeof *copies);
    enum pt_status status = PT_OK;
    for (uint32_t i = 0; i < request->input_count; i++) {
        bool stdin_result = strcmp(request->inputs[i], "-") == 0 && request->format->from_result;
        inputs[i] = request->inputs[i];
        if (status != PT_OK || (!stdin_result && !pt_spool_is_pipe(inputs[i])))
            continue;
        status = pt_spool(inputs[i], &copies[i], err);
        inputs[i] = status == PT_OK ? copies[i] : inputs[i];
    }
    request->named = request->inputs;
    request->inputs = inputs;
    request->input = inputs[0];
    *ret_copies = copies;
    return status;
}

static void unspool(const struct request *request, char **copies, struct pt_err *err)
{
    for (uint32_t i = 0; i < request->input_count; i++) {
        if (copies[i] && err && strcmp(err->file, copies[i]) == 0)
            snprintf(err->file, sizeof err->file, "%s", request->named[i]);
        free(copies[i]);
    }
    free(copies);
    free((void *)request->inputs);
}

static bool goes_to_file(const struct request *request)
{
    return request->output && strcmp(request->output, "-") != 0;
}

static enum pt_status make_report(const struct request *request, struct pt_buf *buf, struct pt_err *err)
{
    const char *color = goes_to_file(request) && strcmp(request->color, "auto") == 0 ? "never" : request->color;
    struct pt_source_files *files = pt_source_files_new(request->roots);
    char *folder = getcwd(NULL, 0);
    struct pt_report_context context = {.name = request->named[0],
                                        .folder = folder,
                                        .lines = pt_source_files_lend(files),
                                        .style = pt_analyse_style(STDOUT_FILENO, color),
                                        .made = pt_made_now()};
    enum pt_status status = make(request, &context, buf, err);
    free(folder);
    pt_source_files_free(files);
    return status;
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
    request.roots = pt_source_roots_new();
    char **copies;
    enum pt_status status = add_roots(&request, parsed, &err);
    if (status == PT_OK) {
        status = spool(&request, &copies, &err);
        if (status == PT_OK)
            status = make_report(&request, &buf, &err);
        unspool(&request, copies, status == PT_OK ? NULL : &err);
    }
    if (status == PT_OK && goes_to_file(&request))
        status = pt_file_write(request.output, &buf, &err);
    else if (status == PT_OK)
        ok = pt_output(&buf);
    if (status != PT_OK)
        pt_diag_error(&err);
    pt_source_roots_free(request.roots);
    pt_buf_release(&buf);
    return ok && status == PT_OK ? 0 : PT_EXIT_BAD;
}

static const char *const usages[] = {"[FORMAT] RESULT... [-o FILE]", "--perfetto TRACE [-o FILE]",
                                     "--timeline FILE.svg TRACE", NULL};

const struct pt_command pt_command_report = {
    .name = "report",
    .summary = "show a result or a trace: page, SARIF, JUnit, Perfetto, ShiViz",
    .usages = usages,
    .about = "Turns a result (what 'check --json', 'run -r', 'explore -r' and 'model --json' write) or a trace into a "
             "report; without "
             "a format, into the text that these commands print. Several results become one, in which the same "
             "violation stands once with a count.\n\n"
             "Exit status: 0 written, 2 bad usage or input.",
    .options = options_table,
    .run = run,
};
