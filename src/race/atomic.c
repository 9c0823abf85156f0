/*
 * Atomic accesses in place. What a location looks like that threads use by atomic operations alone: each thread has an
 * entry for each place, all of them fresh, and the last write was atomic. Then an access changes the clock of one
 * entry, and of a write what is published.
 *
 * Guarantee: the cell, and what the thread knows, are afterwards as pt_cell_acquire, pt_cell_check and pt_cell_record
 * would have left them, and those would have found no race. Cost: constant time for up to LOOKED_AT entries, and a join
 * of vectors where the thread learns something.
 */
#include "race/atomic.h"

enum { LOOKED_AT = 16, PLAIN_READS = 0, PLAIN_WRITES = 2 }; /* the lists of fresh entries in struct pt_cell */

/* All of an access by which a thread's entries are told apart, but for its bytes, in one number. */
static uint64_t key_of(const struct pt_cell_access *access)
{
    return (uint64_t)access->place << 32 | (uint32_t)access->kind << 16 | access->op;
}

static bool is_single(const struct pt_cell_seen *seen, const struct pt_cell_access *access)
{
    return seen->access.bytes == access->bytes && seen->fresh && !seen->merged;
}

/* The thread's entry, or one of another thread that comes before the access, where that will do (any_thread). */
static struct pt_cell_seen *find_fresh(const struct pt_cell_env *env, const struct pt_cell *cell,
                                       const struct pt_hb_thread *thread, const struct pt_cell_access *access,
                                       uint32_t guess)
{
    uint64_t key = key_of(access);
    struct pt_cell_seen *before = NULL;
    if (guess < cell->count) {
        struct pt_cell_seen *seen = &cell->seen[guess];
        if (key_of(&seen->access) == key && pt_epoch_thread(seen->at) == thread->id && is_single(seen, access))
            return seen;
    }
    for (uint32_t i = 0; i < cell->count && i < LOOKED_AT; i++) {
        struct pt_cell_seen *seen = &cell->seen[i];
        if (seen->access.place != access->place || key_of(&seen->access) != key)
            continue;
        if (pt_epoch_thread(seen->at) == thread->id)
            return is_single(seen, access) ? seen : NULL;
        if (env->any_thread && is_single(seen, access) && pt_hb_knows(thread, seen->at))
            before = seen;
    }
    return cell->count <= LOOKED_AT ? before : NULL;
}

static bool knows_all(const struct pt_cell *cell, uint32_t list, const struct pt_hb_thread *thread)
{
    for (uint32_t i = cell->fresh[list]; i != PT_CELL_END; i = cell->seen[i].next)
        if (!pt_hb_knows(thread, cell->seen[i].at))
            return false;
    return true;
}

/* True: the thread has learned something. */
static bool take(const struct pt_race_memory *memory, struct pt_hb_thread *thread, const struct pt_hb_sync *from,
                 enum pt_hb_order order)
{
    if (!from->rest && pt_hb_knows(thread, from->last.at))
        return false;
    if (!pt_hb_acquires(order)) {
        pt_hb_acquire_later(memory, thread, from);
        return false;
    }
    pt_hb_acquire(memory, thread, from);
    return true;
}

/* A moment in the place of another. */
static void replace(const struct pt_race_memory *memory, struct pt_hb_stamp *stamp, pt_epoch at, struct pt_vec *past)
{
    if (stamp->past != past) {
        pt_vec_drop(memory, stamp->past);
        stamp->past = pt_vec_ref(memory, past);
    }
    stamp->at = at;
}

/* What is published goes on with a read-modify-write; a store begins it anew. */
static void publish(const struct pt_race_memory *memory, const struct pt_hb_thread *thread, struct pt_hb_sync *to,
                    const struct pt_cell_access *access)
{
    bool goes_on = access->kind & PT_CELL_READS;
    struct pt_hb_stamp now = {pt_hb_now(thread), thread->past};
    const struct pt_hb_stamp *stamp = pt_hb_releases(access->order) ? &now : &thread->fence;
    if (goes_on && stamp->at)
        pt_hb_add(memory, to, (struct pt_hb_stamp){stamp->at, pt_vec_ref(memory, stamp->past)});
    if (goes_on)
        return;
    if (to->rest)
        pt_hb_sync_clear(memory, to);
    replace(memory, &to->last, stamp->at, stamp->past);
}

struct pt_cell_raised pt_cell_raise_atomic(const struct pt_cell_env *env, struct pt_cell *cell,
                                           struct pt_hb_thread *thread, const struct pt_cell_access *access,
                                           uint32_t guess)
{
    const struct pt_race_memory *memory = env->memory;
    struct pt_cell_raised raised = {0};
    struct pt_cell_written *written = cell->written;
    bool writes = access->kind & PT_CELL_WRITES;
    if (cell->index || cell->written_count > 1 || (!cell->written_count && writes) ||
        (cell->written_count && (!written->atomic || written->bytes != access->bytes)))
        return raised;
    if (cell->written_count && access->kind & PT_CELL_READS)
        raised.learned = take(memory, thread, &written->published, access->order);
    if (!pt_hb_knows(thread, cell->over) || !knows_all(cell, PLAIN_WRITES, thread) ||
        (writes && !knows_all(cell, PLAIN_READS, thread)))
        return raised;
    raised.seen = find_fresh(env, cell, thread, access, guess);
    if (!raised.seen)
        return raised;
    raised.seen->at = pt_hb_now(thread);
    raised.seen->access.order = access->order;
    if (writes) {
        replace(memory, &written->stamp, pt_hb_now(thread), thread->past);
        publish(memory, thread, &written->published, access);
    }
    return raised;
}
