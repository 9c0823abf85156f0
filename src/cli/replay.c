/*
 * portent replay: a run that `explore` wrote down, again. Input, output and error are the program's. Guarantee: it says
 * that the run was the same only if every stretch ended at the place that the file names. The cost is one run.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/common/analyse.h"
#include "cli/common/diag.h"
#include "cli/common/file.h"
#include "cli/common/whatis.h"
#include "cli/explore/debug.h"
#include "cli/explore/recorded.h"
#include "cli/explore/replayed.h"
#include "cli/explore/sweep.h"
#include "cli/run/launch.h"
#include "core/found.h"
#include "core/settings.h"
#include "explore/crew.h"
#include "explore/schedule.h"
#include "report/json_writer.h"

enum { OPT_PROPERTIES, OPT_GDB, OPT_GDB_SCRIPT, OPT_TIMEOUT, OPT_RESULT, OPT_QUIET };

static const struct pt_option options_table[] = {
    [OPT_PROPERTIES] = {NULL, 's', "FILE.prop", NULL,
                        "check the run against the properties of this file (default: that of the property that the "
                        "schedule violates); may be repeated"},
    [OPT_GDB] =
        {"gdb", 0, NULL, NULL,
         "start it under gdb, with the schedule in force, and stop at the last switch between threads before the "
         "failure, before the step that fails, and where nobody can go on"},
    [OPT_GDB_SCRIPT] = {"gdb-script", 0, "FILE", NULL, "with --gdb: read this file of 'report --gdb' before it starts"},
    [OPT_TIMEOUT] = {"run-timeout", 0, "TIME", NULL,
                     "end it after this time (default: 60s; all: never); with --gdb interrupt it"},
    [OPT_RESULT] = {NULL, 'r', "FILE.json", NULL, "write what happened to this file"},
    [OPT_QUIET] = {"quiet", 'q', NULL, NULL, "say nothing: the exit status tells"},
    {0},
};

struct replay {
    const char *path, *result_path, *gdb_script;
    const char *const *arguments;
    uint64_t timeout;
    bool quiet, gdb, timeout_given;
    struct pt_explore_schedule schedule;
    struct pt_explore_places places;
    struct pt_explore_crew *crew;
    struct pt_explore_outcome outcome;
    struct pt_buf options;
    struct pt_analyse analyse;
    struct pt_explore_properties *properties; /* NULL: none */
    struct pt_explore_recorded *recorded;     /* with properties: what they say of it */
    struct pt_program_names *names;           /* NULL: not asked for yet */
    struct pt_replayed replayed;              /* what it was */
};

static enum pt_status load(struct replay *r, const char *path, struct pt_err *err)
{
    char *text;
    size_t len;
    enum pt_status status = pt_file_read(path, &text, &len, err);
    if (status != PT_OK)
        return status;
    status = pt_explore_schedule_read(path, text, len, &r->schedule, err);
    free(text);
    if (status != PT_OK)
        pt_whatis_mend(path, PT_FILE_SCHEDULE, err);
    return status;
}

/* Whether the schedule is of another program, or of other arguments: true and words. It may fit all the same. */
static bool put_other(const struct replay *r, struct pt_buf *buf)
{
    const struct pt_explore_schedule *s = &r->schedule;
    uint32_t count = 0;
    char *real = realpath(r->path, NULL);
    bool same = !s->program_count || strcmp(s->program[0], r->arguments[0]) == 0 ||
                (real && s->path && strcmp(real, s->path) == 0);
    free(real);
    while (r->arguments[count])
        count++;
    bool arguments = s->program_count && count != s->program_count;
    for (uint32_t i = 1; i < count && i < s->program_count; i++)
        arguments |= strcmp(s->program[i], r->arguments[i]) != 0;
    if (same && !arguments)
        return false;
    pt_buf_printf(buf, "the schedule is of %s:", same ? "other arguments" : "another program");
    for (uint32_t i = 0; i < s->program_count; i++)
        pt_buf_printf(buf, " %s", s->program[i]);
    return true;
}

static void say_other(const struct replay *r)
{
    struct pt_buf text, clean;
    pt_buf_init(&text);
    pt_buf_init(&clean);
    if (!r->quiet && put_other(r, &text)) {
        pt_style_clean(&clean, text.text, text.len);
        fprintf(stderr, "portent replay: %s\n", clean.text);
    }
    pt_buf_release(&text);
    pt_buf_release(&clean);
}

/* Those of the command line; else that which the schedule violates, where its file can be read. */
static enum pt_status load_properties(struct replay *r, const struct pt_parsed *parsed, struct pt_err *err)
{
    static const char word[] = "property ";
    bool violates = strncmp(r->schedule.ends, word, strlen(word)) == 0;
    enum pt_status status = pt_analyse_load(&r->analyse, options_table, parsed, err);
    if (status == PT_OK && !r->analyse.input_count && violates && r->schedule.properties) {
        status = pt_analyse_load_one(&r->analyse, r->schedule.properties, r->schedule.ends + strlen(word), err);
        if (status != PT_OK)
            pt_err_hint(err, "the schedule violates a property of that file; -s names another file");
    }
    if (status != PT_OK || !r->analyse.input_count)
        return status;
    return pt_explore_properties_new(&r->analyse, r->path, &r->properties, err);
}

static bool asks_for(const struct replay *r, const char *word)
{
    return strncmp(r->schedule.ends, word, strlen(word)) == 0;
}

/* What both ways of running it start from. */
static void prepare(struct replay *r, struct pt_explore_plan *ret_plan)
{
    const char *before = getenv(PT_OPTIONS_ENV);
    *ret_plan = (struct pt_explore_plan){.input = r->schedule.input, .prefix = r->schedule.stretches, .by = "replay"};
    uint32_t checks = pt_replayed_checks(&r->schedule);
    pt_buf_printf(&r->options, "%s exitcode=0 verbosity=-1 halt_on_error=0 races=%d lifetimes=%d deadlocks=0",
                  before ? before : "", (int)(checks >> PT_FOUND_RACE & 1), (int)(checks >> PT_FOUND_LIFETIME & 1));
    if (r->schedule.calls && !strpbrk(r->schedule.calls, "\"'"))
        pt_buf_printf(&r->options, " calls=\"%s\"", r->schedule.calls);
    for (uint32_t i = 0; i < r->schedule.shared_count; i++)
        (void)pt_explore_places_share(&r->places, r->schedule.shared[i], r->schedule.variables[i]);
    ret_plan->input.wishes |= PT_EXPLORE_LOGS | PT_EXPLORE_PINS;
}

static struct pt_explore_setup setup_of(const struct replay *r)
{
    return (struct pt_explore_setup){
        .path = r->path, .arguments = r->arguments, .options = r->options.text, .own_streams = true};
}

/* Step at which the stretch begins in which it fails, from 1 on: the last switch before that. */
static uint64_t last_switch(const struct pt_explore_schedule *schedule)
{
    uint64_t step = 1;
    for (uint32_t i = 0; i + 1 < schedule->stretch_count; i++) {
        uint64_t next = step + schedule->stretches[i].steps;
        if (schedule->fails_at && schedule->fails_at < next)
            break;
        step = next;
    }
    return step;
}

static enum pt_status debug(struct replay *r, bool *ret_diverged, struct pt_err *err)
{
    enum { SECONDS = 10 };
    struct pt_explore_setup setup;
    struct pt_explore_debugging debugging = {
        .schedule = &r->schedule, .setup = &setup, .places = &r->places, .script = r->gdb_script};
    prepare(r, &debugging.plan);
    setup = setup_of(r);
    debugging.plan.input.stop_at = last_switch(&r->schedule);
    debugging.plan.input.fails_at = r->schedule.fails_at;
    if (r->timeout_given || asks_for(r, "timeout"))
        debugging.patience = r->timeout_given ? r->timeout : SECONDS * UINT64_C(1000000000);
    return pt_explore_debug(&debugging, ret_diverged, err);
}

static enum pt_status play(struct replay *r, struct pt_err *err)
{
    struct pt_explore_plan plan;
    uint32_t fresh;
    prepare(r, &plan);
    char *record = pt_explore_recorded_name(0);
    if (r->properties)
        pt_explore_sweep_start();
    if (r->properties)
        snprintf(plan.input.record, sizeof plan.input.record, "%s", record);
    struct pt_explore_setup setup = setup_of(r);
    enum pt_status status = pt_explore_crew_new(&setup, 1, r->timeout, &r->crew, err);
    if (status == PT_OK)
        status = pt_explore_crew_round(r->crew, &r->places, &plan, 1, NULL, NULL, &r->outcome, &fresh, err);
    if (status == PT_OK && !r->outcome.started)
        status = pt_err_set(err, PT_EINPUT,
                            "'%s' was not under control: it is not built with this 'portent cc', or ended before main",
                            r->path);
    if (r->properties && r->outcome.started)
        r->recorded = pt_explore_recorded_read(record, &(struct pt_explore_reading){.properties = r->properties});
    free(record);
    return status;
}

static void judge(struct replay *r)
{
    r->names = pt_program_names_new(r->path);
    r->replayed = (struct pt_replayed){.schedule = &r->schedule,
                                       .outcome = &r->outcome,
                                       .places = &r->places,
                                       .names = pt_program_names_for(r->names, &r->places),
                                       .properties = r->properties,
                                       .recorded = r->recorded};
    pt_replayed_judge(&r->replayed);
}

static void say(const struct replay *r)
{
    struct pt_style style = pt_analyse_style(STDERR_FILENO, "auto");
    struct pt_buf text;
    pt_buf_init(&text);
    pt_replayed_text(&r->replayed, &style, &text);
    fputs(text.text, stderr);
    pt_buf_release(&text);
}

static enum pt_status write_result(const struct replay *r, struct pt_err *err)
{
    struct pt_buf buf;
    if (!r->result_path)
        return PT_OK;
    pt_buf_init(&buf);
    struct pt_json json = {.buf = &buf};
    pt_json_open(&json, NULL, '{');
    pt_json_uint(&json, "portent", 1);
    pt_json_open(&json, "replay", '{');
    pt_replayed_json(&r->replayed, &json);
    pt_json_close(&json, '}');
    pt_json_close(&json, '}');
    pt_buf_puts(&buf, "\n");
    enum pt_status status = pt_file_write(r->result_path, &buf, err);
    pt_buf_release(&buf);
    return status;
}

static bool set_options(struct replay *r, const struct pt_parsed *parsed)
{
    for (uint32_t i = 0; i < parsed->option_count; i++) {
        const char *argument = parsed->options[i].argument;
        if (parsed->options[i].index == OPT_TIMEOUT && !pt_parse_time("run-timeout", argument, &r->timeout))
            return false;
        if (parsed->options[i].index == OPT_RESULT)
            r->result_path = argument;
        if (parsed->options[i].index == OPT_GDB_SCRIPT)
            r->gdb_script = argument;
        r->timeout_given |= parsed->options[i].index == OPT_TIMEOUT;
        r->quiet |= parsed->options[i].index == OPT_QUIET;
        r->gdb |= parsed->options[i].index == OPT_GDB;
    }
    if (parsed->operand_count < 2) {
        pt_diag_usage("replay", "%s is missing: portent replay FILE.schedule -- PROGRAM [ARGS]",
                      parsed->operand_count ? "the schedule or the program" : "a schedule");
        return false;
    }
    if (r->gdb_script && !r->gdb) {
        pt_diag_usage("replay", "--gdb-script is for --gdb");
        return false;
    }
    return true;
}

/* That it fails in another way, or is another run, says nothing of what the schedule was saved for. */
static int status_of(const struct pt_replayed *replayed)
{
    if (!pt_replayed_is_same(replayed))
        return PT_EXIT_UNKNOWN;
    if (replayed->as_saved)
        return PT_EXIT_VIOLATED;
    return replayed->finding ? PT_EXIT_UNKNOWN : PT_EXIT_HOLDS;
}

static int run(const struct pt_parsed *parsed)
{
    struct replay r = {.timeout = UINT64_C(60000000000)};
    struct pt_err err;
    int exit_status = PT_EXIT_BAD;
    bool diverged = false;
    if (!set_options(&r, parsed))
        return exit_status;
    char *program = pt_launch_find(parsed->operands[1], &exit_status, &err);
    enum pt_status status = program ? load(&r, parsed->operands[0], &err) : PT_EIO;
    if (status != PT_OK) {
        pt_diag_error(&err);
        free(program);
        return PT_EXIT_BAD;
    }
    const char **arguments = pt_xcalloc(parsed->operand_count, sizeof *arguments);
    memcpy(arguments, parsed->operands + 1, (parsed->operand_count - 1) * sizeof *arguments);
    r.path = program;
    r.arguments = arguments;
    say_other(&r);
    pt_explore_places_init(&r.places);
    pt_buf_init(&r.options);
    pt_analyse_init(&r.analyse, 1, 1, "recording");
    if (!r.gdb)
        status = load_properties(&r, parsed, &err);
    if (status == PT_OK)
        status = r.gdb ? debug(&r, &diverged, &err) : play(&r, &err);
    if (status == PT_OK && !r.gdb) {
        judge(&r);
        if (!r.quiet)
            say(&r);
        status = write_result(&r, &err);
    }
    exit_status = diverged ? PT_EXIT_UNKNOWN : PT_EXIT_HOLDS;
    if (!r.gdb && status == PT_OK)
        exit_status = status_of(&r.replayed);
    if (status != PT_OK) {
        pt_diag_error(&err);
        exit_status = PT_EXIT_BAD;
    }
    pt_replayed_release(&r.replayed);
    if (r.names)
        pt_program_names_free(r.names);
    pt_explore_recorded_free(r.recorded);
    pt_explore_properties_free(r.properties);
    pt_analyse_release(&r.analyse);
    pt_explore_crew_free(r.crew);
    pt_explore_sweep_end();
    pt_explore_outcome_release(&r.outcome);
    pt_explore_places_release(&r.places);
    pt_explore_schedule_release(&r.schedule);
    pt_buf_release(&r.options);
    free(arguments);
    free(program);
    return exit_status;
}

static const char *const usages[] = {"FILE.schedule [OPTIONS] -- PROGRAM [ARGS]", NULL};

const struct pt_command pt_command_replay = {
    .name = "replay",
    .summary = "do a run that explore found again, exactly",
    .usages = usages,
    .about =
        "Runs PROGRAM under the schedule of a file that 'portent explore -o' wrote. Input and output are the "
        "program's. Says on standard error how the run failed, as 'portent explore' does, and whether it is the "
        "failure "
        "that the schedule was saved for; or where it became another run, because the program or its input has "
        "changed.\n\n"
        "With --gdb it stops at the last switch between threads before the failure, and again where nobody can go on, "
        "with all threads where they wait and a sentence that says for what.\n\n"
        "Exit status: 1 the same run and the same failure, 0 the same run, which did not fail, or --gdb, 3 another run "
        "or another failure, 2 bad usage or input, or the program cannot be controlled.",
    .options = options_table,
    .run = run,
};
