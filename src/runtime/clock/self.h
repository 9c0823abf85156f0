/*
 * A thread's own clock, V_i of algorithm A, and what it remembers of others' clocks. Everything here is the thread's
 * alone; the layers above embed it in what they keep of a thread.
 *
 * The numbers of snapshots that a thread remembers are safe to compare: it owns a reference to each, so none of them
 * can come to mean another clock meanwhile.
 */
#ifndef PT_RUNTIME_CLOCK_SELF_H
#define PT_RUNTIME_CLOCK_SELF_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/clock/clock.h"
#include "runtime/clock/ladder.h"
#include "runtime/clock/lane.h"
#include "runtime/pool/pool.h"
#include "runtime/sys/cache.h"
#include "runtime/sys/sys.h"

enum { PT_PASSED_BITS = 5, PT_SEEN_BITS = 6 };

/*
 * A clock known to be <= the thread's, which only grows: so this stays true as long as the number means the same clock,
 * and it does, because the thread owns references to it (one at least). Most of them were those of shadow words whose
 * clock the thread replaced by its own: taken over, they cost no atomic operation, and can be put into words again.
 */
struct pt_passed {
    pt_clock_id id; /* 0: none */
    int64_t references;
};

struct pt_clock_self {
    /* read by hooks of accesses */
    pt_clock_id id;   /* of its clock, V_i */
    uint32_t number;  /* the thread's, in order of creation */
    int64_t credit;   /* references to `id` that this thread owns; one is its own, the others are to give away */
    uint64_t changes; /* of the clock so far */
    pt_clock_id rung; /* the latest one that is no later than its clock (clock/ladder.h); 0: none */

    uint64_t events;                              /* its relevant events so far */
    struct pt_clock_lane lane;                    /* where clocks count them */
    uint32_t slot;                                /* its place among threads; another's after its end */
    struct pt_passed passed[1 << PT_PASSED_BITS]; /* by the low bits of the number */
    struct pt_seen seen[1 << PT_SEEN_BITS];       /* by the low bits of the owner */
    struct pt_clock_ring ring;
    struct pt_clock_cache cache;
    struct pt_sharing sharing; /* of the clock's vector of knowledge */
    struct pt_clock_view views[2];
    struct pt_pool_cache pool;
};

/* The clock that the thread begins with. The caller gives its reference. */
static inline void pt_self_begin(struct pt_clock_self *self, pt_clock_id owned)
{
    self->id = owned;
    self->rung = pt_clock_rung_of(owned);
}
/* Replaces the clock by one that is no earlier, to which the caller gives its reference. What the old one was is
 * remembered as passed. */
void pt_self_replace(struct pt_clock_self *self, pt_clock_id owned);
/* The thread ends: releases all that it remembers. */
void pt_self_drop_passed(struct pt_clock_self *self);

/* References to the own clock, to be put into shadow words: nearly free, since bought in bulk. */
void pt_self_buy(struct pt_clock_self *self, int64_t references);
static inline void pt_self_give(struct pt_clock_self *self, int64_t references)
{
    if (pt_clock_is_rung(self->id))
        return;
    if (__builtin_expect(self->credit <= references, 0))
        pt_self_buy(self, references);
    self->credit -= references;
}

static inline struct pt_passed *pt_self_passed_slot(struct pt_clock_self *self, pt_clock_id id)
{
    return &self->passed[id & ((1u << PT_PASSED_BITS) - 1)];
}

/* Its place among the passed clocks; NULL: it is not remembered. */
static inline struct pt_passed *pt_self_find_passed(struct pt_clock_self *self, pt_clock_id id)
{
    struct pt_passed *slot = pt_self_passed_slot(self, id);
    return pt_has_cache(PT_CACHE_PASSED) && id && slot->id == id ? slot : NULL;
}

/* Whether the thread remembers that id <= V_i. False says nothing. */
static inline bool pt_self_has_passed(struct pt_clock_self *self, pt_clock_id id)
{
    return !id || id == self->id || pt_self_find_passed(self, id);
}

/* Whether its number tells that a clock is <= V_i (clock/ring.c); false says nothing. True of a number that the caller
 * owns no reference to is true of what it meant a moment ago. */
static inline bool pt_self_has_seen(const struct pt_clock_self *self, pt_clock_id id)
{
    uint64_t home = pt_clock_home(id);
    uint32_t owner = (uint32_t)(home >> 32), position = (uint32_t)home;
    const struct pt_seen *seen = &self->seen[owner & ((1u << PT_SEEN_BITS) - 1)];
    if (!owner || owner == self->ring.owner)
        return owner;
    if (!pt_has_cache(PT_CACHE_SEEN) || seen->owner != owner)
        return false;
    if (position <= seen->position &&
        seen->cycle == atomic_load_explicit(&pt_clock_cycles[owner].number, memory_order_acquire))
        return true;
    uint64_t cycle = atomic_load_explicit(&pt_clocks[id].cycle, memory_order_relaxed);
    return cycle < seen->cycle || (cycle == seen->cycle && position <= seen->position);
}

/* Either way; what the second says of a number that nobody keeps for the caller is to be asked again. */
static inline bool pt_self_is_past(struct pt_clock_self *self, pt_clock_id id)
{
    if (pt_clock_is_rung(id))
        return id <= self->rung;
    return pt_self_has_passed(self, id) || pt_self_has_seen(self, id);
}

/* The thread's clock is no earlier than this one, to which the caller has a reference. */
static inline void pt_self_note_seen(struct pt_clock_self *self, pt_clock_id id)
{
    if (pt_clock_is_rung(id)) /* whose number tells all that is to be known */
        return;
    uint64_t home = pt_clock_home(id), cycle = atomic_load_explicit(&pt_clocks[id].cycle, memory_order_relaxed);
    uint32_t owner = (uint32_t)(home >> 32), position = (uint32_t)home;
    struct pt_seen *seen = &self->seen[owner & ((1u << PT_SEEN_BITS) - 1)];
    if (pt_has_cache(PT_CACHE_SEEN) && owner &&
        (seen->owner != owner || cycle > seen->cycle || (cycle == seen->cycle && position > seen->position)))
        *seen = (struct pt_seen){owner, position, cycle};
}

/* Where the thread counts references to a clock of its ring; NULL: it is in none of its own. */
static inline int64_t *pt_self_local_count(struct pt_clock_self *self, pt_clock_id id)
{
    uint64_t home = pt_clock_home(id);
    return home && home >> 32 == self->ring.owner ? &self->ring.local[(uint32_t)home] : NULL;
}

/* More references for shadow words: from the thread's own where it can be. */
static inline void pt_self_acquire(struct pt_clock_self *self, pt_clock_id id, int64_t references)
{
    struct pt_passed *slot;
    int64_t *local;
    if (pt_clock_is_rung(id))
        return;
    if (id == self->id)
        pt_self_give(self, references);
    else if ((slot = pt_self_find_passed(self, id)) && slot->references > references)
        slot->references -= references;
    else if ((local = pt_self_local_count(self, id)))
        *local += references;
    else
        pt_clock_acquire(id, references);
}

/* References that a shadow word had go back: to the thread's own where it has such. */
static inline void pt_self_release(struct pt_clock_self *self, pt_clock_id id, int64_t references)
{
    struct pt_passed *slot;
    int64_t *local;
    if (!id || pt_clock_is_rung(id))
        return;
    if (id == self->id)
        self->credit += references;
    else if ((slot = pt_self_find_passed(self, id)))
        slot->references += references;
    else if ((local = pt_self_local_count(self, id)))
        *local -= references;
    else
        pt_clock_release(self, id, references);
}

static inline bool is_own_event(const struct pt_clock_self *self, struct pt_clock_pair event)
{
    return self->lane.taken && event.lane == self->lane.number && event.count > self->lane.first;
}

/* Whether it is an earlier clock of the thread's ring, or that of an earlier event of it. */
static inline bool pt_self_is_own(struct pt_clock_self *self, pt_clock_id id)
{
    if (pt_clock_is_rung(id))
        return is_own_event(self, pt_clock_rungs[id & (PT_CLOCK_RUNG - 1)]);
    return id && pt_self_local_count(self, id);
}

/* The same for a clock that the caller knows to be <= V_i: it is remembered as such, so that its number keeps its
 * meaning at least until the next one is passed. True: it was an earlier one of the thread's ring, or its event's. */
static inline bool pt_self_pass(struct pt_clock_self *self, pt_clock_id id, int64_t references)
{
    if (!id)
        return false;
    if (pt_clock_is_rung(id))
        return id != self->id && pt_self_is_own(self, id);
    if (id == self->id) {
        self->credit += references;
        return false;
    }
    int64_t *local = pt_self_local_count(self, id);
    if (local) { /* its number keeps its meaning as long as the ring has it */
        *local -= references;
        return true;
    }
    struct pt_passed *slot = pt_has_cache(PT_CACHE_PASSED) ? pt_self_passed_slot(self, id) : &self->passed[0];
    if (slot->id != id) {
        pt_clock_release(self, slot->id, slot->references);
        *slot = (struct pt_passed){.id = id};
    }
    slot->references += references;
    return false;
}

#endif
