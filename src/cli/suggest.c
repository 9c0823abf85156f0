/*
 * portent suggest: runs a program that passes, records everything that it does, and proposes properties that the runs
 * kept, in the syntax of property files. The recording is the runtime's own (`record=`), with the calls of all
 * functions in it (`calls=*`).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/commands.h"
#include "cli/common/diag.h"
#include "cli/common/file.h"
#include "cli/common/interrupt.h"
#include "cli/suggest/facts.h"
#include "core/settings.h"

enum { COUNT_MOST = 100000 };
enum { OPT_RUNS, OPT_MOST, OPT_OUTPUT };
static const struct pt_option options_table[] = {
    [OPT_RUNS] = {"runs", 'n', "N", NULL, "watch so many runs (default 3)"},
    [OPT_MOST] = {"most", 0, "N", NULL, "propose at most so many (default 20)"},
    [OPT_OUTPUT] = {"output", 'o', "FILE.prop", NULL, "write them to this file instead of standard output"},
    {.help = NULL}};

struct request {
    uint64_t runs, most;
    const char *output;
    const char *const *program;
    uint32_t word_count;
};

static bool set_options(struct request *request, const struct pt_parsed *parsed)
{
    *request = (struct request){.runs = 3, .most = 20};
    for (uint32_t i = 0; i < parsed->option_count; i++) {
        const char *argument = parsed->options[i].argument;
        uint32_t index = parsed->options[i].index;
        if (index == OPT_OUTPUT)
            request->output = argument;
        else if (!pt_parse_count(options_table[index].name, argument, COUNT_MOST,
                                 index == OPT_RUNS ? &request->runs : &request->most))
            return false;
    }
    if (!parsed->operand_count) {
        pt_diag_usage("suggest", "suggest takes a program: portent suggest -- ./test");
        return false;
    }
    request->program = parsed->operands;
    request->word_count = parsed->operand_count;
    return true;
}

/* What it prints goes to standard error: standard output is for the properties. */
static void start_program(const struct request *request, const char *recording)
{
    const char *before = getenv(PT_OPTIONS_ENV);
    char **words = pt_xcalloc((size_t)request->word_count + 1, sizeof *words); /* with a NULL at its end */
    struct pt_buf options;
    for (uint32_t i = 0; i < request->word_count; i++)
        words[i] = pt_xstrdup(request->program[i]);
    pt_buf_init(&options);
    pt_buf_printf(&options, "%s record=\"%s\" calls=\"*\"", before ? before : "", recording);
    if (dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 && setenv(PT_OPTIONS_ENV, options.text, 1) == 0)
        execvp(words[0], words);
    fprintf(stderr, "portent suggest: cannot start '%s': %s\n", request->program[0], strerror(errno));
    _exit(127);
}

/* One run, and what it shows. *ret_passed: it ended with status 0. */
static enum pt_status watch_run(const struct request *request, const char *recording, struct pt_suggest_facts *facts,
                                bool *ret_passed, struct pt_err *err)
{
    int status = 0;
    pid_t child = fork();
    if (child < 0)
        return pt_err_set(err, PT_EIO, "cannot start a process: %s", strerror(errno));
    if (child == 0)
        start_program(request, recording);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    *ret_passed = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!*ret_passed) {
        struct pt_err warning;
        (void)pt_err_set(&warning, PT_EINPUT, "a run of '%s' ended with %s %d, and is not looked at",
                         request->program[0], WIFEXITED(status) ? "status" : "signal",
                         WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
        pt_diag_warning(&warning);
        return PT_OK;
    }
    if (access(recording, R_OK) != 0) {
        (void)pt_err_set(err, PT_EINPUT, "'%s' has recorded nothing", request->program[0]);
        pt_err_hint(err, "build it with 'portent cc' or 'portent c++'");
        return PT_EINPUT;
    }
    return pt_suggest_facts_add(facts, recording, err);
}

static enum pt_status watch_runs(const struct request *request, struct pt_suggest_facts *facts, struct pt_err *err)
{
    const char *folder = getenv("TMPDIR");
    char path[PATH_MAX], recording[PATH_MAX + 32];
    enum pt_status status = PT_OK;
    snprintf(path, sizeof path, "%s/portent-suggest-XXXXXX", folder && *folder ? folder : "/tmp");
    if (!mkdtemp(path))
        return pt_err_set(err, PT_EIO, "cannot make a folder for recordings: %s", strerror(errno));
    snprintf(recording, sizeof recording, "%s/recording", path);
    bool passed = false;
    for (uint64_t i = 0; i < request->runs && status == PT_OK && !pt_interrupted(); i++) {
        status = watch_run(request, recording, facts, &passed, err);
        unlink(recording);
    }
    rmdir(path);
    if (status == PT_OK && !facts->runs)
        status = pt_err_set(err, PT_EINPUT, "no run of '%s' passed, and properties are those that passing runs kept",
                            request->program[0]);
    return status;
}

static int run(const struct pt_parsed *parsed)
{
    struct request request;
    struct pt_suggest_facts facts;
    struct pt_err err;
    struct pt_buf text;
    bool failed = false;
    if (!set_options(&request, parsed))
        return PT_EXIT_BAD;
    pt_interrupt_catch_all(); /* recordings are not left behind */
    pt_suggest_facts_init(&facts);
    pt_buf_init(&text);
    enum pt_status status = watch_runs(&request, &facts, &err);
    uint32_t count = status == PT_OK ? pt_suggest_propose(&facts, (uint32_t)request.most, &text) : 0;
    if (status == PT_OK && count && request.output)
        status = pt_file_write(request.output, &text, &err);
    else if (status == PT_OK && count && !pt_output(&text))
        failed = true;
    if (status == PT_OK && !count)
        fprintf(stderr, "portent suggest: nothing to propose: %u run%s, at most %u thread%s at a time\n", facts.runs,
                facts.runs == 1 ? "" : "s", facts.most_threads, facts.most_threads == 1 ? "" : "s");
    pt_suggest_facts_release(&facts);
    pt_buf_release(&text);
    if (status != PT_OK)
        pt_diag_error(&err);
    return status != PT_OK || failed ? PT_EXIT_BAD : count ? PT_EXIT_HOLDS : PT_EXIT_UNKNOWN;
}

static const char *const usages[] = {"[-n RUNS] [-o FILE.prop] -- PROGRAM [ARGS]", NULL};

const struct pt_command pt_command_suggest = {
    .name = "suggest",
    .summary = "propose properties that passing runs of a program keep",
    .usages = usages,
    .about = "Runs the program, records everything that its threads do, and proposes properties, one on a line and the "
             "most likely first, with the evidence as a comment: which lock protects which variable and where it is "
             "missing, what is called before what, calls that come in pairs, flags that are set before something is "
             "read, counters that only grow or stay in a range. 'portent run -s' takes the file as it is; what other "
             "orders of the same events break is a finding.\n\n"
             "The program's standard output goes to standard error. Runs that do not end with status 0 are not looked "
             "at.\n\n"
             "Exit status: 0 properties were proposed, 2 bad usage, or no run passed, 3 there is nothing to propose.",
    .options = options_table,
    .run = run,
};
