/*
 * portent watch: connects to running programs' event streams, checks properties on the runs as they happen, and reports
 * each verdict when it changes. One thread does everything: it waits for bytes, for the clock, and for readers of the
 * browser view.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/analyse.h"
#include "cli/commands.h"
#include "cli/common/diag.h"
#include "cli/common/interrupt.h"
#include "cli/watch/fleet.h"
#include "cli/watch/http.h"
#include "cli/watch/live.h"

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

enum {
    TICK_MS = 100,
    GATHER_MS = 4, /* where there are many programs: more than one of them has something to say by then */
};

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
    struct pt_watching all;
    struct pt_fleet fleet;
    const char *http_address;
    bool wait;
    struct pt_http *http; /* NULL: no browser looks */
    uint64_t drawn;       /* when the views were, by our clock */
};

/* --- what is asked for --- */

static bool set_option(struct watch *watch, uint32_t index, const char *argument)
{
    bool taken;
    if (!pt_analyse_option(&watch->all.analyse, &options_table[index], argument, &taken))
        return false;
    switch (index) {
    case OPT_RECORD:
        watch->fleet.record = argument;
        break;
    case OPT_WAIT:
        watch->wait = true;
        break;
    case OPT_EXIT_ON_VERDICT:
        watch->all.exit_on_verdict = true;
        break;
    case OPT_LIVE:
        watch->all.live = true;
        break;
    case OPT_HTTP:
        watch->http_address = argument;
        break;
    case OPT_LOG:
        watch->all.log = true;
        break;
    case OPT_JSON:
        watch->all.output_options.json = true;
        break;
    case OPT_COLOR:
        watch->all.output_options.style = pt_analyse_style(STDOUT_FILENO, argument);
        break;
    case OPT_QUIET:
        watch->all.output_options.quiet = true;
        break;
    default: /* the engine's, and files, which are loaded afterwards */
        break;
    }
    return true;
}

/* Options that exclude each other. */
static const char *contradiction(const struct watch *watch)
{
    const struct pt_output_options *output = &watch->all.output_options;
    if (watch->all.log && (output->json || output->quiet || watch->all.live))
        return "--log is text: it goes neither with --json nor with --quiet or --live";
    if (watch->all.live && output->json)
        return "--live and --json both want standard output";
    if (watch->fleet.record && strcmp(watch->fleet.record, "-") == 0)
        return "-o needs a file: standard output has the verdicts";
    if (watch->fleet.record && watch->all.several)
        return "-o records one stream: with several programs, give each its own 'portent watch -o'";
    if (watch->all.exit_on_verdict && watch->fleet.listens)
        return "--exit-on-verdict never comes to an end where programs may still come (listen:)";
    return NULL;
}

static bool set_addresses(struct watch *watch, const struct pt_parsed *parsed)
{
    struct pt_err err;
    if (parsed->operand_count == 0) {
        pt_diag_usage("watch", "an address is missing");
        return false;
    }
    for (uint32_t i = 0; i < parsed->operand_count; i++) {
        if (pt_fleet_address(&watch->fleet, parsed->operands[i], &err) != PT_OK) {
            pt_diag_error(&err);
            return false;
        }
    }
    watch->all.several = parsed->operand_count > 1 || watch->fleet.listens;
    return true;
}

static bool set_options(struct watch *watch, const struct pt_parsed *parsed)
{
    /* Of the observed run alone: nothing else can be asked while it is still going on. */
    pt_analyse_init(&watch->all.analyse, 1, 1, parsed->operand_count ? parsed->operands[0] : "");
    watch->all.output_options = (struct pt_output_options){
        .stream = true, .style = pt_analyse_style(STDOUT_FILENO, "auto"), .triage = &watch->all.analyse.triage};
    for (uint32_t i = 0; i < parsed->option_count; i++) {
        if (!set_option(watch, parsed->options[i].index, parsed->options[i].argument))
            return false;
    }
    if (!set_addresses(watch, parsed))
        return false;
    const char *why = contradiction(watch);
    if (why)
        pt_diag_usage("watch", "%s", why);
    return !why;
}

/* What cannot be checked is known before there is a stream. */
static enum pt_status check_inputs(const struct watch *watch, struct pt_err *err)
{
    for (uint32_t i = 0; i < watch->all.analyse.input_count; i++) {
        const struct pt_analysis_input *input = &watch->all.analyse.inputs[i];
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
    for (uint32_t i = 0; i < watch->all.analyse.input_count && !watch->all.output_options.quiet; i++) {
        const struct pt_property *property = watch->all.analyse.inputs[i].property;
        struct pt_err warning;
        if (property && property->within)
            continue;
        (void)pt_err_set(&warning, PT_OK,
                         "'%s' is no 'within' property: it is checked on the run that is watched, not on other orders "
                         "of its events",
                         property ? property->name : pt_monitor_name(watch->all.analyse.inputs[i].monitor));
        pt_diag_warning(&warning);
    }
}

static enum pt_status prepare(struct watch *watch, const struct pt_parsed *parsed, struct pt_err *err)
{
    enum pt_status status = pt_analyse_load(&watch->all.analyse, options_table, parsed, err);
    if (status == PT_OK)
        status = check_inputs(watch, err);
    if (status == PT_OK)
        warn_about_inputs(watch);
    return status;
}

/* The connections; then, so that a page never waits for them, the browser's view; and the file of -o last, so that an
 * older recording is not lost for nothing. */
static enum pt_status begin(struct watch *watch, struct pt_err *err)
{
    enum pt_status status = watch->http_address ? pt_http_open(watch->http_address, &watch->http, err) : PT_OK;
    if (status != PT_OK)
        return status;
    if (watch->http && !watch->all.output_options.quiet)
        fprintf(stderr, "portent: the view is at %s\n", pt_http_url(watch->http));
    watch->all.live = watch->all.live && pt_live_begin();
    watch->all.shown = watch->all.live || watch->http;
    status = pt_fleet_begin(&watch->fleet, err);
    if (status != PT_OK)
        pt_live_end();
    if (watch->http)
        pt_http_show(watch->http, &watch->fleet);
    return status;
}

/* --- the run --- */

static void show(struct watch *watch)
{
    uint64_t now = pt_progress_now();
    if (!watch->all.shown || now - watch->drawn < (uint64_t)TICK_MS * 1000000)
        return;
    watch->drawn = now;
    for (uint32_t i = 0; i < watch->fleet.count; i++)
        pt_watched_show(watch->fleet.members[i]);
    pt_live_draw(&watch->fleet);
    if (watch->http)
        pt_http_tick(watch->http);
}

/* Until something comes, from a stream or from who looks, or a tick is over. */
static void follow(struct watch *watch)
{
    while (!pt_interrupted() && !pt_fleet_is_over(&watch->fleet) && !pt_live_quits()) {
        int timeout = TICK_MS;
        struct pollfd wanted[] = {{.fd = pt_fleet_fd(&watch->fleet, &timeout), .events = POLLIN},
                                  {.fd = pt_live_keys(), .events = POLLIN},
                                  {.fd = watch->http ? pt_http_wait(watch->http, &timeout) : -1, .events = POLLIN}};
        uint64_t looked = pt_progress_now();
        if (poll(wanted, 3, timeout) > 0 && watch->fleet.alive >= PT_FLEET_MANY)
            poll(NULL, 0, GATHER_MS);
        if (watch->http)
            pt_http_run(watch->http);
        pt_fleet_run(&watch->fleet, looked);
        show(watch);
        if (wanted[1].revents & (POLLHUP | POLLERR | POLLNVAL)) /* the terminal is gone */
            break;
    }
}

static int observe(struct watch *watch)
{
    follow(watch);
    pt_live_end();
    pt_http_close(watch->http);
    watch->http = NULL;
    return pt_fleet_end(&watch->fleet);
}

static int run(const struct pt_parsed *parsed)
{
    struct watch watch = {0};
    struct pt_err err;
    int exit_status = PT_EXIT_BAD;
    pt_fleet_init(&watch.fleet, &watch.all);
    if (set_options(&watch, parsed)) {
        pt_interrupt_catch_all();
        if (prepare(&watch, parsed, &err) != PT_OK)
            pt_diag_error(&err);
        else if (pt_fleet_call(&watch.fleet, watch.wait) && begin(&watch, &err) != PT_OK)
            pt_diag_error(&err);
        else if (watch.fleet.came || watch.fleet.listens || watch.fleet.pending_count)
            exit_status = pt_interrupted() && !watch.fleet.came ? PT_EXIT_UNKNOWN : observe(&watch);
    }
    pt_http_close(watch.http);
    pt_fleet_release(&watch.fleet);
    pt_analyse_release(&watch.all.analyse);
    return exit_status;
}

static const char *const usages[] = {"[-s FILE.prop]... [OPTIONS] ADDRESS...", NULL};

const struct pt_command pt_command_watch = {
    .name = "watch",
    .summary = "check properties on a running program's events as they happen",
    .usages = usages,
    .about = "Connects to a program that runs with PORTENT_OPTIONS=events=ADDRESS (unix:PATH or tcp:127.0.0.1:PORT), "
             "checks 'within' properties on its events from then on, and reports each verdict when it changes, until "
             "the program ends or Ctrl-C. Other properties are checked on the run that is watched alone. Several "
             "addresses are several programs, each judged by itself; at listen:unix:PATH programs that are started "
             "with events=unix:PATH come by themselves.\n\n"
             "Exit status: 0 all hold so far, 1 a violation was found, 2 bad usage or input or a property that cannot "
             "be evaluated, 3 unknown (events were lost, or the stream broke off).",
    .options = options_table,
    .run = run,
};
