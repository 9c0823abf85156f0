/*
 * portent run: starts a program that was built with portent cc, receives its relevant events over shared memory, and
 * analyses them while it runs. Guarantee: standard input, output and error are the program's, and what we have to say
 * goes to standard error, results to files; the exit status is the program's, unless something was found or the answer
 * is not whole (run/whole.h). The cost is that of the session (run/session.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/run/broker.h"
#include "cli/run/conclude.h"
#include "cli/run/confirm_result.h"
#include "cli/common/diag.h"
#include "cli/common/file.h"
#include "cli/common/machine.h"
#include "cli/run/launch.h"
#include "core/delay.h"
#include "core/found.h"
#include "core/recording.h"
#include "trace/format.h"

enum { DEFAULT_EXIT = 66 };

enum {
    OPT_PROPERTIES,
    OPT_RESULT,
    OPT_TRACE,
    OPT_MONITOR,
    OPT_RACES,
    OPT_LIFETIMES,
    OPT_WINDOW,
    OPT_LOOKAHEAD,
    OPT_EXHAUSTIVE,
    OPT_JOBS,
    OPT_MEMORY_LIMIT,
    OPT_AUTOMATON_LIMIT,
    OPT_DEADLOCKS,
    OPT_ON_DEADLOCK,
    OPT_RECORD_ALL,
    OPT_RECORD_LIMIT,
    OPT_ORDER,
    OPT_EFFORT,
    OPT_PRELOAD,
    OPT_SUPPRESSIONS,
    OPT_BASELINE,
    OPT_ON_FULL,
    OPT_EXIT_CODE,
    OPT_LENIENT,
    OPT_CONFIRM,
    OPT_TIMEOUT,
    OPT_DELAY,
    OPT_SEED,
    OPT_SAMPLE,
    OPT_SKIP_FILE,
    OPT_ONLY_FILE,
    OPT_SKIP_FUNCTION,
    OPT_MODULE,
    OPT_COLOR,
    OPT_QUIET,
};

static const struct pt_option options_table[] = {
    [OPT_PROPERTIES] = PT_OPTION_PROPERTIES,
    [OPT_RESULT] = {NULL, 'r', "FILE.json", NULL, "write the result to this file, as 'check --json' prints it"},
    [OPT_TRACE] =
        {NULL, 'o', "FILE.trace", NULL,
         "record the relevant events with their clocks, for 'check'; in binary form when the name ends in .ptb"},
    [OPT_RECORD_ALL] = {"record-all", 0, NULL, NULL,
                        "record every event of every thread to the file of -o: all accesses and synchronisation"},
    [OPT_RECORD_LIMIT] = {"record-limit", 0, "SIZE", NULL,
                          "of a recording of everything keep the last SIZE bytes (K, M, G: powers of 1024), or, with "
                          "SIZE,stop, the first; what would hold is unknown then"},
    [OPT_ORDER] = {"order", 0, "ORDER", PT_ORDERS_NAMES,
                   "record everything, and look for violations, races and deadlocks in runs of this order when the "
                   "program has ended, as 'check --order' does: sync, values, auto, or for properties slices=K; access "
                   "(default): while it runs"},
    [OPT_EFFORT] = {"effort", 0, "TIME", NULL,
                    "with --order: how long to look in sync and in values, per property and order, or 'all' (default: "
                    "2s)"},
    [OPT_PRELOAD] =
        {"preload", 0, NULL, NULL,
         "for a program that was not built with 'portent cc': observe its threads, synchronisation and user "
         "events, and no memory accesses; -o records all of them"},
    [OPT_DEADLOCKS] = {"deadlocks", 0, NULL, NULL,
                       "look for deadlocks: locks taken in orders that can make threads wait for each other, and "
                       "threads that do; done anyway without properties and -o"},
    [OPT_ON_DEADLOCK] = {"on-deadlock", 0, "WHAT", "end wait",
                         "when the program is deadlocked: end it (default), or let it wait, for a debugger"},
    [OPT_MONITOR] = PT_OPTION_MONITOR,
    [OPT_RACES] = {"races", 0, NULL, NULL,
                   "look for data races in the run as it happens; done anyway without properties and -o"},
    [OPT_LIFETIMES] =
        {"lifetimes", 0, NULL, NULL,
         "look for uses of memory after its end, also those that another order of the same events has, and "
         "for blocks that are freed twice"},
    [OPT_WINDOW] = {"window", 0, "W", NULL, "keep at most W states per level, or 'all' (default: 64)"},
    [OPT_LOOKAHEAD] = {"lookahead", 0, "L", NULL, "look at most L events ahead, or 'all' (default: 256)"},
    [OPT_EXHAUSTIVE] = PT_OPTION_EXHAUSTIVE,
    [OPT_JOBS] = PT_OPTION_JOBS,
    [OPT_MEMORY_LIMIT] = PT_OPTION_MEMORY_LIMIT,
    [OPT_AUTOMATON_LIMIT] = PT_OPTION_AUTOMATON_LIMIT,
    [OPT_SUPPRESSIONS] = PT_OPTION_SUPPRESSIONS,
    [OPT_BASELINE] = PT_OPTION_BASELINE,
    [OPT_ON_FULL] = {"on-full", 0, "WHAT", "block drop",
                     "when a thread is faster than the analysis: block it (default), or drop events, which makes "
                     "verdicts unknown"},
    [OPT_EXIT_CODE] = {"exit-code", 0, "N", NULL, "the exit status when something was found (default: 66)"},
    [OPT_LENIENT] = {"lenient", 0, NULL, NULL,
                     "the program's own exit status instead of 67 when nothing was found but the answer is not whole"},
    [OPT_CONFIRM] = {"confirm", 0, NULL, NULL,
                     "run the program again in the order of each predicted violation, as 'portent confirm' does"},
    [OPT_TIMEOUT] = PT_OPTION_TIMEOUT,
    [OPT_DELAY] = {"delay", 0, "SHARE", NULL,
                   "pause threads at random before they synchronise, so that one run sees more: for at most this share "
                   "of each thread's time, or so many seconds (default: " PT_DELAY_STANDARD ")",
                   .optional = true},
    [OPT_SEED] = {"seed", 0, "N", NULL, "what --delay chooses its pauses by, to choose the same again"},
    [OPT_SAMPLE] = {"sample", 0, "N", NULL,
                    "look for races at one access in N of places that run often, and at all of those that seldom do: "
                    "for services that run long (default: " PT_SAMPLE_STANDARD ")",
                    .optional = true},
    [OPT_SKIP_FILE] = {"skip-file", 0, "PATTERNS", NULL,
                       "look for no races in what comes from these files: patterns with commas; may be repeated"},
    [OPT_ONLY_FILE] = {"only-file", 0, "PATTERNS", NULL, "look for races only in what comes from these files"},
    [OPT_SKIP_FUNCTION] = {"skip-function", 0, "PATTERNS", NULL, "look for no races in these functions"},
    [OPT_MODULE] = {"module", 0, "FILE.so", NULL,
                    "look for names in this library too, which the program opens later; may be repeated"},
    [OPT_COLOR] = PT_OPTION_COLOR,
    [OPT_QUIET] = {"quiet", 'q', NULL, NULL, "no text report and no warnings: the exit status tells"},
    {0},
};

/* --- what is asked for --- */

static bool set_exit_code(struct pt_run *run, const char *argument)
{
    char *end;
    errno = 0;
    long number = strtol(argument, &end, 10);
    if (errno || end == argument || *end || number < 0 || number > 255) {
        pt_diag_usage("run", "--exit-code takes a number from 0 to 255, not '%s'", argument);
        return false;
    }
    run->found_exit = (int)number;
    return true;
}

/* The runtime reads it there, in whatever processes the program starts, too. */
static void add_setting(const char *name, const char *value)
{
    const char *before = getenv(PT_OPTIONS_ENV);
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_printf(&text, "%s %s=%s", before ? before : "", name, value);
    setenv(PT_OPTIONS_ENV, text.text, 1);
    pt_buf_release(&text);
}

static bool set_delay(const char *argument)
{
    struct pt_delay_budget budget;
    const char *share = argument ? argument : PT_DELAY_STANDARD;
    if (!pt_delay_parse((struct pt_span){share, strlen(share)}, &budget)) {
        pt_diag_usage("run", "--delay takes a share of the time, such as 5%%, or seconds, such as 0.2; not '%s'",
                      share);
        return false;
    }
    add_setting("delay", share);
    return true;
}

static bool set_seed(const char *argument)
{
    if (!*argument || argument[strspn(argument, "0123456789")] || strlen(argument) > 18) {
        pt_diag_usage("run", "--seed takes a number, not '%s'", argument);
        return false;
    }
    add_setting("seed", argument);
    return true;
}

static bool set_sample(struct pt_run *run, const char *argument)
{
    const char *number = argument ? argument : PT_SAMPLE_STANDARD;
    uint64_t sample;
    if (!pt_parse_count("sample", number, PT_SAMPLE_MAX, &sample))
        return false;
    run->session.settings.sample = (int64_t)sample;
    add_setting("sample", number);
    return true;
}

/* Each use adds to the list; the environment's does not count then. */
static bool add_patterns(struct pt_run *run, uint32_t index, const char *argument)
{
    static const char *const names[] = {"skip_file", "only_file", "skip_function"};
    struct pt_span *const lists[] = {&run->session.settings.skip_file, &run->session.settings.only_file,
                                     &run->session.settings.skip_function};
    uint32_t which = index - OPT_SKIP_FILE;
    struct pt_buf *patterns = &run->patterns[which];
    struct pt_buf quoted;
    pt_buf_printf(patterns, "%s%s", patterns->len ? "," : "", argument);
    if (strchr(patterns->text, '\'') && strchr(patterns->text, '"')) {
        pt_diag_usage("run", "--%s: patterns may have quotes of one kind, not both", options_table[index].name);
        return false;
    }
    *lists[which] = (struct pt_span){patterns->text, patterns->len};
    const char *quote = strchr(patterns->text, '\'') ? "\"" : "'";
    pt_buf_init(&quoted);
    pt_buf_printf(&quoted, "%s%s%s", quote, patterns->text, quote);
    add_setting(names[which], quoted.text);
    pt_buf_release(&quoted);
    return true;
}

static bool set_option(struct pt_run *run, uint32_t index, const char *argument, uint32_t *module_count)
{
    bool taken;
    if (!pt_analyse_option(&run->session.analyse, &options_table[index], argument, &taken))
        return false;
    switch (index) {
    case OPT_RESULT:
        run->result_path = argument;
        break;
    case OPT_TRACE:
        run->trace_path = argument;
        run->session.keep |= PT_KEEP_MARKS;
        break;
    case OPT_RECORD_ALL:
        run->session.keep |= PT_KEEP_ALL;
        break;
    case OPT_RECORD_LIMIT:
        run->session.record_limit = argument;
        break;
    case OPT_ORDER: /* the parser has checked the name */
        return pt_orders_find(argument, &run->session.analyse.engine.orders);
    case OPT_EFFORT:
        run->effort_given = true;
        return pt_parse_time("effort", argument, &run->session.analyse.engine.effort);
    case OPT_DEADLOCKS:
        run->session.checks |= 1u << PT_FOUND_DEADLOCK;
        break;
    case OPT_ON_DEADLOCK:
        run->session.settings.on_deadlock = (struct pt_span){argument, strlen(argument)};
        break;
    case OPT_RACES:
        run->session.checks |= 1u << PT_FOUND_RACE;
        break;
    case OPT_LIFETIMES:
        run->session.checks |= 1u << PT_FOUND_LIFETIME;
        break;
    case OPT_PRELOAD:
        run->session.preload = true;
        break;
    case OPT_ON_FULL:
        run->session.on_full = strcmp(argument, "drop") == 0 ? PT_ON_FULL_DROP : PT_ON_FULL_BLOCK;
        break;
    case OPT_EXIT_CODE:
        return set_exit_code(run, argument);
    case OPT_LENIENT:
        run->lenient = true;
        break;
    case OPT_CONFIRM:
        run->confirm = true;
        break;
    case OPT_TIMEOUT:
        if (!pt_parse_count("timeout", argument, 1000000, &run->patience))
            return false;
        run->patience *= 1000000000;
        run->patience_given = true;
        break;
    case OPT_DELAY:
        return set_delay(argument);
    case OPT_SEED:
        return set_seed(argument);
    case OPT_SAMPLE:
        return set_sample(run, argument);
    case OPT_SKIP_FILE:
    case OPT_ONLY_FILE:
    case OPT_SKIP_FUNCTION:
        return add_patterns(run, index, argument);
    case OPT_MODULE:
        run->session.modules[(*module_count)++] = argument;
        break;
    case OPT_COLOR:
        run->session.output_options.style = pt_analyse_style(STDERR_FILENO, argument);
        break;
    case OPT_QUIET:
        run->session.output_options.quiet = true;
        break;
    default: /* the engine's, and files, which are loaded afterwards */
        break;
    }
    return true;
}

static bool is_limit(const char *text)
{
    uint64_t size;
    bool stops;
    return pt_rec_read_limit(text, strlen(text), &size, &stops);
}

static bool set_options(struct pt_run *run, const struct pt_parsed *parsed)
{
    uint32_t module_count = 0;
    if (parsed->operand_count == 0) {
        pt_diag_usage("run", "a program is missing: portent run [OPTIONS] -- PROGRAM [ARGS]");
        return false;
    }
    int64_t exit_code = run->session.settings.exitcode; /* the environment's: the command line counts more */
    run->found_exit = exit_code >= 0 && exit_code <= 255 ? (int)exit_code : DEFAULT_EXIT;
    run->session.modules = pt_xcalloc((size_t)parsed->option_count + 1, sizeof *run->session.modules);
    for (uint32_t i = 0; i < parsed->option_count; i++) {
        if (!set_option(run, parsed->options[i].index, parsed->options[i].argument, &module_count))
            return false;
    }
    if ((run->session.keep & PT_KEEP_ALL) && !run->trace_path) {
        pt_diag_usage("run", "--record-all needs a file to record to: -o FILE.trace");
        return false;
    }
    if (run->session.record_limit && !is_limit(run->session.record_limit)) {
        pt_diag_usage("run", "--record-limit takes a size, as 64M, or one with ',stop'");
        return false;
    }
    if (run->session.preload && run->trace_path)
        run->session.keep |= PT_KEEP_ALL; /* relevant events alone would be user events without an order */
    if (run->session.settings.races)
        run->session.checks |= 1u << PT_FOUND_RACE;
    if (run->session.settings.lifetimes)
        run->session.checks |= 1u << PT_FOUND_LIFETIME;
    if (run->session.settings.deadlocks)
        run->session.checks |= 1u << PT_FOUND_DEADLOCK;
    if (run->session.preload && run->session.checks & (1u << PT_FOUND_RACE | 1u << PT_FOUND_LIFETIME)) {
        pt_diag_usage("run",
                      "--races and --lifetimes need a program that was built with 'portent cc': with --preload no "
                      "memory accesses are observed");
        return false;
    }
    run->session.wider = run->session.analyse.engine.orders != PT_ORDERS_ACCESS;
    if (run->session.wider && run->session.preload) {
        pt_diag_usage("run",
                      "--order needs a program that was built with 'portent cc': with --preload no memory accesses "
                      "are observed");
        return false;
    }
    if (run->session.wider)
        run->session.analyse.engine.window = run->session.analyse.engine.lookahead = PT_ALL;
    run->session.descends = !run->session.preload && !run->session.wider;
    run->session.analyse.engine.trace = run->trace_path ? run->trace_path : parsed->operands[0];
    return true;
}

/* --- before the program starts --- */

static enum pt_status open_files(struct pt_run *run, struct pt_err *err)
{
    enum pt_status status = PT_OK;
    if (run->trace_path) {
        if (strcmp(run->trace_path, "-") == 0)
            return pt_err_set(err, PT_EUSAGE, "-o needs a file: standard output belongs to the program");
        status = pt_session_open_trace(&run->session, run->trace_path, pt_format_of_name(run->trace_path), err);
    }
    if (status == PT_OK && run->result_path) {
        run->result_file = fopen(run->result_path, "we");
        if (!run->result_file)
            status = pt_err_at(err, PT_EIO, run->result_path, 0, 0, "cannot create the result: %s", strerror(errno));
    }
    return status;
}

/* The file that the environment names, beside those of the command line. */
static enum pt_status load_suppressions(struct pt_run *run, struct pt_err *err)
{
    if (!run->session.settings.suppressions.len)
        return PT_OK;
    char *path = pt_xcalloc(run->session.settings.suppressions.len + 1, 1);
    memcpy(path, run->session.settings.suppressions.at, run->session.settings.suppressions.len);
    enum pt_status status = pt_triage_suppressions(&run->session.analyse.triage, path, err);
    free(path);
    return status;
}

static bool records_all(const struct pt_run *run)
{
    return run->trace_path && run->session.keep & PT_KEEP_ALL && !run->session.wider;
}

/* Neither a property nor a recording of everything, which is for later: then it is what most people want to know first.
 * A program that is not built for it shows no accesses. */
static bool is_nothing_asked(const struct pt_run *run)
{
    return !run->session.analyse.input_count && !run->session.checks && !records_all(run) && !run->session.preload;
}

/* Options that say something of a recording, or of a search in it, where there is none. */
static enum pt_status refuse_idle(const struct pt_run *run, struct pt_err *err)
{
    const struct pt_session *session = &run->session;
    bool records = session->wider || (session->keep & PT_KEEP_ALL && run->trace_path && !session->analyse.input_count &&
                                      !session->preload);
    if (session->record_limit && !records)
        return pt_err_set(err, PT_EUSAGE,
                          "--record-limit is of what a program records by itself: with --record-all and -o but without "
                          "-s, or with --order");
    if (run->patience_given && !run->confirm) {
        enum pt_status status = pt_err_set(err, PT_EUSAGE, "--timeout is of --confirm: how long one step may take");
        pt_err_hint(err,
                    "'timeout SECONDS portent run ...' ends a program that goes on for ever, and its answer is told");
        return status;
    }
    if (run->effort_given && !session->wider)
        return pt_err_set(err, PT_EUSAGE, "--effort is of --order sync, values and auto");
    return PT_OK;
}

/* A result was asked for, and nothing that it could be about: who only records may take it for an answer. */
static void warn_of_nothing(const struct pt_run *run)
{
    struct pt_err warning;
    const struct pt_session *session = &run->session;
    if (!run->result_path || !records_all(run) || session->analyse.input_count || session->checks ||
        session->output_options.quiet)
        return;
    (void)pt_err_set(&warning, PT_EUSAGE,
                     "with --record-all and -o alone nothing is looked for, so the result will say nothing");
    pt_err_hint(&warning, "--races and --deadlocks look while it records, 'portent check %s' looks afterwards",
                run->trace_path);
    pt_diag_warning(&warning);
}

static enum pt_status prepare(struct pt_run *run, const struct pt_parsed *parsed, struct pt_err *err)
{
    enum pt_status status = pt_analyse_load(&run->session.analyse, options_table, parsed, err);
    if (status == PT_OK)
        status = refuse_idle(run, err);
    if (status == PT_OK && is_nothing_asked(run))
        run->session.checks = 1u << PT_FOUND_RACE | 1u << PT_FOUND_DEADLOCK;
    if (status == PT_OK)
        warn_of_nothing(run);
    if (status == PT_OK && run->session.analyse.engine.orders >= PT_ORDERS_SLICES_0 && run->session.checks)
        return pt_err_set(
            err, PT_EUSAGE,
            "--order slices=K is for properties (-s): races, deadlocks and lifetimes have sync and values");
    if (run->session.wider) {
        run->session.wider_checks = run->session.checks;
        run->session.checks &= ~(1u << PT_FOUND_RACE); /* a deadlock ends the run, and what was freed has to be kept */
    }
    if (status == PT_OK)
        status = load_suppressions(run, err);
    if (status == PT_OK)
        status = pt_session_resolve(&run->session, err);
    if (status == PT_OK && run->session.preload)
        status = pt_session_preload(&run->session, err);
    if (status == PT_OK)
        status = open_files(run, err);
    if (status == PT_OK)
        status = pt_session_open(&run->session, err);
    return status;
}

static int execute(struct pt_run *run, const struct pt_parsed *parsed, struct pt_err *err)
{
    int exit_status = PT_EXIT_CANNOT_RUN;
    const char **arguments = pt_xcalloc((size_t)parsed->operand_count + 1, sizeof *arguments);
    memcpy(arguments, parsed->operands, parsed->operand_count * sizeof *arguments);
    struct pt_broker broker = {0};
    struct pt_processes processes = {0};
    enum pt_status status = PT_OK;
    if (run->session.descends)
        status = pt_broker_start(&run->session, run->trace_path, &broker, err);
    if (status == PT_OK)
        status = pt_session_run(&run->session, arguments, err);
    pt_broker_finish(&broker, run->session.analyse.input_count, &processes);
    if (status == PT_OK)
        exit_status = pt_run_conclude(run, arguments, &processes);
    else
        pt_diag_error(err);
    pt_processes_release(&processes);
    free(arguments);
    return exit_status;
}

static int run_command(const struct pt_parsed *parsed)
{
    struct pt_run run = {.patience = (uint64_t)PT_CONFIRM_SECONDS * 1000000000};
    struct pt_err err;
    int exit_status = PT_EXIT_BAD;
    pt_session_init(&run.session, NULL);
    run.session.analyse.engine.effort = PT_EFFORT_STANDARD;
    run.session.analyse.engine.log_limit = pt_memory() / PT_LOG_SHARE;
    if (set_options(&run, parsed)) {
        run.session.program = pt_launch_find(parsed->operands[0], &exit_status, &err);
        if (!run.session.program) {
            pt_diag_error(&err);
        } else if (prepare(&run, parsed, &err) != PT_OK) {
            exit_status = PT_EXIT_BAD;
            if (err.file[0] && err.line && !err.source[0])
                pt_file_show_line(err.file, &err);
            pt_diag_error(&err);
        } else {
            exit_status = execute(&run, parsed, &err);
        }
    }
    if (run.result_file)
        fclose(run.result_file);
    free(run.own_trace);
    for (size_t i = 0; i < sizeof run.patterns / sizeof *run.patterns; i++)
        pt_buf_release(&run.patterns[i]);
    pt_session_release(&run.session);
    return exit_status;
}

static const char *const usages[] = {"[-s FILE.prop]... [-r RESULT.json] [-o FILE.trace] [OPTIONS] -- PROGRAM [ARGS]",
                                     NULL};

const struct pt_command pt_command_run = {
    .name = "run",
    .summary = "run a program and check all orders that its run allows",
    .usages = usages,
    .about =
        "Starts PROGRAM, which was built with 'portent cc' or 'portent c++', receives the events its properties "
        "name, and looks for violations in its run and in every other order of its events that the same causal "
        "order allows. Violations are reported on standard error when they are found, everything else when the "
        "program has ended. The program's input, output, status and signals are its own. PROGRAM may also be a shell, "
        "a script or a test runner: what it starts is observed as well, each process with its own result. "
        "Where neither properties nor a recording of everything (--record-all) are asked for, it looks for data races "
        "and deadlocks in the run "
        "as it happens (--races, --deadlocks).\n\n"
        "Exit status: the program's own (128 plus the signal's number when one killed it), except 66 when a "
        "violation was found, and 67 when the program ended with 0 and none was, but the answer is not whole, "
        "with a line that says why; 2 bad usage or input, before the program starts; 126 or 127 when it cannot be "
        "started.",
    .options = options_table,
    .run = run_command,
};
