/*
 * portent check: reads properties and a trace, lets the engine analyse it, prints what was found. Standard output
 * carries the report and nothing else; errors and warnings go to standard error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/common/again.h"
#include "cli/common/analyse.h"
#include "cli/common/output.h"
#include "cli/commands.h"
#include "cli/common/diag.h"
#include "cli/common/file.h"
#include "cli/common/interrupt.h"
#include "cli/common/machine.h"
#include "cli/common/together.h"
#include "cli/common/whatis.h"
#include "engine/analysis.h"
#include "engine/check.h"
#include "trace/format.h"
#include "trace/source.h"
#include "trace/validate.h"

enum {
    OPT_PROPERTIES,
    OPT_MONITOR,
#define PT_CHECK(name, help) OPT_CHECK_##name,
#include "engine/checks.def"
    OPT_WINDOW,
    OPT_LOOKAHEAD,
    OPT_ORDER,
    OPT_EFFORT,
    OPT_NEAR,
    OPT_EXHAUSTIVE,
    OPT_JOBS,
    OPT_MEMORY_LIMIT,
    OPT_AUTOMATON_LIMIT,
    OPT_SUPPRESSIONS,
    OPT_BASELINE,
    OPT_JSON,
    OPT_COLOR,
    OPT_PROGRESS,
    OPT_QUIET,
    OPT_COUNT
};

static const struct pt_option options_table[] = {
    [OPT_PROPERTIES] = PT_OPTION_PROPERTIES,
    [OPT_MONITOR] = PT_OPTION_MONITOR,
#define PT_CHECK(name, help) [OPT_CHECK_##name] = {#name, 0, NULL, NULL, help},
#include "engine/checks.def"
    [OPT_WINDOW] = {"window", 0, "W", NULL,
                    "keep at most W states per level, or 'all' (default: all; 64 on standard input)"},
    [OPT_LOOKAHEAD] = {"lookahead", 0, "L", NULL,
                       "look at most L events ahead, or 'all' (default: all; 256 on standard input)"},
    [OPT_ORDER] = {"order", 0, "ORDER", PT_ORDERS_NAMES,
                   "which runs of the recorded events are explored: access, sync, values, or auto (default), which is "
                   "one after the other; slices=K: at most K+1 parts of the recording one after the other"},
    [OPT_EFFORT] = {"effort", 0, "TIME", NULL,
                    "how long to look in sync and in values, per property and order, or 'all' (default: 2s)"},
    [OPT_NEAR] = {"near", 0, "N", NULL,
                  "predict races in runs alone that are the recorded one up to some N events before the race, or 'all' "
                  "(default), which takes memory for every event"},
    [OPT_EXHAUSTIVE] = PT_OPTION_EXHAUSTIVE,
    [OPT_JOBS] = PT_OPTION_JOBS,
    [OPT_MEMORY_LIMIT] = PT_OPTION_MEMORY_LIMIT,
    [OPT_AUTOMATON_LIMIT] = PT_OPTION_AUTOMATON_LIMIT,
    [OPT_SUPPRESSIONS] = PT_OPTION_SUPPRESSIONS,
    [OPT_BASELINE] = PT_OPTION_BASELINE,
    [OPT_JSON] = {"json", 0, NULL, NULL, "print one JSON object instead of text"},
    [OPT_COLOR] = PT_OPTION_COLOR,
    [OPT_PROGRESS] = {"progress", 0, "WHEN", "auto never",
                      "progress on standard error: auto (default; on a terminal only) or never"},
    [OPT_QUIET] = {"quiet", 'q', NULL, NULL, "no text report and no warnings: the exit status tells"},
    [OPT_COUNT] = {0},
};

/* The built-in checks that options choose; NULL: the option chooses none. */
static const struct pt_check_kind *const checks_table[OPT_COUNT] = {
#define PT_CHECK(name, help) [OPT_CHECK_##name] = &pt_check_##name,
#include "engine/checks.def"
};

/* What the command line asked for, and what was built from it; everything the command owns. */
struct check {
    const char *trace;
    struct pt_analyse analyse;
    struct pt_output_options output;
    bool chosen[OPT_COUNT]; /* of checks_table */
    bool by_default;        /* nobody asked for anything: the checks that a run gets then */
    bool bounded;           /* --window or --lookahead was given */
    bool no_progress;
    uint64_t near; /* events; PT_ALL */
    struct pt_names names;
    struct pt_strtab initial; /* names of variables that came with an initial value */
    uint64_t digest;          /* of the events, where other processes read them too */
    struct pt_again again;
    const struct pt_format *format; /* of the trace; NULL: it was not read that far */
};

static bool set_option(struct check *check, uint32_t index, const char *argument)
{
    bool taken;
    if (!pt_analyse_option(&check->analyse, &options_table[index], argument, &taken))
        return false;
    check->chosen[index] |= checks_table[index] != NULL;
    switch (index) {
    case OPT_JSON:
        return check->output.json = true;
    case OPT_COLOR:
        check->output.style = pt_analyse_style(STDOUT_FILENO, argument);
        return true;
    case OPT_PROGRESS:
        check->no_progress = strcmp(argument, "never") == 0;
        return true;
    case OPT_QUIET:
        return check->output.quiet = true;
    case OPT_ORDER: /* the parser has checked the name */
        return pt_orders_find(argument, &check->analyse.engine.orders);
    case OPT_EFFORT:
        return pt_parse_time("effort", argument, &check->analyse.engine.effort);
    case OPT_NEAR:
        return pt_parse_bound("near", argument, &check->near);
    case OPT_WINDOW:
    case OPT_LOOKAHEAD:
        check->bounded = true;
        return true;
    default: /* the engine's; files are loaded afterwards */
        return true;
    }
}

/* Slices are of properties; races, deadlocks and the like have their own searches in sync and values. */
static bool settle_slices(const struct check *check)
{
    for (uint32_t i = 0; i < OPT_COUNT; i++)
        if (check->chosen[i]) {
            pt_diag_usage("check", "--order slices=K is for properties (-s): --%s has sync and values",
                          options_table[i].name);
            return false;
        }
    if (check->by_default)
        pt_diag_usage("check", "--order slices=K is for properties: give some with -s");
    return !check->by_default;
}

/* Windows are of the order `access`. What is bounded, or analysed as it arrives, gets that order unless another one was
 * asked for. */
static bool settle_orders(struct check *check)
{
    struct pt_analysis_options *engine = &check->analyse.engine;
    bool all = engine->window == PT_ALL && engine->lookahead == PT_ALL;
    if (engine->orders == PT_ORDERS_AUTO && !all)
        engine->orders = PT_ORDERS_ACCESS;
    if (engine->orders == PT_ORDERS_ACCESS || engine->orders == PT_ORDERS_AUTO)
        return true;
    if (check->bounded && !all) {
        pt_diag_usage("check", "--window and --lookahead bound the order access alone; sync and values are bounded by "
                               "--effort");
        return false;
    }
    engine->window = engine->lookahead = PT_ALL;
    return engine->orders < PT_ORDERS_SLICES_0 || settle_slices(check);
}

/* mpirun gives its standard input to the first process alone, and its own terminal to none. */
static bool settle_together(struct check *check)
{
    if (!pt_together_group())
        return true;
    if (check->output.stream) {
        pt_diag_usage("check", "under mpirun every process reads the trace: it has to be a file, not standard input");
        return false;
    }
    check->no_progress = true;
    return true;
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
        pt_diag_usage("check",
                      "a trace is missing: portent check -s FILE.prop TRACE; 'portent run -o TRACE' records one");
        return false;
    }
    if (parsed->operand_count > 1) {
        too_many_traces(parsed);
        return false;
    }
    check->trace = parsed->operands[0];
    bool stream = strcmp(check->trace, "-") == 0;
    pt_analyse_init(&check->analyse, stream ? 64 : PT_ALL, stream ? 256 : PT_ALL, check->trace);
    check->output.stream = stream;
    check->output.triage = &check->analyse.triage;
    check->output.style = pt_analyse_style(STDOUT_FILENO, "auto");
    check->by_default = true;
    check->near = PT_ALL;
    check->analyse.engine.orders = PT_ORDERS_AUTO;
    check->analyse.engine.effort = PT_EFFORT_STANDARD;
    check->analyse.engine.log_limit = pt_memory() / PT_LOG_SHARE;
    for (uint32_t i = 0; i < parsed->option_count; i++) {
        uint32_t index = parsed->options[i].index;
        if (!set_option(check, index, parsed->options[i].argument))
            return false;
        check->by_default &= index != OPT_PROPERTIES && index != OPT_MONITOR && !checks_table[index];
    }
    if (!settle_orders(check) || !settle_together(check))
        return false;
    if (check->by_default)
        check->chosen[OPT_CHECK_races] = check->chosen[OPT_CHECK_deadlocks] = true;
    return true;
}

/* What reads the events. */
struct engines {
    struct pt_analysis *analysis;
    struct pt_checks *checks;
};

enum { MANY = 128 }; /* events at a time: they fit the first-level cache */

/* An event that is refused ends it; of several refusals the first event's is told. */
static enum pt_status take(const struct engines *engines, struct pt_validator *validator, const struct pt_event *events,
                           uint32_t count, struct pt_err *err)
{
    enum pt_status status = PT_OK;
    uint32_t taken = 0;
    for (; taken < count && status == PT_OK; taken += status == PT_OK) {
        status = pt_validator_check(validator, &events[taken], err);
        if (status == PT_OK)
            status = pt_analysis_event(engines->analysis, &events[taken], err);
    }
    struct pt_err refusal;
    enum pt_status checks = count == 1 && taken ? pt_checks_event(engines->checks, events, &refusal)
                                                : pt_checks_events(engines->checks, events, taken, &refusal);
    if (checks != PT_OK) {
        *err = refusal;
        return checks;
    }
    return status;
}

static void note_initial(struct check *check, const struct pt_event *event)
{
    const char *name = pt_name(&check->names, PT_SPACE_VAR, event->object);
    (void)pt_strtab_intern(&check->initial, name, strlen(name));
}

/* The next events: several where they are at hand and nobody waits for what is found. */
static enum pt_read read_some(const struct check *check, struct pt_source *source, struct pt_event *events,
                              uint32_t *ret_count, struct pt_err *err)
{
    *ret_count = check->output.stream ? 0 : pt_source_some(source, events, MANY);
    if (*ret_count)
        return PT_READ_EVENT;
    *ret_count = 1;
    return pt_source_next(source, events, err);
}

/* False when SIGINT ends the reading; standard input may be silent for long before that. */
static bool may_read(const struct check *check, struct pt_source *source)
{
    if (check->output.stream && !pt_source_ready(source))
        return pt_interrupt_wait(pt_source_fd(source));
    return !pt_interrupted();
}

/* The two that predict; also those that several processes do together. */
static bool is_divided(const struct pt_check_kind *kind)
{
    return kind == &pt_check_races || kind == &pt_check_deadlocks;
}

static bool may_leave_out(const struct check *check)
{
    for (uint32_t i = 0; i < OPT_COUNT; i++)
        if (check->chosen[i] && !is_divided(checks_table[i]))
            return false;
    return pt_analyse_only_states(&check->analyse);
}

/* Reads the whole trace, or what there is of it until a tear or an interruption, which *result and *output record. */
static enum pt_status feed(struct check *check, const struct engines *engines, struct pt_result *result,
                           struct pt_output *output, struct pt_err *err)
{
    struct pt_source *source;
    enum pt_status status = pt_source_open(check->trace, &check->names, &source, err);
    if (status != PT_OK)
        return status;
    if (may_leave_out(check))
        pt_source_leave_out(source);
    pt_again_begin(&check->again, source);
    struct pt_validator *validator = pt_validator_new(pt_source_label(source), &check->names);
    struct pt_event events[MANY];
    uint32_t count;
    enum pt_read read = PT_READ_EVENT;
    while (status == PT_OK && may_read(check, source) &&
           (read = read_some(check, source, events, &count, err)) == PT_READ_EVENT) {
        for (uint32_t i = 0; i < count; i++)
            if (events[i].op == PT_OP_INIT)
                note_initial(check, &events[i]);
        for (uint32_t i = 0; pt_together_group() && i < count; i++)
            check->digest = pt_together_digest(check->digest, &events[i]);
        status = take(engines, validator, events, count, err);
    }
    if (read == PT_READ_ERROR)
        status = err->status;
    struct pt_err earlier;
    if (pt_analysis_flush(engines->analysis, &earlier) != PT_OK) { /* of an event before what has failed here */
        *err = earlier;
        status = earlier.status;
    }
    if (read == PT_READ_TORN) {
        result->torn = true;
        snprintf(result->torn_message, sizeof result->torn_message, "%s", err->message);
        pt_progress_clear(&output->progress);
        if (!check->output.quiet)
            pt_diag_warning(err);
    }
    output->interrupted = read == PT_READ_EVENT && status == PT_OK;
    pt_validator_free(validator);
    pt_again_end(&check->again);
    check->format = pt_source_format(source);
    pt_source_free(source);
    return status;
}

static bool is_bounded(const struct pt_analysis_options *options)
{
    return options->window != PT_ALL || options->lookahead != PT_ALL;
}

/* What somebody who started several processes may have hoped to have divided. */
static void tell_undivided(const struct check *check)
{
    const struct pt_analyse *a = &check->analyse;
    const char *what = NULL;
    for (uint32_t i = 0; i < a->input_count; i++) {
        const struct pt_property *property = a->inputs[i].property;
        if (!property)
            what = "monitor modules";
        else if (property->within)
            what = "properties with 'within'";
        else if (property->kind == PT_KIND_MTTL)
            what = "decentralised properties";
        else if (property->kind == PT_KIND_RACE)
            continue;
        else if (is_bounded(&a->engine))
            what = "bounded windows";
        else if (a->engine.orders != PT_ORDERS_ACCESS && a->engine.orders != PT_ORDERS_AUTO)
            what = "the orders other than access";
    }
    for (uint32_t i = 0; i < OPT_COUNT; i++)
        if (check->chosen[i] && !is_divided(checks_table[i]))
            what = "checks other than of races and deadlocks";
    struct pt_err err;
    if (!what || check->output.quiet || !pt_group_shares(pt_together_group()) || !pt_together_leads())
        return;
    (void)pt_err_set(&err, PT_EUSAGE, "%s are not divided among the processes of mpirun: the first does them alone",
                     what);
    pt_diag_warning(&err);
}

static void start(struct check *check, struct engines *engines)
{
    struct pt_analysis_options *options = &check->analyse.engine;
    options->batches = pt_again_stays(check->trace);
    options->goes_by = !options->batches;
    if (options->orders >= PT_ORDERS_SLICES_0) {
        pt_again_init(&check->again, check->trace, &check->names, may_leave_out(check));
        options->again = pt_again_read;
        options->again_of = &check->again;
    }
    options->group = pt_together_group();
    const struct pt_check_options of_checks = {.trace = options->trace,
                                               .order = pt_orders_widest(options->orders),
                                               .automatic = options->orders == PT_ORDERS_AUTO,
                                               .near = check->near,
                                               .by_default = check->by_default,
                                               .counted_before = options->counted_before,
                                               .memory_limit = options->memory_limit,
                                               .log_limit = options->log_limit,
                                               .now = options->now,
                                               .effort = options->effort,
                                               .group = options->group,
                                               .suppressed = options->suppressed,
                                               .context = options->context};
    const struct pt_check_kind *kinds[OPT_COUNT];
    uint32_t count = 0;
    for (uint32_t i = 0; i < OPT_COUNT; i++) {
        if (check->chosen[i] && (pt_together_leads() || is_divided(checks_table[i])))
            kinds[count++] = checks_table[i];
    }
    engines->analysis = pt_analysis_new(&check->names, check->analyse.inputs, check->analyse.input_count, options);
    engines->checks = pt_checks_new(kinds, count, &check->names, &of_checks);
}

/* The trace has ended; `lost`: why something of it is missing, NULL. */
static void finish(const struct engines *engines, const char *lost, struct pt_result *result)
{
    pt_analysis_finish(engines->analysis, lost);
    result->findings = pt_analysis_findings(engines->analysis, &result->count);
    pt_analysis_counts(engines->analysis, &result->events, &result->threads);
    pt_checks_finish(engines->checks, lost, result);
}

static void doubt(struct pt_finding *finding, const char *why)
{
    finding->verdict = PT_VERDICT_UNKNOWN;
    finding->complete = false;
    finding->message = why;
    finding->witness_count = finding->actual_count = finding->truth_count = finding->more_count = 0;
}

/* Whether all variables of a property came with a value to begin with. */
static bool has_initial(const struct check *check, const struct pt_monitor *monitor)
{
    uint32_t count = 0, known = 0;
    const struct pt_varref *vars = monitor ? pt_monitor_vars(monitor, &count) : NULL;
    for (uint32_t i = 0; i < count; i++)
        known += pt_strtab_find(&check->initial, vars[i].target, strlen(vars[i].target)) != PT_NONE ||
                 pt_strtab_find(&check->initial, vars[i].path, strlen(vars[i].path)) != PT_NONE;
    return known == count;
}

/* Whether the property has a path through pointers of which the trace says nothing: `run -s` follows those, and writes
 * what they lead to; a recording of everything does not. */
static bool has_lost_path(const struct pt_finding *finding, const struct pt_monitor *monitor)
{
    uint32_t count = 0;
    const struct pt_varref *vars = monitor ? pt_monitor_vars(monitor, &count) : NULL;
    for (uint32_t i = 0; i < count; i++)
        for (const char *const *name = finding->unseen; name && *name; name++)
            if (strcmp(*name, vars[i].name) == 0 && (strstr(vars[i].path, "->") || strchr(vars[i].path, '*')))
                return true;
    return false;
}

/* A trace without events says nothing. One that a program has recorded by itself (record=FILE) has the initial values
 * of what was accessed, as far as the program still has its debug information: what is said of variables without them
 * is not known. */
static void doubt_findings(const struct check *check, const struct pt_result *result)
{
    bool recording = check->format && strcmp(check->format->name, "recording") == 0;
    for (uint32_t i = 0; i < result->count; i++) {
        struct pt_finding *finding = result->findings[i];
        if (finding->builtin && !result->events && finding->verdict == PT_VERDICT_HOLDS)
            doubt(finding, "the trace has no events");
        else if (recording && !finding->builtin && !has_initial(check, check->analyse.inputs[i].monitor) &&
                 finding->verdict != PT_VERDICT_ERROR)
            doubt(finding,
                  "the recording has no initial value of a variable that the property names: it was not accessed, or "
                  "its name is not known any more");
        else if (!finding->builtin && finding->verdict == PT_VERDICT_HOLDS &&
                 has_lost_path(finding, check->analyse.inputs[i].monitor))
            doubt(finding, "the property has a path through pointers that the trace never mentions: 'run -s' follows "
                           "those, recordings of everything do not");
    }
}

/* Where several processes do it: whether each has read the same. If one was interrupted, the first goes on alone. */
static bool have_all_read(const struct check *check, bool well, bool interrupted)
{
    if (!pt_together_agree(well))
        return false;
    if (pt_group_count(pt_together_group(), interrupted)) {
        pt_together_part();
        return pt_together_leads();
    }
    return pt_together_same(check->digest, &check->names);
}

static int analyse(struct check *check, struct pt_err *err)
{
    struct pt_output output;
    struct engines engines;
    pt_output_begin(&output, &check->output, !check->no_progress, &check->analyse.engine);
    tell_undivided(check);
    start(check, &engines);
    char *folder = getcwd(NULL, 0);
    const char *const source_roots[] = {folder, NULL};
    struct pt_result result = {.trace = check->trace, .source_roots = folder ? source_roots : NULL};
    int exit_status = PT_EXIT_BAD;
    pt_interrupt_catch();
    enum pt_status status = feed(check, &engines, &result, &output, err);
    if (status != PT_OK) {
        pt_whatis_mend(check->trace, PT_FILE_TRACE, err);
        pt_file_show_line(check->trace, err);
        pt_diag_error(err);
    }
    if (have_all_read(check, status == PT_OK, output.interrupted)) {
        output.trace_ended = true;
        finish(&engines,
               output.interrupted ? "interrupted while the trace was read"
               : result.torn      ? result.torn_message
                                  : NULL,
               &result);
        doubt_findings(check, &result);
        if (!check->output.quiet && !output.interrupted)
            pt_output_unseen(&output, engines.analysis, &check->names, check->analyse.props);
        pt_triage_apply(&check->analyse.triage, &result);
        exit_status = pt_output_end(&output, &result);
    } else {
        pt_output_abandon(&output);
    }
    pt_checks_free(engines.checks);
    pt_analysis_free(engines.analysis);
    free(folder);
    return exit_status;
}

static int run(const struct pt_parsed *parsed)
{
    struct check check = {.again = {.copy = -1}};
    struct pt_err err;
    int exit_status = PT_EXIT_BAD;
    pt_names_init(&check.names);
    pt_strtab_init(&check.initial);
    bool well = set_options(&check, parsed);
    if (well && pt_analyse_load(&check.analyse, options_table, parsed, &err) != PT_OK) {
        pt_diag_error(&err);
        well = false;
    }
    if (pt_together_agree(well))
        exit_status = analyse(&check, &err);
    pt_again_release(&check.again);
    pt_analyse_release(&check.analyse);
    pt_strtab_release(&check.initial);
    pt_names_release(&check.names);
    return exit_status;
}

static const char *const usages[] = {"[-s FILE.prop]... [OPTIONS] TRACE", NULL};

const struct pt_command pt_command_check = {
    .name = "check",
    .summary = "check properties on all runs that a trace's causal order allows",
    .usages = usages,
    .about =
        "Reads a recorded run (text or binary; - is standard input, analysed as it arrives) and looks for "
        "property violations in it and in every other order of its events that the same causal order allows. "
        "Without properties and checks it looks for data races and deadlocks, where the trace has what they need: all "
        "accesses and synchronisation. With --atomicity, blocks that the program "
        "marked are checked for causal atomicity, as 'portent model' does for all runs.\n\n"
        "Exit status: 0 all hold, 1 a violation was found, 2 bad usage or input or a property that cannot be "
        "evaluated, 3 unknown (a limit was reached, events were lost, or Ctrl-C ended the work).",
    .options = options_table,
    .run = run,
};
