/*
 * Whether a run is a deadlock: it is played (predict/replay.h), and then each thread of the cycle has to be next to
 * take the lock in question, which the next one has. Cost: linear in the recorded events.
 */
#include "engine/deadlocks.h"

static bool is_blocked(const struct pt_replay *r, const struct deadlocks_cycle *cycle)
{
    for (uint32_t i = 0; i < cycle->count; i++) {
        const struct pt_acquire *waits = cycle->members[i], *holds = cycle->members[(i + 1) % cycle->count];
        const struct pt_log_event *event = pt_replay_next(r, waits->thread);
        uint32_t lock = (uint32_t)waits->wants.lock;
        if (!event || !pt_op_locks(event->op) || event->object != lock ||
            pt_replay_has(r, waits->thread, lock, false) ||
            !pt_replay_has(r, holds->thread, lock, pt_op_is_shared(event->op)))
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
