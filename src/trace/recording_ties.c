/*
 * Ties as events of the trace (recording_unseen.c): `T|sync(unseen)|-|m=relaxed`. A thread that has done nothing since
 * its last one needs no other; one that was joined cannot have one, and whoever has joined it has done something since.
 *
 * Guarantee: of two ties the later one needs the earlier one, as operations on one object do. Cost: for a read that
 * needs all threads, a look at each of them, and an event for each that has acted.
 */
#include <stdlib.h>

#include "trace/recording_impl.h"

void rec_ties_release(struct rec_ties *ties)
{
    free(ties->threads);
    free(ties->queue);
}

static void tie(struct rec_ties *ties, const struct pt_event *like, uint32_t thread)
{
    struct pt_event event = *like;
    event.thread = thread;
    PT_PUSH(ties->queue, ties->count, ties->cap, event);
    if (thread < ties->thread_cap)
        ties->threads[thread].acts = false;
}

void rec_ties_make(struct rec_ties *ties, struct pt_names *names, uint32_t thread, enum rec_tie which,
                   const struct pt_event *held)
{
    const struct pt_event like = {.op = PT_OP_SYNC,
                                  .order = PT_MEMORY_RELAXED,
                                  .object = pt_names_intern_clean(names, PT_SPACE_OTHER, PT_TIE, sizeof PT_TIE - 1),
                                  .loc = pt_names_intern_clean(names, PT_SPACE_LOC, "-", 1)};
    ties->next = ties->count = 0;
    for (uint32_t i = 0; which == REC_TIE_ALL && i < ties->thread_cap; i++)
        if (i != thread && ties->threads[i].acts && !ties->threads[i].joined)
            tie(ties, &like, i);
    tie(ties, &like, thread);
    ties->holds = held != NULL;
    if (held)
        ties->held = *held;
}

bool rec_ties_take(struct rec_ties *ties, struct pt_event *ret_event)
{
    if (ties->next < ties->count) {
        *ret_event = ties->queue[ties->next++];
        return true;
    }
    bool holds = ties->holds;
    if (holds)
        *ret_event = ties->held;
    ties->holds = false;
    return holds;
}
