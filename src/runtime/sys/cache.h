/*
 * What the runtime remembers only to be faster. Each of these can be left out of a build, to measure what it is worth
 * (bench/caches): compile with -DPT_WITHOUT=PT_CACHE_PASSED, say. Answers are the same without any of them.
 */
#ifndef PT_RUNTIME_SYS_CACHE_H
#define PT_RUNTIME_SYS_CACHE_H

#include <stdbool.h>

enum pt_cache {
    PT_CACHE_PASSED = 1,    /* clocks that a thread knows to be no later than its own (clock/self.h) */
    PT_CACHE_SEEN = 2,      /* how far in others' rings a thread has come (clock.h) */
    PT_CACHE_BETWEEN = 4,   /* pairs of clocks between which a thread's own was found (shadow/self.h) */
    PT_CACHE_READINGS = 8,  /* clocks of reads that readers keep for themselves (readers.h) */
    PT_CACHE_RAISED = 16,   /* how often a thread has raised an access clock next to other readers (readers.c) */
    PT_CACHE_RING = 32,     /* clock numbers of a thread's own (ring.c) */
    PT_CACHE_KEPT = 64,     /* pages that one thread alone uses (shadow/kept.h) */
    PT_CACHE_SILENCE = 128, /* that all threads have the same clock (shadow/silence.h) */
    PT_CACHE_LADDER = 256,  /* that all relevant events are in one order (clock/ladder.h) */
    PT_CACHE_LANES = 512    /* that a thread comes after all events of one that has ended (clock/lane.h) */
};

#ifndef PT_WITHOUT
#define PT_WITHOUT 0
#endif

/* A constant. */
static inline bool pt_has_cache(enum pt_cache cache)
{
    return !(PT_WITHOUT & cache);
}

#endif
