/*
 * Runs the program again with the gate (core/gate.h) set to the finding's witness, and follows what happens: gives
 * threads their roles as they appear, compares the events with the schedule's, opens the gate when it sees that the
 * schedule will not be played to its end, and lets threads on one by one when it is (after.h). What the run has shown
 * is in replay_end.c.
 */
#include "cli/run/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run/replay_impl.h"
#include "report/words.h"

enum { STANDS = 12 }; /* so often, about, a thread may stand before an event of a bare schedule within the patience */
static const uint64_t hopeless_after = 300 * 1000 * 1000; /* nanoseconds in a state that nobody can leave */

/* Its places say enough, where no run is known that leads there: the program has predicted it as it ran, or the run is
 * too long to be kept. */
static bool is_known_by_places(const struct pt_finding *finding)
{
    return finding->builtin && replay_check_of(finding);
}

const char *pt_replay_refusal(const struct pt_finding *finding)
{
    if (replay_is_block(finding))
        return finding->witness_count < 3 ? "its events are not in the result" : NULL;
    if (finding->played || strcmp(finding->kind, "schedule") == 0)
        return "explore has seen it; 'portent replay' plays the schedule that 'explore -o FILE' writes";
    if (finding->how == PT_HOW_OBSERVED)
        return "it happened in the run itself, so there is nothing to confirm";
    if (finding->how != PT_HOW_PREDICTED)
        return "it is about the observed run alone";
    if (finding->witness_lost && !is_known_by_places(finding))
        return "its run is too long to be known from the start";
    if (finding->witness_from > INT32_MAX / 2 || finding->witness_count > INT32_MAX / 2)
        return "its run is too long";
    if (finding->builtin && !finding->schedule && !is_known_by_places(finding))
        return "it is of a built-in check, which gave no run that leads to it";
    if (finding->builtin && finding->side_count > PT_GATE_MEET)
        return "too many threads would have to meet";
    if (finding->builtin && !replay_check_of(finding) && !pt_schedule_last(finding, NULL))
        return "it is of a built-in check that no run can be held to";
    if (!finding->builtin && !finding->file)
        return "its monitor is a module, which the result cannot name";
    return NULL;
}

/* --- following the run --- */

static char *step_words(const struct replay *r, uint32_t at)
{
    return pt_words_step(r->schedule.steps[at]);
}

/* The schedule is left; only the first reason counts. Takes the text. */
static void leave(struct replay *r, struct pt_buf *why)
{
    if (r->reason)
        pt_buf_release(why);
    else
        r->reason = pt_buf_take(why);
    pt_channel_open_gate(r->session.reader);
}

static void compare_value(struct replay *r, const struct pt_step *step, const struct pt_step *expected)
{
    if (r->differs || expected->value.kind == PT_VALUE_UNKNOWN || step->value.kind == PT_VALUE_UNKNOWN ||
        pt_value_same(step->value, expected->value))
        return;
    struct pt_buf buf;
    char *wanted = pt_words_step(expected), *actual = pt_words_step(step);
    pt_buf_init(&buf);
    pt_buf_printf(&buf, "values differ: expected %s, and it was %s", wanted, actual);
    r->differs = pt_buf_take(&buf);
    free(wanted);
    free(actual);
}

static void diverge(struct replay *r, const struct pt_step *step, uint32_t at)
{
    struct pt_buf buf;
    char *actual = pt_words_step(step), *expected = pt_words_step(&r->finding->witness[at]);
    pt_buf_init(&buf);
    pt_buf_printf(&buf, "diverged at %s: %s came where %s was expected", step->loc, actual, expected);
    free(actual);
    free(expected);
    leave(r, &buf);
}

static void follow_event(void *context, const struct pt_event *event)
{
    struct replay *r = context;
    const struct pt_names *names = &r->session.names;
    if ((event->op != PT_OP_WRITE && event->op != PT_OP_UPDATE && event->op != PT_OP_EVENT) || r->finding->builtin)
        return;
    uint64_t number = r->events++, from = r->schedule.gate.from;
    if (r->reason || number < from || number - from >= r->finding->witness_count)
        return;
    const struct pt_step *expected = &r->finding->witness[number - from];
    struct pt_step step = {.thread = pt_name(names, PT_SPACE_THREAD, event->thread),
                           .op = pt_op_word(event->op),
                           .object = pt_name(names, pt_op_space(event->op), event->object),
                           .loc = pt_name(names, PT_SPACE_LOC, event->loc),
                           .value = event->value};
    bool same_kind = (strcmp(expected->op, "event") == 0) == (event->op == PT_OP_EVENT);
    if (same_kind && strcmp(step.thread, expected->thread) == 0 && strcmp(step.object, expected->object) == 0)
        compare_value(r, &step, expected);
    else
        diverge(r, &step, (uint32_t)(number - from));
}

static void follow_thread(void *context, uint32_t number, const char *name)
{
    struct replay *r = context;
    uint32_t role = pt_schedule_role(&r->schedule, name);
    if (number < PT_GATE_THREADS)
        r->names[number] = name;
    if (number < PT_GATE_THREADS && number >= r->thread_count)
        r->thread_count = number + 1;
    if (role != PT_NONE)
        r->numbers[role] = number;
    pt_channel_set_role(r->session.reader, number, role == PT_NONE ? PT_GATE_NO_ROLE : PT_GATE_ROLE + role);
}

/* --- why it does not go on --- */

/* The number of the thread that holds a lock, PT_NONE: nobody we know. */
static uint32_t holder_of(const struct replay *r, uint64_t lock)
{
    for (uint32_t i = 0; i < PT_GATE_THREADS; i++) {
        const struct pt_gate_thread *thread = r->names[i] ? pt_channel_gate_thread(r->session.reader, i) : NULL;
        for (unsigned k = 0; thread && k < PT_GATE_LOCKS; k++) {
            if (atomic_load(&thread->locks[k]) == lock)
                return i;
        }
    }
    return PT_NONE;
}

static uint32_t doing(const struct replay *r, uint32_t number)
{
    const struct pt_gate_thread *thread = pt_channel_gate_thread(r->session.reader, number);
    return thread ? atomic_load(&thread->doing) : PT_GATE_RUNS;
}

static void describe_lock(struct replay *r, uint32_t number, uint64_t lock, struct pt_buf *buf)
{
    uint32_t holder = holder_of(r, lock);
    pt_buf_printf(buf, "blocked: thread %s waits for lock %s held by %s", r->names[number],
                  pt_channel_lock_name(r->session.reader, lock),
                  holder == PT_NONE ? "a thread unknown" : r->names[holder]);
    if (holder != PT_NONE && doing(r, holder) == PT_GATE_WAITS_TURN)
        pt_buf_puts(buf, ", which waits for its turn");
}

/* What the thread whose turn it is does instead of its step. */
static void describe_thread(struct replay *r, uint32_t number, struct pt_buf *buf)
{
    const struct pt_gate_thread *thread = pt_channel_gate_thread(r->session.reader, number);
    uint64_t object = thread ? atomic_load(&thread->object) : 0;
    switch (doing(r, number)) {
    case PT_GATE_WAITS_LOCK:
        describe_lock(r, number, object, buf);
        break;
    case PT_GATE_WAITS_CONDITION:
        pt_buf_printf(buf, "blocked: thread %s waits for a condition variable", r->names[number]);
        break;
    case PT_GATE_WAITS_OTHER:
        pt_buf_printf(buf, "blocked: thread %s waits for a semaphore or barrier", r->names[number]);
        break;
    case PT_GATE_WAITS_END:
        pt_buf_printf(buf, "blocked: thread %s waits for the end of thread %s", r->names[number],
                      object < PT_GATE_THREADS && r->names[object] ? r->names[object] : "unknown");
        break;
    case PT_GATE_ENDED:
        pt_buf_printf(buf, "diverged: thread %s has ended", r->names[number]);
        break;
    default:
        pt_buf_printf(buf, "timed out: thread %s did something else for %" PRIu64 " ms", r->names[number],
                      r->patience / 1000000);
    }
}

/* The thread whose turn it is, PT_NONE: it has not started, or the schedule has not begun. */
static uint32_t turn_thread(const struct replay *r)
{
    uint32_t from = r->schedule.gate.from;
    if (r->turn < from || r->turn - from >= r->schedule.gate.count)
        return PT_NONE;
    return r->numbers[r->schedule.entries[r->turn - from].role];
}

void replay_put_expected(struct replay *r, struct pt_buf *buf)
{
    uint32_t from = r->schedule.gate.from;
    if (r->turn < from) {
        pt_buf_printf(buf, "; %" PRIu32 " of the %" PRIu32 " events before the predicted ones have happened", r->turn,
                      from);
        return;
    }
    char *expected = step_words(r, r->turn - from);
    pt_buf_printf(buf, "; step %" PRIu32 " of %" PRIu32 " was to be %s", r->turn - from + 1, r->schedule.gate.count,
                  expected);
    free(expected);
}

static void describe_absent(const struct replay *r, struct pt_buf *buf)
{
    uint32_t from = r->schedule.gate.from, shown = 0;
    if (r->turn < from) {
        pt_buf_printf(buf, "timed out: no event for %" PRIu64 " ms", r->patience / 1000000);
        return;
    }
    pt_buf_printf(buf, "diverged: thread %s was not started; there are ",
                  r->schedule.roles[r->schedule.entries[r->turn - from].role]);
    for (uint32_t i = 0; i < PT_GATE_THREADS && shown < 8; i++) {
        if (r->names[i])
            pt_buf_printf(buf, "%s%s", shown++ ? ", " : "", r->names[i]);
    }
    pt_buf_puts(buf, shown ? "" : "none");
}

/* Nobody can leave this state: the turn's thread has ended, or waits for a lock whose holder waits for its turn. */
static bool is_hopeless(const struct replay *r)
{
    uint32_t number = turn_thread(r);
    const struct pt_gate_thread *thread = number == PT_NONE ? NULL : pt_channel_gate_thread(r->session.reader, number);
    if (!thread)
        return false;
    if (doing(r, number) == PT_GATE_ENDED)
        return true;
    uint32_t holder = doing(r, number) == PT_GATE_WAITS_LOCK ? holder_of(r, atomic_load(&thread->object)) : PT_NONE;
    return holder != PT_NONE && holder != number && doing(r, holder) == PT_GATE_WAITS_TURN;
}

static void give_up(struct replay *r)
{
    struct pt_buf buf;
    uint32_t number = turn_thread(r);
    pt_buf_init(&buf);
    if (number != PT_NONE && number < PT_GATE_THREADS)
        describe_thread(r, number, &buf);
    else
        describe_absent(r, &buf);
    replay_put_expected(r, &buf);
    leave(r, &buf);
}

/* The gate: goes on, or is given up. */
static void follow_gate(struct replay *r, uint64_t now)
{
    uint32_t turn = pt_channel_turn(r->session.reader);
    if (turn != r->turn || !r->turn_since) {
        r->turn = turn;
        r->turn_since = now;
        r->stuck_since = 0;
    }
    if (replay_is_played(r))
        return;
    bool hopeless = is_hopeless(r);
    if (!hopeless)
        r->stuck_since = 0;
    else if (!r->stuck_since)
        r->stuck_since = now;
    if (now - r->turn_since > r->patience || (hopeless && now - r->stuck_since > hopeless_after))
        give_up(r);
}

/* What comes after the schedule. */
static void follow_after(struct replay *r, uint64_t now)
{
    const struct pt_after_view view = {r->session.reader, r->session.process, r->thread_count, r->patience};
    r->after_over = pt_after_tick(&r->after, &view, now);
    if (r->after_over)
        pt_channel_open_gate(r->session.reader);
}

/* Once the answer is known the program may end by itself, within reason. */
static bool follow(void *context, uint64_t now)
{
    struct replay *r = context;
    pt_channel_name_threads(r->session.reader, now, follow_thread, r);
    if (!r->reason)
        follow_gate(r, now);
    bool played = !r->reason && replay_is_played(r);
    if (played && !r->after_over)
        follow_after(r, now);
    bool settled = r->reason || (played ? r->after_over : r->session.output.violated);
    if (settled && !r->settled_since)
        r->settled_since = now;
    return settled && now - r->settled_since > r->patience;
}

/* --- one run --- */

static enum pt_status load_property(struct replay *r, const char *path, struct pt_err *err)
{
    struct pt_analyse *analyse = &r->session.analyse;
    enum pt_status status = pt_analyse_load_one(analyse, path, r->finding->property, err);
    if (status == PT_OK && strcmp(r->finding->text, analyse->inputs[0].property->text) != 0)
        status = pt_err_at(err, PT_EINPUT, path, analyse->inputs[0].property->line, 0,
                           "property '%s' is another one than when its violation was predicted", r->finding->property);
    return status;
}

/* Threads are named after functions, but for those whose function nobody knows: see `give_name` of the channel. */
struct sought {
    const char *thread;
    size_t len; /* without its ordinal */
    bool found;
};

static void look(void *context, const char *module, uint64_t offset, const char *name)
{
    struct sought *sought = context;
    (void)module, (void)offset;
    sought->found |= strlen(name) == sought->len && memcmp(name, sought->thread, sought->len) == 0;
}

/* A result of `check` may be about another program, or none: its threads must at least be possible. */
static enum pt_status check_threads(struct replay *r, const struct pt_replay_options *options, struct pt_err *err)
{
    for (uint32_t i = 0; i < r->schedule.role_count && options->foreign; i++) {
        const char *name = r->schedule.roles[i];
        struct sought sought = {name, strcspn(name, "#"), strcmp(name, "main") == 0};
        if (!sought.found)
            pt_debuginfo_functions(r->session.info, look, &sought);
        if (!sought.found)
            return pt_err_set(err, PT_EINPUT,
                              "the result's thread '%s' is named after no function of '%s': it is not from a run of it",
                              name, options->program);
    }
    return PT_OK;
}

static enum pt_status prepare(struct replay *r, const struct pt_replay_options *options, struct pt_err *err)
{
    struct pt_session *session = &r->session;
    uint32_t modules = 0;
    session->output_options.quiet = true;
    session->analyse.engine.window = session->analyse.engine.lookahead = 1; /* the actual run, and no other */
    session->analyse.engine.trace = options->program;
    if (options->automaton_limit)
        session->analyse.automaton_limit = options->automaton_limit;
    session->program = pt_xstrdup(options->program);
    while (options->modules && options->modules[modules])
        modules++;
    session->modules = pt_xcalloc((size_t)modules + 1, sizeof *session->modules);
    if (modules)
        memcpy(session->modules, options->modules, modules * sizeof *session->modules);
    enum pt_status status = PT_OK;
    if (r->finding->builtin)
        session->checks = replay_check_of(r->finding);
    if (replay_is_block(r->finding)) {
        session->wider = true;
        session->wider_checks = PT_SESSION_BLOCKS;
    } else if (!r->finding->builtin)
        status = load_property(r, options->properties ? options->properties : r->finding->file, err);
    if (status == PT_OK)
        status = pt_session_resolve(session, err);
    if (status != PT_OK)
        return status;
    pt_schedule_watch(r->finding, session->info, &session->resolved);
    pt_schedule_init(&r->schedule, r->finding, &session->resolved);
    r->numbers = pt_xmalloc(((size_t)r->schedule.role_count + 1) * sizeof *r->numbers);
    for (uint32_t i = 0; i < r->schedule.role_count; i++)
        r->numbers[i] = PT_NONE;
    r->schedule.gate.stand_ns = r->schedule.gate.bare ? options->patience / STANDS : 0;
    if (replay_is_block(r->finding) && r->schedule.gate.meets)
        r->schedule.places[r->schedule.gate.meets - 1].skip = options->passes;
    session->gate = &r->schedule.gate;
    session->follower = (struct pt_session_follower){r, follow_event, follow};
    status = check_threads(r, options, err);
    return status == PT_OK ? pt_session_open(session, err) : status;
}

enum pt_status pt_replay(struct pt_finding *finding, const struct pt_replay_options *options,
                         struct pt_replay_outcome *ret_outcome, struct pt_err *err)
{
    struct replay *r = pt_xcalloc(1, sizeof *r);
    r->finding = finding;
    r->patience = options->patience;
    pt_session_init(&r->session, options->settings);
    *ret_outcome = (struct pt_replay_outcome){0};
    enum pt_status status = prepare(r, options, err);
    if (status == PT_OK)
        status = pt_session_run(&r->session, options->arguments, err);
    if (status == PT_OK && !pt_channel_started(r->session.reader)) {
        status = pt_err_set(err, PT_EINPUT, "'%s' is not instrumented, so nothing can be confirmed", options->program);
        pt_err_hint(err, "build it with 'portent cc' or 'portent c++'");
        pt_output_abandon(&r->session.output.output);
    } else if (status == PT_OK) {
        replay_conclude(r, ret_outcome);
    }
    pt_session_release(&r->session);
    pt_schedule_release(&r->schedule);
    free(r->numbers);
    free(r->reason);
    free(r->differs);
    free(r);
    return status;
}
