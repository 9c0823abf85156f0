/*
 * The second look at a run in which there are lock-order patterns: what every event needs (predict/trf.h), and the
 * instances of the patterns' acquires. Patterns are asked about as the run is followed, so that what no later instance
 * can be a deadlock with is forgotten (deadlocks_closure.c says why that changes no answer).
 *
 * Guarantee: every pattern is decided as if all were kept. Where a thread is joined by one that has a lock, all is
 * kept: which acquires that makes others of is known only at the end (deadlocks_span.c). Cost: that of following a run,
 * and for each pattern time linear in its instances. Memory: sections and instances that some thread does not know yet,
 * a set for each pattern.
 */
#include "engine/deadlocks.h"

#include <stdlib.h>

enum {
    WATCH_EVERY = 64,     /* events */
    FORGET_LEAST = 4096,  /* sections */
    FORGET_PER_CYCLE = 16 /* more of them, where asking takes longer */
};

/* The thread takes a lock while it has others. */
static void note_instance(struct deadlocks *d, const struct pt_trf_thread *t, const struct pt_log_event *event)
{
    struct pt_lock_use *held = pt_xmalloc(t->held_count * sizeof *held), wants = {event->object, false};
    bool again = false, new;
    for (uint32_t i = 0; i < t->held_count; i++) {
        held[i] = (struct pt_lock_use){t->held[i].lock, t->held[i].shared};
        again |= held[i].lock == event->object;
    }
    wants.shared = pt_op_is_shared(event->op);
    if (!again) { /* the first look has made it */
        struct deadlocks_node *node =
            pt_patterns_take(&d->patterns, event->thread, wants, held, t->held_count, &new)->note;
        struct deadlocks_instance instance = {.number = t->hb.clock,
                                              .event = event->event,
                                              .past = node->wanted ? pt_vec_ref(&d->memory, t->hb.past) : NULL,
                                              .loc = event->loc,
                                              .stack = event->stack};
        if (node->wanted)
            pt_deadlocks_keep(d, node, &instance);
    }
    free(held);
}

static void forget(struct deadlocks *d)
{
    for (uint32_t i = 0; i < d->cycle_count; i++)
        if (pt_deadlocks_is_own(d, i))
            pt_deadlocks_close(d, &d->cycles[i]);
    uint64_t *known = pt_xcalloc((size_t)d->trf.thread_count + 1, sizeof *known);
    pt_trf_known(&d->trf, known);
    pt_deadlocks_forget(d, known);
    pt_trf_forget(&d->trf);
    free(known);
    d->forget_at = 2 * d->trf.kept + FORGET_LEAST + (uint64_t)FORGET_PER_CYCLE * d->cycle_count;
}

void pt_deadlocks_follow(struct deadlocks *d)
{
    struct pt_log_reader reader;
    d->forget_at = FORGET_LEAST;
    for (uint32_t i = 0; i < d->thread_count; i++)
        if (d->threads[i].acted && !d->threads[i].forked)
            pt_trf_thread(&d->trf, i); /* it knows nothing of the others until it acts */
    for (pt_log_start(&reader, &d->log); pt_log_next(&reader);) {
        struct pt_event event = pt_log_as_event(&reader.event);
        const struct pt_trf_thread *t = pt_trf_thread(&d->trf, event.thread);
        if (t->held_count && pt_op_locks(event.op) && !pt_deadlocks_tries(&reader.event))
            note_instance(d, t, &reader.event);
        pt_trf_event(&d->trf, &event);
        if (!d->spans && d->trf.kept >= d->forget_at)
            forget(d);
        if (reader.event.event % WATCH_EVERY == 0)
            pt_deadlocks_watch_memory(d);
        if (d->run.stopped)
            break;
    }
}
