/*
 * Lanes (lane.h): who takes over which.
 *
 * Cost: a look at the table for each count of the thread's clock, once in its life, where a clock is copied anyway.
 */
#include "runtime/clock/lane.h"

#include <stdatomic.h>

#include "runtime/clock/self.h"
#include "runtime/sys/sys.h"

enum { LANE_BITS = 22 }; /* what later threads have alone is never taken over */

static _Atomic uint64_t *ends; /* by lane: its events, once the last thread there has ended; 0: it is in use */

bool pt_clock_lanes_start(void)
{
    ends = pt_sys_reserve_table(sizeof *ends << LANE_BITS);
    return ends;
}

void pt_clock_lanes_restart(void)
{
    pt_sys_empty(ends, sizeof *ends << LANE_BITS);
}

static bool take_over(struct pt_clock_pair known)
{
    uint64_t count = known.count;
    return !(known.lane >> LANE_BITS) && atomic_load_explicit(&ends[known.lane], memory_order_relaxed) == count &&
           /* acquire: partner of the end's release */
           atomic_compare_exchange_strong_explicit(&ends[known.lane], &count, 0, memory_order_acquire,
                                                   memory_order_relaxed);
}

void pt_clock_lane_take(struct pt_clock_self *self, uint64_t count, struct pt_clock_pairs clock)
{
    self->lane = (struct pt_clock_lane){.number = self->number, .taken = true};
    for (uint32_t i = 0; i < clock.count && pt_has_cache(PT_CACHE_LANES); i++) {
        struct pt_clock_pair known = clock.pairs[i];
        if (!take_over(known))
            continue;
        self->lane = (struct pt_clock_lane){known.lane, true, true, known.count, known.count - (count - 1)};
        return;
    }
}

void pt_clock_lane_end(const struct pt_clock_self *self)
{
    if (self->lane.taken && !(self->lane.number >> LANE_BITS)) /* release: partner of the acquire in take_over */
        atomic_store_explicit(&ends[self->lane.number], self->lane.base + self->events, memory_order_release);
}
