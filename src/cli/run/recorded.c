/*
 * Recordings that the program makes by itself, as `run` uses them: `--record-all`, and `--order`, which looks at
 * everything. With `--record-all` everything comes through the channel instead where a property needs that: where the
 * program's threads evaluate it (decentralised and race_free ones), or where it names what the program has still to
 * name (portent_watch), of which recordings do not have all that the channel has.
 *
 * Where there are properties the recording is followed while it grows, whenever the channel has nothing: events are
 * read, checked and given to the analyses as they come, and when the program has ended only the rest is left, and what
 * an engine does at the end of a run (the searches of `sync` and `values`, which need all of it). A trace of it, which
 * begins with all initial values, is written then, in a second pass. Where its size is limited it is not followed, but
 * read at the end: what was not read yet might go. As long as variables of properties have no initial value, because
 * the program has not named them yet or not opened their library, what is recorded waits in the file.
 *
 * Orders slices=K may need the events again when the analysis has seen all of them: the file stays that long.
 *
 * Guarantee: what is analysed is what `check` would find in the trace of the same recording. Cost: one pass over it, or
 * two, and those that slices take.
 */
#include "cli/run/recorded.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/recording.h"
#include "engine/check.h"
#include "trace/source.h"

/* Beside the trace, if that is a file; the program may be elsewhere. */
static char *name_recording(const struct pt_session *session)
{
    const char *path = session->trace_path, *folder = getenv("TMPDIR");
    char *here = path && path[0] != '/' ? getcwd(NULL, 0) : NULL;
    struct stat about;
    struct pt_buf name;
    pt_buf_init(&name);
    if (path && stat(path, &about) == 0 && S_ISREG(about.st_mode))
        pt_buf_printf(&name, "%s%s%s.recording", here ? here : "", here ? "/" : "", path);
    else
        pt_buf_printf(&name, "%s/portent-%ld.recording", folder && *folder ? folder : "/tmp", (long)getpid());
    free(here);
    return pt_buf_take(&name);
}

/* Whether a monitor reads the property, and all variables are known before the program starts. */
static bool is_of_known_variables(const struct pt_session *session, const struct pt_analysis_input *input)
{
    uint32_t count = 0;
    const struct pt_varref *vars = input->monitor ? pt_monitor_vars(input->monitor, &count) : NULL;
    bool known = input->monitor;
    for (uint32_t i = 0; i < count && known; i++)
        known = pt_session_is_resolved(session, vars[i].target);
    return known;
}

/* Whether properties can be judged by what the program records. Who holds it to an order sees its events in the
 * channel.
 */
static bool can_be_read(const struct pt_session *session)
{
    for (uint32_t i = 0; i < session->analyse.input_count; i++)
        if (!is_of_known_variables(session, &session->analyse.inputs[i]))
            return false;
    return !session->follower.event && !session->follower.tick && !session->gate;
}

void pt_recorded_choose(struct pt_session *session, uint32_t *keep)
{
    bool all = (*keep & (PT_KEEP_ALL | PT_KEEP_CLOCKS)) == PT_KEEP_ALL && can_be_read(session);
    if (!session->wider && (!all || session->preload || !session->writer))
        return;
    session->recording = name_recording(session);
    *keep &= ~(uint32_t)(PT_KEEP_ALL | PT_KEEP_CLOCKS);
    for (uint32_t i = 0; i < session->resolved.var_count; i++) /* of these only the initial values are asked for */
        session->resolved.vars[i].quiet = true;
}

void pt_recorded_begin(struct pt_session *session)
{
    const struct pt_analysis_options *engine = &session->analyse.engine;
    const struct pt_check_options options = {.trace = engine->trace,
                                             .order = pt_orders_widest(engine->orders),
                                             .automatic = engine->orders == PT_ORDERS_AUTO,
                                             .near = PT_ALL,
                                             .counted_before = engine->counted_before,
                                             .memory_limit = engine->memory_limit,
                                             .log_limit = engine->log_limit,
                                             .now = engine->now,
                                             .effort = engine->effort,
                                             .suppressed = engine->suppressed,
                                             .context = engine->context};
    const struct pt_check_kind *kinds[4];
    uint32_t count = 0;
    if (session->wider_checks >> PT_FOUND_RACE & 1)
        kinds[count++] = &pt_check_races;
    if (session->wider_checks >> PT_FOUND_DEADLOCK & 1)
        kinds[count++] = &pt_check_deadlocks;
    if (session->wider_checks >> PT_FOUND_LIFETIME & 1)
        kinds[count++] = &pt_check_lifetimes;
    if (session->wider_checks & PT_SESSION_BLOCKS)
        kinds[count++] = &pt_check_atomicity;
    session->later = pt_checks_new(kinds, count, &session->names, &options);
}

/* What is asked for may not need everything. */
static void leave_out(const struct pt_session *session, struct pt_source *source)
{
    if (!session->writer && !(session->wider_checks & (1u << PT_FOUND_LIFETIME | PT_SESSION_BLOCKS)) &&
        pt_analyse_only_states(&session->analyse))
        pt_source_leave_out(source);
}

static void remove_files(const struct pt_session *session)
{
    struct pt_buf live; /* of a program that was killed */
    pt_buf_init(&live);
    pt_buf_printf(&live, "%s.live", session->recording);
    (void)unlink(session->recording);
    (void)unlink(live.text);
    pt_buf_release(&live);
}

/* Whether it can be followed now; and it is opened then. */
static bool follows(struct pt_session *session)
{
    struct stat about;
    struct pt_err err;
    if (session->beside)
        return true;
    if ((!session->wider && !session->analyse.input_count) || session->record_limit ||
        !pt_channel_started(session->reader) || stat(session->recording, &about) != 0 ||
        (size_t)about.st_size <= PT_REC_MAGIC_LEN + sizeof(struct pt_rec_chunk) ||
        pt_source_open(session->recording, &session->names, &session->beside, &err) != PT_OK)
        return false;
    leave_out(session, session->beside);
    pt_source_follow(session->beside, true);
    return true;
}

static bool has_come(const struct pt_session *session, const struct pt_event *initial)
{
    return pt_session_is_resolved(session, pt_name(&session->names, PT_SPACE_VAR, initial->object));
}

/* Where events go: pt_session_analyse, pt_session_write or both. */
typedef void receiver(struct pt_session *session, const struct pt_event *event);

/* An initial value; the last one that a property needs lets the events go. */
static void take_initial(struct pt_session *session, struct pt_source *source, const struct pt_event *initial,
                         receiver *to)
{
    if (has_come(session, initial)) /* from the channel, whether it is accessed or not */
        return;
    to(session, initial);
    if (!session->late.flowing)
        (void)pt_late_initial(&session->late, pt_name(&session->names, PT_SPACE_VAR, initial->object), initial->value);
    pt_source_hold(source, !session->late.flowing && session->late.missing_count);
}

/* As many events as there are, and at most so many. */
static enum pt_read take(struct pt_session *session, struct pt_source *source, uint64_t most, receiver *to,
                         struct pt_err *err)
{
    struct pt_event event;
    enum pt_read got = PT_READ_EVENT;
    while (most-- && (got = pt_source_next(source, &event, err)) == PT_READ_EVENT) {
        if (event.op == PT_OP_INIT)
            take_initial(session, source, &event, to);
        else
            to(session, &event);
    }
    return got;
}

bool pt_recorded_follow(struct pt_session *session)
{
    enum { SOME = 4096 }; /* then the channel is looked at */
    struct pt_err err;
    if (!session->recording || !follows(session))
        return false;
    pt_source_hold(session->beside, session->late.missing_count);
    return take(session, session->beside, SOME, pt_session_analyse, &err) == PT_READ_EVENT;
}

/* All of a recording that has its end. */
static enum pt_read take_all(struct pt_session *session, receiver *to, struct pt_err *err)
{
    struct pt_source *source;
    if (pt_source_open(session->recording, &session->names, &source, err) != PT_OK)
        return PT_READ_ERROR;
    leave_out(session, source);
    enum pt_read got = take(session, source, UINT64_MAX, to, err);
    pt_source_free(source);
    return got;
}

/* What was followed has been analysed up to somewhere. */
static enum pt_read take_rest(struct pt_session *session, struct pt_err *err)
{
    pt_source_hold(session->beside, false);
    pt_source_follow(session->beside, false);
    enum pt_read got = take(session, session->beside, UINT64_MAX, pt_session_analyse, err);
    pt_source_free(session->beside);
    session->beside = NULL;
    struct pt_err second; /* as a rule what the first pass has met, too, and told */
    if (session->writer && take_all(session, pt_session_write, &second) == PT_READ_ERROR && got != PT_READ_ERROR) {
        *err = second;
        return PT_READ_ERROR;
    }
    return got;
}

const char *pt_recorded_again(void *of, uint64_t count, void (*give)(void *context, const struct pt_event *event),
                              void *context)
{
    struct pt_session *session = of;
    struct pt_source *source;
    struct pt_event event;
    struct pt_err err;
    if (!session->kept || pt_source_open(session->recording, &session->names, &source, &err) != PT_OK)
        return "the recording could not be read again";
    leave_out(session, source);
    while (count && pt_source_next(source, &event, &err) == PT_READ_EVENT) {
        give(context, &event);
        count -= event.thread != PT_NONE && count != UINT64_MAX;
    }
    pt_source_free(source);
    return !count || count == UINT64_MAX ? NULL : "the recording has become shorter";
}

void pt_recorded_forget(struct pt_session *session)
{
    if (session->kept)
        remove_files(session);
    session->kept = false;
}

void pt_recorded_take(struct pt_session *session, struct pt_buf *lost)
{
    struct pt_err err;
    if (!pt_channel_started(session->reader)) /* nothing was observed, which is said elsewhere */
        return;
    enum pt_read got = session->beside ? take_rest(session, &err) : take_all(session, pt_session_pass_on, &err);
    if (got != PT_READ_END) {
        session->torn = pt_xstrdup(err.message);
        pt_buf_puts(lost, err.message);
    }
    session->kept = true;
    if (!session->analyse.engine.again)
        pt_recorded_forget(session);
}
