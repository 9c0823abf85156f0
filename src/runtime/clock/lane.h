/*
 * Lanes: which component of clocks a thread's relevant events are counted in.
 *
 * A thread that knows all events of another one that has ended goes on in its lane, as its events come behind those;
 * any other has a lane of its own, which is called by its number. So clocks are as long as threads had events at a time
 * that did not know of each other, not as all threads that ever had some.
 *
 * Why that is the same order. A clock may have one count for several threads if their events are in one causal order: a
 * chain (Dilworth's theorem; a thread is the chain that comes by itself). Then who knows the n-th of them knows those
 * before it, so that one number says which events of the chain are known, and e <= f still is that f's clock counts as
 * many events of e's lane as e's own (Fidge, Mattern). Events of a lane are such a chain:
 *
 *   - those of one thread are, in program order;
 *   - a thread takes over a lane at its first event, where its clock counts as many events of the lane as there are
 *     when the lane's last thread has ended. Clocks are transitive, so it knows all of them, and so do its own events,
 *     all of which come behind its first;
 *   - nobody has events there beside it: the ended thread has no more (pt_clock_lane_end comes after whatever it does,
 *     the destructors of its keys and handlers of signals among it), and of those who come for the lane one gets it.
 *
 * That a thread has ended is not enough, nor is it that its creator has joined some other: what is asked is what the
 * thread's clock counts. One that was detached and nobody heard of keeps its lane for good.
 *
 * How many events there are when the last thread ended stands in a table by lane; 0: it is in use. Counts only grow, so
 * no lane is taken for what it was before. Memory order: the end is stored (release) and taken by a compare-and-swap
 * (acquire); what the ended thread did is known by the clock alone, which came by its own way.
 *
 * Readers of events tell threads apart: the first record of a thread that has taken over a lane says so
 * (core/channel.h). tests/unit/test_rt_lane.c.
 */
#ifndef PT_RUNTIME_CLOCK_LANE_H
#define PT_RUNTIME_CLOCK_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/channel.h"

struct pt_clock_self;

/* Sorted by lane. */
struct pt_clock_pairs {
    const struct pt_clock_pair *pairs;
    uint32_t count;
};

struct pt_clock_lane {
    uint32_t number;
    bool taken;      /* it has one: it has had an event */
    bool taken_over; /* another thread had it before */
    uint64_t first;  /* events there before its own */
    uint64_t base; /* its n-th event is this one's + n in the lane: not the same where its events were counted before */
};

bool pt_clock_lanes_start(void);
void pt_clock_lanes_restart(void);
/* The thread, which has this clock, is about to have its first relevant event, number `count` of its own. */
void pt_clock_lane_take(struct pt_clock_self *self, uint64_t count, struct pt_clock_pairs clock);
/* It will have none any more. */
void pt_clock_lane_end(const struct pt_clock_self *self);

#endif
