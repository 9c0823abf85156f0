/*
 * Enabledness by needs (order.h), for many counts at a time. Two forms of a cut:
 *
 * Packed counts: one field per thread, with a guard bit above each. Where the guards are set, one subtraction compares
 * all fields of a word, as a field that is too small borrows its guard. What an event needs is packed alike, its own
 * thread's field holding the events before it.
 *
 * Sets: one bit per event, and what an event needs is a set too.
 */
#ifndef PT_ORDER_PACKED_H
#define PT_ORDER_PACKED_H

#include <stdbool.h>
#include <stdint.h>

/* `words` is a constant where it is called in hot loops, so that the loop is unrolled away. */
static inline __attribute__((always_inline)) bool pt_packed_enabled(const uint64_t *cut, const uint64_t *guard,
                                                                    const uint64_t *need, const uint32_t words)
{
    uint64_t missing = 0;
    for (uint32_t k = 0; k < words; k++)
        missing |= ~((cut[k] | guard[k]) - need[k]) & guard[k];
    return !missing;
}

/* The same of one word out of many. */
static inline bool pt_packed_lacks(uint64_t cut, uint64_t guard, uint64_t need)
{
    return ~((cut | guard) - need) & guard;
}

static inline bool pt_set_enabled(uint64_t cut, uint64_t need)
{
    return (need & ~cut) == 0;
}

#endif
