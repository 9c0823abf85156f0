/*
 * Vector clocks: for each thread, how many of its counted events precede or equal something. What an event needs of a
 * cut is said by one of them (order.h). Immutable once shared, so that everybody who knows the same has the same one.
 * Counts are at most PT_COUNT_MAX: whoever counts sees to that.
 */
#ifndef PT_ORDER_CLOCK_H
#define PT_ORDER_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So that the difference of two counts is a signed number of 64 bits, and results can have them. */
#define PT_COUNT_MAX ((uint64_t)INT64_MAX)

/* Where clocks come from and go to: short ones are kept for reuse, so that a steady stream of events allocates nothing.
 */
enum { PT_CLOCK_CLASSES = 20 }; /* more would keep much where threads become many one by one */
struct pt_clock_pool {
    size_t bytes;                             /* of the clocks that are alive */
    struct pt_clock *spare[PT_CLOCK_CLASSES]; /* by length, in steps of 4 counts */
};
void pt_clock_pool_release(struct pt_clock_pool *pool); /* after its last clock */

/* counts[j]: of thread j; threads past len have 0. */
struct pt_clock {
    union {
        struct pt_clock_pool *pool; /* outlives it */
        struct pt_clock *next;      /* of a spare one */
    };
    uint32_t refs;
    uint32_t len;
    uint64_t counts[];
};
static inline uint64_t pt_clock_get(const struct pt_clock *clock, uint32_t thread)
{
    return thread < clock->len ? clock->counts[thread] : 0;
}

struct pt_clock *pt_clock_new(uint32_t len,
                              struct pt_clock_pool *pool); /* zeroed; the caller fills it before sharing it */
struct pt_clock *pt_clock_ref(struct pt_clock *clock);
void pt_clock_unref(struct pt_clock *clock); /* NULL is fine */
/* *place <- max(*place, other); true: *place learned something. NULL is the empty clock. */
bool pt_clock_absorb_slow(struct pt_clock **place, struct pt_clock *other); /* other is neither NULL nor *place */
static inline bool pt_clock_absorb(struct pt_clock **place, struct pt_clock *other)
{
    return *place != other && other && pt_clock_absorb_slow(place, other);
}
/* *place <- a copy with thread i's count one higher. */
void pt_clock_tick(struct pt_clock **place, uint32_t thread);

/* *place <- clock */
static inline void pt_clock_set(struct pt_clock **place, struct pt_clock *clock)
{
    if (*place == clock)
        return;
    pt_clock_ref(clock);
    pt_clock_unref(*place);
    *place = clock;
}

#endif
