/*
 * Happens-before by vector clocks, with the own clock of a thread kept beside what it knows of others: so a moment of a
 * thread (struct pt_hb_stamp) costs a reference, and vectors change only where a thread learns something.
 *
 * Guarantee: exact for the relation that contract section 10 defines, of C11 without consume, with the release
 * sequences of C++20 (a release store and the read-modify-writes that follow it; stores of the same thread do not
 * continue it). seq_cst orders what acquire and release do. The invariant behind all short cuts: each moment that
 * leaves its thread is followed by a tick, so whoever knows an epoch of a thread knows everything that the thread did
 * and knew up to the end of that epoch.
 *
 * Cost: constant time where the thread knows already what it is told, and where it tells; otherwise one join of vectors
 * (vec.h). Memory: a vector per thread and per moment that objects carry, with chunks shared.
 */
#include "race/hb.h"

void pt_hb_begin(struct pt_hb_thread *thread, uint32_t id)
{
    *thread = (struct pt_hb_thread){.id = id, .clock = 1};
}

void pt_hb_end(const struct pt_race_memory *memory, struct pt_hb_thread *thread)
{
    pt_hb_stamp_drop(memory, &thread->fence);
    pt_vec_drop(memory, thread->past);
    pt_vec_drop(memory, thread->unacquired);
    thread->past = thread->unacquired = NULL;
}

struct pt_hb_stamp pt_hb_moment(const struct pt_race_memory *memory, const struct pt_hb_thread *thread)
{
    return (struct pt_hb_stamp){pt_hb_now(thread), pt_vec_ref(memory, thread->past)};
}

/* The same, with the tick after it. */
static struct pt_hb_stamp leave(const struct pt_race_memory *memory, struct pt_hb_thread *thread)
{
    struct pt_hb_stamp stamp = pt_hb_moment(memory, thread);
    pt_hb_tick(thread);
    return stamp;
}

void pt_hb_stamp_drop(const struct pt_race_memory *memory, struct pt_hb_stamp *stamp)
{
    pt_vec_drop(memory, stamp->past);
    *stamp = (struct pt_hb_stamp){0};
}

static void join_stamp(const struct pt_race_memory *memory, struct pt_vec **vec, const struct pt_hb_stamp *stamp)
{
    if (pt_epoch_clock(stamp->at) <= pt_vec_at(*vec, pt_epoch_thread(stamp->at)))
        return;
    pt_vec_learn(memory, vec, stamp->past, pt_epoch_thread(stamp->at), pt_epoch_clock(stamp->at));
}

void pt_hb_learn(const struct pt_race_memory *memory, struct pt_hb_thread *thread, const struct pt_hb_stamp *stamp)
{
    if (!pt_hb_knows(thread, stamp->at))
        join_stamp(memory, &thread->past, stamp);
}

void pt_hb_acquire(const struct pt_race_memory *memory, struct pt_hb_thread *thread, const struct pt_hb_sync *sync)
{
    pt_hb_learn(memory, thread, &sync->last);
    if (sync->rest)
        pt_vec_join(memory, &thread->past, sync->rest);
}

void pt_hb_acquire_later(const struct pt_race_memory *memory, struct pt_hb_thread *thread,
                         const struct pt_hb_sync *sync)
{
    if (!pt_hb_knows(thread, sync->last.at))
        join_stamp(memory, &thread->unacquired, &sync->last);
    if (sync->rest)
        pt_vec_join(memory, &thread->unacquired, sync->rest);
}

/* What `last` had goes to the rest, unless the new moment is after it. */
void pt_hb_add(const struct pt_race_memory *memory, struct pt_hb_sync *sync, struct pt_hb_stamp stamp)
{
    struct pt_hb_stamp *last = &sync->last;
    bool covered = !last->at || pt_epoch_thread(last->at) == pt_epoch_thread(stamp.at) ||
                   pt_epoch_clock(last->at) <= pt_vec_at(stamp.past, pt_epoch_thread(last->at));
    if (covered && last->at > stamp.at && pt_epoch_thread(last->at) == pt_epoch_thread(stamp.at)) {
        pt_hb_stamp_drop(memory, &stamp); /* a fence of the same thread, older than what is there */
        return;
    }
    if (!covered)
        join_stamp(memory, &sync->rest, last);
    pt_hb_stamp_drop(memory, last);
    *last = stamp;
}

/* Where the thread has learned nothing since it last put something in, only its clock is another. */
void pt_hb_release(const struct pt_race_memory *memory, struct pt_hb_thread *thread, struct pt_hb_sync *sync)
{
    if (sync->last.at && sync->last.past == thread->past && pt_epoch_thread(sync->last.at) == thread->id) {
        sync->last.at = pt_hb_now(thread);
        pt_hb_tick(thread);
        return;
    }
    pt_hb_add(memory, sync, leave(memory, thread));
}

void pt_hb_sync_copy(const struct pt_race_memory *memory, struct pt_hb_sync *to, const struct pt_hb_sync *from)
{
    if (from->last.at)
        pt_hb_add(memory, to, (struct pt_hb_stamp){from->last.at, pt_vec_ref(memory, from->last.past)});
    if (from->rest)
        pt_vec_join(memory, &to->rest, from->rest);
}

void pt_hb_sync_clear(const struct pt_race_memory *memory, struct pt_hb_sync *sync)
{
    pt_hb_stamp_drop(memory, &sync->last);
    pt_vec_drop(memory, sync->rest);
    sync->rest = NULL;
}

void pt_hb_lock(const struct pt_race_memory *memory, struct pt_hb_thread *thread, const struct pt_hb_lock *lock,
                bool shared)
{
    pt_hb_acquire(memory, thread, &lock->writers);
    if (!shared)
        pt_hb_acquire(memory, thread, &lock->readers);
}

/* Readers that this unlock is after need not be told of beside it. Those before which a writer's lock was abandoned,
 * because its thread ended, may be others. */
void pt_hb_unlock(const struct pt_race_memory *memory, struct pt_hb_thread *thread, struct pt_hb_lock *lock,
                  bool shared)
{
    struct pt_hb_sync *readers = &lock->readers;
    if (!shared && readers->last.at && pt_hb_knows(thread, readers->last.at) &&
        pt_vec_is_within(readers->rest, thread->past, thread->id))
        pt_hb_sync_clear(memory, readers);
    pt_hb_release(memory, thread, shared ? readers : &lock->writers);
}

void pt_hb_lock_clear(const struct pt_race_memory *memory, struct pt_hb_lock *lock)
{
    pt_hb_sync_clear(memory, &lock->writers);
    pt_hb_sync_clear(memory, &lock->readers);
}

void pt_hb_fork(const struct pt_race_memory *memory, struct pt_hb_thread *parent, struct pt_hb_thread *child)
{
    struct pt_hb_stamp stamp = leave(memory, parent);
    pt_hb_learn(memory, child, &stamp);
    pt_hb_stamp_drop(memory, &stamp);
}

void pt_hb_join(const struct pt_race_memory *memory, struct pt_hb_thread *parent, struct pt_hb_thread *child)
{
    struct pt_hb_stamp stamp = leave(memory, child);
    pt_hb_learn(memory, parent, &stamp);
    pt_hb_stamp_drop(memory, &stamp);
}

void pt_hb_fence(const struct pt_race_memory *memory, struct pt_hb_thread *thread, enum pt_hb_order order)
{
    if (pt_hb_acquires(order) && thread->unacquired) {
        pt_vec_join(memory, &thread->past, thread->unacquired);
        pt_vec_drop(memory, thread->unacquired);
        thread->unacquired = NULL;
    }
    if (pt_hb_releases(order)) {
        pt_hb_stamp_drop(memory, &thread->fence);
        thread->fence = leave(memory, thread);
    }
}
