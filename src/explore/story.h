/* Runs in words: names of threads, who ran how far, how it ended; and the run that passed and is most like it. */
#ifndef PT_EXPLORE_STORY_H
#define PT_EXPLORE_STORY_H

#include "explore/outcome.h"
#include "explore/places.h"
#include "finding/finding.h"

/* Who knows more than the tables. */
struct pt_explore_names {
    const struct pt_explore_places *places;
    /* The function that begins at an address of the program, and the variable that lies at one; NULL: not known. */
    const char *(*function)(void *context, uint64_t address);
    const char *(*variable)(void *context, uint64_t address);
    void *context;
};

/* Names by slot, then NULL: main, the name that it was given, or its start function, `worker#2` for the second. */
const char *const *pt_explore_thread_names(const struct pt_explore_names *names,
                                           const struct pt_explore_outcome *outcome, struct pt_arena *arena);
/* The stretches of a run, with places where it has steps. */
struct pt_played_stretch *pt_explore_tell(const struct pt_explore_names *names,
                                          const struct pt_explore_outcome *outcome, struct pt_arena *arena,
                                          uint32_t *ret_count);
/* Everything about a failing run but how it was found. `passing` may be NULL. */
struct pt_played *pt_explore_story(const struct pt_explore_names *names, const struct pt_explore_outcome *outcome,
                                   const struct pt_explore_failure *failure, const struct pt_explore_outcome *passing,
                                   struct pt_arena *arena);
/* The place of a step: "a.c:10". */
const char *pt_explore_loc(const struct pt_explore_spot *spot, struct pt_arena *arena);
/* What the failure is about, in words that another line above does not change, and the place that it is at. */
const char *pt_explore_about(const struct pt_explore_names *names, const struct pt_explore_outcome *outcome,
                             const struct pt_explore_failure *failure, struct pt_arena *arena);
struct pt_side *pt_explore_side(const struct pt_explore_names *names, const struct pt_explore_outcome *outcome,
                                const struct pt_explore_failure *failure, struct pt_arena *arena);

/* Runs that passed, as many as there is room for. */
struct pt_explore_passed {
    struct pt_explore_outcome *runs;
    uint32_t count, next;
};
/* Copies it, if it is not too long. */
void pt_explore_passed_add(struct pt_explore_passed *passed, const struct pt_explore_outcome *outcome);
void pt_explore_passed_release(struct pt_explore_passed *passed);
/* That which has the longest beginning in common with `outcome`, by threads, kinds and places; of several the one with
 * fewest switches. NULL: there is none. */
const struct pt_explore_outcome *pt_explore_nearest(const struct pt_explore_passed *passed,
                                                    const struct pt_explore_places *places,
                                                    const struct pt_explore_outcome *outcome);

#endif
