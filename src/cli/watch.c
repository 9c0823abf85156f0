/*
 * portent watch: connects to a running program's event stream, checks properties on the run as it happens, and reports
 * each verdict when it changes. One thread does everything: it waits for bytes, for the clock, and for readers of the
 * browser view.
 *
 * Time is the stream's. A program that has nothing to say sends its clock about every 10 ms, so a window that ends in
 * silence is noticed that soon. Where the whole process stands still, nothing comes at all; after a second of that
 * (SILENCE) our own clock stands in for the stream's, from which it differs by the least delay seen so far. Such a
 * verdict comes late, but the time it names is right: it is the end of the window that was missed.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/analyse.h"
#include "cli/commands.h"
#include "cli/common/diag.h"
#include "cli/common/interrupt.h"
#include "cli/watch/http.h"
#include "cli/watch/live.h"
#include "cli/watch/record.h"
#include "cli/watch/connect.h"
#include "cli/watch/verdicts.h"
#include "report/words.h"
#include "trace/wire.h"

enum {
    OPT_PROPERTIES,
    OPT_MONITOR,
    OPT_RECORD,
    OPT_WAIT,
    OPT_EXIT_ON_VERDICT,
    OPT_LIVE,
    OPT_HTTP,
    OPT_LOG,
    OPT_JSON,
    OPT_MEMORY_LIMIT,
    OPT_AUTOMATON_LIMIT,
    OPT_SUPPRESSIONS,
    OPT_BASELINE,
    OPT_COLOR,
    OPT_QUIET,
};

enum { TICK_MS = 100, SILENCE = 1000 * 1000 * 1000 };

static const struct pt_option options_table[] = {
    [OPT_PROPERTIES] = PT_OPTION_PROPERTIES,
    [OPT_MONITOR] = PT_OPTION_MONITOR,
    [OPT_RECORD] = {NULL, 'o', "TRACE", NULL,
                    "record the stream, for 'check' and 'report'; in binary form when the name ends in .ptb"},
    [OPT_WAIT] = {"wait", 0, NULL, NULL, "wait until a program listens at ADDRESS (otherwise: a second)"},
    [OPT_EXIT_ON_VERDICT] = {"exit-on-verdict", 0, NULL, NULL, "end as soon as no verdict can change any more"},
    [OPT_LIVE] = {"live", 0, NULL, NULL, "show the threads, their locks and events on the terminal as time goes by"},
    [OPT_HTTP] = {"http", 0, "127.0.0.1:PORT", NULL, "show the same in a browser; port 0 takes a free one"},
    [OPT_LOG] = {"log", 0, NULL, NULL, "print every event with the states of the automata after it"},
    [OPT_JSON] = {"json", 0, NULL, NULL, "print one JSON object per line, whenever a verdict changes and at the end"},
    [OPT_MEMORY_LIMIT] = PT_OPTION_MEMORY_LIMIT,
    [OPT_AUTOMATON_LIMIT] = PT_OPTION_AUTOMATON_LIMIT,
    [OPT_SUPPRESSIONS] = PT_OPTION_SUPPRESSIONS,
    [OPT_BASELINE] = PT_OPTION_BASELINE,
    [OPT_COLOR] = PT_OPTION_COLOR,
    [OPT_QUIET] = {"quiet", 'q', NULL, NULL, "no text report and no warnings: the exit status tells"},
    {0},
};

struct watch {
    const char *address, *record_path, *http_address;
    bool wait, exit_on_verdict, log, live;
    struct pt_analyse analyse;
    struct pt_output_options output_options;
    struct pt_names names;
    uint32_t no_loc;

    int fd;
    struct pt_source *source;
    struct pt_analysis *analysis;
    struct pt_output output;
    struct pt_verdicts verdicts;
    struct pt_recording record;
    struct pt_scene *scene; /* NULL: nobody looks */
    struct pt_http *http;   /* NULL: no browser does */
    uint64_t drawn;         /* when it was, by our clock */

    bool offset_known;
    int64_t offset;        /* our clock minus the stream's, at least */
    uint64_t last_arrival; /* by our clock */
    uint64_t last_look;    /* likewise: what came before it has been read */
};

/* --- what is asked for --- */

static bool set_option(struct watch *watch, uint32_t index, const char *argument)
{
    bool taken;
    if (!pt_analyse_option(&watch->analyse, &options_table[index], argument, &taken))
        return false;
    switch (index) {
    case OPT_RECORD:
        watch->record_path = argument;
        break;
    case OPT_WAIT:
        watch->wait = true;
        break;
    case OPT_EXIT_ON_VERDICT:
        watch->exit_on_verdict = true;
        break;
    case OPT_LIVE:
        watch->live = true;
        break;
    case OPT_HTTP:
        watch->http_address = argument;
        break;
    case OPT_LOG:
        watch->log = true;
        break;
    case OPT_JSON:
        watch->output_options.json = true;
        break;
    case OPT_COLOR:
        watch->output_options.style = pt_analyse_style(STDOUT_FILENO, argument);
        break;
    case OPT_QUIET:
        watch->output_options.quiet = true;
        break;
    default: /* the engine's, and files, which are loaded afterwards */
        break;
    }
    return true;
}

static bool set_options(struct watch *watch, const struct pt_parsed *parsed)
{
    if (parsed->operand_count != 1) {
        pt_diag_usage("watch", parsed->operand_count ? "watch takes one address" : "an address is missing");
        return false;
    }
    watch->address = parsed->operands[0];
    /* Of the observed run alone: nothing else can be asked while it is still going on. */
    pt_analyse_init(&watch->analyse, 1, 1, watch->address);
    watch->output_options = (struct pt_output_options){
        .stream = true, .style = pt_analyse_style(STDOUT_FILENO, "auto"), .triage = &watch->analyse.triage};
    for (uint32_t i = 0; i < parsed->option_count; i++) {
        if (!set_option(watch, parsed->options[i].index, parsed->options[i].argument))
            return false;
    }
    if (watch->log && (watch->output_options.json || watch->output_options.quiet || watch->live)) {
        pt_diag_usage("watch", "--log is text: it goes neither with --json nor with --quiet or --live");
        return false;
    }
    if (watch->live && watch->output_options.json) {
        pt_diag_usage("watch", "--live and --json both want standard output");
        return false;
    }
    if (watch->record_path && strcmp(watch->record_path, "-") == 0) {
        pt_diag_usage("watch", "-o needs a file: standard output has the verdicts");
        return false;
    }
    return true;
}

/* What cannot be checked is known before there is a stream. */
static enum pt_status check_inputs(const struct watch *watch, struct pt_err *err)
{
    for (uint32_t i = 0; i < watch->analyse.input_count; i++) {
        const struct pt_analysis_input *input = &watch->analyse.inputs[i];
        if (!input->monitor)
            return pt_err_at(err, PT_EINPUT, input->property->file, input->property->line, input->property->column,
                             "property '%s' cannot be watched: %s", input->property->name,
                             input->message ? input->message
                                            : "it is about single threads (at ...) or about races, and needs every "
                                              "event of the threads, which the stream does not carry");
    }
    return PT_OK;
}

static void warn_about_inputs(const struct watch *watch)
{
    for (uint32_t i = 0; i < watch->analyse.input_count && !watch->output_options.quiet; i++) {
        const struct pt_property *property = watch->analyse.inputs[i].property;
        struct pt_err warning;
        if (property && property->within)
            continue;
        (void)pt_err_set(&warning, PT_OK,
                         "'%s' is no 'within' property: it is checked on the run that is watched, not on other orders "
                         "of its events",
                         property ? property->name : pt_monitor_name(watch->analyse.inputs[i].monitor));
        pt_diag_warning(&warning);
    }
}

static enum pt_status prepare(struct watch *watch, const struct pt_parsed *parsed, struct pt_err *err)
{
    enum pt_status status = pt_analyse_load(&watch->analyse, options_table, parsed, err);
    if (status == PT_OK)
        status = check_inputs(watch, err);
    if (status == PT_OK)
        warn_about_inputs(watch);
    return status;
}

/* The connection; then, so that a page never waits for it, the browser's view; and the file of -o last, so that an
 * older recording is not lost for nothing. */
static enum pt_status connect_all(struct watch *watch, struct pt_err *err)
{
    enum pt_status status = pt_watch_connect(watch->address, watch->wait, &watch->fd, err);
    if (status != PT_OK || watch->fd < 0)
        return status;
    if (watch->http_address)
        status = pt_http_open(watch->http_address, &watch->http, err);
    if (status == PT_OK && watch->record_path)
        status = pt_recording_open(&watch->record, watch->record_path, &watch->names, err);
    if (status == PT_OK && watch->http && !watch->output_options.quiet)
        fprintf(stderr, "portent: the view is at %s\n", pt_http_url(watch->http));
    return status;
}

/* --- the stream --- */

/* Something that counts for the properties. False when the analysis refuses it, which its clocks alone could cause. */
static bool analyse(struct watch *watch, struct pt_event *event)
{
    struct pt_err err;
    event->line = pt_recording_take(&watch->record, event);
    if (pt_analysis_event(watch->analysis, event, &err) != PT_OK) {
        pt_diag_error(&err);
        return false;
    }
    pt_verdicts_after(&watch->verdicts, event);
    return true;
}

/* What was so when the connection was made: values count, the rest is for recordings and views. */
static bool take_snapshot(struct watch *watch, struct pt_event *event)
{
    if (event->op == PT_OP_INIT)
        return analyse(watch, event);
    pt_recording_fact(&watch->record, event);
    return true;
}

/* The stream's clock against ours: the least difference is the best estimate. */
static void note_time(struct watch *watch, uint64_t time)
{
    int64_t offset = (int64_t)(watch->last_arrival - time);
    if (!watch->offset_known || offset < watch->offset)
        watch->offset = offset;
    watch->offset_known = true;
}

static void greet(const struct watch *watch, const struct pt_wire_item *item)
{
    if (watch->output_options.quiet || watch->output_options.json || watch->live)
        return;
    struct pt_buf program;
    pt_buf_init(&program);
    pt_style_clean(&program, item->program, strlen(item->program));
    fprintf(stderr, "portent: watching %s (process %" PRIu32 ")\n", program.len ? program.text : "a program",
            item->pid);
    pt_buf_release(&program);
}

static void take_hello(void *context, const struct pt_wire_item *item)
{
    struct watch *watch = context;
    note_time(watch, item->event.time);
    if (watch->scene)
        pt_scene_take(watch->scene, item);
    greet(watch, item);
}

/* False: nothing more is to be read. */
static bool take(struct watch *watch, struct pt_event *event)
{
    const struct pt_wire_item *item = pt_wire_source_item(watch->source);
    bool snapshot = item->what == PT_WIRE_READ_SNAPSHOT;
    if (event->has_time && !snapshot)
        note_time(watch, event->time);
    if (watch->scene)
        pt_scene_take(watch->scene, item);
    return snapshot ? take_snapshot(watch, event) : analyse(watch, event);
}

/* Everything that has come. *ret_over: the stream has ended, or nobody wants more of it. */
static enum pt_status receive(struct watch *watch, bool *ret_over, struct pt_err *err)
{
    struct pt_event event;
    enum pt_read got;
    pt_source_wait(watch->source, 0);
    watch->last_arrival = pt_progress_now();
    while ((got = pt_source_next(watch->source, &event, err)) == PT_READ_EVENT) {
        if (!take(watch, &event) || (watch->exit_on_verdict && pt_verdicts_is_settled(&watch->verdicts))) {
            *ret_over = true;
            break;
        }
    }
    if (got == PT_READ_ERROR)
        return err->status;
    *ret_over |= got == PT_READ_END || got == PT_READ_TORN;
    pt_verdicts_flush(&watch->verdicts);
    return PT_OK;
}

/* Nothing had come for long when we looked: our clock, of that moment, stands in for the stream's. (We may have been
 * held up since, and something may have come.) */
static void wait_in_silence(struct watch *watch)
{
    uint64_t now = watch->last_look;
    if (!watch->offset_known || now - watch->last_arrival < SILENCE)
        return;
    struct pt_event clock = {.op = PT_OP_CLOCK,
                             .thread = PT_NONE,
                             .object = PT_NONE,
                             .loc = watch->no_loc,
                             .has_time = true,
                             .time = now - (uint64_t)watch->offset};
    if (watch->scene)
        pt_scene_advance(watch->scene, clock.time);
    (void)!analyse(watch, &clock);
    pt_verdicts_flush(&watch->verdicts);
}

/* --- views --- */

static void show_change(void *context, uint32_t index, const struct pt_change *change)
{
    struct watch *watch = context;
    pt_scene_change(watch->scene, index, change, watch->verdicts.findings[index]->how);
}

static void show(struct watch *watch)
{
    uint64_t now = pt_progress_now();
    if (!watch->scene || now - watch->drawn < (uint64_t)TICK_MS * 1000000)
        return;
    watch->drawn = now;
    for (uint32_t i = 0; i < watch->verdicts.count; i++) {
        const struct pt_within *within = pt_analysis_within(watch->analysis, i);
        uint32_t count;
        bool final;
        if (!within || watch->verdicts.shown[i] == PT_VERDICT_VIOLATED)
            continue;
        const uint32_t *states = pt_within_states(within, &count, &final);
        pt_scene_states(watch->scene, i, states, count);
    }
    pt_live_draw(watch->scene);
    if (watch->http)
        pt_http_tick(watch->http);
}

static void open_views(struct watch *watch)
{
    watch->live = watch->live && pt_live_begin();
    watch->verdicts.silent = watch->live;
    if (!watch->live && !watch->http)
        return;
    watch->scene = pt_scene_new(&watch->names, watch->address, watch->verdicts.findings, watch->verdicts.count);
    watch->verdicts.changed = show_change;
    watch->verdicts.context = watch;
    if (watch->http)
        pt_http_show(watch->http, watch->scene);
}

static void close_views(struct watch *watch)
{
    pt_live_end();
    pt_http_close(watch->http);
    watch->http = NULL;
}

/* Until something comes, from the stream or from who looks, or a tick is over. */
static bool wait_for_stream(struct watch *watch)
{
    int timeout = TICK_MS;
    struct pollfd wanted[] = {{.fd = pt_source_fd(watch->source), .events = POLLIN},
                              {.fd = pt_live_keys(), .events = POLLIN},
                              {.fd = watch->http ? pt_http_wait(watch->http, &timeout) : -1, .events = POLLIN}};
    watch->last_look = pt_progress_now();
    int ready = poll(wanted, 3, timeout);
    if (watch->http)
        pt_http_run(watch->http);
    return ready > 0 && wanted[0].revents;
}

static enum pt_status follow(struct watch *watch, struct pt_err *err)
{
    enum pt_status status = PT_OK;
    bool over = false;
    watch->last_arrival = pt_progress_now();
    while (status == PT_OK && !over && !pt_interrupted()) {
        if (wait_for_stream(watch))
            status = receive(watch, &over, err);
        else
            wait_in_silence(watch);
        over |= (watch->exit_on_verdict && pt_verdicts_is_settled(&watch->verdicts)) || pt_live_quits();
        show(watch);
    }
    return status;
}

/* --- the end --- */

static int conclude(struct watch *watch)
{
    struct pt_result result = {.trace = watch->address};
    struct pt_loss loss = pt_source_loss(watch->source);
    struct pt_err warning;
    watch->output.trace_ended = true;
    result.torn = loss.why[0];
    snprintf(result.torn_message, sizeof result.torn_message, "%s", loss.why);
    pt_analysis_finish(watch->analysis, result.torn ? result.torn_message : NULL);
    if (result.torn && !watch->output_options.quiet) {
        (void)pt_err_set(&warning, PT_OK, "%s", loss.why);
        pt_diag_warning(&warning);
    }
    if (watch->verdicts.count == 0 && !watch->output_options.quiet && !watch->output_options.json) {
        uint64_t events = pt_wire_source_counts(watch->source).events;
        pt_buf_printf(&watch->verdicts.lines, "%" PRIu64 " event%s seen, %" PRIu64 " lost. No property was given.\n",
                      events, pt_words_plural(events), loss.events);
        pt_verdicts_flush(&watch->verdicts);
        pt_output_abandon(&watch->output);
        return result.torn || loss.events ? PT_EXIT_UNKNOWN : PT_EXIT_HOLDS;
    }
    if (!watch->output_options.quiet)
        pt_output_unseen(&watch->output, watch->analysis, &watch->names, watch->analyse.props);
    pt_verdicts_doubt_unseen(&watch->verdicts, watch->analyse.inputs);
    result.findings = watch->verdicts.findings;
    result.count = watch->verdicts.count;
    pt_triage_apply(&watch->analyse.triage, &result);
    return pt_verdicts_end(&watch->verdicts, &result);
}

static int observe(struct watch *watch, struct pt_err *err)
{
    int exit_status = PT_EXIT_BAD;
    watch->source = pt_wire_source_new(watch->fd, watch->address, &watch->names);
    pt_wire_source_set_hello(watch->source, take_hello, watch);
    pt_output_begin(&watch->output, &watch->output_options, false, &watch->analyse.engine);
    watch->verdicts = (struct pt_verdicts){.log = watch->log, .trace = watch->address, .names = &watch->names};
    pt_verdicts_begin(&watch->verdicts, &watch->output, &watch->analyse.engine);
    watch->analysis =
        pt_analysis_new(&watch->names, watch->analyse.inputs, watch->analyse.input_count, &watch->analyse.engine);
    pt_verdicts_attach(&watch->verdicts, watch->analysis);
    open_views(watch);
    enum pt_status status = follow(watch, err);
    close_views(watch);
    if (status == PT_OK) {
        exit_status = conclude(watch);
    } else {
        pt_verdicts_flush(&watch->verdicts);
        pt_output_abandon(&watch->output);
        pt_diag_error(err);
    }
    pt_verdicts_release(&watch->verdicts);
    pt_scene_free(watch->scene);
    pt_analysis_free(watch->analysis);
    pt_source_free(watch->source);
    return exit_status;
}

static int run(const struct pt_parsed *parsed)
{
    struct watch watch = {.fd = -1};
    struct pt_err err;
    int exit_status = PT_EXIT_BAD;
    pt_names_init(&watch.names);
    watch.no_loc = pt_strtab_intern(&watch.names.space[PT_SPACE_LOC], "-", 1);
    if (set_options(&watch, parsed)) {
        pt_interrupt_catch_all();
        if (prepare(&watch, parsed, &err) != PT_OK || connect_all(&watch, &err) != PT_OK)
            pt_diag_error(&err);
        else
            exit_status = watch.fd < 0 ? PT_EXIT_UNKNOWN : observe(&watch, &err);
    }
    pt_http_close(watch.http);
    pt_recording_close(&watch.record);
    if (watch.fd >= 0)
        close(watch.fd);
    pt_analyse_release(&watch.analyse);
    pt_names_release(&watch.names);
    return exit_status;
}

static const char *const usages[] = {"[-s FILE.prop]... [OPTIONS] ADDRESS", NULL};

const struct pt_command pt_command_watch = {
    .name = "watch",
    .summary = "check properties on a running program's events as they happen",
    .usages = usages,
    .about = "Connects to a program that runs with PORTENT_OPTIONS=events=ADDRESS (unix:PATH or tcp:127.0.0.1:PORT), "
             "checks 'within' properties on its events from then on, and reports each verdict when it changes, until "
             "the program ends or Ctrl-C. Other properties are checked on the run that is watched alone.\n\n"
             "Exit status: 0 all hold so far, 1 a violation was found, 2 bad usage or input or a property that cannot "
             "be evaluated, 3 unknown (events were lost, or the stream broke off).",
    .options = options_table,
    .run = run,
};
