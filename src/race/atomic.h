/* Atomic accesses of a location that is used as it was before: without searching and making anew what is known of it.
 */
#ifndef PT_RACE_ATOMIC_H
#define PT_RACE_ATOMIC_H

#include "race/cell.h"

struct pt_cell_raised {
    struct pt_cell_seen
        *seen;    /* the entry that has become this access, whose note is to be set; NULL: nothing was done */
    bool learned; /* the thread knows something that it did not; then also if nothing was done */
};
/* An atomic access that agrees with one of the thread's which is there, where all accesses since the last plain write
 * that could race with it are known to it. Else the calls of cell.h do it, which find the same. `guess`: which entry it
 * may be, looked at first. */
struct pt_cell_raised pt_cell_raise_atomic(const struct pt_cell_env *env, struct pt_cell *cell,
                                           struct pt_hb_thread *thread, const struct pt_cell_access *access,
                                           uint32_t guess);

#endif
