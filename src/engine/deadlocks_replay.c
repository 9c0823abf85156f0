/*
 * A witness of a deadlock, played: the recorded events in their order, of each thread so many, held against the
 * definition alone. No clocks, no sections, nothing of how it was found; who reads it needs contract section 3.
 *
 * Guarantee: true only if the events can happen so, all reads see the writes they saw, and at the end each thread of
 * the cycle is next to take the lock in question, which the next one has. Cost: linear in the recorded events.
 */
#include <stdlib.h>

#include "engine/deadlocks.h"

struct replay {
    const struct deadlocks *d;
    const uint64_t *upto;
    uint64_t *seen;                   /* events of each thread in the recorded run so far */
    uint64_t *next;                   /* of each thread, the position of its first event that is left out, plus 1 */
    bool *unforked;                   /* a fork of it was left out */
    uint64_t *written, *written_here; /* the latest write of each variable, in the recorded run and in ours */
    uint64_t *synced, *synced_here;   /* operations on each other object */
    uint32_t *owner, *readers;        /* of each lock: who has it for itself plus 1, and how many share it */
    struct pt_map64 depth;            /* how often a thread has a lock, by both */
};

static uint32_t *depth_of(struct replay *r, uint32_t thread, uint32_t lock)
{
    uint32_t *depth = pt_map64_at(&r->depth, (uint64_t)thread << 32 | lock);
    if (*depth == PT_NONE)
        *depth = 0;
    return depth;
}

static bool play_lock(struct replay *r, const struct deadlocks_event *event)
{
    bool shared = pt_op_is_shared(event->op);
    uint32_t *depth = depth_of(r, event->thread, event->object);
    if (pt_op_locks(event->op)) {
        bool free = !r->owner[event->object] && (shared || !r->readers[event->object]);
        if ((*depth)++)
            return true;
        if (shared)
            r->readers[event->object]++;
        else
            r->owner[event->object] = event->thread + 1;
        return free;
    }
    if (!*depth || --*depth)
        return *depth;
    if (r->owner[event->object] == event->thread + 1)
        r->owner[event->object] = 0;
    else
        r->readers[event->object]--;
    return true;
}

/* One event of our run; false: it cannot happen now, or reads something else. */
static bool play(struct replay *r, const struct deadlocks_event *event)
{
    uint32_t object = event->object;
    if (r->unforked[event->thread])
        return false;
    switch (pt_op_space(event->op)) {
    case PT_SPACE_VAR:
        return !pt_op_reads(event->op) || r->written[object] == r->written_here[object];
    case PT_SPACE_LOCK:
        return play_lock(r, event);
    case PT_SPACE_OTHER:
        return r->synced[object] == r->synced_here[object];
    case PT_SPACE_THREAD:
        return event->op == PT_OP_FORK || r->seen[object] <= r->upto[object];
    default:
        return true;
    }
}

/* What the recorded run has after this event, and ours if it was taken. */
static void note(struct replay *r, const struct deadlocks_event *event, uint64_t number, bool taken)
{
    uint32_t object = event->object;
    enum pt_space space = pt_op_space(event->op);
    if (space == PT_SPACE_VAR && pt_op_writes(event->op)) {
        r->written[object] = number;
        if (taken)
            r->written_here[object] = number;
    } else if (space == PT_SPACE_OTHER) {
        r->synced[object]++;
        r->synced_here[object] += taken;
    } else if (event->op == PT_OP_FORK && !taken) {
        r->unforked[object] = true;
    }
    if (!taken && !r->next[event->thread])
        r->next[event->thread] = number;
}

static bool play_all(struct replay *r)
{
    bool possible = true;
    for (uint64_t i = 0; possible && i < r->d->kept_count; i++) {
        const struct deadlocks_event *event = &r->d->kept[i];
        bool taken = ++r->seen[event->thread] <= r->upto[event->thread];
        if (taken)
            possible = play(r, event);
        note(r, event, i + 1, taken);
    }
    return possible;
}

/* Is each thread next to take what the next one has? */
static bool is_blocked(struct replay *r, const struct deadlocks_cycle *cycle)
{
    for (uint32_t i = 0; i < cycle->count; i++) {
        const struct pt_acquire *waits = cycle->members[i], *holds = cycle->members[(i + 1) % cycle->count];
        uint64_t next = r->next[waits->thread];
        const struct deadlocks_event *event = next ? &r->d->kept[next - 1] : NULL;
        uint32_t lock = (uint32_t)waits->wants.lock;
        if (!event || !pt_op_locks(event->op) || event->object != lock || *depth_of(r, waits->thread, lock) ||
            !*depth_of(r, holds->thread, lock) || (pt_op_is_shared(event->op) && r->owner[lock] != holds->thread + 1))
            return false;
    }
    return true;
}

bool pt_deadlocks_replay(const struct deadlocks *d, const struct deadlocks_cycle *cycle, const uint64_t *upto)
{
    size_t threads = (size_t)d->thread_count + 1, vars = d->var_cap + 1, others = d->other_cap + 1,
           locks = d->lock_cap + 1;
    struct replay r = {.d = d,
                       .upto = upto,
                       .seen = pt_xcalloc(threads, sizeof *r.seen),
                       .next = pt_xcalloc(threads, sizeof *r.next),
                       .unforked = pt_xcalloc(threads, sizeof *r.unforked),
                       .written = pt_xcalloc(vars, sizeof *r.written),
                       .written_here = pt_xcalloc(vars, sizeof *r.written_here),
                       .synced = pt_xcalloc(others, sizeof *r.synced),
                       .synced_here = pt_xcalloc(others, sizeof *r.synced_here),
                       .owner = pt_xcalloc(locks, sizeof *r.owner),
                       .readers = pt_xcalloc(locks, sizeof *r.readers)};
    pt_map64_init(&r.depth);
    bool possible = play_all(&r) && is_blocked(&r, cycle);
    pt_map64_release(&r.depth);
    free(r.seen);
    free(r.next);
    free(r.unforked);
    free(r.written);
    free(r.written_here);
    free(r.synced);
    free(r.synced_here);
    free(r.owner);
    free(r.readers);
    return possible;
}
