/* What the files of the chain-following net share; nobody else includes this. */
#ifndef PT_NET_PATH_IMPL_H
#define PT_NET_PATH_IMPL_H

#include "net/contract.h"
#include "net/model.h"

enum { BLUE, YELLOW };

struct path {
    const struct pt_program *program;
    const struct pt_reduction *r;
    struct pt_contraction contraction; /* whose steps are used below, not the program's */
    const uint32_t *blocks;
    uint32_t block_count;
    struct pt_model *model;
    bool *kept; /* by thread */
    /* Spots: a writer's and a reader's per variable, one per lock, and for each thread its start and its end. */
    uint32_t var_spots, lock_spots, thread_spots, spot_count;
    bool *useful;                          /* by spot: a yellow baton there can get back to T */
    uint32_t *control, *carry, *free_lock; /* places: of node 0 by thread; by lock */
    uint32_t *gone;                        /* by thread: the place of all nodes that are not needed */
    bool **can_drop;                       /* by thread and node: a carrier there can still drop the baton usefully */
    bool **needed;                         /* by thread and node: from there it can still matter to others */
    bool *awaited;                         /* by thread: a join of it can matter */
    uint32_t *spots[2];                    /* places by colour and spot; PT_NONE: not there yet */
    uint32_t choice;
    uint32_t *picks, *drops; /* spots of the step at hand */
    uint32_t pick_count, drop_count;
    size_t pick_cap, drop_cap;
    uint32_t pre[8], post[8];
    uint32_t pre_count, post_count;
};

/* The inside of a guessed block: which nodes, and where the goal can still be reached. By node of its thread. */
struct inside {
    bool *region;
    bool *live;        /* launched: T can still pick the baton up */
    bool *waking;      /* not launched: T can still launch it so that it can come back */
    uint32_t first[2]; /* places of node 0: not launched, launched */
};

static inline const struct pt_prog_step *pt_path_step(const struct path *p, uint32_t index)
{
    return &p->contraction.steps[p->r->steps[index]];
}

/* The first index from `index` on whose step was not left out. */
static inline uint32_t pt_path_next(const struct path *p, uint32_t thread, uint32_t index)
{
    while (index < p->r->step_start[thread + 1] && pt_path_step(p, index)->from == PT_NONE)
        index++;
    return index;
}

#define EACH_STEP(p, t, i)                                                                                             \
    for (uint32_t i = pt_path_next(p, t, (p)->r->step_start[t]); i < (p)->r->step_start[(t) + 1];                      \
         i = pt_path_next(p, t, i + 1))

/* Lists, in `picks` and `drops`, the spots that a step can pick the baton up from and drop it on. */
void pt_path_touch(struct path *p, const struct pt_prog_step *s);
/* Whether the step belongs to the inside of a guessed occurrence of `block`. */
bool pt_path_in_block(const struct inside *in, const struct pt_prog_step *s, uint32_t block);
/* Fills `insides`, one per block, and the tables of path; places are not made yet. */
void pt_path_reach(struct path *p, struct inside *insides);

#endif
