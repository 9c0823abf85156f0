/*
 * Recordings that the program makes by itself, as `run` uses them: `--record-all` without properties, and `--order`,
 * which looks at everything. With `--record-all` and properties, everything comes through the channel instead:
 * properties are evaluated while the program runs, under the names that they have for its memory.
 *
 * With `--order` the recording is followed while it grows, whenever the channel has nothing: events are read, checked
 * and given to the analyses as they come, and when the program has ended only the rest is left, and what an engine does
 * at the end of a run (the searches of `sync` and `values`, which need all of it). It is not followed, but read when
 * the program has ended, where a trace of it is written, which begins with all initial values; where its size is
 * limited, since what was not read yet might go; and as long as variables of properties have no initial value.
 *
 * Guarantee: what is analysed is what `check` would find in the trace of the same recording. Cost: one pass over it.
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

void pt_recorded_choose(struct pt_session *session, uint32_t *keep)
{
    bool all = (*keep & (PT_KEEP_ALL | PT_KEEP_CLOCKS)) == PT_KEEP_ALL && !session->analyse.input_count;
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
    if (!session->wider || session->writer || session->record_limit || session->late.missing_count ||
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

/* As many events as there are, and at most so many. */
static enum pt_read take(struct pt_session *session, struct pt_source *source, uint64_t most, struct pt_err *err)
{
    struct pt_event event;
    enum pt_read got = PT_READ_EVENT;
    while (most-- && (got = pt_source_next(source, &event, err)) == PT_READ_EVENT)
        if (event.op != PT_OP_INIT || !has_come(session, &event)) /* from the channel, whether it is accessed or not */
            pt_session_pass_on(session, &event);
    return got;
}

bool pt_recorded_follow(struct pt_session *session)
{
    enum { SOME = 4096 }; /* then the channel is looked at */
    struct pt_err err;
    return session->recording && follows(session) && take(session, session->beside, SOME, &err) == PT_READ_EVENT;
}

void pt_recorded_take(struct pt_session *session, struct pt_buf *lost)
{
    struct pt_source *source = session->beside;
    struct pt_err err;
    enum pt_read got = PT_READ_ERROR;
    if (!pt_channel_started(session->reader)) /* nothing was observed, which is said elsewhere */
        return;
    if (source) {
        pt_source_follow(source, false);
    } else if (pt_source_open(session->recording, &session->names, &source, &err) == PT_OK) {
        leave_out(session, source);
    } else {
        source = NULL;
    }
    if (source) {
        got = take(session, source, UINT64_MAX, &err);
        pt_source_free(source);
        session->beside = NULL;
    }
    if (got != PT_READ_END) {
        session->torn = pt_xstrdup(err.message);
        pt_buf_puts(lost, err.message);
    }
    remove_files(session);
}
