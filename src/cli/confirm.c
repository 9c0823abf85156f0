/*
 * portent confirm: a result's predictions, put to the test: for each predicted violation one more run of the program,
 * held to the predicted order (run/replay.c). What is confirmed was observed; what is not keeps the reason. The cost
 * is one run of the program per finding.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/run/confirm_result.h"
#include "cli/common/diag.h"
#include "cli/common/file.h"
#include "cli/run/launch.h"
#include "cli/run/settings.h"
#include "report/json.h"
#include "report/result.h"
#include "report/words.h"

enum { OPT_PROPERTIES, OPT_NAME, OPT_ID, OPT_RESULT, OPT_TIMEOUT, OPT_LIMIT, OPT_MODULE, OPT_COLOR, OPT_QUIET };

static const struct pt_option options_table[] = {
    [OPT_PROPERTIES] = {NULL, 's', "FILE.prop", NULL,
                        "where the property stands (default: the file that the result names)"},
    [OPT_NAME] = {NULL, 'p', "NAME", NULL, "confirm the violation of this property only"},
    [OPT_ID] = {"id", 0, "ID", NULL, "confirm the violation with this id only"},
    [OPT_RESULT] = {NULL, 'r', "FILE.json", NULL, "write the result to this file, with what was confirmed"},
    [OPT_TIMEOUT] = PT_OPTION_TIMEOUT,
    [OPT_LIMIT] = {"limit", 0, "N", NULL,
                   "confirm at most so many violations, each a run of the program (default: 20)"},
    [OPT_MODULE] = {"module", 0, "FILE.so", NULL,
                    "look for names in this library too, which the program opens later; may be repeated"},
    [OPT_COLOR] = PT_OPTION_COLOR,
    [OPT_QUIET] = {"quiet", 'q', NULL, NULL, "say nothing: the exit status tells"},
    {0},
};

struct request {
    struct pt_confirm confirm;
    struct pt_settings settings;
    const char *color, *result_path;
    const char **modules; /* then NULL */
    char *program;
};

static bool set_options(struct request *request, const struct pt_parsed *parsed)
{
    uint32_t modules = 0;
    uint64_t seconds = PT_CONFIRM_SECONDS, limit = PT_CONFIRM_MOST;
    request->modules = pt_xcalloc((size_t)parsed->option_count + 1, sizeof *request->modules);
    for (uint32_t i = 0; i < parsed->option_count; i++) {
        const char *argument = parsed->options[i].argument;
        switch (parsed->options[i].index) {
        case OPT_PROPERTIES:
            request->confirm.replay.properties = argument;
            break;
        case OPT_NAME:
            request->confirm.name = argument;
            break;
        case OPT_ID:
            request->confirm.id = argument;
            break;
        case OPT_RESULT:
            request->result_path = argument;
            break;
        case OPT_TIMEOUT:
            if (!pt_parse_count("timeout", argument, 1000000, &seconds))
                return false;
            break;
        case OPT_LIMIT:
            if (!pt_parse_count("limit", argument, 1000000, &limit))
                return false;
            break;
        case OPT_MODULE:
            request->modules[modules++] = argument;
            break;
        case OPT_COLOR:
            request->color = argument;
            break;
        default:
            request->confirm.quiet = true;
        }
    }
    request->confirm.limit = (uint32_t)limit;
    request->confirm.replay.patience = seconds * 1000000000;
    if (parsed->operand_count < 2) {
        pt_diag_usage("confirm", parsed->operand_count
                                     ? "a program is missing: portent confirm RESULT.json -- PROGRAM [ARGS]"
                                     : "a result is missing");
        return false;
    }
    return true;
}

static enum pt_status load(const char *path, struct pt_loaded **ret_loaded, struct pt_err *err)
{
    enum pt_status status = pt_file_result(path, ret_loaded, err);
    if (status == PT_OK && (*ret_loaded)->is_model) {
        pt_loaded_free(*ret_loaded);
        status = pt_err_at(err, PT_EINPUT, path, 0, 0, "a result of 'model' is not about a run of a program");
    }
    return status;
}

static enum pt_status write_result(const struct request *request, const struct pt_result *result, struct pt_err *err)
{
    if (!request->result_path)
        return PT_OK;
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_report_json(result, &buf);
    enum pt_status status = pt_file_write(request->result_path, &buf, err);
    pt_buf_release(&buf);
    return status;
}

static int summarise(const struct pt_confirm *confirm, const char *path, const struct pt_confirm_counts *counts)
{
    uint32_t all = counts->confirmed + counts->not_reproduced;
    if (!confirm->quiet && all)
        pt_confirm_summary(counts);
    else if (!confirm->quiet && !counts->refused)
        fprintf(stderr, "portent confirm: there is no %spredicted violation in %s\n",
                confirm->name || confirm->id ? "such " : "", path);
    return counts->confirmed ? PT_EXIT_VIOLATED : all ? PT_EXIT_UNKNOWN : PT_EXIT_HOLDS;
}

static enum pt_status confirm_file(struct request *request, const char *path, int *ret_exit, struct pt_err *err)
{
    struct pt_loaded *loaded;
    struct pt_confirm_counts counts;
    enum pt_status status = load(path, &loaded, err);
    if (status != PT_OK)
        return status;
    loaded->result.blocks = loaded->of_run;
    request->confirm.replay.foreign = !loaded->result.program;
    request->confirm.usual = loaded->result.ended ? loaded->result.program_status : PT_STATUS_UNKNOWN;
    status = pt_confirm_result(&request->confirm, &loaded->result, &counts, err);
    if (status == PT_OK)
        status = write_result(request, &loaded->result, err);
    if (status == PT_OK)
        *ret_exit = summarise(&request->confirm, path, &counts);
    pt_confirm_release(&request->confirm);
    pt_loaded_free(loaded);
    return status;
}

static int run(const struct pt_parsed *parsed)
{
    struct request request = {.color = "auto"};
    struct pt_err err;
    int exit_status = PT_EXIT_BAD;
    pt_settings_load(&request.settings);
    if (set_options(&request, parsed))
        request.program = pt_launch_find(parsed->operands[1], &exit_status, &err);
    else
        goto out;
    if (!request.program) {
        pt_diag_error(&err);
        goto out;
    }
    const char **arguments = pt_xcalloc(parsed->operand_count, sizeof *arguments);
    memcpy(arguments, parsed->operands + 1, (parsed->operand_count - 1) * sizeof *arguments);
    request.confirm.style = pt_analyse_style(STDERR_FILENO, request.color);
    request.confirm.replay.program = request.program;
    request.confirm.replay.arguments = arguments;
    request.confirm.replay.modules = request.modules;
    request.confirm.replay.settings = &request.settings;
    if (confirm_file(&request, parsed->operands[0], &exit_status, &err) != PT_OK) {
        exit_status = PT_EXIT_BAD;
        if (err.file[0] && err.line && !err.source[0])
            pt_file_show_line(err.file, &err);
        pt_diag_error(&err);
    }
    free(arguments);
out:
    free(request.modules);
    free(request.program);
    return exit_status;
}

static const char *const usages[] = {"RESULT.json [OPTIONS] -- PROGRAM [ARGS]", NULL};

const struct pt_command pt_command_confirm = {
    .name = "confirm",
    .summary = "run a program again in the order of a predicted violation",
    .usages = usages,
    .about =
        "Runs PROGRAM, which was built with 'portent cc' or 'portent c++', once for each predicted violation of a "
        "result that 'run -r' or 'check --json' wrote, and makes its threads wait for each other so that the events "
        "of the property, and in wider orders the locks, come in the predicted order; a predicted race, deadlock or "
        "use of freed memory is confirmed in the same way, and a block that 'check --atomicity' saw disturbed is "
        "disturbed "
        "once more. Then the thread that broke it goes on alone, as far as it "
        "can, and the others one by one. CONFIRMED: the run really broke the property; whether the program's own check "
        "failed, too, is told beside it. NOT REPRODUCED: it did not, with the reason: the program diverged, was "
        "blocked, took too long, or computed other values. What is said goes to standard error; input and output are "
        "the program's.\n\n"
        "Exit status: 1 a violation was confirmed, 3 none was, 0 there is nothing to confirm, 2 bad usage or input, "
        "126 or 127 when the program cannot be started.",
    .options = options_table,
    .run = run,
};
