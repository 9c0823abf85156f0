/*
 * Whether a run is a deadlock: it is played (predict/replay.h), and then each thread of the cycle has to be next to
 * take the lock in question, which the next one has, or somebody who joins the next one before releasing it. Cost:
 * linear in the recorded events; those of the order `sync` are played many at a time, and by themselves only where such
 * a join has to be looked for.
 */
#include "engine/deadlocks.h"

#include <stdlib.h>
#include <string.h>

/* Who joins the thread with its next events, and with which of them; 0: nobody does. */
static uint64_t find_join(const struct pt_replay *r, uint32_t thread, uint32_t *ret_joiner)
{
    struct pt_log_reader reader;
    memset(r->seen, 0, r->run.threads * sizeof *r->seen);
    for (pt_log_start(&reader, r->log); pt_log_next(&reader);) {
        uint64_t number = ++r->seen[reader.event.thread];
        if (reader.event.op == PT_OP_JOIN && reader.event.object == thread && number > r->taken[reader.event.thread]) {
            *ret_joiner = reader.event.thread;
            return number;
        }
    }
    return 0;
}

/* Whether a thread releases the lock, for good, after where it is in the run and before its event of that number. */
static bool releases_before(const struct pt_replay *r, uint32_t thread, uint32_t lock, uint64_t before)
{
    struct pt_log_reader reader;
    uint64_t number = 0;
    uint32_t depth = pt_map64_get(&r->depth, (uint64_t)thread << 32 | lock);
    for (pt_log_start(&reader, r->log); number < before && pt_log_next(&reader);) {
        const struct pt_log_event *event = &reader.event;
        number += event->thread == thread;
        if (event->thread != thread || number <= r->taken[thread] || number >= before ||
            pt_op_space(event->op) != PT_SPACE_LOCK || event->object != lock)
            continue;
        depth += pt_op_locks(event->op) ? 1 : UINT32_MAX;
        if (!depth)
            return true;
    }
    return false;
}

/* Whether the lock is not released before the thread has ended: somebody has it who joins the thread first, perhaps
 * through others. */
static bool is_lent(const struct pt_replay *r, uint32_t thread, uint32_t lock, uint32_t waits)
{
    uint32_t owner = r->locks[lock].owner;
    if (!owner || owner == waits + 1)
        return false;
    for (uint32_t most = r->run.threads; most; most--) {
        uint32_t joiner = 0;
        uint64_t number = find_join(r, thread, &joiner);
        if (!number)
            return false;
        if (joiner + 1 == owner)
            return !releases_before(r, joiner, lock, number);
        thread = joiner;
    }
    return false;
}

/* Whether the thread's next event takes the lock of its acquire, which it does not have. */
static bool is_waiting(const struct pt_acquire *waits, const struct pt_log_event *event, bool has)
{
    return event && pt_op_locks(event->op) && event->object == (uint32_t)waits->wants.lock && !has;
}

static bool is_blocked(const struct pt_replay *r, const struct deadlocks_cycle *cycle)
{
    for (uint32_t i = 0; i < cycle->count; i++) {
        const struct pt_acquire *waits = cycle->members[i], *holds = cycle->members[(i + 1) % cycle->count];
        const struct pt_log_event *event = pt_replay_next(r, waits->thread);
        uint32_t lock = (uint32_t)waits->wants.lock;
        if (!is_waiting(waits, event, pt_replay_has(r, waits->thread, lock, false)) ||
            !(pt_replay_has(r, holds->thread, lock, pt_op_is_shared(event->op)) ||
              is_lent(r, holds->thread, lock, waits->thread)))
            return false;
    }
    return true;
}

bool pt_deadlocks_replay(const struct deadlocks *d, const struct deadlocks_cycle *cycle, const uint64_t *first,
                         const uint64_t *upto)
{
    struct pt_replay replay;
    const struct pt_replay_run run = {first, upto, d->trf.thread_count};
    bool possible = pt_replay_play(&replay, &d->log, &run) && is_blocked(&replay, cycle);
    pt_replay_end(&replay);
    return possible;
}

/* Whether each thread of the cycle waits for a lock that the next one has itself, after run `run` of several. */
static bool is_blocked_in(const struct pt_replays *r, uint32_t run, const struct deadlocks_cycle *cycle)
{
    for (uint32_t i = 0; i < cycle->count; i++) {
        const struct pt_acquire *waits = cycle->members[i], *holds = cycle->members[(i + 1) % cycle->count];
        const struct pt_log_event *event = pt_replays_next(r, run, waits->thread);
        uint32_t lock = (uint32_t)waits->wants.lock;
        if (!is_waiting(waits, event, pt_replays_has(r, run, waits->thread, lock, false)) ||
            !pt_replays_has(r, run, holds->thread, lock, pt_op_is_shared(event->op)))
            return false;
    }
    return true;
}

void pt_deadlocks_replay_some(const struct deadlocks *d, const struct deadlocks_cycle *const *cycles, uint32_t count,
                              bool *ret_possible)
{
    struct pt_replays_run runs[PT_REPLAYS] = {0};
    uint32_t(*asked)[PT_PATTERN_MAX] = pt_xcalloc((size_t)count + 1, sizeof *asked);
    struct pt_replays replays;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < cycles[i]->count; k++)
            asked[i][k] = cycles[i]->members[k]->thread;
        runs[i] = (struct pt_replays_run){cycles[i]->ideal, asked[i], cycles[i]->count};
    }
    pt_replays_play(&replays, &d->log, runs, count, d->trf.thread_count);
    for (uint32_t i = 0; i < count; i++)
        ret_possible[i] = (pt_replays_possible(&replays, i) && is_blocked_in(&replays, i, cycles[i])) ||
                          pt_deadlocks_replay(d, cycles[i], cycles[i]->ideal, cycles[i]->ideal);
    pt_replays_end(&replays);
    free(asked);
}
