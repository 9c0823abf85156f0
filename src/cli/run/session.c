/*
 * One observed run of a program, in three steps: its names are looked up and the channel is made; it runs while the
 * analysis reads its events; the analysis is finished. The second step takes as long as the program does and a moment
 * more; memory is the engine's.
 */
#include "cli/run/session.h"
#include "cli/run/recorded.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "cli/common/prefix.h"
#include "cli/common/diag.h"
#include "cli/common/interrupt.h"
#include "cli/run/doubt.h"
#include "cli/run/launch.h"
#include "cli/run/warn.h"
#include "cli/run/settings.h"
#include "engine/found.h"
#include "report/words.h"

enum {
    RING_BYTES = 1 << 19,        /* per thread; a busy one writes all of it, which counts as memory of the program */
    RING_MAX = 1 << 17,          /* threads at a time, as many as the runtime can have; only those in use cost memory */
    SHORTEST_WAIT = 1000 * 1000, /* nanoseconds, doubled up to the longest as long as nothing comes */
    LONGEST_WAIT = 10 * 1000 * 1000,
    FOLLOW_ROUNDS = 256,                /* events after which a follower looks, even if more are there */
    HALT_PATIENCE = 2000 * 1000 * 1000, /* how long a program may take to end by itself when it is asked to */
};

/* --- before the program starts --- */

/* A property that cannot be checked is known before the program runs: then it need not. */
static enum pt_status check_inputs(const struct pt_session *session, struct pt_err *err)
{
    for (uint32_t i = 0; i < session->analyse.input_count; i++) {
        const struct pt_analysis_input *input = &session->analyse.inputs[i];
        if (input->message)
            return pt_err_at(err, PT_EINPUT, input->property->file, input->property->line, input->property->column,
                             "property '%s' cannot be checked: %s", input->property->name, input->message);
    }
    return PT_OK;
}

/* Does it open by itself? */
static bool is_elf(const char *program)
{
    struct pt_debuginfo *info;
    struct pt_err err;
    if (pt_debuginfo_open(program, &(struct pt_debuginfo_options){0}, &info, &err) != PT_OK)
        return false;
    pt_debuginfo_free(info);
    return true;
}

/* In reorderings of a recording of everything values would be an object's that the name does not mean, or none at all.
 * Recordings of relevant events have clocks that know of it (runtime/shadow/path.c). */
static enum pt_status refuse_names(const struct pt_session *session, struct pt_err *err)
{
    bool races = session->resolved.race_count && session->keep & PT_KEEP_MARKS;
    bool whole = session->wider || session->keep & PT_KEEP_ALL;
    const char *what = session->wider                ? "--order"
                       : session->keep & PT_KEEP_ALL ? "--record-all"
                       : races                       ? "-o with a race_free property"
                                                     : NULL;
    bool paths = false; /* those alone do not go by their names where races are recorded beside relevant events */
    for (uint32_t i = 0; i < session->resolved.var_count; i++)
        paths |= session->resolved.vars[i].link_count > 0;
    if (!what || (!whole && !paths) || pt_resolve_recorded(&session->resolved, session->info, what, err) == PT_OK)
        return PT_OK;
    pt_err_hint(err, "without it the property is checked as it stands, in the order 'access'");
    return PT_EINPUT;
}

enum pt_status pt_session_resolve(struct pt_session *session, struct pt_err *err)
{
    struct pt_debuginfo_options options = {.library_path = getenv("LD_LIBRARY_PATH"), .modules = session->modules};
    enum pt_status status = check_inputs(session, err);
    if (status != PT_OK)
        return status;
    status = pt_debuginfo_open(session->program, &options, &session->info, err);
    if (status != PT_OK)
        session->info = NULL; /* a script, say */
    if (status != PT_OK && is_elf(session->program))
        return status; /* a library of --module, then */
    session->through = session->descends && (!session->info || !pt_debuginfo_is_instrumented(session->info));
    if (session->through)
        return PT_OK; /* it has no names to look up */
    if (status != PT_OK)
        return pt_resolve_needed(&session->analyse) ? status : PT_OK;
    status = pt_resolve(&session->analyse, session->info, &session->resolved, err);
    return status == PT_OK ? refuse_names(session, err) : status;
}

enum pt_status pt_session_preload(struct pt_session *session, struct pt_err *err)
{
    const char *before = getenv("LD_PRELOAD");
    if (session->resolved.var_count)
        return pt_err_set(err, PT_EUSAGE, "'%s' is a variable, and --preload sees no memory accesses",
                          session->resolved.vars[0].name);
    if (session->resolved.race_count)
        return pt_err_set(err, PT_EUSAGE, "property '%s' is about races, and --preload sees no memory accesses",
                          session->resolved.races[0].name);
    char *runtime = pt_prefix_shared_runtime();
    if (!runtime)
        return pt_err_set(err, PT_EIO, "cannot find libportent-rt.so beside the program");
    enum pt_status status = PT_OK;
    if (strpbrk(runtime, ": "))
        status = pt_err_set(err, PT_EIO, "'%s' cannot be preloaded: its path has a space or a colon", runtime);
    struct pt_buf value;
    pt_buf_init(&value);
    pt_buf_printf(&value, "%s%s%s", runtime, before && *before ? ":" : "", before ? before : "");
    if (status == PT_OK && setenv("LD_PRELOAD", value.text, 1) != 0)
        status = pt_err_set(err, PT_EIO, "cannot set LD_PRELOAD: %s", strerror(errno));
    pt_buf_release(&value);
    free(runtime);
    return status;
}

static const char *function_name(void *context, uint64_t start, uint64_t module_base)
{
    struct pt_session *session = context;
    const char *file = pt_channel_module(session->reader, module_base);
    if (!session->info || (file && !pt_debuginfo_loaded(session->info, file, module_base)))
        return NULL;
    return pt_debuginfo_function(session->info, start, module_base);
}

static bool place_name(void *context, const char *file, uint64_t offset, bool whole, struct pt_placed *ret_placed)
{
    struct pt_session *session = context;
    struct pt_variable variable;
    if (!pt_debuginfo_at(session->info, file, offset, whole, &ret_placed->name, &variable))
        return false;
    ret_placed->offset = variable.offset;
    ret_placed->size = variable.size;
    ret_placed->type = variable.type;
    return true;
}

/* What the analysis has not looked at yet (engine/analysis.h, `live`). */
static void catch_up(struct pt_session *session)
{
    struct pt_err err;
    if (!session->nonsense && session->analysis && pt_analysis_flush(session->analysis, &err) != PT_OK) {
        session->nonsense = true;
        pt_session_complain(session, &err);
    }
}

/* The threads evaluate decentralised properties themselves. For `check` to do so on what is recorded it needs all their
 * events, and what each knows of the others': so all are counted, unless everything is recorded and says it by itself.
 */
static uint32_t what_to_keep(const struct pt_session *session)
{
    bool all = session->resolved.block && session->writer && !(session->keep & PT_KEEP_ALL);
    if (session->resolved.race_count && session->writer) /* races are in the accesses and locks themselves */
        return session->keep | PT_KEEP_ALL;
    return session->keep | (all ? PT_KEEP_ALL | PT_KEEP_CLOCKS : 0);
}

/* Whether this is a variable of the configuration, and no pointer leads to it. */
static bool is_plain(const struct pt_resolved *resolved, const char *name)
{
    for (uint32_t i = 0; i < resolved->var_count; i++)
        if (strcmp(resolved->vars[i].name, name) == 0)
            return !resolved->vars[i].link_count && !resolved->vars[i].quiet;
    return false;
}

/* Whether each property is about the writes of one variable, which are in one order whatever else threads do
 * (PT_KEEP_CHAINS), and nobody else wants the order of events: neither a recording, whose properties are not known, nor
 * a schedule. Nor what the program names itself, whose events a `within` property counts. */
static bool are_chains(const struct pt_session *session, uint32_t keep)
{
    const struct pt_analyse *analyse = &session->analyse;
    if (keep || session->writer || session->gate || session->wider || session->resolved.block ||
        session->resolved.race_count)
        return false;
    for (uint32_t i = 0; i < analyse->input_count; i++) {
        const struct pt_monitor *monitor = analyse->inputs[i].monitor;
        uint32_t vars = 0, events = 0;
        const struct pt_varref *var = monitor ? pt_monitor_vars(monitor, &vars) : NULL;
        if (monitor)
            pt_monitor_events(monitor, &events);
        const struct pt_property *property = monitor ? pt_monitor_property(monitor) : NULL;
        if (vars != 1 || events || !is_plain(&session->resolved, var->target) || (property && property->within))
            return false;
    }
    return analyse->input_count && !(session->info && pt_debuginfo_uses(session->info, "portent_watch"));
}

static const char *report_object(void *context, const struct pt_local_report_step *step, struct pt_value *ret_value)
{
    struct pt_session *session = context;
    return pt_channel_report_object(session->reader, step, ret_value);
}

static uint64_t report_state(void *context, const char *thread, uint64_t state, const struct pt_local_report_step *step)
{
    struct pt_session *session = context;
    return pt_channel_report_state(session->reader, thread, state, step);
}

static void take_local(void *context, const struct pt_channel_local *local)
{
    struct pt_session *session = context;
    struct pt_thread_report report = {.property = local->property,
                                      .result = local->result,
                                      .thread = local->thread,
                                      .from = local->from,
                                      .to = local->to,
                                      .report = local->report,
                                      .report_bytes = local->report_bytes,
                                      .object = report_object,
                                      .state = report_state,
                                      .context = session};
    catch_up(session);
    if (session->analysis)
        pt_analysis_reported(session->analysis, &report);
}

static const char *found_object(void *context, uint64_t address, enum pt_space space)
{
    struct pt_session *session = context;
    return session->info ? pt_channel_name_at(session->reader, address, space) : NULL;
}

/* The report counts from 1, the channel from 0. */
static const char *found_thread(void *context, uint64_t number, bool settle)
{
    struct pt_session *session = context;
    return number && number <= UINT32_MAX ? pt_channel_thread_name(session->reader, (uint32_t)number - 1, settle)
                                          : NULL;
}

static void take_found(void *context, const struct pt_channel_found *found)
{
    struct pt_session *session = context;
    catch_up(session);
    if (session->founds)
        pt_founds_take(session->founds, found->key, found->count, found->report, found->report_bytes);
}

/* The program's threads act on violations themselves, so they know what is suppressed. */
static void list_suppressions(const struct pt_session *session, struct pt_buf *buf)
{
    const struct pt_suppressions *list = &session->analyse.triage.suppressions;
    for (uint32_t i = 0; i < list->count; i++)
        pt_buf_printf(buf, "%s\n", list->items[i].text);
}

/* The environment's, and what the command line has set of them. */
static void list_options(const struct pt_session *session, struct pt_buf *buf)
{
    const char *environment = getenv(PT_OPTIONS_ENV);
    const struct pt_span *on_deadlock = &session->settings.on_deadlock;
    pt_buf_printf(buf, "%s on_deadlock=%.*s", environment ? environment : "", (int)on_deadlock->len, on_deadlock->at);
    pt_resolve_calls_setting(&session->resolved, session->settings.calls, buf);
    if (session->recording)
        pt_buf_printf(buf, " record=\"%s\"", session->recording);
    if (session->recording && session->record_limit)
        pt_buf_printf(buf, " record_limit=%s", session->record_limit);
}

enum pt_status pt_session_open(struct pt_session *session, struct pt_err *err)
{
    uint32_t keep = what_to_keep(session);
    bool later = session->wider; /* all properties are looked at in what was recorded */
    pt_recorded_choose(session, &keep);
    if (are_chains(session, keep))
        keep |= PT_KEEP_CHAINS;
    struct pt_buf suppressions, options;
    pt_buf_init(&suppressions);
    pt_buf_init(&options);
    list_suppressions(session, &suppressions);
    list_options(session, &options);
    struct pt_channel_setup setup = {.vars = session->resolved.vars,
                                     .var_count = session->resolved.var_count,
                                     .events = session->resolved.events,
                                     .event_count = session->resolved.event_count,
                                     .options = options.text,
                                     .suppressions = suppressions.text,
                                     .keep = keep,
                                     .block = later ? NULL : session->resolved.block,
                                     .functions = session->resolved.functions,
                                     .function_count = session->resolved.function_count,
                                     .gate = session->gate,
                                     .checks = session->checks | (session->wider ? PT_CHECKS_HAPPENING : 0),
                                     .races = session->resolved.races,
                                     .race_count = later ? 0 : session->resolved.race_count,
                                     .race_places = session->resolved.race_places,
                                     .race_place_count = later ? 0 : session->resolved.race_place_count,
                                     .on_full = session->on_full,
                                     .ring_bytes = RING_BYTES,
                                     .ring_max = RING_MAX,
                                     .counted_before = session->analyse.engine.counted_before};
    enum pt_status status = pt_channel_create(&setup, &session->names, &session->reader, err);
    pt_buf_release(&suppressions);
    pt_buf_release(&options);
    if (status == PT_OK)
        pt_channel_set_function(session->reader, function_name, session);
    if (status == PT_OK)
        pt_channel_set_local(session->reader, take_local, session);
    if (status == PT_OK)
        pt_channel_set_found(session->reader, take_found, session);
    if (status == PT_OK && session->info)
        pt_channel_set_place(session->reader, place_name, session);
    return status;
}

/* --- while it runs --- */

void pt_session_unwritten(struct pt_session *session, const struct pt_err *err)
{
    pt_buf_printf(&session->unwritten, "%s%s: %s", session->unwritten.len ? "; " : "", err->file, err->message);
}

void pt_session_write(struct pt_session *session, const struct pt_event *event)
{
    struct pt_err err;
    if (session->writer && pt_writer_add(session->writer, event, &err) != PT_OK) {
        pt_session_unwritten(session, &err);
        (void)!pt_writer_close(session->writer, &err); /* noted already */
        session->writer = NULL;
    }
}

void pt_session_analyse(struct pt_session *session, const struct pt_event *event)
{
    struct pt_err err;
    if (!session->nonsense && (pt_analysis_event(session->analysis, event, &err) != PT_OK ||
                               (session->later && pt_checks_event(session->later, event, &err) != PT_OK))) {
        session->nonsense = true;
        pt_session_complain(session, &err);
    }
}

void pt_session_pass_on(struct pt_session *session, const struct pt_event *event)
{
    pt_session_write(session, event);
    pt_session_analyse(session, event);
}

/* The events that have waited for initial values. */
static void let_go(struct pt_session *session)
{
    uint32_t at = 0;
    for (const struct pt_event *event; (event = pt_late_next(&session->late, &at));)
        pt_session_pass_on(session, event);
}

/* A variable that has its name from debug information: of an object that the program names, a recording that it makes
 * has the initial value. */
bool pt_session_is_resolved(const struct pt_session *session, const char *name)
{
    for (uint32_t i = 0; i < session->resolved.var_count; i++)
        if (strcmp(session->resolved.vars[i].name, name) == 0)
            return true;
    return false;
}

static void take(struct pt_session *session, const struct pt_event *event)
{
    if (session->follower.event)
        session->follower.event(session->follower.context, event);
    if (event->op == PT_OP_INIT) {
        const char *name = pt_name(&session->names, PT_SPACE_VAR, event->object);
        if (session->recording && !pt_session_is_resolved(session, name))
            return;
        if (pt_late_initial(&session->late, name, event->value))
            pt_session_pass_on(session, event);
        pt_doubt_initial(session, name, event->value);
    } else if (!session->recording && !pt_late_holds(&session->late, event)) { /* what it has, comes from there */
        if (!session->late.flowing)
            let_go(session);
        pt_session_pass_on(session, event);
    }
}

static void note_found(void *context, const struct pt_finding *finding)
{
    struct pt_session_output *output = context;
    output->violated |= !pt_triage_suppresses(output->output.options->triage, finding);
    if (output->found)
        output->found(context, finding);
}

static void note_observed(void *context, const struct pt_finding *finding, const struct pt_step *step)
{
    struct pt_session_output *output = context;
    output->violated |= !pt_triage_may_suppress(output->output.options->triage, finding);
    if (output->observed)
        output->observed(context, finding, step);
}

static void begin_output(struct pt_session *session)
{
    struct pt_session_output *output = &session->output;
    struct pt_analysis_options *engine = &session->analyse.engine;
    *output = (struct pt_session_output){0};
    pt_output_begin(&output->output, &session->output_options, false, engine);
    output->found = engine->found;
    output->observed = engine->observed;
    engine->found = note_found;
    engine->observed = note_observed;
}

/* halt_on_error: the program is asked to end, and later made to. *since is when it was asked, 0: not yet. */
static void halt(const struct pt_launched *launched, uint64_t *since)
{
    uint64_t now = pt_progress_now();
    if (!*since) {
        *since = now;
        pt_launch_kill(launched, SIGTERM);
    } else if (now - *since > HALT_PATIENCE) {
        pt_launch_kill(launched, SIGKILL);
    }
}

static void observe(struct pt_session *session, const struct pt_launched *launched)
{
    const struct pt_session_follower *follower = &session->follower;
    struct pt_source *source = pt_channel_source(session->reader);
    uint64_t wait = SHORTEST_WAIT, halted = 0;
    bool over = false, stop = false;
    for (uint32_t round = 0;; round++) {
        struct pt_event event;
        struct pt_err err;
        if (((session->settings.halt_on_error && session->output.violated) || stop) && !over) {
            session->halted = true;
            halt(launched, &halted);
        }
        if (follower->tick && (wait > SHORTEST_WAIT || round % FOLLOW_ROUNDS == 0))
            stop |= follower->tick(follower->context, pt_progress_now());
        enum pt_read got = pt_source_next(source, &event, &err);
        if (got == PT_READ_EVENT) {
            take(session, &event);
            wait = SHORTEST_WAIT;
            continue;
        }
        if (got == PT_READ_END)
            let_go(session);
        catch_up(session); /* before it sleeps, or sees the program end */
        if (got == PT_READ_END)
            return;
        if (pt_launch_is_over(launched)) {
            pt_channel_set_ended(session->reader);
            over = true;
        } else if (pt_recorded_follow(session)) {
            wait = SHORTEST_WAIT;
        } else {
            pt_source_wait(source, wait);
            wait = wait * 2 < LONGEST_WAIT ? wait * 2 : LONGEST_WAIT;
        }
    }
}

/* What is watched, for verbosity=1. */
static void introduce(const struct pt_session *session, pid_t process)
{
    fprintf(stderr, "portent: process %ld is observed: %u variable%s, %u user event%s%s\n", (long)process,
            session->resolved.var_count, pt_words_plural(session->resolved.var_count), session->resolved.event_count,
            pt_words_plural(session->resolved.event_count), session->writer ? ", recorded" : "");
    for (uint32_t i = 0; i < session->resolved.var_count; i++) {
        const struct pt_channel_var *var = &session->resolved.vars[i];
        fprintf(stderr, "portent: %s: %u bytes at 0x%" PRIx64 " of %s\n", var->name, var->size, var->offset,
                var->module ? var->module : session->program);
    }
}

/* What the program finds of them goes into the findings that the analysis has for race_free properties. */
static struct pt_founds *make_founds(struct pt_session *session)
{
    struct pt_found_names names = {found_object, found_thread, session};
    uint32_t count, of_races = 0;
    struct pt_finding **findings = pt_analysis_findings(session->analysis, &count),
                      **races = pt_xcalloc((size_t)count + 1, sizeof *races);
    for (uint32_t i = 0; i < count; i++) {
        const struct pt_property *property = session->analyse.inputs[i].property;
        if (property && property->kind == PT_KIND_RACE)
            races[of_races++] = findings[i];
    }
    struct pt_founds *founds = pt_founds_new(session->checks, races, of_races, &names, &session->analyse.engine);
    free(races);
    return founds;
}

static void begin(struct pt_session *session, pid_t process)
{
    pt_settings_open_log(&session->settings, process);
    begin_output(session);
    if (session->settings.verbosity > 0)
        introduce(session, process);
    session->analyse.engine.block = session->wider ? NULL : session->resolved.block;
    session->analyse.engine.races_reported = !session->wider;
    session->analyse.engine.live = !session->follower.event && !session->follower.tick && !session->recording;
    if (session->recording && session->analyse.engine.orders >= PT_ORDERS_SLICES_0) {
        session->analyse.engine.again = pt_recorded_again;
        session->analyse.engine.again_of = session;
    }
    session->analysis = pt_analysis_new(&session->names, session->analyse.inputs, session->analyse.input_count,
                                        &session->analyse.engine);
    session->founds = make_founds(session);
    if (session->wider)
        pt_recorded_begin(session);
    pt_late_init(&session->late, &session->analyse);
}

enum pt_status pt_session_run(struct pt_session *session, const char *const *arguments, struct pt_err *err)
{
    struct pt_launched launched;
    struct pt_launch_means means = {session->reader, session->through, session->rendezvous, session->gate != NULL};
    if (session->settings.follow_fork || session->rendezvous)
        pt_launch_adopt();
    enum pt_status status = pt_launch(session->program, arguments, &means, &launched, err);
    if (status != PT_OK)
        return status;
    pid_t observed = session->through ? 0 : launched.program;
    if (session->rendezvous)
        (void)!write(session->herald, &observed, sizeof observed); /* it may have ended: then nobody comes either */
    session->process = launched.program;
    begin(session, launched.program);
    observe(session, &launched);
    session->program_status = pt_launch_end(&launched);
    session->program_signal = launched.signal;
    pt_interrupt_catch();
    return PT_OK;
}

enum pt_status pt_session_attend(struct pt_session *session, pid_t process, int pidfd, int stop, struct pt_err *err)
{
    struct pt_launched launched,
        attached = {.program = process, .reader = session->reader, .pidfd = pidfd, .stop = stop};
    enum pt_status status = pt_launch_attach(&attached, &launched, err);
    if (status != PT_OK)
        return status;
    session->process = process;
    begin(session, process);
    observe(session, &launched);
    session->left = !pt_launch_detach(&launched);
    if (session->left)
        pt_channel_abandon(session->reader);
    return PT_OK;
}

enum pt_status pt_session_open_trace(struct pt_session *session, const char *path, const struct pt_format *format,
                                     struct pt_err *err)
{
    enum pt_status status = pt_writer_open(path, format, &session->names, &session->writer, err);
    session->trace_path = path;
    if (status == PT_OK) {
        pt_writer_promise_end(session->writer);
        pt_writer_reduce_clocks(session->writer);
    }
    return status;
}

void pt_session_close_trace(struct pt_session *session)
{
    struct pt_buf lost;
    struct pt_err err;
    pt_buf_init(&lost);
    if (session->recording)
        pt_recorded_take(session, &lost);
    if (session->writer && (lost.len || pt_session_losses(session, &lost) || pt_doubt_words(session, &lost)))
        pt_writer_set_incomplete(session->writer, lost.text);
    if (session->writer && pt_writer_close(session->writer, &err) != PT_OK)
        pt_session_unwritten(session, &err);
    session->writer = NULL;
    pt_buf_release(&lost);
}

static bool had_thread(struct pt_session *session, const char *name)
{
    const char *there;
    for (uint32_t number = 0; (there = pt_channel_thread_name(session->reader, number, true)); number++)
        if (strcmp(there, name) == 0)
            return true;
    return false;
}

/* A race_free property at a thread that never ran. */
static void list_unseen(struct pt_session *session, const struct pt_result *result)
{
    for (uint32_t i = 0; i < result->count && i < session->analyse.input_count; i++) {
        const struct pt_property *property = session->analyse.inputs[i].property;
        if (!property || !property->races_at || had_thread(session, property->races_at))
            continue;
        struct pt_finding *finding = result->findings[i];
        const char **unseen = pt_arena_alloc(&finding->arena, 2 * sizeof *unseen);
        unseen[0] = pt_arena_strndup(&finding->arena, property->races_at, strlen(property->races_at));
        unseen[1] = NULL;
        finding->unseen = unseen;
    }
}

/* What the program looked for while it ran, and what was looked for in its recording, `from` on: where one of the two
 * found something, that is the answer; otherwise the latter, which has looked at more. */
static void merge_later(struct pt_result *result, uint32_t from)
{
    for (uint32_t i = from; i < result->count; i++) {
        struct pt_finding **list = result->findings;
        uint32_t k = 0;
        while (k < from && !(list[k]->builtin && strcmp(list[k]->property, list[i]->property) == 0))
            k++;
        bool found = k < from && list[k]->verdict == PT_VERDICT_VIOLATED;
        if (k == from || (found && list[i]->verdict == PT_VERDICT_VIOLATED))
            continue;
        uint32_t gone = found ? i : k;
        memmove(list + gone, list + gone + 1, (--result->count - gone) * sizeof *list);
        from -= gone < from;
        i--;
    }
}

void pt_session_finish(struct pt_session *session, struct pt_result *ret_result)
{
    struct pt_buf lost, left_out;
    pt_buf_init(&lost);
    pt_buf_init(&left_out);
    catch_up(session);
    bool incomplete = pt_session_losses(session, &lost);
    session->output.output.trace_ended = true;
    pt_session_warn(session, &lost);
    pt_analysis_finish(session->analysis, incomplete ? lost.text : NULL);
    pt_recorded_forget(session);
    ret_result->findings = pt_analysis_findings(session->analysis, &ret_result->count);
    pt_doubt_apply(session, ret_result);
    list_unseen(session, ret_result);
    bool observed = pt_channel_started(session->reader), asked;
    if (pt_session_left_out(session, &asked, &left_out))
        pt_founds_leave_out(session->founds, left_out.text, asked);
    pt_founds_finish(session->founds, !observed ? "nothing was observed" : incomplete ? lost.text : NULL, ret_result);
    pt_analysis_counts(session->analysis, &ret_result->events, &ret_result->threads);
    uint32_t of_run = ret_result->count;
    if (session->later) {
        const char *why = incomplete ? lost.text : pt_session_is_built(session) ? NULL : left_out.text;
        pt_checks_finish(session->later, why, ret_result);
        merge_later(ret_result, of_run);
    }
    pt_buf_release(&left_out);
    pt_buf_release(&lost);
}

void pt_session_init(struct pt_session *session, const struct pt_settings *settings)
{
    char color[8];
    *session = (struct pt_session){0};
    pt_names_init(&session->names);
    pt_buf_init(&session->unwritten);
    pt_analyse_init(&session->analyse, PT_SESSION_WINDOW, PT_SESSION_LOOKAHEAD, NULL);
    if (settings)
        session->settings = *settings;
    else
        pt_settings_load(&session->settings);
    if (pt_span_is(session->settings.color, "auto") && !pt_span_is(session->settings.log_path, "stderr"))
        session->settings.color = (struct pt_span){"never", 5};
    snprintf(color, sizeof color, "%.*s", (int)session->settings.color.len, session->settings.color.at);
    session->output_options = (struct pt_output_options){.stream = true,
                                                         .on_stderr = true,
                                                         .style = pt_analyse_style(STDERR_FILENO, color),
                                                         .triage = &session->analyse.triage};
}

void pt_session_release(struct pt_session *session)
{
    struct pt_err err;
    if (session->writer)
        (void)!pt_writer_close(session->writer, &err); /* an error was reported already */
    pt_founds_free(session->founds);
    pt_checks_free(session->later);
    free(session->torn);
    pt_analysis_free(session->analysis);
    pt_channel_free(session->reader);
    pt_resolved_release(&session->resolved);
    pt_debuginfo_free(session->info);
    pt_analyse_release(&session->analyse);
    pt_names_release(&session->names);
    pt_buf_release(&session->unwritten);
    if (session->beside)
        pt_source_free(session->beside);
    free(session->recording);
    pt_late_release(&session->late);
    free(session->doubted);
    free(session->modules);
    free(session->program);
}
