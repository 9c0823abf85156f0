/*
 * Witnesses of predictions, made from the packed events of the run: all of them, and those that the others depend on as
 * a schedule. Cost: one pass over the events for all of a check's, and one for a witness, up to its last event.
 */
#include "engine/predict.h"

#include <stdlib.h>
#include <string.h>

#include "engine/unguarded.h"

struct pt_step pt_predict_step(const struct pt_names *names, const struct pt_log_event *event, uint64_t number)
{
    return (struct pt_step){.thread = pt_name(names, PT_SPACE_THREAD, event->thread),
                            .op = pt_op_word(event->op),
                            .object = pt_name(names, pt_op_space(event->op), event->object),
                            .loc = pt_name(names, PT_SPACE_LOC, event->loc),
                            .number = number,
                            .var = PT_NONE};
}

/* A witness under construction. */
struct making {
    struct pt_finding *finding;
    const struct pt_names *names;
    const struct pt_log *log;
    struct pt_unguarded *unguarded;
    uint64_t *seen;
    uint64_t left; /* events of the run */
};

static void add_part(struct making *m, const uint64_t *from, const uint64_t *upto)
{
    struct pt_finding *f = m->finding;
    struct pt_log_reader reader;
    for (pt_log_start(&reader, m->log); m->left && pt_log_next(&reader);) {
        const struct pt_log_event *event = &reader.event;
        uint64_t number = ++m->seen[event->thread];
        if (number > upto[event->thread] || (from && number <= from[event->thread]))
            continue;
        m->left--;
        struct pt_step *step = &f->witness[f->witness_count++];
        *step = pt_predict_step(m->names, event, f->witness_count);
        if (pt_unguarded_matters(m->unguarded, event->op, event->object))
            f->schedule[f->schedule_count++] = *step;
    }
}

/* Of all events that there are by now. */
static void look_for_unguarded(struct pt_witnesses *w, const struct pt_log *log)
{
    struct pt_log_reader reader;
    if (w->unguarded && w->log_count == log->count)
        return;
    pt_unguarded_free(w->unguarded);
    w->unguarded = pt_unguarded_new();
    w->log_count = log->count;
    for (pt_log_start(&reader, log); pt_log_next(&reader);)
        pt_unguarded_event(w->unguarded, reader.event.thread, reader.event.op, reader.event.object);
}

void pt_witnesses_release(struct pt_witnesses *w)
{
    pt_unguarded_free(w->unguarded);
    *w = (struct pt_witnesses){0};
}

bool pt_witnesses_room(const struct pt_witnesses *w, struct pt_finding *f)
{
    f->witness_lost = w->count == PT_WITNESSES_MAX;
    return !f->witness_lost;
}

void pt_predict_witness(struct pt_witnesses *w, struct pt_finding *f, const struct pt_names *names,
                        const struct pt_log *log, const struct pt_replay_run *run)
{
    if (!pt_witnesses_room(w, f))
        return;
    uint64_t total = 0;
    for (uint32_t i = 0; i < run->threads; i++)
        total += run->upto[i];
    f->witness_lost = total > PT_WITNESS_MAX;
    if (f->witness_lost)
        return;
    look_for_unguarded(w, log);
    struct making m = {f, names, log, w->unguarded, pt_xcalloc((size_t)run->threads + 1, sizeof *m.seen), total};
    f->witness = pt_arena_alloc(&f->arena, (total + 1) * sizeof *f->witness);
    f->schedule = pt_arena_alloc(&f->arena, (total + 1) * sizeof *f->schedule);
    add_part(&m, NULL, run->first);
    memset(m.seen, 0, run->threads * sizeof *m.seen);
    add_part(&m, run->first, run->upto);
    free(m.seen);
    w->count++;
}

void pt_predict_last(struct pt_finding *f, const struct pt_names *names, const struct pt_log_event *event)
{
    if (f->witness_lost)
        return;
    struct pt_step *steps = pt_arena_alloc(&f->arena, ((size_t)f->witness_count + 1) * sizeof *steps);
    memcpy(steps, f->witness, f->witness_count * sizeof *steps);
    steps[f->witness_count] = pt_predict_step(names, event, f->witness_count + 1);
    f->witness_count++;
    f->witness = steps;
}
