/*
 * Vector clocks as immutable snapshots with small numbers.
 *
 * Only relevant events advance a clock, so nearly all accesses find the numbers they expect and compare two integers
 * instead of two vectors. A snapshot is a sorted list of (lane, count) pairs without zeros (lane.h); 0 is the number of
 * the one that all threads begin with, and that all others are no earlier than: empty, unless a thread has had events
 * while it was the only one. Different numbers may stand for equal clocks: that costs a comparison, never an answer.
 *
 * Who has a number owns a reference: each shadow word, each thread, each thread that waits to be joined. A snapshot
 * that nobody has is used again, so memory is bounded by the snapshots alive, at most two per granule of shared
 * memory.
 *
 * A thread that makes many clocks has numbers of its own, from which others can tell what they have passed
 * (clock/ring.c).
 */
#ifndef PT_RUNTIME_CLOCK_CLOCK_H
#define PT_RUNTIME_CLOCK_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/channel.h"
#include "runtime/clock/knowledge.h"

typedef uint32_t pt_clock_id;
enum { PT_CLOCK_BITS = 26, PT_CLOCK_CLASSES = 24, PT_THREAD_BITS = 17 /* of threads at a time */ };
enum { PT_CLOCK_RUNG = 1 << (PT_CLOCK_BITS - 1) }; /* in a number: it is no snapshot, but a rung (clock/ladder.h) */

struct pt_clock_self;

/* Each stands in one cache line: it is looked at by threads that did not make it. */
struct pt_clock_snapshot {
    _Alignas(64) _Atomic int64_t references;
    struct pt_clock_pair *pairs;
    uint32_t count;
    uint32_t size_class;    /* room for 2 << size_class pairs */
    _Atomic uint64_t cycle; /* of the ring that its number is in, when it was made */
    pt_clock_id rung;       /* the latest that it knows of (clock/ladder.h); 0: none */
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

/* The numbers of a thread that makes many. */
struct pt_clock_ring {
    uint32_t owner; /* 0: it has none */
    uint32_t made;  /* clocks before it had one */
    uint32_t size, position;
    uint32_t found;   /* free numbers in this cycle */
    pt_clock_id *ids; /* by position */
    int64_t *local;   /* references to them that went through the owner's hands */
};

/* How far in another's ring a thread has come. */
struct pt_seen {
    uint32_t owner, position;
    uint64_t cycle;
};

struct pt_clock_cycle {
    _Alignas(64) _Atomic uint64_t number;
};

#pragma GCC visibility push(hidden)
extern struct pt_clock_snapshot *pt_clocks;    /* by number */
extern _Atomic uint64_t *pt_clock_homes;       /* by number: owner << 32 | position; 0: in no ring */
extern struct pt_clock_cycle *pt_clock_cycles; /* by owner */
#pragma GCC visibility pop

bool pt_clock_start(void);
/* In a child that begins anew: there is no clock but the empty one. */
void pt_clock_restart(void);
/* a <= b, component by component. The caller has references to both. */
bool pt_clock_leq(pt_clock_id a, pt_clock_id b);
/* max(a, b), with a reference for the caller; a or b itself where it is one of them, b if it is both. */
pt_clock_id pt_clock_join(struct pt_clock_self *self, pt_clock_id a, pt_clock_id b);

/* The next clock of the calling thread, with a reference for the caller. max(V_i, b), where b is not <= V_i: */
pt_clock_id pt_clock_next_join(struct pt_clock_self *self, pt_clock_id b);
/* V_i with the thread's component at its relevant event number `count` of its own: */
pt_clock_id pt_clock_next_tick(struct pt_clock_self *self, uint64_t count);
/* The next relevant event of the calling thread, for number 0, which is its clock: there is no other clock, and no
 * other thread. Whoever comes later knows of it. False: nothing has happened, there is no room. */
bool pt_clock_tick_all(struct pt_clock_self *self);
/* V_i with other knowledge, references to which it takes over: */
pt_clock_id pt_clock_next_knows(struct pt_clock_self *self, struct pt_knows knows);
/* V_i with another fact of the thread about itself, which the caller fills: an entry of this cap and size. Where it can
 * be, the fact is one that nobody has any more. 0: no memory. */
pt_clock_id pt_clock_next_says(struct pt_clock_self *self, uint32_t place, uint32_t cap, size_t entry_bytes,
                               size_t text, struct pt_fact **ret_fact);
void pt_clock_recycle(struct pt_clock_self *self, pt_clock_id id);
/* Makes the numbers of the ring common ones, then gives everything in the cache back: the thread ends. */
void pt_clock_ring_end(struct pt_clock_self *self);
void pt_clock_flush(struct pt_clock_self *self);

static inline bool pt_clock_is_rung(pt_clock_id id)
{
    return id & PT_CLOCK_RUNG;
}

static inline uint64_t pt_clock_home(pt_clock_id id)
{
    return atomic_load_explicit(&pt_clock_homes[id], memory_order_relaxed);
}

static inline void pt_clock_acquire(pt_clock_id id, int64_t references)
{
    if (id && !pt_clock_is_rung(id))
        atomic_fetch_add_explicit(&pt_clocks[id].references, references, memory_order_relaxed);
}

static inline void pt_clock_release(struct pt_clock_self *self, pt_clock_id id, int64_t references)
{
    /* acq_rel: whoever gets to zero has seen all reads of the snapshot by those who let it go before */
    if (id && !pt_clock_is_rung(id) &&
        atomic_fetch_sub_explicit(&pt_clocks[id].references, references, memory_order_acq_rel) == references)
        pt_clock_recycle(self, id);
}

#endif
