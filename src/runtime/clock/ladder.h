/*
 * The ladder: clocks as plain numbers while all relevant events are in one causal order.
 *
 * A relevant event whose thread knows of all relevant events so far is the next rung, and its clock is a number with
 * the mark PT_CLOCK_RUNG and how many rungs there are. As long as every event is one, every clock is a rung, or number
 * 0: a clock says how many of the events it knows. So a <= b is a comparison of two numbers and max(a, b) is one of
 * them; and as rungs are never used again, nobody needs a reference to one, and what a number means does not change
 * while somebody looks away.
 *
 *   tick    under a lock: is the thread's clock the last rung? Then all events are known to it, and it makes the next.
 *   end     the first event that does not know of all: there are no more rungs, for good. It, and whatever knows of it,
 *           gets a snapshot (clock.h), which has the last rung that it knows: a rung is no later than a snapshot if it
 *           is no later than that, and no snapshot is earlier than a rung, since none of these knows of that event.
 *
 * What a rung stands for as pairs of lanes and counts is wanted where an event is sent, which has its thread's copy,
 * and where rungs and snapshots are joined. Then it is made from a mark, a vector kept every so many rungs, and the
 * events since. Memory: 12 bytes for each rung, 2^25 at most; then the ladder ends, as by an event.
 *
 * Memory order: a rung's pair is written before any thread has its number as a clock; whoever has got the number out of
 * a shadow word or another thread's clock has got that with it. tests/unit/test_rt_ladder.c.
 */
#ifndef PT_RUNTIME_CLOCK_LADDER_H
#define PT_RUNTIME_CLOCK_LADDER_H

#include "runtime/clock/clock.h"
#include "runtime/clock/lane.h"

struct pt_clock_self;

/* What a thread has made of rungs: its latest two. */
struct pt_clock_view {
    pt_clock_id id; /* 0: none */
    uint32_t count, room;
    struct pt_clock_pair *pairs;
};

#pragma GCC visibility push(hidden)
extern struct pt_clock_pair *pt_clock_rungs; /* by number: the event of that rung */
extern _Atomic bool pt_clock_climbs;         /* there may be a next one; changed under the lock */
#pragma GCC visibility pop

/* Whether every number that the caller may come across is a rung or 0. relaxed: the ladder ends before there is a
 * snapshot, and whoever comes across one sees what was before. */
static inline bool pt_clock_only_rungs(void)
{
    return atomic_load_explicit(&pt_clock_climbs, memory_order_relaxed);
}

/* From the next event on, if there is no clock yet but number 0. Facts (knowledge.h) need snapshots: not with them. */
void pt_clock_ladder_start(void);
void pt_clock_ladder_restart(void);
/* The next rung, as the clock of the thread's event number `count`; 0: it is to be a snapshot. */
pt_clock_id pt_clock_climb(struct pt_clock_self *self, uint64_t count);
/* The pairs of any clock. Of the calling thread's alone: until its next tick but one, or until it asks for others. */
struct pt_clock_pairs pt_clock_pairs_of(struct pt_clock_self *self, pt_clock_id id);
/* The thread ends. */
void pt_clock_drop_views(struct pt_clock_self *self);

/* The latest rung that is no later than a clock; 0: none. */
static inline pt_clock_id pt_clock_rung_of(pt_clock_id id)
{
    return pt_clock_is_rung(id) ? id : pt_clocks[id].rung;
}

#endif
