/*
 * Plays runs side by side: what one run has to know of a variable, a lock or a thread is a bit, and an event that all
 * runs of a word take or leave costs as much as with one of them. A run of the order `sync` takes a number of each
 * thread's events, so which runs take an event follows from its number. Its last write of a variable is the recorded
 * one iff it has taken that; where writes of parts count, iff it has taken all since one of the whole that it has.
 *
 * Guarantee: a run is possible exactly if replay.c says so (tests/unit/test_predict.c compares them). Cost: one pass
 * over the recorded events, up to the last that some run takes or asks for; for each thread and run one more look.
 */
#include "predict/replays.h"

#include <stdlib.h>
#include <string.h>

static uint64_t all_of(const struct pt_replays *r)
{
    return r->count == PT_REPLAYS ? UINT64_MAX : (UINT64_C(1) << r->count) - 1;
}

/* ---- who takes what ---- */

/* Which runs have more than so many events of a thread, and what the shortest of them has. */
static void look_at_runs(struct pt_replays *r, uint32_t thread, uint64_t number)
{
    struct pt_replays_thread *t = &r->threads[thread];
    t->in = 0;
    t->least = UINT64_MAX;
    for (uint32_t i = 0; i < r->count; i++) {
        uint64_t upto = r->runs[i].upto[thread];
        if (upto < number)
            continue;
        t->in |= UINT64_C(1) << i;
        t->least = upto < t->least ? upto : t->least;
    }
}

/* The event is one that runs leave out first. */
static void note_next(struct pt_replays *r, const struct pt_log_event *event, uint64_t number)
{
    for (uint32_t i = 0; i < r->count; i++)
        for (uint32_t k = 0; k < r->runs[i].asked_count; k++)
            if (r->runs[i].asked[k] == event->thread && r->runs[i].upto[event->thread] + 1 == number) {
                r->next[r->first_next[i] + k] = *event;
                r->left--;
            }
}

/* The runs that take the thread's next event, which is this one. */
static uint64_t runs_of(struct pt_replays *r, const struct pt_log_event *event)
{
    struct pt_replays_thread *t = &r->threads[event->thread];
    uint64_t number = ++t->seen;
    r->left -= number <= t->most;
    if (number > t->least) {
        note_next(r, event, number);
        look_at_runs(r, event->thread, number);
    }
    return t->in;
}

/* ---- what happens ---- */

static struct pt_replays_had *had_of(struct pt_replays *r, uint32_t thread, uint32_t lock)
{
    uint32_t *index = pt_map64_at(&r->index, (uint64_t)thread << 32 | lock);
    if (*index == PT_NONE) {
        *index = r->had_count;
        struct pt_replays_had had = {0};
        PT_PUSH(r->had, r->had_count, r->had_cap, had);
    }
    return &r->had[*index];
}

/* The runs in which somebody shares the lock. */
static uint64_t shared_in(const struct pt_replays *r, const struct pt_replays_lock *lock)
{
    uint64_t shared = 0;
    for (uint32_t at = lock->readers; at; at = r->had[at - 1].next)
        shared |= r->had[at - 1].shared;
    return shared;
}

/* Each of these returns the runs in which the event cannot happen. */
static uint64_t play_lock(struct pt_replays *r, const struct pt_log_event *event, uint64_t in)
{
    PT_ROOM(r->locks, r->lock_cap, event->object);
    struct pt_replays_had *had = had_of(r, event->thread, event->object);
    struct pt_replays_lock *lock = &r->locks[event->object];
    bool shared = pt_op_is_shared(event->op);
    if (pt_op_locks(event->op)) {
        if (had->depth++)
            return 0;
        uint64_t taken = lock->owned | (shared ? 0 : shared_in(r, lock));
        if (!shared) {
            lock->owned |= in;
            had->alone |= in;
            return taken & in;
        }
        had->shared |= in;
        if (!had->reader) {
            had->reader = true;
            had->next = lock->readers;
            lock->readers = (uint32_t)(had - r->had) + 1;
        }
        return taken & in;
    }
    if (!had->depth)
        return in;
    if (--had->depth)
        return 0;
    lock->owned &= ~(had->alone & in);
    had->alone &= ~in;
    had->shared &= ~in;
    return 0;
}

static uint64_t play_var(struct pt_replays *r, const struct pt_log_event *event, uint64_t in)
{
    PT_ROOM(r->vars, r->var_cap, event->object);
    uint64_t *differs = &r->vars[event->object].differs, bad = pt_op_reads(event->op) ? *differs & in : 0;
    if (pt_op_writes(event->op))
        *differs = (event->to ? *differs : 0) | ~in;
    return bad;
}

/* After all operations on it before. */
static uint64_t play_other(struct pt_replays *r, const struct pt_log_event *event, uint64_t in)
{
    PT_ROOM(r->others, r->other_cap, event->object);
    uint64_t *differs = &r->others[event->object].differs, bad = *differs & in;
    *differs |= ~in;
    return bad;
}

static uint64_t play_memory(struct pt_replays *r, const struct pt_log_event *event, uint64_t in)
{
    PT_ROOM(r->blocks, r->block_cap, event->object);
    struct pt_replays_block *block = &r->blocks[event->object];
    bool made = event->op == PT_OP_ALLOC;
    uint64_t bad = (made ? block->freed : block->made).differs & in;
    (made ? &block->made : &block->freed)->differs = ~in;
    return bad;
}

static uint64_t play_thread(struct pt_replays *r, const struct pt_log_event *event, uint64_t in)
{
    struct pt_replays_thread *other = &r->threads[event->object];
    if (event->op != PT_OP_FORK)
        return in & ~other->whole;
    other->unforked = ~in;
    return 0;
}

static uint64_t play(struct pt_replays *r, const struct pt_log_event *event, uint64_t in)
{
    switch (pt_op_space(event->op)) {
    case PT_SPACE_VAR:
        return play_var(r, event, in);
    case PT_SPACE_LOCK:
        return play_lock(r, event, in);
    case PT_SPACE_OTHER:
        return play_other(r, event, in);
    case PT_SPACE_HEAP:
        return play_memory(r, event, in);
    case PT_SPACE_THREAD:
        return play_thread(r, event, in);
    default:
        return 0;
    }
}

static void begin(struct pt_replays *r)
{
    uint32_t asked = 0;
    r->threads = pt_xcalloc((size_t)r->thread_count + 1, sizeof *r->threads);
    r->first_next = pt_xcalloc((size_t)r->count + 1, sizeof *r->first_next);
    pt_map64_init(&r->index);
    for (uint32_t i = 0; i < r->count; i++) {
        r->first_next[i] = asked;
        asked += r->runs[i].asked_count;
    }
    r->next = pt_xcalloc((size_t)asked + 1, sizeof *r->next);
    r->left = asked;
    for (uint32_t t = 0; t < r->thread_count; t++) {
        look_at_runs(r, t, 0);
        r->threads[t].whole = UINT64_MAX;
        for (uint32_t i = 0; i < r->count; i++)
            if (r->runs[i].upto[t] > r->threads[t].most)
                r->threads[t].most = r->runs[i].upto[t];
        r->left += r->threads[t].most;
    }
}

void pt_replays_play(struct pt_replays *r, const struct pt_log *log, const struct pt_replays_run *runs, uint32_t count,
                     uint32_t threads)
{
    struct pt_log_reader reader;
    *r = (struct pt_replays){.runs = runs, .count = count, .thread_count = threads};
    begin(r);
    for (pt_log_start(&reader, log); r->left && pt_log_next(&reader);) {
        const struct pt_log_event *event = &reader.event;
        uint64_t in = runs_of(r, event);
        struct pt_replays_thread *t = &r->threads[event->thread];
        r->impossible |= play(r, event, in) | (in & t->unforked);
        t->whole = in;
        if (r->impossible == all_of(r))
            break;
    }
    if (r->left)
        for (uint32_t i = 0, t; i < count; i++)
            for (t = 0; t < threads; t++)
                if (runs[i].upto[t] > r->threads[t].seen)
                    r->impossible |= UINT64_C(1) << i; /* there are not so many */
}

void pt_replays_end(struct pt_replays *r)
{
    free(r->threads);
    free(r->vars);
    free(r->others);
    free(r->blocks);
    free(r->locks);
    free(r->had);
    free(r->next);
    free(r->first_next);
    pt_map64_release(&r->index);
}

bool pt_replays_possible(const struct pt_replays *r, uint32_t run)
{
    return !(r->impossible >> run & 1);
}

const struct pt_log_event *pt_replays_next(const struct pt_replays *r, uint32_t run, uint32_t thread)
{
    for (uint32_t k = 0; k < r->runs[run].asked_count; k++)
        if (r->runs[run].asked[k] == thread)
            return r->next[r->first_next[run] + k].event ? &r->next[r->first_next[run] + k] : NULL;
    return NULL;
}

bool pt_replays_has(const struct pt_replays *r, uint32_t run, uint32_t thread, uint32_t lock, bool alone)
{
    uint32_t index = pt_map64_get(&r->index, (uint64_t)thread << 32 | lock);
    const struct pt_replays_had *had = index == PT_NONE ? NULL : &r->had[index];
    return had && (had->alone | (alone ? 0 : had->shared)) >> run & 1;
}
