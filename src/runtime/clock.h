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
 *
 * A thread's clock only grows. So whoever has a clock of some thread has also passed all that were this thread's
 * before: a snapshot's stamp tells whose it was made to be and as which one, and comparing two stamps of the same
 * thread compares the clocks. (What FastTrack calls an epoch, except that here it says more: all that the thread knew.)
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

/* Each stands in one cache line: it is looked at by threads that did not make it. */
struct pt_clock {
    _Alignas(64) _Atomic int64_t references;
    struct pt_clock_pair *pairs;
    uint32_t count;
    uint32_t size_class;    /* room for 2 << size_class pairs */
    _Atomic uint64_t stamp; /* whose clock it was made to be, and as its how-manieth (pt_stamp); 0: nobody's */
    union {
        struct pt_knows knows; /* what whoever has this clock knows (knowledge.h); owns references */
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

/* The next clock of the calling thread, with a reference for the caller. max(V_i, b), where b is not <= V_i: */
pt_clock_id pt_clock_next_join(struct pt_thread *self, pt_clock_id b);
/* V_i with the thread's component set to `count`: */
pt_clock_id pt_clock_next_tick(struct pt_thread *self, uint32_t count);
/* V_i with other knowledge, references to which it takes over: */
pt_clock_id pt_clock_next_knows(struct pt_thread *self, struct pt_knows knows);
void pt_clock_recycle(struct pt_thread *self, pt_clock_id id);
/* Gives everything in the cache back: the thread ends. */
void pt_clock_flush(struct pt_thread *self);

enum { PT_STAMP_BITS = 40 }; /* for the how-manieth; the thread's number is above */
static inline uint64_t pt_stamp_maker(uint64_t stamp)
{
    return stamp >> PT_STAMP_BITS;
}
/* The caller holds it, or looks again when it does. */
static inline uint64_t pt_clock_stamp(pt_clock_id id)
{
    return atomic_load_explicit(&pt_clocks[id].stamp, memory_order_relaxed);
}

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
