/*
 * Locks of the runtime, for short sections that no signal handler of the program can enter (thread/signal.c), and the
 * order in which they nest.
 *
 * Whoever waits pauses a few times and then waits on a futex: yielding the processor would give it to no thread of a
 * lower real-time priority, and if that one has the lock, to nobody, for ever.
 *
 * Order: each lock has a rank, and is taken only while all that the thread has have lower ones; granules, which are
 * locked in ascending order, share one. With PT_CHECK_LOCKS (debug and sanitized builds) every acquisition is held
 * against that, and the process ends where it is not so; otherwise ranks cost nothing.
 */
#ifndef PT_RUNTIME_SYS_SPIN_H
#define PT_RUNTIME_SYS_SPIN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* From the outermost to the innermost. */
enum pt_rank {
    PT_RANK_ANY, /* of none: the order is not asked for */
    PT_RANK_DESCRIPTOR,
    PT_RANK_WATCH,
    PT_RANK_GRANULE,
    PT_RANK_KEPT,
    PT_RANK_SILENCE,
    PT_RANK_MONITOR,
    PT_RANK_VIOLATION,
    PT_RANK_DEADLOCK,
    PT_RANK_PLACE,
    PT_RANK_SITE,
    PT_RANK_RECORD,
    PT_RANK_NAME,
    PT_RANK_MODULE,
    PT_RANK_THREAD,
    PT_RANK_ASKED,
    PT_RANK_FINE,
    PT_RANK_CLOCK,
    PT_RANK_POOL,
    PT_RANK_SIGNAL,
    PT_RANK_COUNT
};

struct pt_spin {
    _Atomic uint32_t state; /* 0: free, 1: locked, 2: locked, and somebody may wait for it */
#ifdef PT_CHECK_LOCKS
    uint32_t rank; /* enum pt_rank */
#endif
};

#ifdef PT_CHECK_LOCKS
#define PT_SPIN(of)                                                                                                    \
    {                                                                                                                  \
        .rank = of                                                                                                     \
    }
#define pt_spin_rank(lock) ((lock)->rank)
void pt_rank_take(uint32_t rank);
void pt_rank_give(uint32_t rank);
#else
#define PT_SPIN(of)                                                                                                    \
    {                                                                                                                  \
        .state = 0                                                                                                     \
    }
#define pt_spin_rank(lock) PT_RANK_ANY
static inline void pt_rank_take(uint32_t rank)
{
    (void)rank;
}
static inline void pt_rank_give(uint32_t rank)
{
    (void)rank;
}
#endif

/* Waits until the lock is the caller's; somebody else has it. */
void pt_spin_wait(struct pt_spin *lock);
/* It is free, and somebody may wait for it. */
void pt_spin_wake(struct pt_spin *lock);

static inline void pt_spin_lock(struct pt_spin *lock)
{
    uint32_t seen = 0;
    pt_rank_take(pt_spin_rank(lock));
    /* acquire: partner of the release in pt_spin_unlock */
    if (!atomic_compare_exchange_strong_explicit(&lock->state, &seen, 1, memory_order_acquire, memory_order_relaxed))
        pt_spin_wait(lock);
}

/* False: somebody has it. */
static inline bool pt_spin_try(struct pt_spin *lock)
{
    uint32_t seen = 0;
    /* acquire: partner of the release in pt_spin_unlock */
    if (!atomic_compare_exchange_strong_explicit(&lock->state, &seen, 1, memory_order_acquire, memory_order_relaxed))
        return false;
    pt_rank_take(pt_spin_rank(lock));
    return true;
}

static inline void pt_spin_unlock(struct pt_spin *lock)
{
    pt_rank_give(pt_spin_rank(lock));
    if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)
        pt_spin_wake(lock);
}

/* In the child of a fork: whoever had it is not there any more. */
static inline void pt_spin_reset(struct pt_spin *lock)
{
    atomic_store_explicit(&lock->state, 0, memory_order_relaxed);
}

/* One step of waiting for another thread, until *word is not `seen` any more: first the processor's pause, then a
 * futex. Nobody wakes who waits here, since that would cost every unlock: it looks again after a short time, which
 * grows while it waits, and with the threads that do the same. */
void pt_spin_await(_Atomic uint32_t *word, uint32_t seen, unsigned *turn);
/* In the child of a fork: those who waited are not there any more. */
void pt_spin_restart(void);

#endif
