/*
 * Happens-before as clocks: what each thread has done and what it knows of the others, and what synchronisation objects
 * carry from one to another (contract section 10). A thread's state is touched by that thread alone, or by who starts
 * or joins it; an object's state by whoever has locked it, by means of the caller's.
 */
#ifndef PT_RACE_HB_H
#define PT_RACE_HB_H

#include "race/vec.h"

/* An event's number in its thread, with the thread. 0: no event. */
typedef uint64_t pt_epoch;
enum { PT_EPOCH_CLOCK_BITS = 44 };
#define PT_EPOCH_CLOCK ((UINT64_C(1) << PT_EPOCH_CLOCK_BITS) - 1)
#define PT_HB_THREADS  (1U << (64 - PT_EPOCH_CLOCK_BITS)) /* threads that ever are */

static inline pt_epoch pt_epoch_make(uint32_t thread, uint64_t clock)
{
    return (uint64_t)thread << PT_EPOCH_CLOCK_BITS | clock;
}
static inline uint32_t pt_epoch_thread(pt_epoch epoch)
{
    return (uint32_t)(epoch >> PT_EPOCH_CLOCK_BITS);
}
static inline uint64_t pt_epoch_clock(pt_epoch epoch)
{
    return epoch & PT_EPOCH_CLOCK;
}

/* A thread at a moment: all it had done, and the past of that. */
struct pt_hb_stamp {
    pt_epoch at; /* 0: none */
    struct pt_vec *past;
};

struct pt_hb_thread {
    uint32_t id;
    uint64_t clock;            /* of its next event; grows whenever something of it became known to others */
    struct pt_vec *past;       /* of other threads */
    struct pt_hb_stamp fence;  /* its latest release fence: relaxed stores after it publish that */
    struct pt_vec *unacquired; /* what relaxed loads have read: an acquire fence after them takes it in */
};

/* What an object carries: the latest that was put in, and the rest that it does not cover. */
struct pt_hb_sync {
    struct pt_hb_stamp last;
    struct pt_vec *rest;
};

/* A lock, of which readers are not ordered with each other. */
struct pt_hb_lock {
    struct pt_hb_sync writers, readers;
};

enum pt_hb_order { PT_HB_RELAXED, PT_HB_ACQUIRE, PT_HB_RELEASE, PT_HB_ACQ_REL, PT_HB_SEQ_CST };
static inline bool pt_hb_acquires(enum pt_hb_order order)
{
    return order == PT_HB_ACQUIRE || order >= PT_HB_ACQ_REL;
}
static inline bool pt_hb_releases(enum pt_hb_order order)
{
    return order >= PT_HB_RELEASE;
}

void pt_hb_begin(struct pt_hb_thread *thread, uint32_t id);
/* The thread has no further event, and nobody will join it. */
void pt_hb_end(const struct pt_race_memory *memory, struct pt_hb_thread *thread);

static inline pt_epoch pt_hb_now(const struct pt_hb_thread *thread)
{
    return pt_epoch_make(thread->id, thread->clock);
}
/* Whether that event happens before the thread's next one. */
static inline bool pt_hb_knows(const struct pt_hb_thread *thread, pt_epoch epoch)
{
    uint32_t other = pt_epoch_thread(epoch);
    return other == thread->id || pt_epoch_clock(epoch) <= pt_vec_at(thread->past, other);
}

/* Everything up to now as one moment. The caller drops it, and lets the thread tick before its next event. */
struct pt_hb_stamp pt_hb_moment(const struct pt_race_memory *memory, const struct pt_hb_thread *thread);
static inline void pt_hb_tick(struct pt_hb_thread *thread)
{
    thread->clock++;
}
void pt_hb_stamp_drop(const struct pt_race_memory *memory, struct pt_hb_stamp *stamp);
/* That moment, and all before it, happens before what the thread does next. */
void pt_hb_learn(const struct pt_race_memory *memory, struct pt_hb_thread *thread, const struct pt_hb_stamp *stamp);

/* All that was put in happens before what the thread does next. */
void pt_hb_acquire(const struct pt_race_memory *memory, struct pt_hb_thread *thread, const struct pt_hb_sync *sync);
/* The same once the thread makes an acquire fence: a relaxed load. */
void pt_hb_acquire_later(const struct pt_race_memory *memory, struct pt_hb_thread *thread,
                         const struct pt_hb_sync *sync);
/* Puts in, beside what is there: a notify. */
void pt_hb_release(const struct pt_race_memory *memory, struct pt_hb_thread *thread, struct pt_hb_sync *sync);
/* The same of a moment; its reference becomes the object's. */
void pt_hb_add(const struct pt_race_memory *memory, struct pt_hb_sync *sync, struct pt_hb_stamp stamp);
/* All that one carries into another. */
void pt_hb_sync_copy(const struct pt_race_memory *memory, struct pt_hb_sync *to, const struct pt_hb_sync *from);
void pt_hb_sync_clear(const struct pt_race_memory *memory, struct pt_hb_sync *sync);

void pt_hb_lock(const struct pt_race_memory *memory, struct pt_hb_thread *thread, const struct pt_hb_lock *lock,
                bool shared);
void pt_hb_unlock(const struct pt_race_memory *memory, struct pt_hb_thread *thread, struct pt_hb_lock *lock,
                  bool shared);
void pt_hb_lock_clear(const struct pt_race_memory *memory, struct pt_hb_lock *lock);

/* The child has no event yet. */
void pt_hb_fork(const struct pt_race_memory *memory, struct pt_hb_thread *parent, struct pt_hb_thread *child);
/* The child has ended. */
void pt_hb_join(const struct pt_race_memory *memory, struct pt_hb_thread *parent, struct pt_hb_thread *child);

void pt_hb_fence(const struct pt_race_memory *memory, struct pt_hb_thread *thread, enum pt_hb_order order);

#endif
