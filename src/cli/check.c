/*
 * portent check: reads properties and a trace, lets the engine analyse it, prints what was found. Standard output
 * carries the report and nothing else; errors and warnings go to standard error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/check_output.h"
#include "cli/commands.h"
#include "cli/diag.h"
#include "cli/file.h"
#include "cli/interrupt.h"
#include "engine/analysis.h"
#include "logic/monitor.h"
#include "portent-monitor.h"
#include "trace/reader.h"
#include "trace/validate.h"

enum {
    OPT_PROPERTIES,
    OPT_MONITOR,
    OPT_WINDOW,
    OPT_LOOKAHEAD,
    OPT_ORDER,
    OPT_EXHAUSTIVE,
    OPT_JOBS,
    OPT_MEMORY_LIMIT,
    OPT_AUTOMATON_LIMIT,
    OPT_JSON,
    OPT_COLOR,
    OPT_PROGRESS,
    OPT_QUIET,
};

static const struct pt_option options_table[] = {
    [OPT_PROPERTIES] = {NULL, 's', "FILE.prop", NULL, "check the properties of this file; may be repeated"},
    [OPT_MONITOR] = {"monitor", 0, "FILE.so", NULL,
                     "check with a monitor module of your own (a shared library, see portent-monitor.h); may be "
                     "repeated"},
    [OPT_WINDOW] = {"window", 0, "W", NULL,
                    "keep at most W states per level, or 'all' (default: all; 64 on standard input)"},
    [OPT_LOOKAHEAD] = {"lookahead", 0, "L", NULL,
                       "look at most L events ahead, or 'all' (default: all; 256 on standard input)"},
    [OPT_ORDER] =
        {"order", 0, "ORDER", "access",
         "the causal order: access (default), where accesses to a variable of which one writes stay in order"},
    [OPT_EXHAUSTIVE] = {"exhaustive", 0, NULL, NULL, "go on after a violation, so that all figures are exact"},
    [OPT_JOBS] = {"jobs", 0, "N", NULL, "use N threads (default: 1); the result is the same"},
    [OPT_MEMORY_LIMIT] =
        {"memory-limit", 0, "SIZE", NULL,
         "give up on a property, as unknown, when its exploration needs more (K, M, G: powers of 1024)"},
    [OPT_AUTOMATON_LIMIT] = {"automaton-limit", 0, "N", NULL,
                             "give up on a property whose automaton needs more states (default: 100000)"},
    [OPT_JSON] = {"json", 0, NULL, NULL, "print one JSON object instead of text"},
    [OPT_COLOR] = {"color", 0, "WHEN", "auto always never", "colours: auto (default), always or never"},
    [OPT_PROGRESS] = {"progress", 0, "WHEN", "auto never",
                      "progress on standard error: auto (default; on a terminal only) or never"},
    [OPT_QUIET] = {"quiet", 'q', NULL, NULL, "no text report and no warnings: the exit status tells"},
    {0},
};

/* What the command line asked for, and what was built from it; everything the command owns. */
struct check {
    const char *trace;
    struct pt_analysis_options engine;
    uint32_t automaton_limit;
    struct pt_output_options output;
    bool no_progress;

    struct pt_properties *props;
    struct pt_analysis_input *inputs;
    size_t input_cap;
    uint32_t input_count;
    char **messages; /* of inputs, owned */
    size_t message_cap;
    uint32_t message_count;
    struct pt_names names;
};

static bool set_color(struct check *check, const char *when)
{
    const char *none = getenv("NO_COLOR");
    if (strcmp(when, "auto") == 0)
        check->output.style.color = isatty(STDOUT_FILENO) && !(none && none[0]);
    else
        check->output.style.color = strcmp(when, "always") == 0;
    return true;
}

static bool set_option(struct check *check, uint32_t index, const char *argument)
{
    uint64_t number = 0;
    const char *name = options_table[index].name;
    switch (index) {
    case OPT_WINDOW:
        return pt_parse_bound(name, argument, &check->engine.window);
    case OPT_LOOKAHEAD:
        return pt_parse_bound(name, argument, &check->engine.lookahead);
    case OPT_EXHAUSTIVE:
        return check->engine.exhaustive = true;
    case OPT_JOBS:
        if (!pt_parse_count(name, argument, 1024, &number))
            return false;
        check->engine.jobs = (unsigned)number;
        return true;
    case OPT_MEMORY_LIMIT:
        return pt_parse_size(name, argument, &check->engine.memory_limit);
    case OPT_AUTOMATON_LIMIT:
        if (!pt_parse_count(name, argument, INT32_MAX, &number))
            return false;
        check->automaton_limit = (uint32_t)number;
        return true;
    case OPT_JSON:
        return check->output.json = true;
    case OPT_COLOR:
        return set_color(check, argument);
    case OPT_PROGRESS:
        check->no_progress = strcmp(argument, "never") == 0;
        return true;
    case OPT_QUIET:
        return check->output.quiet = true;
    default:
        return true; /* files are loaded afterwards; there is one --order, which the parser has checked */
    }
}

/* The terminal's width within reason: narrower breaks the columns, wider is hard to read. */
static unsigned report_width(void)
{
    unsigned width = pt_terminal_width(STDOUT_FILENO);
    if (width == 0)
        return 80;
    return width < PT_STYLE_MIN_WIDTH ? PT_STYLE_MIN_WIDTH : width > 120 ? 120 : width;
}

static bool is_property_file(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcmp(dot, ".prop") == 0;
}

static void too_many_traces(const struct pt_parsed *parsed)
{
    struct pt_err err;
    (void)pt_err_set(&err, PT_EUSAGE, "check takes one trace, not %u", parsed->operand_count);
    pt_err_hint(&err, "see 'portent check --help'");
    for (uint32_t i = 0; i < parsed->operand_count; i++) {
        if (is_property_file(parsed->operands[i]))
            pt_err_hint(&err, "a property file goes after -s: -s %s", parsed->operands[i]);
    }
    pt_diag_error(&err);
}

static bool set_options(struct check *check, const struct pt_parsed *parsed)
{
    if (parsed->operand_count == 0) {
        pt_diag_usage("check", "a trace is missing");
        return false;
    }
    if (parsed->operand_count > 1) {
        too_many_traces(parsed);
        return false;
    }
    check->trace = parsed->operands[0];
    bool stream = strcmp(check->trace, "-") == 0;
    check->engine = (struct pt_analysis_options){.window = stream ? 64 : PT_ALL,
                                                 .lookahead = stream ? 256 : PT_ALL,
                                                 .jobs = 1,
                                                 .trace = check->trace,
                                                 .now = pt_progress_now};
    check->automaton_limit = 100000;
    check->output.stream = stream;
    check->output.style.width = report_width();
    set_color(check, "auto");
    for (uint32_t i = 0; i < parsed->option_count; i++) {
        if (!set_option(check, parsed->options[i].index, parsed->options[i].argument))
            return false;
    }
    return true;
}

static void add_input(struct check *check, struct pt_analysis_input input)
{
    if (input.message) {
        char *copy = pt_xstrdup(input.message);
        PT_PUSH(check->messages, check->message_count, check->message_cap, copy);
        input.message = copy;
    }
    PT_PUSH(check->inputs, check->input_count, check->input_cap, input);
}

/* A property becomes a monitor, or an error of its own that leaves the other properties alone. */
static enum pt_status add_property(struct check *check, const struct pt_property *property, struct pt_err *err)
{
    struct pt_analysis_input input = {.property = property, .verdict = PT_VERDICT_ERROR};
    if (property->kind == PT_KIND_MTTL) {
        input.message = "decentralised properties (at ...) are not yet available";
    } else if (property->within) {
        input.message = "'within' properties are not yet available";
    } else {
        enum pt_status status = pt_monitor_new(property, check->automaton_limit, &input.monitor, err);
        if (status == PT_ELIMIT)
            input.message = err->message;
        else if (status != PT_OK)
            return status;
    }
    add_input(check, input);
    return PT_OK;
}

static enum pt_status load_properties(struct check *check, const char *path, struct pt_err *err)
{
    uint32_t before = check->props->count;
    enum pt_status status = pt_file_properties(check->props, path, err);
    if (status == PT_OK && check->props->count == before)
        status = pt_err_at(err, PT_EINPUT, path, 0, 0, "there is no property in this file");
    return status;
}

static bool name_is_taken(const struct check *check, const char *name)
{
    for (uint32_t i = 0; i < check->input_count; i++) {
        const struct pt_analysis_input *input = &check->inputs[i];
        if (strcmp(input->property ? input->property->name : pt_monitor_name(input->monitor), name) == 0)
            return true;
    }
    return false;
}

static enum pt_status load(struct check *check, const struct pt_parsed *parsed, struct pt_err *err)
{
    enum pt_status status = PT_OK;
    check->props = pt_properties_new();
    for (uint32_t i = 0; i < parsed->option_count && status == PT_OK; i++) {
        if (parsed->options[i].index == OPT_PROPERTIES)
            status = load_properties(check, parsed->options[i].argument, err);
    }
    for (uint32_t i = 0; i < check->props->count && status == PT_OK; i++)
        status = add_property(check, &check->props->items[i], err);
    for (uint32_t i = 0; i < parsed->option_count && status == PT_OK; i++) {
        const struct portent_monitor *module;
        if (parsed->options[i].index != OPT_MONITOR)
            continue;
        status = pt_file_module(parsed->options[i].argument, &module, err);
        if (status == PT_OK && name_is_taken(check, module->name))
            status = pt_err_at(err, PT_EINPUT, parsed->options[i].argument, 0, 0,
                               "there is already a property or module named '%s'", module->name);
        if (status == PT_OK)
            add_input(check, (struct pt_analysis_input){.monitor = pt_monitor_of_module(module)});
    }
    return status;
}

static enum pt_status take(struct pt_analysis *analysis, struct pt_validator *validator, const struct pt_event *event,
                           struct pt_err *err)
{
    enum pt_status status = pt_validator_check(validator, event, err);
    return status == PT_OK ? pt_analysis_event(analysis, event, err) : status;
}

/* False when SIGINT ends the reading; standard input may be silent for long before that. */
static bool may_read(const struct check *check, struct pt_reader *reader)
{
    if (check->output.stream && pt_reader_would_block(reader))
        return pt_interrupt_wait(STDIN_FILENO);
    return !pt_interrupted();
}

/* Reads the whole trace, or what there is of it until a tear or an interruption, which *result and *output tell. */
static enum pt_status feed(struct check *check, struct pt_analysis *analysis, struct pt_result *result,
                           struct pt_output *output, struct pt_err *err)
{
    struct pt_reader *reader;
    enum pt_status status = pt_reader_open(check->trace, &check->names, &reader, err);
    if (status != PT_OK)
        return status;
    struct pt_validator *validator = pt_validator_new(pt_reader_label(reader), &check->names);
    struct pt_event event;
    enum pt_read read = PT_READ_EVENT;
    while (status == PT_OK && may_read(check, reader) && (read = pt_reader_next(reader, &event, err)) == PT_READ_EVENT)
        status = take(analysis, validator, &event, err);
    if (read == PT_READ_ERROR)
        status = err->status;
    if (read == PT_READ_TORN) {
        result->torn = true;
        snprintf(result->torn_message, sizeof result->torn_message, "%s", err->message);
        pt_progress_clear(&output->progress);
        if (!check->output.quiet)
            pt_diag_warning(err);
    }
    output->interrupted = read == PT_READ_EVENT && status == PT_OK;
    pt_validator_free(validator);
    pt_reader_free(reader);
    return status;
}

static int analyse(struct check *check, struct pt_err *err)
{
    struct pt_output output;
    pt_output_begin(&output, &check->output, !check->no_progress, &check->engine);
    struct pt_analysis *analysis = pt_analysis_new(&check->names, check->inputs, check->input_count, &check->engine);
    struct pt_result result = {.trace = check->trace};
    int exit_status = PT_EXIT_BAD;
    pt_interrupt_catch();
    enum pt_status status = feed(check, analysis, &result, &output, err);
    if (status == PT_OK) {
        output.trace_ended = true;
        pt_analysis_finish(analysis, output.interrupted ? "interrupted while the trace was read"
                                     : result.torn      ? result.torn_message
                                                        : NULL);
        result.findings = pt_analysis_findings(analysis, &result.count);
        pt_analysis_counts(analysis, &result.events, &result.threads);
        if (!check->output.quiet && !output.interrupted)
            pt_output_unseen(&output, analysis, &check->names, check->props);
        exit_status = pt_output_end(&output, &result);
    } else {
        pt_output_abandon(&output);
        pt_file_show_line(check->trace, err);
        pt_diag_error(err);
    }
    pt_analysis_free(analysis);
    return exit_status;
}

static void release(struct check *check)
{
    for (uint32_t i = 0; i < check->input_count; i++)
        pt_monitor_free(check->inputs[i].monitor);
    free(check->inputs);
    for (uint32_t i = 0; i < check->message_count; i++)
        free(check->messages[i]);
    free(check->messages);
    pt_properties_free(check->props);
    pt_names_release(&check->names);
}

static int run(const struct pt_parsed *parsed)
{
    struct check check = {0};
    struct pt_err err;
    if (!set_options(&check, parsed))
        return PT_EXIT_BAD;
    int exit_status = PT_EXIT_BAD;
    pt_names_init(&check.names);
    if (load(&check, parsed, &err) == PT_OK)
        exit_status = analyse(&check, &err);
    else
        pt_diag_error(&err);
    release(&check);
    return exit_status;
}

static const char *const usages[] = {"[-s FILE.prop]... [OPTIONS] TRACE", NULL};

const struct pt_command pt_command_check = {
    .name = "check",
    .summary = "check properties on all runs that a trace's causal order allows",
    .usages = usages,
    .about = "Reads a recorded run (text or binary; - is standard input, analysed as it arrives) and looks for "
             "property violations in it and in every other order of its events that the same causal order allows. "
             "Without properties the trace is only validated and counted.\n\n"
             "Exit status: 0 all hold, 1 a violation was found, 2 bad usage or input or a property that cannot be "
             "evaluated, 3 unknown (a limit was reached, events were lost, or Ctrl-C ended the work).",
    .options = options_table,
    .run = run,
};
