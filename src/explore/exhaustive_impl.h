/* What the files of `exhaustive` share: the tree of runs, of which the last one is a path. */
#ifndef PT_EXPLORE_EXHAUSTIVE_IMPL_H
#define PT_EXPLORE_EXHAUSTIVE_IMPL_H

#include "explore/causes.h"
#include "explore/exhaustive.h"

enum { STEPS_MOST = 20000 }; /* of a run that is looked at */

struct node {
    struct pt_explore_set enabled;  /* could be taken here, without those that spin if there are others */
    struct pt_explore_set trying;   /* source set: are to be tried here */
    struct pt_explore_set done;     /* were */
    struct pt_explore_set signals;  /* could be taken to handle a signal, too; that is tried with them ... */
    struct pt_explore_set bound;    /* ... or alone */
    struct pt_explore_set handled;  /* were */
    struct pt_explore_step *asleep; /* need not be: what they were about to do */
    struct pt_explore_step *tried;  /* what those that were tried did, and the one that is being */
    uint32_t asleep_count, tried_count;
    size_t asleep_cap, tried_cap;
    struct pt_explore_step step; /* the one of the last run */
    uint32_t preemptions;        /* before it, in the last run */
};

struct exhaustive {
    struct pt_explore_tactic tactic; /* first */
    struct pt_explore_base base;
    struct node *nodes;
    uint32_t count, made; /* nodes of the last run; those that have memory */
    size_t cap;
    struct pt_explore_step *waiting; /* of the last run: what threads were about to do when it was over, by slot */
    bool *waits;                     /* ... if they were */
    bool begun, over, out;           /* the first run is handed out; nothing is left; a plan is under way */
    uint32_t branch;                 /* node of the plan that is under way */
    uint32_t shared;                 /* keys when this pass began */
    struct pt_map64 classes;
    struct pt_explore_progress progress;
    struct pt_explore_causes causes; /* of the run that is looked at */
    uint64_t *hashes;
};

/* Preemptions are. */
static inline bool exh_bounded(const struct exhaustive *x)
{
    return x->base.preemptions != UINT32_MAX;
}

/* exhaustive_races.c: who is to be tried at the nodes of the last run for its races, of steps from `from` on. Of a run
 * that was `cut` short, because all who could go on sleep, of what threads were about to do only waits count: whatever
 * else they would do, another run does. */
void exh_find_races(struct exhaustive *x, uint32_t from, bool cut);

/* exhaustive_doubts.c: not everything is looked at, because ...; only the first reason counts. */
void exh_miss(struct exhaustive *x, const char *why);
/* The reasons that a run gives. */
void exh_look_for_doubts(struct exhaustive *x, const struct pt_explore_outcome *outcome);

#endif
