/*
 * portent explore: runs a program again and again under schedules of its threads that a strategy chooses (explore/),
 * and tells which one fails. Standard output carries the report; what the program prints is kept aside. The cost is
 * that of the runs, one after the other or on several processors (--jobs).
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/common/diag.h"
#include "cli/explore/explorer.h"
#include "cli/run/launch.h"
#include "core/delay.h"
#include "core/found.h"

#define STRATEGIES          "auto random pct surw predict exhaustive"
#define DEFAULT_RUNS        UINT64_C(1000)
#define DEFAULT_RUN_TIMEOUT UINT64_C(10000000000)
#define DEFAULT_STEPS       UINT64_C(1000000)

enum {
    OPT_RUNS,
    OPT_TIME,
    OPT_STRATEGY,
    OPT_SEED,
    OPT_PROPERTIES,
    OPT_RACES,
    OPT_DEADLOCKS,
    OPT_LIFETIMES,
    OPT_NO_CHECKS,
    OPT_EXPECT,
    OPT_KEEP_GOING,
    OPT_JOBS,
    OPT_RUN_TIMEOUT,
    OPT_STEPS,
    OPT_SPURIOUS,
    OPT_TIMEOUTS,
    OPT_PREEMPTIONS,
    OPT_STRESS,
    OPT_NO_STRESS,
    OPT_SERVER,
    OPT_NO_SERVER,
    OPT_NO_SHRINK,
    OPT_SCHEDULE,
    OPT_RESULT,
    OPT_JSON,
    OPT_COLOR,
    OPT_PROGRESS,
    OPT_QUIET,
};

static const struct pt_option options_table[] = {
    [OPT_RUNS] = {NULL, 'n', "RUNS", NULL, "how many runs at most, or 'all' (default: 1000; of exhaustive all)"},
    [OPT_TIME] = {"time", 0, "TIME", NULL, "stop after this time, as 30s, 10m; a run under way is done to its end"},
    [OPT_STRATEGY] =
        {"strategy", 0, "S", STRATEGIES,
         "how schedules are chosen: at random, by random priorities (pct), by what threads have left to do "
         "(surw), by what earlier runs predict (predict), all of them (exhaustive), or auto (default), a "
         "mixture"},
    [OPT_SEED] = {"seed", 0, "N", NULL, "what random choices follow from (default: 1)"},
    [OPT_PROPERTIES] = {NULL, 's', "FILE.prop", NULL,
                        "a run that violates a property of this file is a failure; may be repeated"},
    [OPT_RACES] = {"races", 0, NULL, NULL,
                   "a data race is a failure; done anyway where neither a check nor a property is named"},
    [OPT_DEADLOCKS] = {"deadlocks", 0, NULL, NULL,
                       "no races: a deadlock is a failure in any case, and predicted ones are tried"},
    [OPT_LIFETIMES] = {"lifetimes", 0, NULL, NULL,
                       "a use of memory after its end, or a second free of it, is a failure"},
    [OPT_NO_CHECKS] = {"no-checks", 0, NULL, NULL,
                       "failures are only what the program does: a signal, another status, no end"},
    [OPT_EXPECT] = {"expect", 0, "N", NULL,
                    "the ordinary exit status (default: that of one run without control); any other is a failure"},
    [OPT_KEEP_GOING] = {"keep-going", 0, NULL, NULL, "go on after a failure; the same ones are told once"},
    [OPT_JOBS] = {"jobs", 0, "N", NULL, "so many runs side by side (default: 1); the result is the same"},
    [OPT_RUN_TIMEOUT] = {"run-timeout", 0, "TIME", NULL,
                         "a run that takes longer has failed: it hangs (default: 10s; all: none does)"},
    [OPT_STEPS] = {"steps", 0, "N", NULL, "a run of more steps is given up, which says nothing (default: 1000000)"},
    [OPT_SPURIOUS] =
        {"spurious", 0, "N", NULL,
         "threads may be woken N times in a run (default: once) without a signal of the condition that they "
         "wait for",
         .optional = true},
    [OPT_TIMEOUTS] = {"timeouts", 0, "WHEN", "any late",
                      "a wait with a time limit can time out at any point (any, default), or only when nobody else can "
                      "go on (late)"},
    [OPT_PREEMPTIONS] = {"preemptions", 0, "K", NULL,
                         "of exhaustive: only schedules that take the turn at most K times from a thread that could go "
                         "on"},
    [OPT_STRESS] = {"stress", 0, "SHARE", NULL,
                    "no control: threads run at the same time, with pauses at random before they synchronise, for at "
                    "most this share of each thread's time (default: " PT_DELAY_STANDARD
                    "); for programs that control cannot handle",
                    .optional = true},
    [OPT_NO_STRESS] = {"no-stress", 0, NULL, NULL,
                       "where control cannot go on, because threads leave it or the program is not instrumented, do "
                       "not go on with --stress"},
    [OPT_SERVER] = {"fork-server", 0, NULL, NULL,
                    "each run is a copy of a process that was loaded once, made before its constructors run "
                    "(default)"},
    [OPT_NO_SERVER] = {"no-fork-server", 0, NULL, NULL,
                       "each run starts the program anew: slower, for programs whose libraries start threads or open "
                       "things before main"},
    [OPT_NO_SHRINK] = {"no-shrink", 0, NULL, NULL, "show a failing schedule as it was found"},
    [OPT_SCHEDULE] = {NULL, 'o', "FILE.schedule", NULL,
                      "write the failing schedule there, for 'portent replay'; others to FILE-2.schedule and so on"},
    [OPT_RESULT] = {NULL, 'r', "FILE.json", NULL, "write the result to this file, for 'portent report'"},
    [OPT_JSON] = {"json", 0, NULL, NULL, "print the result as JSON"},
    [OPT_COLOR] = PT_OPTION_COLOR,
    [OPT_PROGRESS] = {"no-progress", 0, NULL, NULL, "show no progress on the terminal"},
    [OPT_QUIET] = {"quiet", 'q', NULL, NULL, "print nothing: the exit status tells"},
    {0},
};

static bool set_number(const char *name, const char *argument, uint64_t most, uint64_t *ret_number)
{
    char *end;
    errno = 0;
    uint64_t number = strtoull(argument, &end, 10);
    if (!isdigit((unsigned char)argument[0]) || *end || errno || number > most) {
        pt_diag_usage("explore", "--%s takes a number from 0 to %llu, not '%s'", name, (unsigned long long)most,
                      argument);
        return false;
    }
    *ret_number = number;
    return true;
}

static bool set_option(struct pt_explore_request *request, uint32_t index, const char *argument, bool *ret_checks)
{
    uint64_t number = 0;
    bool ok = true;
    switch (index) {
    case OPT_RUNS:
        return pt_parse_bound("n", argument, &request->runs);
    case OPT_TIME:
        return pt_parse_time("time", argument, &request->time);
    case OPT_STRATEGY:
        request->strategy = argument;
        break;
    case OPT_SEED:
        return set_number("seed", argument, UINT64_MAX, &request->seed);
    case OPT_PROPERTIES: /* loaded afterwards */
        *ret_checks = true;
        break;
    case OPT_RACES:
        request->checks |= 1u << PT_FOUND_RACE;
        *ret_checks = true;
        break;
    case OPT_LIFETIMES:
        request->checks |= 1u << PT_FOUND_LIFETIME;
        *ret_checks = true;
        break;
    case OPT_DEADLOCKS:
    case OPT_NO_CHECKS:
        *ret_checks = true;
        break;
    case OPT_EXPECT:
        ok = set_number("expect", argument, 255, &number);
        request->expects = true;
        request->expected = (int)number;
        break;
    case OPT_KEEP_GOING:
        request->keep_going = true;
        break;
    case OPT_JOBS:
        ok = pt_parse_count("jobs", argument, PT_EXPLORE_JOBS, &number);
        request->jobs = (uint32_t)number;
        break;
    case OPT_RUN_TIMEOUT:
        return pt_parse_time("run-timeout", argument, &request->run_timeout);
    case OPT_STEPS:
        return pt_parse_count("steps", argument, 1000000, &request->step_limit);
    case OPT_SPURIOUS:
        ok = set_number("spurious", argument ? argument : "1", 1000000, &number);
        request->spurious = (uint32_t)number;
        break;
    case OPT_TIMEOUTS:
        request->late = strcmp(argument, "late") == 0;
        break;
    case OPT_PREEMPTIONS:
        ok = set_number("preemptions", argument, 1000000, &number);
        request->preemptions = (uint32_t)number;
        break;
    case OPT_STRESS:
        request->stress = true;
        request->delay = argument;
        break;
    case OPT_NO_STRESS:
        request->falls_back = false;
        break;
    case OPT_SERVER:
        break;
    case OPT_NO_SERVER:
        request->serves = false;
        break;
    case OPT_NO_SHRINK:
        request->shrinks = false;
        break;
    case OPT_SCHEDULE:
        request->schedule_path = argument;
        break;
    case OPT_RESULT:
        request->result_path = argument;
        break;
    case OPT_JSON:
        request->json = true;
        break;
    case OPT_COLOR:
        request->style = pt_analyse_style(STDOUT_FILENO, argument);
        break;
    case OPT_PROGRESS:
        request->progress = false;
        break;
    default:
        request->quiet = true;
    }
    return ok;
}

static bool is_given(const struct pt_parsed *parsed, uint32_t index)
{
    for (uint32_t i = 0; i < parsed->option_count; i++)
        if (parsed->options[i].index == index)
            return true;
    return false;
}

/* What says opposite things. */
static bool check_pairs(const struct pt_parsed *parsed)
{
    static const uint32_t pairs[][2] = {{OPT_SERVER, OPT_NO_SERVER},
                                        {OPT_STRESS, OPT_NO_STRESS},
                                        {OPT_RACES, OPT_NO_CHECKS},
                                        {OPT_DEADLOCKS, OPT_NO_CHECKS},
                                        {OPT_LIFETIMES, OPT_NO_CHECKS}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (is_given(parsed, pairs[i][0]) && is_given(parsed, pairs[i][1])) {
            pt_diag_usage("explore", "--%s and --%s contradict each other", options_table[pairs[i][0]].name,
                          options_table[pairs[i][1]].name);
            return false;
        }
    if (is_given(parsed, OPT_STRESS) && is_given(parsed, OPT_SERVER)) {
        pt_diag_usage("explore", "--stress starts every run anew: not with --fork-server");
        return false;
    }
    return true;
}

/* What will be written at the end: not to be known only then. */
static bool check_path(char option, const char *path)
{
    struct stat about;
    if (!path)
        return true;
    if (strcmp(path, "--") == 0) {
        pt_diag_usage("explore", "-%c takes the name of a file", option);
        return false;
    }
    const char *slash = strrchr(path, '/');
    size_t len = slash ? (size_t)(slash - path) + 1 : 0;
    char *folder = pt_xcalloc(len + 1, 1);
    memcpy(folder, path, len);
    bool there = !len || access(folder, F_OK) == 0;
    bool file = stat(path, &about) != 0 || !S_ISDIR(about.st_mode);
    free(folder);
    if (there && file)
        return true;
    pt_diag_usage("explore", "-%c %s: %s", option, path, there ? "that is a folder" : "there is no such folder");
    return false;
}

static bool set_options(struct pt_explore_request *request, const struct pt_parsed *parsed)
{
    bool checks = false;
    request->runs = 0;
    for (uint32_t i = 0; i < parsed->option_count; i++)
        if (!set_option(request, parsed->options[i].index, parsed->options[i].argument, &checks))
            return false;
    bool exhaustive = strcmp(request->strategy, "exhaustive") == 0;
    if (!check_pairs(parsed))
        return false;
    if (!request->runs)
        request->runs = exhaustive || request->time ? UINT64_MAX : DEFAULT_RUNS;
    if (!checks)
        request->checks = 1u << PT_FOUND_RACE;
    request->predicts = !is_given(parsed, OPT_NO_CHECKS);
    if (!parsed->operand_count) {
        pt_diag_usage("explore", "a program is missing");
        return false;
    }
    if (request->stress && (request->jobs > 1 || request->schedule_path || exhaustive)) {
        pt_diag_usage("explore", "--stress has no schedules: not with --jobs, -o or '--strategy exhaustive'");
        return false;
    }
    if (request->stress && is_given(parsed, OPT_PROPERTIES)) {
        pt_diag_usage("explore", "--stress has no recordings to check properties (-s) on: 'portent run -s' has");
        return false;
    }
    struct pt_delay_budget budget;
    if (request->delay && !pt_delay_parse((struct pt_span){request->delay, strlen(request->delay)}, &budget)) {
        pt_diag_usage("explore", "--stress takes a share of the time, such as 5%%, or seconds, such as 0.2; not '%s'",
                      request->delay);
        return false;
    }
    if (!check_path('o', request->schedule_path) || !check_path('r', request->result_path))
        return false;
    if (request->preemptions != UINT32_MAX && !exhaustive) {
        pt_diag_usage("explore", "--preemptions bounds '--strategy exhaustive' alone");
        return false;
    }
    return true;
}

/* Properties, if there are some; *analyse is to be released in any case. */
static enum pt_status load_properties(struct pt_explore_request *request, const struct pt_parsed *parsed,
                                      struct pt_analyse *analyse, struct pt_err *err)
{
    enum pt_status status = pt_analyse_load(analyse, options_table, parsed, err);
    if (status != PT_OK || !analyse->input_count)
        return status;
    return pt_explore_properties_new(analyse, request->path, &request->properties, err);
}

static int explore(struct pt_explore_request *request, const struct pt_parsed *parsed)
{
    struct pt_analyse analyse;
    struct pt_explorer explorer;
    struct pt_err err;
    int exit_status = PT_EXIT_BAD;
    pt_analyse_init(&analyse, 1, 1, "recording");
    enum pt_status status = load_properties(request, parsed, &analyse, &err);
    if (status == PT_OK) {
        status = pt_explorer_run(&explorer, request, &err);
        if (status == PT_OK)
            exit_status = pt_explorer_report(&explorer);
        pt_explorer_release(&explorer);
    }
    if (status != PT_OK)
        pt_diag_error(&err);
    pt_explore_properties_free(request->properties);
    pt_analyse_release(&analyse);
    return exit_status;
}

static int run(const struct pt_parsed *parsed)
{
    struct pt_explore_request request = {.strategy = "auto",
                                         .run_timeout = DEFAULT_RUN_TIMEOUT,
                                         .seed = 1,
                                         .step_limit = DEFAULT_STEPS,
                                         .jobs = 1,
                                         .preemptions = UINT32_MAX,
                                         .shrinks = true,
                                         .falls_back = true,
                                         .serves = true,
                                         .progress = true,
                                         .style = pt_analyse_style(STDOUT_FILENO, "auto")};
    struct pt_err err;
    int exit_status = PT_EXIT_BAD;
    if (!set_options(&request, parsed))
        return exit_status;
    char *program = pt_launch_find(parsed->operands[0], &exit_status, &err);
    if (!program) {
        pt_diag_error(&err);
        return PT_EXIT_BAD;
    }
    const char **arguments = pt_xcalloc((size_t)parsed->operand_count + 1, sizeof *arguments);
    memcpy(arguments, parsed->operands, parsed->operand_count * sizeof *arguments);
    request.path = program;
    request.arguments = arguments;
    exit_status = explore(&request, parsed);
    free(arguments);
    free(program);
    return exit_status;
}

static const char *const usages[] = {"[-n RUNS] [-s FILE.prop]... [OPTIONS] -- PROGRAM [ARGS]", NULL};

const struct pt_command pt_command_explore = {
    .name = "explore",
    .summary = "run a program under many schedules, and tell which one fails",
    .usages = usages,
    .about =
        "Runs PROGRAM, which was built with 'portent cc' or 'portent c++', again and again, one thread at a time, "
        "under "
        "schedules that a strategy chooses. A run fails when the program is killed by a signal, ends with another "
        "status than without control, cannot go on (a deadlock, a lost wake-up), does not end in time, violates a "
        "property (-s), races, or misuses memory. The first failure ends it: its schedule is run again, shrunk to as "
        "few switches between "
        "threads as still fail, and shown beside a run that passed. 'portent replay' does that run again.\n\n"
        "Where threads leave control, or the program is not instrumented, it says so and goes on without "
        "(--stress).\n\n"
        "Exit status: 0 nothing failed, 1 a run failed, 2 bad usage or input, or, with --no-stress or -s, the program "
        "is "
        "not instrumented, 3 unknown: exhaustive did not come to its end, or control was lost.",
    .options = options_table,
    .run = run,
};
