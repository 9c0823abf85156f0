/*
 * Vector clocks as immutable snapshots with small numbers.
 *
 * Only relevant events advance a clock, so nearly all accesses find the numbers they expect and compare two integers
 * instead of two vectors. A snapshot is a sorted list of (thread, count) pairs without zeros; 0 is the number of the
 * empty one. Different numbers may stand for equal clocks: that costs a comparison, never an answer.
 *
 * Who holds a number holds a reference: each shadow word, each thread, each thread that waits to be joined. A snapshot
 * that nobody holds is used again, so memory is bounded by the snapshots alive, at most two per granule of shared
 * memory.
 */
#ifndef PT_RUNTIME_CLOCK_H
#define PT_RUNTIME_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/channel.h"
#include "runtime/knowledge.h"

typedef uint32_t pt_clock_id;
enum { PT_CLOCK_BITS = 27, PT_CLOCK_CLASSES = 24 };

struct pt_thread;

struct pt_clock {
    _Atomic int64_t references;
    struct pt_clock_pair *pairs;
    uint32_t count;
    uint32_t size_class; /* room for 2 << size_class pairs */
    union {
        struct pt_know *know; /* what whoever has this clock knows (knowledge.h); owns a reference */
        pt_clock_id next_free;
    };
};

/* Snapshots that a thread keeps for itself, so that making one seldom takes a lock. */
struct pt_clock_cache {
    struct {
        pt_clock_id first;
        uint32_t count;
    } free[PT_CLOCK_CLASSES];
};

extern struct pt_clock *pt_clocks;

bool pt_clock_start(void);
/* a <= b, component by component. The caller holds both. */
bool pt_clock_leq(pt_clock_id a, pt_clock_id b);
/* max(a, b), with a reference for the caller; a or b itself where it is one of them, b if it is both. */
pt_clock_id pt_clock_join(struct pt_thread *self, pt_clock_id a, pt_clock_id b);
/* The same where b is known not to be <= a. */
pt_clock_id pt_clock_join_later(struct pt_thread *self, pt_clock_id a, pt_clock_id b);
/* `a` with the component of `thread` set to `count`, with a reference for the caller. */
pt_clock_id pt_clock_with(struct pt_thread *self, pt_clock_id a, uint32_t thread, uint32_t count);
/* `a` with other knowledge, a reference to which it takes over; with a reference for the caller. */
pt_clock_id pt_clock_with_know(struct pt_thread *self, pt_clock_id a, struct pt_know *know);
void pt_clock_recycle(struct pt_thread *self, pt_clock_id id);
/* Gives everything in the cache back: the thread ends. */
void pt_clock_flush(struct pt_thread *self);

static inline void pt_clock_acquire(pt_clock_id id, int64_t references)
{
    if (id)
        atomic_fetch_add_explicit(&pt_clocks[id].references, references, memory_order_relaxed);
}

static inline void pt_clock_release(struct pt_thread *self, pt_clock_id id, int64_t references)
{
    /* acq_rel: whoever gets to zero has seen all reads of the snapshot by those who let it go before */
    if (id && atomic_fetch_sub_explicit(&pt_clocks[id].references, references, memory_order_acq_rel) == references)
        pt_clock_recycle(self, id);
}

#endif
