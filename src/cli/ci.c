/*
 * portent ci: everything that Portent can do with a test command, within a budget of time, and everything that a CI
 * wants to see of it. It consists of the other commands (ci/phases.c) and adds nothing to their answers. The exit
 * status is that of `run`: the tests' own, except where something was found or the answer is not whole.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/ci/child.h"
#include "cli/ci/phases.h"
#include "cli/ci/summary.h"
#include "cli/commands.h"
#include "cli/common/analyse.h"
#include "cli/common/diag.h"
#include "cli/common/interrupt.h"
#include "cli/common/progress.h"
#include "cli/run/whole.h"
#include "report/words.h"

#define DEFAULT_FOLDER "portent-ci"

enum { DEFAULT_EXIT = 66, DEFAULT_BUDGET_S = 600 };

enum {
    OPT_PROPERTIES,
    OPT_FOLDER,
    OPT_BUDGET,
    OPT_NO_PREDICT,
    OPT_NO_EXPLORE,
    OPT_SUPPRESSIONS,
    OPT_BASELINE,
    OPT_KEEP,
    OPT_EXIT_CODE,
    OPT_LENIENT,
    OPT_COLOR,
    OPT_QUIET,
};

static const struct pt_option options_table[] = {
    [OPT_PROPERTIES] = PT_OPTION_PROPERTIES,
    [OPT_FOLDER] = {NULL, 'o', "DIR", NULL, "where to write results and reports (default: " DEFAULT_FOLDER ")"},
    [OPT_BUDGET] = {"budget", 0, "TIME", NULL,
                    "how long all of it may take, as 90s, 10m (default: 10m), or 'all': the tests take what they need, "
                    "half of the rest is for predict, the other half for explore"},
    [OPT_NO_PREDICT] = {"no-predict", 0, NULL, NULL,
                        "do not record the tests and look at other orders of their events"},
    [OPT_NO_EXPLORE] = {"no-explore", 0, NULL, NULL, "do not run the programs under other schedules"},
    [OPT_SUPPRESSIONS] = PT_OPTION_SUPPRESSIONS,
    [OPT_BASELINE] = PT_OPTION_BASELINE,
    [OPT_KEEP] = {"keep", 0, NULL, NULL, "keep the recordings"},
    [OPT_EXIT_CODE] = {"exit-code", 0, "N", NULL, "the exit status when something was found (default: 66)"},
    [OPT_LENIENT] = {"lenient", 0, NULL, NULL,
                     "the tests' own exit status instead of 67 when nothing was found but the answer is not whole"},
    [OPT_COLOR] = PT_OPTION_COLOR,
    [OPT_QUIET] = {"quiet", 'q', NULL, NULL, "no text report: the files and the exit status tell"},
    {0},
};

struct request {
    struct pt_ci ci;
    uint64_t exit_code;
    bool lenient, quiet;
    const char *color;
};

static void push(const char **list, const char *item)
{
    while (*list)
        list++;
    *list = item;
}

static bool set_exit_code(struct request *request, const char *argument)
{
    if (strcmp(argument, "0") == 0) {
        request->exit_code = 0;
        return true;
    }
    return pt_parse_count("exit-code", argument, 255, &request->exit_code);
}

static bool set_option(struct request *request, uint32_t index, const char *argument)
{
    struct pt_ci *ci = &request->ci;
    switch (index) {
    case OPT_PROPERTIES:
        push(ci->properties, argument);
        break;
    case OPT_FOLDER:
        ci->folder = argument;
        break;
    case OPT_BUDGET:
        return pt_parse_time("budget", argument, &ci->budget);
    case OPT_NO_PREDICT:
        ci->skip[PT_CI_PREDICT] = true;
        break;
    case OPT_NO_EXPLORE:
        ci->skip[PT_CI_EXPLORE] = true;
        break;
    case OPT_SUPPRESSIONS:
        push(ci->suppressions, argument);
        break;
    case OPT_BASELINE:
        push(ci->baselines, argument);
        break;
    case OPT_KEEP:
        ci->keep = true;
        break;
    case OPT_EXIT_CODE:
        return set_exit_code(request, argument);
    case OPT_LENIENT:
        request->lenient = true;
        break;
    case OPT_COLOR:
        request->color = argument;
        break;
    default:
        request->quiet = true;
    }
    return true;
}

static bool set_options(struct request *request, const struct pt_parsed *parsed)
{
    struct pt_ci *ci = &request->ci;
    size_t room = (size_t)parsed->option_count + 1;
    ci->properties = pt_xcalloc(room, sizeof *ci->properties);
    ci->baselines = pt_xcalloc(room, sizeof *ci->baselines);
    ci->suppressions = pt_xcalloc(room, sizeof *ci->suppressions);
    for (uint32_t i = 0; i < parsed->option_count; i++)
        if (!set_option(request, parsed->options[i].index, parsed->options[i].argument))
            return false;
    if (parsed->operand_count == 0) {
        pt_diag_usage("ci", "a test command is missing: portent ci [OPTIONS] -- COMMAND [ARGS]");
        return false;
    }
    const char **command = pt_xcalloc((size_t)parsed->operand_count + 1, sizeof *command);
    memcpy(command, parsed->operands, parsed->operand_count * sizeof *command);
    ci->command = command;
    return true;
}

static enum pt_status make_folder(const char *folder, struct pt_err *err)
{
    if (mkdir(folder, 0777) == 0 || errno == EEXIST)
        return PT_OK;
    return pt_err_at(err, PT_EIO, folder, 0, 0, "cannot create the folder: %s", strerror(errno));
}

static void say(const struct request *request, const char *what)
{
    if (!request->quiet)
        fprintf(stderr, "portent ci: %s\n", what);
}

static void print_lines(const char *title, const struct pt_buf *lines)
{
    for (const char *line = lines->text; line && *line;) {
        size_t len = strcspn(line, "\n");
        fprintf(stderr, "portent ci: %s%.*s\n", title, (int)len, line);
        line += len + (line[len] == '\n');
    }
}

static int conclude(const struct request *request, const struct pt_ci_counts *counts, const struct pt_buf *text)
{
    const struct pt_ci *ci = &request->ci;
    uint32_t found = counts->observed + counts->predicted + counts->other;
    bool whole = !ci->reasons.len;
    if (!request->quiet) {
        fputs(text->text ? text->text : "", stderr);
        print_lines("", &ci->notes);
    }
    print_lines("not whole: ", &ci->reasons);
    if (found)
        fprintf(stderr, "SUMMARY: portent ci: %u finding%s (%u observed, %u predicted); reports in %s\n", found,
                pt_words_plural(found), counts->observed + counts->other, counts->predicted, ci->folder);
    else if (!request->quiet)
        fprintf(stderr, "portent ci: nothing found; reports in %s\n", ci->folder);
    if (ci->bad && !found)
        return PT_EXIT_BAD;
    return pt_whole_exit(ci->tests_status, found > 0, (int)request->exit_code, whole, request->lenient);
}

static int execute(struct request *request)
{
    struct pt_ci *ci = &request->ci;
    struct pt_style style = pt_analyse_style(STDERR_FILENO, request->color);
    struct pt_ci_counts counts = {0};
    struct pt_buf text;
    struct pt_err err;
    int exit_status = PT_EXIT_BAD;
    pt_buf_init(&text);
    pt_interrupt_catch_all();
    ci->began = pt_progress_now();
    say(request, "the tests run, observed");
    enum pt_status status = pt_ci_run(ci, &err);
    if (status != PT_OK) {
        pt_diag_error(&err);
        return ci->run_status ? ci->run_status : PT_EXIT_BAD;
    }
    if (!ci->skip[PT_CI_PREDICT])
        say(request, "the tests run again, recorded; other orders of their events are looked at");
    pt_ci_predict(ci);
    if (!ci->skip[PT_CI_EXPLORE])
        say(request, "their programs run under other schedules");
    pt_ci_explore(ci);
    status = pt_ci_summarise(ci, &style, &counts, &text, &err);
    if (status == PT_OK)
        exit_status = conclude(request, &counts, &text);
    else
        pt_diag_error(&err);
    pt_buf_release(&text);
    return exit_status;
}

static void release(struct pt_ci *ci)
{
    for (uint32_t i = 0; i < ci->result_count; i++) {
        free(ci->results[i].path);
        free(ci->results[i].program);
    }
    for (uint32_t i = 0; i < PT_CI_PHASES; i++)
        pt_buf_release(&ci->rows[i].words);
    free(ci->results);
    free(ci->properties);
    free(ci->baselines);
    free(ci->suppressions);
    free((void *)ci->command);
    pt_buf_release(&ci->reasons);
    pt_buf_release(&ci->notes);
    pt_triage_release(&ci->triage);
    pt_ci_plan_release(&ci->plan);
}

static int run(const struct pt_parsed *parsed)
{
    struct request request = {.ci = {.folder = DEFAULT_FOLDER, .budget = (uint64_t)DEFAULT_BUDGET_S * 1000000000},
                              .exit_code = DEFAULT_EXIT,
                              .color = "auto"};
    struct pt_err err;
    int exit_status = PT_EXIT_BAD;
    pt_triage_init(&request.ci.triage);
    pt_arena_init(&request.ci.plan.arena);
    if (set_options(&request, parsed)) {
        enum pt_status status = pt_triage_load(&request.ci.triage, options_table, parsed, &err);
        if (status == PT_OK)
            status = make_folder(request.ci.folder, &err);
        if (status == PT_OK)
            exit_status = execute(&request);
        else
            pt_diag_error(&err);
    }
    release(&request.ci);
    return exit_status;
}

static const char *const usages[] = {"[-s FILE.prop]... [--budget TIME] [-o DIR] [OPTIONS] -- COMMAND [ARGS]", NULL};

const struct pt_command pt_command_ci = {
    .name = "ci",
    .summary = "all of it on a test command, within a budget, with reports for a CI",
    .usages = usages,
    .about =
        "Runs a test command, 'make test' for instance, whose programs were built with 'portent cc', and looks for "
        "data "
        "races, deadlocks, wrong lifetimes and violated properties three times over: in the run as it is (portent "
        "run); in "
        "other orders of its events (a second run that is recorded, portent check); and under other schedules, each "
        "program with threads that the tests started by itself (portent explore). Writes one result (result.json, "
        "which a later run takes as --baseline), report.html, portent.sarif, portent.xml (JUnit), gitlab.json (Code "
        "Quality) and summary.md, which is also appended to the file that GITHUB_STEP_SUMMARY names.\n\n"
        "Exit status: that of 'portent run': the tests' own, except 66 when something was found, and 67 when the tests "
        "passed and nothing was found, but the answer is not whole; 2 bad usage or input.",
    .options = options_table,
    .run = run,
};
