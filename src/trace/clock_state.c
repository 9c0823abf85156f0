/*
 * Completing and reducing clocks.
 *
 * What a line must name is found by asking for the most recent event among those it names and does not know yet:
 * whoever knows that one mostly knows the others by it. After a few such events the rest is named one by one. The
 * choice depends on nothing but the lines before and what the line names, and is the same whether it names everything
 * or only what was chosen from that: so completing what was reduced gives back what there was.
 * tests/unit/test_clock_state.c compares both with clocks that were never reduced.
 *
 * Threads that others are behind (clock_state.h) are looked at only where they can matter. A thread's latest event is
 * more recent than any of those that it is behind, and knows them. So they come into the choice where the event that is
 * named is not its thread's latest, and then the nearest of them, which has ended and is known by its latest event; and
 * at the end, one behind the other, up to one that is known, since the others are known with it. Thus the choice is
 * what it would be if the line named them all, at the cost of those that it names.
 *
 * Cost: O(entries) for a line, times the few events; memory as in clock_tree.h.
 */
#include "trace/clock_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { MOST_FOLLOWED = 8 };

void pt_clock_state_release(struct pt_clock_state *state)
{
    for (size_t i = 0; i < state->thread_cap; i++) {
        pt_tree_release(&state->pool, &state->threads[i].now);
        pt_tree_release(&state->pool, &state->threads[i].said);
    }
    pt_tree_pool_release(&state->pool);
    free(state->threads);
    free(state->named);
    *state = (struct pt_clock_state){0};
}

struct pt_clock_thread *pt_clock_state_thread(struct pt_clock_state *state, uint32_t thread)
{
    size_t old = state->thread_cap;
    if (thread >= old) {
        PT_GROW(state->threads, state->thread_cap, (size_t)thread + 1);
        memset(state->threads + old, 0, (state->thread_cap - old) * sizeof *state->threads);
    }
    return &state->threads[thread];
}

size_t pt_clock_state_bytes(const struct pt_clock_state *state)
{
    return state->thread_cap * sizeof *state->threads + state->named_cap * sizeof *state->named + state->pool.bytes;
}

/* Of named[from ..], those that are not known. Returns their end. */
static uint32_t still_unknown(struct pt_clock_state *state, const struct pt_tree *known, uint32_t from, uint32_t end)
{
    uint32_t kept = from;
    for (uint32_t i = from; i < end; i++)
        if (state->named[i].count > pt_tree_get(known, state->named[i].thread))
            state->named[kept++] = state->named[i];
    return kept;
}

/* All events of the thread that this one is behind, if they are not all known; else a count of 0. */
static struct pt_clock_entry unknown_before(const struct pt_clock_state *state, const struct pt_tree *known,
                                            uint32_t thread)
{
    uint32_t behind = state->threads[thread].behind;
    uint64_t count = behind ? state->threads[behind - 1].counted : 0;
    if (!count || pt_tree_get(known, behind - 1) >= count)
        return (struct pt_clock_entry){0};
    return (struct pt_clock_entry){behind - 1, count};
}

/* Of the same, and those that their threads are behind, the most recent event that is its thread's latest, which is
 * made named[from]; false: there is none. */
static bool choose(struct pt_clock_state *state, const struct pt_tree *known, uint32_t from, uint32_t *end)
{
    struct pt_clock_entry best = {0};
    uint32_t at = from;
    uint64_t when = 0;
    for (uint32_t i = from; i < *end; i++) {
        struct pt_clock_entry entry = state->named[i];
        bool is_latest = entry.count == state->threads[entry.thread].counted;
        if (!is_latest)
            entry = unknown_before(state, known, entry.thread);
        if (!entry.count || state->threads[entry.thread].when <= when)
            continue;
        best = entry;
        at = is_latest ? i : *end;
        when = state->threads[entry.thread].when;
    }
    if (!when)
        return false;
    *end += at == *end;
    state->named[at] = state->named[from];
    state->named[from] = best;
    return true;
}

/* The rest is named one by one, and made known: each event, and all that its thread is behind. Returns its end. */
static uint32_t name_each(struct pt_clock_state *state, struct pt_tree *known, uint32_t from, uint32_t end)
{
    uint32_t kept = from;
    for (uint32_t i = from; i < end; i++) {
        struct pt_clock_entry entry = state->named[i];
        if (pt_tree_get(known, entry.thread) >= entry.count) /* another one was behind it, too */
            continue;
        pt_tree_raise(&state->pool, known, entry.thread, entry.count);
        state->named[kept++] = entry;
        struct pt_clock_entry before = unknown_before(state, known, entry.thread);
        if (before.count) {
            PT_GROW(state->named, state->named_cap, (size_t)end + 2);
            state->named[end++] = before;
        }
    }
    return kept;
}

/* Makes named[0 .. *end) what has to be named, and the thread's clock what follows from it. */
static void follow(struct pt_clock_state *state, struct pt_tree *known, uint32_t *end)
{
    uint32_t followed = 0;
    *end = still_unknown(state, known, 0, *end);
    while (followed < MOST_FOLLOWED && choose(state, known, followed, end)) {
        pt_tree_join(&state->pool, known, &state->threads[state->named[followed++].thread].said);
        *end = still_unknown(state, known, followed, *end);
    }
    *end = name_each(state, known, followed, *end);
}

static int by_thread(const void *a, const void *b)
{
    const struct pt_clock_entry *x = a, *y = b;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

void pt_clock_state_take(struct pt_clock_state *state, const struct pt_event *event)
{
    uint64_t own = 0;
    uint32_t count = 0, last = event->behind > event->thread ? event->behind - 1 : event->thread;
    PT_GROW(state->named, state->named_cap, (size_t)event->clock_len + MOST_FOLLOWED + 2);
    for (uint32_t i = 0; i < event->clock_len; i++) {
        last = event->clock[i].thread > last ? event->clock[i].thread : last;
        if (event->clock[i].thread == event->thread)
            own = event->clock[i].count;
        else
            state->named[count++] = event->clock[i];
    }
    pt_clock_state_thread(state, last);
    struct pt_clock_thread *self = &state->threads[event->thread];
    self->behind = event->behind ? event->behind : self->behind;
    state->lines++;
    follow(state, &self->now, &count);
    pt_tree_raise(&state->pool, &self->now, event->thread, own);
    if (own > self->counted) {
        self->counted = own;
        self->when = state->lines;
        pt_tree_release(&state->pool, &self->said);
        self->said = pt_tree_copy(&self->now);
    }
    state->named[count++] = (struct pt_clock_entry){event->thread, own};
    state->named_count = count;
}

void pt_clock_state_reduce(struct pt_clock_state *state, struct pt_event *event)
{
    pt_clock_state_take(state, event);
    qsort(state->named, state->named_count, sizeof *state->named, by_thread);
    event->clock = state->named;
    event->clock_len = state->named_count;
}
