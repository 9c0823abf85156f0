/*
 * What an event needs, as findings carry it into results and back: plain counts, one per thread of the finding, the
 * event itself included. For those who read a finding and have no trace.
 */
#ifndef PT_ORDER_COUNTS_H
#define PT_ORDER_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

/* Is the thread's index-th event, from 1, among those that precede or equal the event of these counts? */
static inline bool pt_counts_include(const uint64_t *counts, uint32_t thread, uint64_t index)
{
    return counts[thread] >= index;
}

/* The thread's latest event that precedes one of these counts, but not the event `before` it in its own thread (NULL:
 * it is the first); 0: there is none. */
static inline uint64_t pt_counts_news(const uint64_t *counts, const uint64_t *before, uint32_t thread)
{
    return counts[thread] > (before ? before[thread] : 0) ? counts[thread] : 0;
}

#endif
