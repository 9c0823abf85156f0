/*
 * The log of a trace for the searches of `values` that checks ask for, their time, and the witnesses of what they find.
 * Guarantee: wide.h's, for pt_wide_meet; all searches of a check together end after its effort. Cost: some 60 bytes per
 * event while the trace is read, and one pass over it for each search.
 */
#include "engine/meeting.h"

#include <stdlib.h>

#include "engine/unguarded.h"
#include "engine/predict.h"
#include "engine/wide/wide.h"
#include "predict/trf.h"

enum {
    LOG_MOST = 1 << 20, /* events, where nobody asked for the order by name */
    EVENTS_MOST = 16,   /* that are to meet */
    WATCH_EVERY = 1024,
};
#define STATE_BYTES ((size_t)256 << 20) /* of one search */

void pt_meeting_begin(struct pt_meeting *m, const struct pt_names *names, const struct pt_check_options *options)
{
    bool all = !options->near || options->near == PT_ALL;
    *m = (struct pt_meeting){.names = names, .options = *options};
    if (options->order >= PT_CHECK_VALUES && all)
        m->log = pt_wide_log_new(names);
}

void pt_meeting_end(struct pt_meeting *m)
{
    pt_wide_log_free(m->log);
    free(m->run);
    *m = (struct pt_meeting){0};
}

size_t pt_meeting_bytes(const struct pt_meeting *m)
{
    return m->log ? pt_wide_log_bytes(m->log) : 0;
}

void pt_meeting_event(struct pt_meeting *m, const struct pt_event *event)
{
    if (!m->log)
        return;
    pt_wide_log_event(m->log, event);
    uint64_t count = pt_wide_log_count(m->log);
    uint64_t limit = m->options.memory_limit ? m->options.memory_limit / 4 : m->options.log_limit;
    bool over = m->options.automatic && count > LOG_MOST;
    if (limit && count % WATCH_EVERY == 0)
        over |= pt_wide_log_bytes(m->log) > limit;
    if (over || pt_wide_log_refuses(m->log)) {
        pt_wide_log_free(m->log);
        m->log = NULL;
    }
}

void pt_meeting_need(struct pt_meeting *m, uint64_t event, uint64_t needed)
{
    if (m->log)
        pt_wide_log_need(m->log, event - 1, needed - 1);
}

bool pt_meeting_is_free(struct pt_meeting *m, uint64_t event)
{
    return m->log && pt_wide_log_is_free(m->log, event - 1);
}

static bool find(struct pt_meeting *m, const struct pt_wide_question *question)
{
    struct pt_wide_limit limit = {.bytes = STATE_BYTES};
    if (m->options.effort && m->options.now) {
        if (!m->deadline)
            m->deadline = m->options.now() + m->options.effort;
        if (m->options.now() >= m->deadline)
            return false;
        limit.now = m->options.now;
        limit.deadline = m->deadline;
    }
    free(m->run);
    m->run = NULL;
    enum pt_wide_end end = pt_wide_meet(m->log, question, &limit, &m->run, &m->run_count);
    if (end == PT_WIDE_ERROR)
        m->mistake = "a run that was found could not be replayed, which is a mistake of Portent's own";
    return end == PT_WIDE_VIOLATED;
}

static void list_places(const uint64_t *events, uint32_t count, uint32_t *ret_places)
{
    for (uint32_t i = 0; i < count; i++)
        ret_places[i] = (uint32_t)(events[i] - 1);
}

bool pt_meeting_find_after(struct pt_meeting *m, const uint64_t *taken, uint32_t taken_count, const uint64_t *next,
                           uint32_t next_count)
{
    uint32_t before[EVENTS_MOST], after[EVENTS_MOST];
    if (!m->log || taken_count > EVENTS_MOST || next_count > EVENTS_MOST)
        return false;
    list_places(taken, taken_count, before);
    list_places(next, next_count, after);
    return find(m, &(struct pt_wide_question){after, before, next_count, taken_count, NULL});
}

bool pt_meeting_find(struct pt_meeting *m, const uint64_t *events, uint32_t count)
{
    return pt_meeting_find_after(m, NULL, 0, events, count);
}

bool pt_meeting_find_seeing(struct pt_meeting *m, uint32_t var, uint64_t store, uint64_t read)
{
    const uint32_t before = (uint32_t)(store - 1), after = (uint32_t)(read - 1);
    const struct pt_wide_sees sees = {var, (uint32_t)store};
    return m->log && find(m, &(struct pt_wide_question){&after, &before, 1, store != 0, &sees});
}

void pt_meeting_witness(const struct pt_meeting *m, struct pt_witnesses *witnesses, struct pt_finding *f)
{
    if (!pt_witnesses_room(witnesses, f))
        return;
    f->witness_lost = m->run_count > PT_WITNESS_MAX;
    if (f->witness_lost)
        return;
    struct pt_unguarded *unguarded = pt_unguarded_new();
    for (uint64_t i = 0; i < pt_wide_log_count(m->log); i++) {
        struct pt_log_event event = pt_wide_log_at(m->log, i);
        pt_unguarded_event(unguarded, event.thread, event.op, event.object);
    }
    f->witness = pt_arena_alloc(&f->arena, (m->run_count + 1) * sizeof *f->witness);
    f->schedule = pt_arena_alloc(&f->arena, (m->run_count + 1) * sizeof *f->schedule);
    for (uint64_t i = 0; i < m->run_count; i++) {
        struct pt_log_event event = pt_wide_log_at(m->log, m->run[i]);
        if (!pt_trf_counts(event.op))
            continue; /* a note of the scheduler, which is no step of the other witnesses either */
        struct pt_step *step = &f->witness[f->witness_count++];
        *step = pt_predict_step(m->names, &event, f->witness_count);
        if (pt_unguarded_matters(unguarded, event.op, event.object))
            f->schedule[f->schedule_count++] = *step;
    }
    pt_unguarded_free(unguarded);
    witnesses->count++;
}
