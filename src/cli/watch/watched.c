/*
 * A program's stream, event by event: to the recording, the analysis, the verdicts and the scene.
 *
 * Time is the stream's. A program that has nothing to say sends its clock about every 10 ms, so a window that ends in
 * silence is noticed that soon. Where the whole process stands still, nothing comes at all; after a second of that
 * (SILENCE) our own clock stands in for the stream's, from which it differs by the least delay seen so far. Such a
 * verdict comes late, but the time it names is right: it is the end of the window that was missed.
 */
#include "cli/watch/watched.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/diag.h"
#include "cli/watch/scene.h"
#include "report/words.h"

enum { SILENCE = 1000 * 1000 * 1000 };

/* --- the stream --- */

/* Something that counts for the properties. False when the analysis refuses it, which its clocks alone could cause. */
static bool analyse(struct pt_watched *w, struct pt_event *event)
{
    struct pt_err err;
    event->line = pt_recording_take(&w->record, event);
    if (pt_analysis_event(w->analysis, event, &err) != PT_OK) {
        pt_diag_error(&err);
        return false;
    }
    pt_verdicts_after(&w->verdicts, event);
    return true;
}

/* What was so when the connection was made: values count, the rest is for recordings and views. */
static bool take_snapshot(struct pt_watched *w, struct pt_event *event)
{
    if (event->op == PT_OP_INIT)
        return analyse(w, event);
    pt_recording_fact(&w->record, event);
    return true;
}

/* The stream's clock against ours: the least difference is the best estimate. */
static void note_time(struct pt_watched *w, uint64_t time)
{
    int64_t offset = (int64_t)(w->last_arrival - time);
    if (!w->offset_known || offset < w->offset)
        w->offset = offset;
    w->offset_known = true;
}

static void set_label(struct pt_watched *w, const struct pt_wire_item *item)
{
    struct pt_buf label;
    pt_buf_init(&label);
    pt_style_clean(&label, item->program, strlen(item->program));
    free(w->program);
    w->program = pt_xstrdup(label.len ? label.text : "a program");
    w->pid = item->pid;
    label.len = 0;
    pt_buf_printf(&label, "%s (process %" PRIu32 ")", w->program, item->pid);
    free(w->label);
    w->label = pt_buf_take(&label);
    if (w->watching->several)
        w->output_options.process = w->label;
    w->verdicts.program = w->program;
    w->verdicts.pid = w->pid;
}

static void take_hello(void *context, const struct pt_wire_item *item)
{
    struct pt_watched *w = context;
    const struct pt_output_options *options = &w->output_options;
    note_time(w, item->event.time);
    if (w->scene)
        pt_scene_take(w->scene, item);
    set_label(w, item);
    if (!options->quiet && !options->json && !w->watching->live)
        fprintf(stderr, "portent: watching %s\n", w->label);
}

/* False: nothing more is to be read. */
static bool take(struct pt_watched *w, struct pt_event *event)
{
    const struct pt_wire_item *item = pt_wire_source_item(w->source);
    bool snapshot = item->what == PT_WIRE_READ_SNAPSHOT;
    if (event->has_time && !snapshot)
        note_time(w, event->time);
    if (w->scene)
        pt_scene_take(w->scene, item);
    return snapshot ? take_snapshot(w, event) : analyse(w, event);
}

static bool is_settled(const struct pt_watched *w)
{
    return w->watching->exit_on_verdict && pt_verdicts_is_settled(&w->verdicts);
}

void pt_watched_receive(struct pt_watched *w)
{
    struct pt_event event;
    struct pt_err err;
    enum pt_read got;
    pt_source_wait(w->source, 0);
    w->last_arrival = pt_progress_now();
    while ((got = pt_source_next(w->source, &event, &err)) == PT_READ_EVENT) {
        if (!take(w, &event) || is_settled(w)) {
            w->over = true;
            break;
        }
    }
    pt_verdicts_flush(&w->verdicts);
    if (got == PT_READ_ERROR) {
        w->failed = true;
        pt_diag_error(&err);
    }
    w->over |= got == PT_READ_END || got == PT_READ_TORN || got == PT_READ_ERROR;
}

void pt_watched_wait(struct pt_watched *w, uint64_t now)
{
    if (!w->offset_known || now - w->last_arrival < SILENCE || now < w->last_arrival)
        return;
    struct pt_event clock = {.op = PT_OP_CLOCK,
                             .thread = PT_NONE,
                             .object = PT_NONE,
                             .loc = w->no_loc,
                             .has_time = true,
                             .time = now - (uint64_t)w->offset};
    if (w->scene)
        pt_scene_advance(w->scene, clock.time);
    (void)!analyse(w, &clock);
    pt_verdicts_flush(&w->verdicts);
    w->over |= is_settled(w);
}

/* --- views --- */

static void show_change(void *context, uint32_t index, const struct pt_change *change)
{
    struct pt_watched *w = context;
    pt_scene_change(w->scene, index, change, w->verdicts.findings[index]->how);
}

void pt_watched_show(struct pt_watched *w)
{
    for (uint32_t i = 0; i < w->verdicts.count; i++) {
        const struct pt_within *within = pt_analysis_within(w->analysis, i);
        uint32_t count;
        bool final;
        if (!within || w->verdicts.shown[i] == PT_VERDICT_VIOLATED)
            continue;
        const uint32_t *states = pt_within_states(within, &count, &final);
        pt_scene_states(w->scene, i, states, count);
    }
}

static void begin_scene(struct pt_watched *w)
{
    w->scene = pt_scene_new(&w->names, w->address, w->verdicts.findings, w->verdicts.count);
    w->verdicts.changed = show_change;
    w->verdicts.context = w;
}

/* --- the end --- */

/* Without properties there are counts alone. */
static int conclude_counts(struct pt_watched *w, struct pt_loss loss)
{
    uint64_t events = pt_wire_source_counts(w->source).events;
    if (w->output_options.process)
        pt_buf_printf(&w->verdicts.lines, "%s: ", w->output_options.process);
    pt_buf_printf(&w->verdicts.lines, "%" PRIu64 " event%s seen, %" PRIu64 " lost. No property was given.\n", events,
                  pt_words_plural(events), loss.events);
    pt_verdicts_flush(&w->verdicts);
    pt_output_abandon(&w->output);
    return loss.why[0] || loss.events ? PT_EXIT_UNKNOWN : PT_EXIT_HOLDS;
}

static void warn_of_tear(const struct pt_watched *w, const char *why)
{
    struct pt_err warning;
    (void)pt_err_set(&warning, PT_OK, "%s%s%s", w->watching->several ? w->label : "", w->watching->several ? ": " : "",
                     why);
    pt_diag_warning(&warning);
}

int pt_watched_conclude(struct pt_watched *w)
{
    struct pt_result result = {.trace = w->address};
    struct pt_loss loss = pt_source_loss(w->source);
    const struct pt_output_options *options = &w->output_options;
    if (w->failed) {
        pt_verdicts_flush(&w->verdicts);
        pt_output_abandon(&w->output);
        return PT_EXIT_BAD;
    }
    w->output.trace_ended = true;
    result.torn = loss.why[0];
    snprintf(result.torn_message, sizeof result.torn_message, "%s", loss.why);
    pt_analysis_finish(w->analysis, result.torn ? result.torn_message : NULL);
    if (result.torn && !options->quiet)
        warn_of_tear(w, loss.why);
    if (w->verdicts.count == 0 && !options->quiet && !options->json)
        return conclude_counts(w, loss);
    if (!options->quiet && !w->watching->warned) /* the same names of the same properties, for every program */
        pt_output_unseen(&w->output, w->analysis, &w->names, w->watching->analyse.props);
    w->watching->warned |= w->watching->several;
    pt_verdicts_doubt_unseen(&w->verdicts, w->watching->analyse.inputs);
    result.findings = w->verdicts.findings;
    result.count = w->verdicts.count;
    pt_triage_apply(&w->watching->analyse.triage, &result);
    return pt_verdicts_end(&w->verdicts, &result);
}

/* --- life --- */

enum pt_status pt_watched_new(struct pt_watching *watching, const char *address, int fd, const char *record,
                              struct pt_watched **ret_watched, struct pt_err *err)
{
    struct pt_watched *w = pt_xcalloc(1, sizeof *w);
    *w = (struct pt_watched){.watching = watching,
                             .address = pt_xstrdup(address),
                             .label = pt_xstrdup(address),
                             .fd = fd,
                             .engine = watching->analyse.engine,
                             .output_options = watching->output_options,
                             .last_arrival = pt_progress_now()};
    pt_names_init(&w->names);
    w->no_loc = pt_strtab_intern(&w->names.space[PT_SPACE_LOC], "-", 1);
    w->source = pt_wire_source_new(fd, w->address, &w->names);
    pt_wire_source_set_hello(w->source, take_hello, w);
    w->engine.trace = w->address;
    if (watching->several)
        w->output_options.process = w->label;
    pt_output_begin(&w->output, &w->output_options, false, &w->engine);
    w->verdicts =
        (struct pt_verdicts){.log = watching->log, .silent = watching->live, .trace = w->address, .names = &w->names};
    pt_verdicts_begin(&w->verdicts, &w->output, &w->engine);
    w->analysis = pt_analysis_new(&w->names, watching->analyse.inputs, watching->analyse.input_count, &w->engine);
    pt_verdicts_attach(&w->verdicts, w->analysis);
    if (watching->shown)
        begin_scene(w);
    enum pt_status status = record ? pt_recording_open(&w->record, record, &w->names, err) : PT_OK;
    if (status != PT_OK) {
        pt_output_abandon(&w->output);
        pt_watched_free(w);
        return status;
    }
    *ret_watched = w;
    return PT_OK;
}

void pt_watched_free(struct pt_watched *w)
{
    if (!w)
        return;
    pt_verdicts_release(&w->verdicts);
    pt_scene_free(w->scene);
    pt_analysis_free(w->analysis);
    pt_source_free(w->source);
    pt_recording_close(&w->record);
    if (w->fd >= 0)
        close(w->fd);
    pt_names_release(&w->names);
    free(w->address);
    free(w->label);
    free(w->program);
    free(w);
}
