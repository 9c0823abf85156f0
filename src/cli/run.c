/*
 * portent run: starts a program that was built with portent cc, receives its relevant events over shared memory, and
 * analyses them while it runs. Standard input, output and error are the program's; what we have to say goes to standard
 * error, results to files.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/analyse.h"
#include "cli/check_output.h"
#include "cli/commands.h"
#include "cli/diag.h"
#include "cli/file.h"
#include "cli/interrupt.h"
#include "cli/launch.h"
#include "cli/resolve.h"
#include "cli/settings.h"
#include "report/json.h"
#include "report/words.h"
#include "trace/writer.h"

enum {
    DEFAULT_WINDOW = 64,
    DEFAULT_LOOKAHEAD = 256,
    DEFAULT_EXIT = 66,
    RING_BYTES = 1 << 20, /* per thread; pages that are never written cost nothing */
    RING_MAX = 1024,
    SHORTEST_WAIT = 50 * 1000, /* nanoseconds, doubled up to the longest as long as nothing comes */
    LONGEST_WAIT = 10 * 1000 * 1000,
    HALT_PATIENCE = 2000 * 1000 * 1000, /* how long a program may take to end by itself when it is told to */
};

enum {
    OPT_PROPERTIES,
    OPT_RESULT,
    OPT_TRACE,
    OPT_MONITOR,
    OPT_WINDOW,
    OPT_LOOKAHEAD,
    OPT_EXHAUSTIVE,
    OPT_JOBS,
    OPT_MEMORY_LIMIT,
    OPT_AUTOMATON_LIMIT,
    OPT_RECORD_ALL,
    OPT_SUPPRESSIONS,
    OPT_BASELINE,
    OPT_ON_FULL,
    OPT_EXIT_CODE,
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
    [OPT_MONITOR] = PT_OPTION_MONITOR,
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
    [OPT_MODULE] = {"module", 0, "FILE.so", NULL,
                    "look for names in this library too, which the program opens later; may be repeated"},
    [OPT_COLOR] = PT_OPTION_COLOR,
    [OPT_QUIET] = {"quiet", 'q', NULL, NULL, "no text report and no warnings: the exit status tells"},
    {0},
};

/* The output, which is the context of the engine's callbacks, and its own callbacks behind ours. */
struct run_output {
    struct pt_output output; /* first */
    void (*found)(void *context, const struct pt_finding *finding);
    void (*observed)(void *context, const struct pt_finding *finding, const struct pt_step *step);
    bool violated; /* something was found */
};

struct run {
    struct pt_settings settings; /* PORTENT_OPTIONS */
    struct pt_analyse analyse;
    struct pt_output_options output;
    const char *result_path, *trace_path;
    const char **modules; /* then NULL */
    enum pt_on_full on_full;
    bool record_all;
    int found_exit;

    char *program; /* its file */
    struct pt_names names;
    struct pt_debuginfo *info;
    struct pt_resolved resolved;
    struct pt_channel_reader *reader;
    struct pt_writer *writer;
    FILE *result_file;
    bool nonsense; /* the analysis refused an event; the rest is not looked at */
};

static void complain(struct run *run, const struct pt_err *warning)
{
    if (!run->output.quiet && run->settings.verbosity >= 0)
        pt_diag_warning(warning);
}

/* --- what is asked for --- */

static bool set_exit_code(struct run *run, const char *argument)
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

static bool set_option(struct run *run, uint32_t index, const char *argument, uint32_t *module_count)
{
    bool taken;
    if (!pt_analyse_option(&run->analyse, &options_table[index], argument, &taken))
        return false;
    switch (index) {
    case OPT_RESULT:
        run->result_path = argument;
        break;
    case OPT_TRACE:
        run->trace_path = argument;
        break;
    case OPT_RECORD_ALL:
        run->record_all = true;
        break;
    case OPT_ON_FULL:
        run->on_full = strcmp(argument, "drop") == 0 ? PT_ON_FULL_DROP : PT_ON_FULL_BLOCK;
        break;
    case OPT_EXIT_CODE:
        return set_exit_code(run, argument);
    case OPT_MODULE:
        run->modules[(*module_count)++] = argument;
        break;
    case OPT_COLOR:
        run->output.style = pt_analyse_style(STDERR_FILENO, argument);
        break;
    case OPT_QUIET:
        run->output.quiet = true;
        break;
    default: /* the engine's, and files, which are loaded afterwards */
        break;
    }
    return true;
}

/* What the environment says; the command line comes later and so counts more. */
static void set_from_environment(struct run *run)
{
    char color[8];
    pt_settings_load(&run->settings);
    if (pt_span_is(run->settings.color, "auto") && !pt_span_is(run->settings.log_path, "stderr"))
        run->settings.color = (struct pt_span){"never", 5};
    int64_t exit_code = run->settings.exitcode;
    run->found_exit = exit_code >= 0 && exit_code <= 255 ? (int)exit_code : DEFAULT_EXIT;
    snprintf(color, sizeof color, "%.*s", (int)run->settings.color.len, run->settings.color.at);
    run->output = (struct pt_output_options){.stream = true,
                                             .on_stderr = true,
                                             .style = pt_analyse_style(STDERR_FILENO, color),
                                             .triage = &run->analyse.triage};
}

static bool set_options(struct run *run, const struct pt_parsed *parsed)
{
    uint32_t module_count = 0;
    if (parsed->operand_count == 0) {
        pt_diag_usage("run", "a program is missing");
        return false;
    }
    set_from_environment(run);
    run->modules = pt_xcalloc((size_t)parsed->option_count + 1, sizeof *run->modules);
    for (uint32_t i = 0; i < parsed->option_count; i++) {
        if (!set_option(run, parsed->options[i].index, parsed->options[i].argument, &module_count))
            return false;
    }
    if (run->record_all && !run->trace_path) {
        pt_diag_usage("run", "--record-all needs a file to record to: -o FILE.trace");
        return false;
    }
    run->analyse.engine.trace = run->trace_path ? run->trace_path : parsed->operands[0];
    return true;
}

/* --- before the program starts --- */

/* A property that cannot be checked is known before the program runs: then it need not. */
static enum pt_status check_inputs(const struct run *run, struct pt_err *err)
{
    for (uint32_t i = 0; i < run->analyse.input_count; i++) {
        const struct pt_analysis_input *input = &run->analyse.inputs[i];
        if (!input->monitor)
            return pt_err_at(err, PT_EINPUT, input->property->file, input->property->line, input->property->column,
                             "property '%s' cannot be checked: %s", input->property->name, input->message);
    }
    return PT_OK;
}

static enum pt_status resolve_names(struct run *run, struct pt_err *err)
{
    struct pt_debuginfo_options options = {.library_path = getenv("LD_LIBRARY_PATH"), .modules = run->modules};
    enum pt_status status = pt_debuginfo_open(run->program, &options, &run->info, err);
    if (status != PT_OK) {
        run->info = NULL;
        /* A script, say: without properties nobody has to know its names. */
        return pt_resolve_needed(&run->analyse) ? status : PT_OK;
    }
    return pt_resolve(&run->analyse, run->info, &run->resolved, err);
}

static enum pt_status open_files(struct run *run, struct pt_err *err)
{
    enum pt_status status = PT_OK;
    if (run->trace_path) {
        size_t len = strlen(run->trace_path);
        bool binary = len > 4 && strcmp(run->trace_path + len - 4, ".ptb") == 0;
        if (strcmp(run->trace_path, "-") == 0)
            return pt_err_set(err, PT_EUSAGE, "-o needs a file: standard output belongs to the program");
        status =
            pt_writer_open(run->trace_path, binary ? PT_FORM_BINARY : PT_FORM_TEXT, &run->names, &run->writer, err);
    }
    if (status == PT_OK && run->result_path) {
        run->result_file = fopen(run->result_path, "we");
        if (!run->result_file)
            status = pt_err_at(err, PT_EIO, run->result_path, 0, 0, "cannot create the result: %s", strerror(errno));
    }
    return status;
}

static const char *function_name(void *context, uint64_t start, uint64_t module_base)
{
    struct run *run = context;
    return run->info ? pt_debuginfo_function(run->info, start, module_base) : NULL;
}

static bool place_name(void *context, const char *file, uint64_t offset, bool whole, struct pt_placed *ret_placed)
{
    struct run *run = context;
    struct pt_variable variable;
    if (!pt_debuginfo_at(run->info, file, offset, whole, &ret_placed->name, &variable))
        return false;
    ret_placed->offset = variable.offset;
    ret_placed->size = variable.size;
    ret_placed->type = variable.type;
    return true;
}

/* A property that is local to threads needs all their events, and what each knows of the others': so all are counted,
 * unless everything is recorded and says it by itself. */
static uint32_t what_to_keep(const struct run *run)
{
    uint32_t keep = (run->trace_path ? PT_KEEP_MARKS : 0) | (run->record_all ? PT_KEEP_ALL : 0);
    for (uint32_t i = 0; i < run->analyse.input_count && !run->record_all; i++) {
        const struct pt_property *property = run->analyse.inputs[i].property;
        if (property && property->kind == PT_KIND_MTTL)
            keep |= PT_KEEP_ALL | PT_KEEP_CLOCKS;
    }
    return keep;
}

static enum pt_status open_channel(struct run *run, struct pt_err *err)
{
    uint32_t keep = what_to_keep(run);
    struct pt_channel_setup setup = {.vars = run->resolved.vars,
                                     .var_count = run->resolved.var_count,
                                     .events = run->resolved.events,
                                     .event_count = run->resolved.event_count,
                                     .options = getenv(PT_OPTIONS_ENV),
                                     .keep = keep,
                                     .on_full = run->on_full,
                                     .ring_bytes = RING_BYTES,
                                     .ring_max = RING_MAX};
    enum pt_status status = pt_channel_create(&setup, &run->names, &run->reader, err);
    if (status == PT_OK)
        pt_channel_set_function(run->reader, function_name, run);
    if (status == PT_OK && run->info)
        pt_channel_set_place(run->reader, place_name, run);
    return status;
}

/* The file that the environment names, beside those of the command line. */
static enum pt_status load_suppressions(struct run *run, struct pt_err *err)
{
    if (!run->settings.suppressions.len)
        return PT_OK;
    char *path = pt_xcalloc(run->settings.suppressions.len + 1, 1);
    memcpy(path, run->settings.suppressions.at, run->settings.suppressions.len);
    enum pt_status status = pt_triage_suppressions(&run->analyse.triage, path, err);
    free(path);
    return status;
}

static enum pt_status prepare(struct run *run, const struct pt_parsed *parsed, struct pt_err *err)
{
    enum pt_status status = pt_analyse_load(&run->analyse, options_table, parsed, err);
    if (status == PT_OK)
        status = load_suppressions(run, err);
    if (status == PT_OK)
        status = check_inputs(run, err);
    if (status == PT_OK)
        status = resolve_names(run, err);
    if (status == PT_OK)
        status = open_files(run, err);
    if (status == PT_OK)
        status = open_channel(run, err);
    return status;
}

/* --- while it runs --- */

static void take(struct run *run, struct pt_analysis *analysis, const struct pt_event *event)
{
    struct pt_err err;
    if (run->writer && pt_writer_add(run->writer, event, &err) != PT_OK) {
        complain(run, &err);
        (void)!pt_writer_close(run->writer, &err); /* said already */
        run->writer = NULL;
    }
    if (!run->nonsense && pt_analysis_event(analysis, event, &err) != PT_OK) {
        run->nonsense = true;
        complain(run, &err);
    }
}

static void note_found(void *context, const struct pt_finding *finding)
{
    struct run_output *output = context;
    output->violated |= !pt_triage_sets_aside(output->output.options->triage, finding);
    if (output->found)
        output->found(context, finding);
}

static void note_observed(void *context, const struct pt_finding *finding, const struct pt_step *step)
{
    struct run_output *output = context;
    output->violated |= !pt_triage_may_set_aside(output->output.options->triage, finding);
    if (output->observed)
        output->observed(context, finding, step);
}

static void begin_output(struct run *run, struct run_output *output)
{
    *output = (struct run_output){0};
    pt_output_begin(&output->output, &run->output, false, &run->analyse.engine);
    output->found = run->analyse.engine.found;
    output->observed = run->analyse.engine.observed;
    run->analyse.engine.found = note_found;
    run->analyse.engine.observed = note_observed;
}

/* halt_on_error: the program is asked to end, and later made to. *since is when it was asked, 0: not yet. */
static void halt(const struct pt_launched *launched, uint64_t *since)
{
    uint64_t now = pt_progress_now();
    if (!*since) {
        *since = now;
        kill(launched->program, SIGTERM);
    } else if (now - *since > HALT_PATIENCE) {
        kill(launched->program, SIGKILL);
    }
}

static void observe(struct run *run, struct pt_analysis *analysis, const struct pt_launched *launched,
                    const struct run_output *output)
{
    uint64_t wait = SHORTEST_WAIT, halted = 0;
    bool over = false;
    for (;;) {
        struct pt_event event;
        if (run->settings.halt_on_error && output->violated && !over)
            halt(launched, &halted);
        if (pt_channel_ready(run->reader, &event) ||
            pt_channel_next(run->reader, pt_progress_now(), &event) == PT_CHANNEL_EVENT) {
            take(run, analysis, &event);
            wait = SHORTEST_WAIT;
        } else if (over) {
            return;
        } else if (pt_launch_is_over(launched)) {
            pt_channel_set_ended(run->reader);
            over = true;
        } else {
            pt_channel_wait(run->reader, wait);
            wait = wait * 2 < LONGEST_WAIT ? wait * 2 : LONGEST_WAIT;
        }
    }
}

/* --- after it has ended --- */

/* Why the answer is incomplete; false: it is not. */
static bool describe_losses(const struct run *run, struct pt_buf *buf)
{
    struct pt_channel_losses losses = pt_channel_losses(run->reader);
    if (!pt_channel_started(run->reader))
        pt_buf_puts(buf, "nothing was observed");
    else if (losses.dropped)
        pt_buf_printf(buf, "%" PRIu64 " event%s did not fit into the buffers and %s dropped", losses.dropped,
                      pt_words_plural(losses.dropped), losses.dropped == 1 ? "was" : "were");
    else if (losses.missing || losses.corrupt)
        pt_buf_printf(buf, "%" PRIu64 " event%s of the program did not arrive", losses.missing + losses.corrupt,
                      pt_words_plural(losses.missing + losses.corrupt));
    else if (run->nonsense)
        pt_buf_puts(buf, "what the program recorded makes no sense");
    return buf->len > 0;
}

static void warn_about_run(struct run *run, const struct pt_buf *lost)
{
    struct pt_err warning;
    if (!pt_channel_started(run->reader)) {
        (void)pt_err_set(&warning, PT_OK, "'%s' is not instrumented, so nothing was observed", run->program);
        pt_err_hint(&warning, "build it with 'portent cc' or 'portent c++'");
        complain(run, &warning);
    } else if (lost->len) {
        (void)pt_err_set(&warning, PT_OK, "%s", lost->text);
        complain(run, &warning);
    }
}

/* Mistakes of the program in its use of portent.h. */
static void warn_about_calls(struct run *run)
{
    uint64_t bad_ends = pt_channel_bad_ends(run->reader);
    if (bad_ends) {
        struct pt_err warning;
        (void)pt_err_set(&warning, PT_OK,
                         "%" PRIu64 " call%s of portent_end did not name the innermost open block, and %s ignored",
                         bad_ends, pt_words_plural(bad_ends), bad_ends == 1 ? "was" : "were");
        complain(run, &warning);
    }
}

/* Writers that were not instrumented: once per place. */
static void warn_about_foreign(struct run *run)
{
    uint32_t count;
    uint64_t total;
    const struct pt_channel_foreign *foreign = pt_channel_foreign(run->reader, &count, &total);
    for (uint32_t i = 0; i < count; i++) {
        struct pt_err warning;
        (void)pt_err_set(&warning, PT_OK, "the load of '%s' at %s saw a value that no instrumented code had written",
                         pt_name(&run->names, PT_SPACE_VAR, foreign[i].var),
                         pt_name(&run->names, PT_SPACE_LOC, foreign[i].loc));
        if (i + 1 == count)
            pt_err_hint(&warning,
                        "%" PRIu64 " such load%s in all; build the library that writes it with 'portent cc' too", total,
                        pt_words_plural(total));
        complain(run, &warning);
    }
}

static void write_result(struct run *run, const struct pt_result *result)
{
    struct pt_buf buf;
    struct pt_err err;
    if (!run->result_file)
        return;
    pt_buf_init(&buf);
    pt_report_json(result, &buf);
    bool good = fwrite(buf.text, 1, buf.len, run->result_file) == buf.len;
    good &= fclose(run->result_file) == 0;
    run->result_file = NULL;
    pt_buf_release(&buf);
    if (!good) {
        (void)pt_err_at(&err, PT_EIO, run->result_path, 0, 0, "cannot write the result: %s", strerror(errno));
        pt_diag_error(&err);
    }
}

static void close_trace(struct run *run)
{
    struct pt_err err;
    if (run->writer && pt_writer_close(run->writer, &err) != PT_OK)
        pt_diag_error(&err);
    run->writer = NULL;
}

static bool is_violated(const struct pt_result *result)
{
    for (uint32_t i = 0; i < result->count; i++) {
        if (pt_finding_counts(result->findings[i]))
            return true;
    }
    return false;
}

/* Finishes the analysis, tells everything, and returns the exit status. */
static int conclude(struct run *run, const char *const *program, struct pt_analysis *analysis, struct pt_output *output,
                    int program_status)
{
    struct pt_result result = {.trace = run->analyse.engine.trace, .program = program};
    struct pt_buf lost;
    pt_buf_init(&lost);
    bool incomplete = describe_losses(run, &lost);
    output->trace_ended = true;
    close_trace(run);
    warn_about_run(run, &lost);
    warn_about_calls(run);
    warn_about_foreign(run);
    pt_analysis_finish(analysis, incomplete ? lost.text : NULL);
    result.findings = pt_analysis_findings(analysis, &result.count);
    pt_analysis_counts(analysis, &result.events, &result.threads);
    pt_triage_apply(&run->analyse.triage, &result);
    write_result(run, &result);
    bool violated = is_violated(&result);
    if (result.count)
        pt_output_end(output, &result);
    else
        pt_output_abandon(output);
    pt_buf_release(&lost);
    return violated ? run->found_exit : program_status;
}

/* What is watched, for verbosity=1. */
static void introduce(const struct run *run, pid_t process)
{
    fprintf(stderr, "portent: process %ld is observed: %u variable%s, %u user event%s%s\n", (long)process,
            run->resolved.var_count, pt_words_plural(run->resolved.var_count), run->resolved.event_count,
            pt_words_plural(run->resolved.event_count), run->trace_path ? ", recorded" : "");
    for (uint32_t i = 0; i < run->resolved.var_count; i++) {
        const struct pt_channel_var *var = &run->resolved.vars[i];
        fprintf(stderr, "portent: %s: %u bytes at 0x%" PRIx64 " of %s\n", var->name, var->size, var->offset,
                var->module ? var->module : run->program);
    }
}

static int execute(struct run *run, const struct pt_parsed *parsed, struct pt_err *err)
{
    struct pt_launched launched;
    struct run_output output;
    /* Operands are the end of argv, and so end in NULL. */
    const char **arguments = pt_xcalloc((size_t)parsed->operand_count + 1, sizeof *arguments);
    memcpy(arguments, parsed->operands, parsed->operand_count * sizeof *arguments);
    enum pt_status status = pt_launch(run->program, arguments, run->reader, &launched, err);
    if (status != PT_OK) {
        free(arguments);
        pt_diag_error(err);
        return PT_EXIT_CANNOT_RUN;
    }
    pt_settings_open_log(&run->settings, launched.program);
    begin_output(run, &output);
    if (run->settings.verbosity > 0)
        introduce(run, launched.program);
    struct pt_analysis *analysis =
        pt_analysis_new(&run->names, run->analyse.inputs, run->analyse.input_count, &run->analyse.engine);
    observe(run, analysis, &launched, &output);
    int program_status = pt_launch_end(&launched);
    pt_interrupt_catch();
    int exit_status = conclude(run, arguments, analysis, &output.output, program_status);
    pt_analysis_free(analysis);
    free(arguments);
    return exit_status;
}

static void release(struct run *run)
{
    struct pt_err err;
    if (run->writer)
        (void)!pt_writer_close(run->writer, &err); /* an error was told already */
    if (run->result_file)
        fclose(run->result_file);
    pt_channel_free(run->reader);
    pt_resolved_release(&run->resolved);
    pt_debuginfo_free(run->info);
    pt_analyse_release(&run->analyse);
    pt_names_release(&run->names);
    free(run->modules);
    free(run->program);
}

static int run_command(const struct pt_parsed *parsed)
{
    struct run run = {0};
    struct pt_err err;
    int exit_status = PT_EXIT_BAD;
    pt_names_init(&run.names);
    pt_analyse_init(&run.analyse, DEFAULT_WINDOW, DEFAULT_LOOKAHEAD, NULL);
    run.analyse.selected = true;
    if (set_options(&run, parsed)) {
        run.program = pt_launch_find(parsed->operands[0], &exit_status, &err);
        if (!run.program) {
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
    release(&run);
    return exit_status;
}

static const char *const usages[] = {"[-s FILE.prop]... [-r RESULT.json] [-o FILE.trace] [OPTIONS] -- PROGRAM [ARGS]",
                                     NULL};

const struct pt_command pt_command_run = {
    .name = "run",
    .summary = "run a program and check all orders that its run allows",
    .usages = usages,
    .about = "Starts PROGRAM, which was built with 'portent cc' or 'portent c++', receives the events its properties "
             "name, and looks for violations in its run and in every other order of its events that the same causal "
             "order allows. Violations are told on standard error when they are found, everything else when the "
             "program has ended. The program's input, output, status and signals are its own.\n\n"
             "Exit status: the program's own (128 plus the signal's number when one killed it), except 66 when a "
             "violation was found; 2 bad usage or input, before the program starts; 126 or 127 when it cannot be "
             "started.",
    .options = options_table,
    .run = run_command,
};
