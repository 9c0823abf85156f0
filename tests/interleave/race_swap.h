/*
 * Put before the sources of runtime/race, after atomics.h: the swap of a granule's two slots becomes a step. It counts
 * as one of w alone. That is enough: all others who change r lock w first, and who reads r without the lock goes by it
 * only in a swap, which fails unless r is then as it was read.
 */
#ifndef PT_TESTS_INTERLEAVE_RACE_SWAP_H
#define PT_TESTS_INTERLEAVE_RACE_SWAP_H

#include "runtime/race/log.h"

static inline bool pt_interleave_swap(struct pt_race_pair *pair, uint64_t w, uint64_t r, uint64_t new_w, uint64_t new_r)
{
    pt_interleave_step(PT_INTERLEAVE_UPDATE, &pair->w);
    bool done = pt_race_swap(pair, w, r, new_w, new_r);
    pt_interleave_saw(&pair->w, NULL, 0);
    return done;
}
#define pt_race_swap pt_interleave_swap

#endif
