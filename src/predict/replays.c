/*
 * Plays runs side by side: what one run has to know of a variable, a lock or a thread is a bit, and an event costs a
 * few operations on all of them at once. A run of the order `sync` takes a number of each thread's events, so which
 * runs take an event follows from its number. Its last write of a variable is the recorded one iff it has taken that;
 * where writes of parts count, iff it has taken all since one of the whole that it has.
 *
 * Guarantee: a run is possible exactly if replay.c says so (tests/unit/test_predict.c compares them). Cost: one pass
 * over the recorded events, up to the last that some run takes or asks for; for each thread and run one more look.
 */
#include "predict/replays.h"

#include <stdlib.h>
#include <string.h>

enum { LOOK_EVERY = 1024 }; /* events of a thread, after which it is seen whether all runs are impossible */

typedef struct pt_replays_bits bits;

static bool has(const bits *a, uint32_t run)
{
    return a->at[run / 64] >> run % 64 & 1;
}

static void add(bits *a, uint32_t run)
{
    a->at[run / 64] |= UINT64_C(1) << run % 64;
}

/* Word by word, which compilers make vectors of. */
#define EACH(to, expression)                                                                                           \
    do {                                                                                                               \
        bits each;                                                                                                     \
        for (unsigned w = 0; w < PT_REPLAYS_WORDS; w++)                                                                \
            each.at[w] = (expression);                                                                                 \
        *(to) = each;                                                                                                  \
    } while (0)

static bool are_all_impossible(const struct pt_replays *r)
{
    uint32_t i = 0;
    while (i < r->count && has(&r->impossible, i))
        i++;
    return i == r->count;
}

/* ---- who takes what ---- */

static int compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* An element of `order`: how many events a run has, and which it is. */
static uint64_t *sort_runs(const struct pt_replays *r, uint32_t thread)
{
    uint64_t *order = pt_xmalloc(((size_t)r->count + 1) * sizeof *order);
    for (uint32_t i = 0; i < r->count; i++)
        order[i] = r->runs[i].upto[thread] * PT_REPLAYS + i;
    qsort(order, r->count, sizeof *order, compare);
    return order;
}

/* The event is the first that the run leaves out of its thread. */
static void note_next(struct pt_replays *r, uint32_t run, const struct pt_log_event *event)
{
    for (uint32_t k = 0; k < r->runs[run].asked_count; k++)
        if (r->runs[run].asked[k] == event->thread) {
            r->next[r->first_next[run] + k] = *event;
            r->left--;
        }
}

/* Some runs do not have the event any more, the thread's of that number. */
static void leave(struct pt_replays *r, struct pt_replays_thread *t, const struct pt_log_event *event, uint64_t number)
{
    if (!t->order)
        t->order = sort_runs(r, event->thread);
    for (; t->passed < r->count && t->order[t->passed] / PT_REPLAYS < number; t->passed++) {
        uint32_t run = (uint32_t)(t->order[t->passed] % PT_REPLAYS);
        t->in.at[run / 64] &= ~(UINT64_C(1) << run % 64);
        note_next(r, run, event);
    }
    t->least = t->passed < r->count ? t->order[t->passed] / PT_REPLAYS : UINT64_MAX;
}

/* The runs that take the thread's next event, which is this one. */
static const bits *runs_of(struct pt_replays *r, const struct pt_log_event *event)
{
    struct pt_replays_thread *t = &r->threads[event->thread];
    uint64_t number = ++t->seen;
    r->left -= number <= t->most;
    if (number > t->least)
        leave(r, t, event, number);
    return &t->in;
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

/* Each of these adds the runs in which the event cannot happen to those that are impossible. */
static void refuse(struct pt_replays *r, const bits *differs, const bits *in)
{
    EACH(&r->impossible, r->impossible.at[w] | (differs->at[w] & in->at[w]));
}

static void take_lock(struct pt_replays *r, struct pt_replays_lock *lock, struct pt_replays_had *had, bool shared,
                      const bits *in)
{
    if (had->depth++)
        return;
    refuse(r, &lock->owned, in);
    if (!shared) {
        for (uint32_t at = lock->readers; at; at = r->had[at - 1].next)
            refuse(r, &r->had[at - 1].shared, in);
        EACH(&lock->owned, lock->owned.at[w] | in->at[w]);
        EACH(&had->alone, had->alone.at[w] | in->at[w]);
        return;
    }
    EACH(&had->shared, had->shared.at[w] | in->at[w]);
    if (!had->reader) {
        had->reader = true;
        had->next = lock->readers;
        lock->readers = (uint32_t)(had - r->had) + 1;
    }
}

static void play_lock(struct pt_replays *r, const struct pt_log_event *event, const bits *in)
{
    PT_ROOM(r->locks, r->lock_cap, event->object);
    struct pt_replays_had *had = had_of(r, event->thread, event->object);
    struct pt_replays_lock *lock = &r->locks[event->object];
    if (pt_op_locks(event->op)) {
        take_lock(r, lock, had, pt_op_is_shared(event->op), in);
    } else if (!had->depth) {
        refuse(r, in, in);
    } else if (!--had->depth) {
        EACH(&lock->owned, lock->owned.at[w] & ~(had->alone.at[w] & in->at[w]));
        EACH(&had->alone, had->alone.at[w] & ~in->at[w]);
        EACH(&had->shared, had->shared.at[w] & ~in->at[w]);
    }
}

static void play_var(struct pt_replays *r, const struct pt_log_event *event, const bits *in)
{
    PT_ROOM(r->vars, r->var_cap, event->object);
    bits *differs = &r->vars[event->object].differs;
    if (pt_op_reads(event->op))
        refuse(r, differs, in);
    if (pt_op_writes(event->op))
        EACH(differs, (event->to ? differs->at[w] : 0) | ~in->at[w]);
}

/* After all operations on it before. */
static void play_other(struct pt_replays *r, const struct pt_log_event *event, const bits *in)
{
    PT_ROOM(r->others, r->other_cap, event->object);
    bits *differs = &r->others[event->object].differs;
    refuse(r, differs, in);
    EACH(differs, differs->at[w] | ~in->at[w]);
}

static void play_memory(struct pt_replays *r, const struct pt_log_event *event, const bits *in)
{
    PT_ROOM(r->blocks, r->block_cap, event->object);
    struct pt_replays_block *block = &r->blocks[event->object];
    bool made = event->op == PT_OP_ALLOC;
    bits *differs = &(made ? &block->made : &block->freed)->differs;
    refuse(r, &(made ? &block->freed : &block->made)->differs, in);
    EACH(differs, ~in->at[w]);
}

static void play_thread(struct pt_replays *r, const struct pt_log_event *event, const bits *in)
{
    struct pt_replays_thread *other = &r->threads[event->object];
    bits missing;
    EACH(&missing, ~(event->op == PT_OP_FORK ? in : &other->in)->at[w]);
    if (event->op == PT_OP_FORK) {
        other->unforked = missing;
        other->forked = true;
    } else if (other->seen) {
        refuse(r, &missing, in);
    }
}

static void play(struct pt_replays *r, const struct pt_log_event *event, const bits *in)
{
    switch (pt_op_space(event->op)) {
    case PT_SPACE_VAR:
        play_var(r, event, in);
        break;
    case PT_SPACE_LOCK:
        play_lock(r, event, in);
        break;
    case PT_SPACE_OTHER:
        play_other(r, event, in);
        break;
    case PT_SPACE_HEAP:
        play_memory(r, event, in);
        break;
    case PT_SPACE_THREAD:
        play_thread(r, event, in);
        break;
    default:
        break;
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
        struct pt_replays_thread *thread = &r->threads[t];
        thread->least = UINT64_MAX;
        for (uint32_t i = 0; i < r->count; i++) {
            uint64_t upto = r->runs[i].upto[t];
            add(&thread->in, i);
            thread->least = upto < thread->least ? upto : thread->least;
            thread->most = upto > thread->most ? upto : thread->most;
        }
        r->left += thread->most;
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
        const bits *in = runs_of(r, event);
        struct pt_replays_thread *t = &r->threads[event->thread];
        if (t->forked)
            refuse(r, &t->unforked, in);
        play(r, event, in);
        if (t->seen % LOOK_EVERY == 0 && are_all_impossible(r))
            break;
    }
    if (r->left)
        for (uint32_t i = 0, t; i < count; i++)
            for (t = 0; t < threads; t++)
                if (runs[i].upto[t] > r->threads[t].seen)
                    add(&r->impossible, i); /* there are not so many */
}

void pt_replays_end(struct pt_replays *r)
{
    for (uint32_t t = 0; t < r->thread_count; t++)
        free(r->threads[t].order);
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
    return !has(&r->impossible, run);
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
    return had && (has(&had->alone, run) || (!alone && has(&had->shared, run)));
}
