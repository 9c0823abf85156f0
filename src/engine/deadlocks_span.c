/*
 * Sections that span threads (prediction.md 3.4, litmus D8): a lock that a thread has while it waits in join for
 * another one is not released before that one has ended, so that it stands in the way as if the other one had it. Each
 * acquisition of a thread that is joined so gets, beside the locks that the thread itself has, one that its joiner has
 * then; the lock's own acquisition has to be in the run.
 *
 * Guarantee: as deadlocks.c says; the replay sees that the joiner has the lock and joins the thread before it releases
 * it. Locks that are shared with other readers are not taken for such. Cost: nothing where no thread is joined by one
 * that has a lock; otherwise the recorded events are followed once more, and what each acquisition of such a thread
 * needs is kept.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/deadlocks.h"

/* A lock that a thread has while it joins another one. */
struct cover {
    uint32_t joined, owner, lock, loc;
    uint64_t acquired;   /* its number in the owner */
    uint64_t event;      /* and in the trace */
    uint32_t lent;       /* of the check's, plus 1; 0: not told yet */
    struct pt_vec *past; /* what that needs */
};

/* An acquisition of a thread that is joined. */
struct take {
    uint32_t thread;
    struct deadlocks_instance instance;
    struct pt_event event;
    struct pt_lock_use *held;
    uint32_t held_count;
};

struct spans {
    struct deadlocks *d;
    struct pt_trf trf;
    uint32_t *joiner; /* of each thread, plus 1; 0: nobody joins it */
    struct cover *covers;
    uint32_t cover_count;
    size_t cover_cap;
    struct take *takes;
    uint32_t take_count;
    size_t take_cap;
};

/* The locks that are had at a join. */
static void note_join(struct spans *s, const struct pt_log_event *event, uint64_t number)
{
    const struct pt_trf_thread *t = &s->d->trf.threads[event->thread];
    s->joiner[event->object] = event->thread + 1;
    for (uint32_t i = pt_trf_section_at(t, number); i > t->first; i = pt_trf_section(t, i - 1)->outer) {
        const struct pt_trf_section *section = pt_trf_section(t, i - 1);
        if (section->shared || (section->released && section->released < number))
            continue;
        struct cover cover = {
            .joined = event->object, .owner = event->thread, .lock = section->lock, .acquired = section->acquired};
        PT_PUSH(s->covers, s->cover_count, s->cover_cap, cover);
    }
}

static void find_covers(struct spans *s)
{
    uint64_t *seen = pt_xcalloc((size_t)s->d->trf.thread_count + 1, sizeof *seen);
    struct pt_log_reader reader;
    for (pt_log_start(&reader, &s->d->log); pt_log_next(&reader);) {
        uint64_t number = ++seen[reader.event.thread];
        if (reader.event.op == PT_OP_JOIN)
            note_join(s, &reader.event, number);
    }
    free(seen);
}

/* Whether the thread has to end before the cover's owner goes on: it is joined, perhaps through others. */
static bool is_under(const struct spans *s, uint32_t thread, const struct cover *cover)
{
    for (uint32_t most = s->d->trf.thread_count; most && thread != cover->joined; most--) {
        if (!s->joiner[thread])
            return false;
        thread = s->joiner[thread] - 1;
    }
    return thread == cover->joined;
}

static void note_acquire(struct spans *s, const struct pt_log_event *event, const struct pt_event *as)
{
    const struct pt_trf_thread *t = &s->trf.threads[event->thread];
    for (uint32_t i = 0; i < s->cover_count; i++) {
        struct cover *cover = &s->covers[i];
        if (cover->owner != event->thread || cover->acquired != t->hb.clock)
            continue;
        cover->loc = event->loc;
        cover->event = event->event;
        cover->past = t->hb.past ? pt_vec_ref(&s->d->memory, t->hb.past) : NULL;
    }
    for (uint32_t i = 0; i < t->held_count; i++)
        if (t->held[i].lock == event->object)
            return;
    if (!s->joiner[event->thread] || pt_deadlocks_tries(event))
        return;
    struct take take = {.thread = event->thread, .event = *as, .held_count = t->held_count};
    take.instance = (struct deadlocks_instance){.number = t->hb.clock,
                                                .event = event->event,
                                                .past = t->hb.past ? pt_vec_ref(&s->d->memory, t->hb.past) : NULL,
                                                .loc = event->loc,
                                                .stack = event->stack};
    take.held = pt_xmalloc(((size_t)t->held_count + 1) * sizeof *take.held);
    for (uint32_t i = 0; i < t->held_count; i++)
        take.held[i] = (struct pt_lock_use){t->held[i].lock, t->held[i].shared};
    PT_PUSH(s->takes, s->take_count, s->take_cap, take);
}

static void follow(struct spans *s)
{
    struct pt_log_reader reader;
    pt_trf_begin(&s->trf, s->d->names, &s->d->memory);
    for (pt_log_start(&reader, &s->d->log); pt_log_next(&reader);) {
        struct pt_event event = pt_log_as_event(&reader.event);
        pt_trf_thread(&s->trf, event.thread);
        if (pt_op_locks(event.op))
            note_acquire(s, &reader.event, &event);
        pt_trf_event(&s->trf, &event);
    }
    pt_trf_end(&s->trf);
}

static uint32_t tell_lent(struct deadlocks *d, struct cover *cover)
{
    const struct deadlocks_lent lent = {cover->lock, cover->owner, cover->loc, cover->event};
    if (!cover->lent) {
        PT_PUSH(d->lents, d->lent_count, d->lent_cap, lent);
        cover->lent = d->lent_count;
    }
    return cover->lent;
}

/* The thread takes its lock while the other one has that of the cover. */
static void add(struct spans *s, const struct take *take, struct cover *cover)
{
    struct deadlocks *d = s->d;
    struct pt_lock_use *held = pt_xmalloc(((size_t)take->held_count + 1) * sizeof *held);
    bool again = take->event.object == cover->lock || cover->owner == take->thread;
    for (uint32_t i = 0; i < take->held_count; i++) {
        held[i] = take->held[i];
        again |= held[i].lock == cover->lock;
    }
    if (again) {
        free(held);
        return;
    }
    uint32_t lent = tell_lent(d, cover);
    held[take->held_count] = (struct pt_lock_use){cover->lock, false, lent};
    struct deadlocks_instance instance = take->instance;
    instance.past = NULL;
    if (take->instance.past)
        pt_vec_join(&d->memory, &instance.past, take->instance.past);
    if (cover->past)
        pt_vec_join(&d->memory, &instance.past, cover->past);
    pt_vec_raise(&d->memory, &instance.past, cover->owner, cover->acquired);
    pt_deadlocks_keep(d, pt_deadlocks_node(d, take->thread, &take->event, held, take->held_count + 1, lent), &instance);
    free(held);
}

static void release(struct spans *s)
{
    for (uint32_t i = 0; i < s->cover_count; i++)
        pt_vec_drop(&s->d->memory, s->covers[i].past);
    for (uint32_t i = 0; i < s->take_count; i++) {
        pt_vec_drop(&s->d->memory, s->takes[i].instance.past);
        free(s->takes[i].held);
    }
    free(s->joiner);
    free(s->covers);
    free(s->takes);
}

void pt_deadlocks_spans(struct deadlocks *d)
{
    struct spans s = {.d = d, .joiner = pt_xcalloc((size_t)d->trf.thread_count + 1, sizeof *s.joiner)};
    find_covers(&s);
    if (s.cover_count) {
        follow(&s);
        for (uint32_t c = 0; c < s.cover_count; c++)
            for (uint32_t i = 0; i < s.take_count; i++)
                if (is_under(&s, s.takes[i].thread, &s.covers[c]))
                    add(&s, &s.takes[i], &s.covers[c]);
    }
    release(&s);
}
