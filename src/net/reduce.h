/* What of a program has to be looked at: identical threads, threads that cannot matter, locks used as locks. */
#ifndef PT_NET_REDUCE_H
#define PT_NET_REDUCE_H

#include "net/program.h"

struct pt_reduction {
    uint32_t *like;       /* by thread: the first thread that is identical to it */
    uint32_t *rank;       /* by thread: how many identical ones come before it */
    uint32_t *step_start; /* by thread, into steps; one more at the end */
    uint32_t *steps;      /* the steps of each thread, in their order */
    bool *shared_var;     /* accessed by two threads, and written */
    bool *shared_lock;    /* used by two threads */
    bool nested;          /* every release is by a thread that surely holds the lock */
    bool safe;            /* nested, and each thread is surely started once at most: the net is 1-safe */
    bool spawns;          /* a thread starts another */
    uint32_t copies;      /* of each kind of thread that matter besides the block's own; PT_NONE: all do */
};

void pt_reduction_make(const struct pt_program *program, struct pt_reduction *reduction);
void pt_reduction_release(struct pt_reduction *reduction);
/* The step of `to` that corresponds to one of `from`, which is identical to it. */
uint32_t pt_reduction_translate(const struct pt_reduction *reduction, uint32_t step, uint32_t from, uint32_t to);

#endif
