/*
 * What some events need in every possible run of the order `values`, whatever becomes of locks: what their threads did
 * before them, forks, joined threads, operations on an object before them, what a check has told (pt_wide_log_need),
 * and the write that a read is tied to, or that alone left the value which the read has returned. If an event that is
 * to be next is needed so, no search is made: a use that a join keeps before the free.
 *
 * Guarantee: what is refused here no possible run has; the reverse does not hold. Cost: one pass over the log for the
 * first question, then the events that are needed.
 */
#include <stdlib.h>

#include "base/table.h"
#include "engine/wide/wide_impl.h"

/* The write that the read sees in every run, plus 1; `writes`: how many there are, by variable and value. */
static uint32_t must_see(struct pt_wide_log *log, const struct pt_map64 *writes, uint32_t place)
{
    const struct pt_recorded *e = &log->events[place];
    uint32_t writer = log->writer[place], value = log->values[place];
    bool sole =
        pt_map64_get(writes, (uint64_t)e->object << 32 | value) == 1 && value != wide_initial_id(log, e->object);
    return wide_is_free(log, place) && !sole ? 0 : writer;
}

static void find_all(struct pt_wide_log *log)
{
    struct pt_map64 writes;
    if (log->must)
        return;
    log->must = pt_xcalloc(log->count + 1, sizeof *log->must);
    pt_map64_init(&writes);
    for (uint32_t i = 0; i < log->count; i++)
        if (pt_op_writes_var(log->events[i].op) && log->values[i]) {
            uint32_t *count = pt_map64_at(&writes, (uint64_t)log->events[i].object << 32 | log->values[i]);
            *count = *count == PT_NONE ? 1 : 2;
        }
    for (uint32_t i = 0; i < log->count; i++)
        if (wide_reads(&log->events[i]))
            log->must[i] = must_see(log, &writes, i);
    pt_map64_release(&writes);
}

bool pt_wide_log_is_free(struct pt_wide_log *log, uint64_t place)
{
    wide_log_link(log);
    find_all(log);
    return wide_reads(&log->events[place]) && !log->must[place];
}

/* How far threads are needed, and how much of that was looked at. */
struct needed {
    const struct pt_wide_log *log;
    uint32_t *upto, *done;
};

static void include(struct needed *n, uint32_t place_plus_1)
{
    if (!place_plus_1)
        return;
    uint32_t place = place_plus_1 - 1, thread = n->log->events[place].thread;
    if (n->upto[thread] < n->log->index[place])
        n->upto[thread] = n->log->index[place];
}

static void include_for(struct needed *n, uint32_t place)
{
    const struct pt_wide_log *log = n->log;
    const struct pt_recorded *e = &log->events[place];
    include(n, log->threads[e->thread].fork);
    if (log->needed)
        include(n, log->needed[place]);
    if (e->op == PT_OP_JOIN) {
        n->upto[e->object] = log->threads[e->object].count;
        include(n, log->threads[e->object].fork);
    } else if (pt_op_space(e->op) == PT_SPACE_OTHER) {
        include(n, log->link[place]);
    } else if (wide_reads(e)) {
        include(n, log->must[place]);
    }
}

static void close_under_needs(struct needed *n)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t t = 0; t < n->log->thread_count; t++)
            while (n->done[t] < n->upto[t]) {
                more = true;
                include_for(n, n->log->threads[t].places[n->done[t]++]);
            }
    }
}

bool wide_must_allow(struct pt_wide_log *log, const struct pt_wide_question *q)
{
    struct needed n = {.log = log};
    bool allowed = true;
    find_all(log);
    n.upto = pt_xcalloc((size_t)log->thread_count + 1, sizeof *n.upto);
    n.done = pt_xcalloc((size_t)log->thread_count + 1, sizeof *n.done);
    for (uint32_t i = 0; i < q->taken_count; i++)
        include(&n, q->taken[i] + 1);
    for (uint32_t i = 0; i < q->next_count; i++) {
        const struct wide_thread *thread = &log->threads[log->events[q->next[i]].thread];
        uint32_t before = log->index[q->next[i]] - 1;
        include(&n, before ? thread->places[before - 1] + 1 : thread->fork);
        if (log->needed)
            include(&n, log->needed[q->next[i]]);
    }
    close_under_needs(&n);
    for (uint32_t i = 0; i < q->next_count; i++)
        allowed &= n.upto[log->events[q->next[i]].thread] < log->index[q->next[i]];
    free(n.upto);
    free(n.done);
    return allowed;
}
