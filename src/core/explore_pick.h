/*
 * Who is taken next in a controlled run (core/explore.h): forced by the prefix, then by a strategy, sleep sets left
 * out. Freestanding, of fixed size; the program's runtime uses it, and what tests play a program with.
 */
#ifndef PT_CORE_EXPLORE_PICK_H
#define PT_CORE_EXPLORE_PICK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/explore.h"

enum { PT_EXPLORE_CHANGES = 16, PT_EXPLORE_INDEX = 2048 }; /* changes of priority at most; places of weights */

/* What there is to choose from at one point. */
struct pt_explore_view {
    const struct pt_explore_set *enabled; /* not empty */
    const struct pt_explore_set *yields;  /* of those: taken only if there is nobody else */
    const struct pt_explore_set *chosen;  /* whose next step is at a place of PT_EXPLORE_CHOSEN */
    const struct pt_explore_set *signals; /* that could handle a signal first */
    const struct pt_explore_step *next;   /* by slot: what each is about to do. Of a thread that would time out, with
                                             PT_EXPLORE_TIMED_OUT in `flags` */
    uint32_t current;                     /* who was taken last */
    uint64_t step;                        /* how many there were */
    const struct pt_explore_set *bound;   /* of `signals`: that cannot go on otherwise; NULL: none */
};

struct pt_explore_picker {
    const struct pt_explore_input *input;
    const struct pt_explore_stretch *prefix;
    const struct pt_explore_weight *weights;
    uint32_t at, used; /* the stretch of the prefix that is being followed, and how many of its steps were */
    uint64_t random;   /* state */
    struct pt_explore_set sleep;
    enum pt_explore_end why; /* of a pick that took nobody */
    bool forced;             /* the last pick was the prefix's */
    bool diverged;           /* the prefix was left, and is not followed any more */
    uint64_t diverged_at;    /* step, from 1 on; 0: it was not */
    /* PCT: higher goes first. Those that fell have numbers below FALLEN, each lower than the last. */
    uint64_t priority[PT_EXPLORE_THREADS];
    uint64_t fallen;
    uint64_t changes[PT_EXPLORE_CHANGES];
    uint32_t change_count;
    /* SURW: how many chosen steps each has left, those of threads that it has yet to start among them */
    uint64_t left[PT_EXPLORE_THREADS];
    uint64_t line[PT_EXPLORE_THREADS];
    uint32_t intended;                /* whose chosen step comes next; PT_EXPLORE_NO_SLOT: not decided */
    uint16_t index[PT_EXPLORE_INDEX]; /* weights by line: 1 + number, 0: free */
};

void pt_explore_pick_begin(struct pt_explore_picker *picker, const struct pt_explore_input *input,
                           const struct pt_explore_stretch *prefix, const struct pt_explore_weight *weights);
/* A thread is there. Of the first one, `parent` is PT_EXPLORE_NO_SLOT. */
void pt_explore_pick_thread(struct pt_explore_picker *picker, uint32_t slot, uint32_t parent, uint64_t line);
/* The slot, perhaps with PT_EXPLORE_HANDLES; or PT_EXPLORE_NO_SLOT: picker->why says why. */
uint32_t pt_explore_pick(struct pt_explore_picker *picker, const struct pt_explore_view *view);
/* Whom the prefix has next; PT_EXPLORE_NO_SLOT: it is over, or was left. */
uint32_t pt_explore_pick_next(const struct pt_explore_picker *picker);
/* Numbers at random, the same for the same seed everywhere. */
uint64_t pt_explore_random(uint64_t *state);

#endif
