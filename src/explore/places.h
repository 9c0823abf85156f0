/* Places of the program over all jobs and runs: what steps refer to, and which of them are scheduling points. */
#ifndef PT_EXPLORE_PLACES_H
#define PT_EXPLORE_PLACES_H

#include "base/mem.h"
#include "base/table.h"
#include "core/explore.h"
#include "explore/outcome.h"

/* A copy of a struct pt_explore_place. Index 0 is no place: its texts are "". */
struct pt_explore_spot {
    uint64_t key, site;
    const char *file, *function, *variable;
    uint32_t line, column;
};

struct pt_explore_shared {
    uint64_t key;
    const char *variable; /* for people */
};

struct pt_explore_places {
    struct pt_arena arena;
    struct pt_explore_spot *spots;
    uint32_t spot_count;
    size_t spot_cap;
    struct pt_map64 by_site;
    struct pt_explore_shared *shared; /* keys of scheduling points, in the order in which they were found */
    uint32_t shared_count;
    uint32_t limit; /* only so many of them are scheduling points; UINT32_MAX: all */
    size_t shared_cap;
    struct pt_map64 by_key; /* to indices of `shared` */
    struct pt_map64 chosen; /* keys that surw weighs; any value but PT_NONE: it is one */
    struct {
        uint32_t *spots; /* per place of the job's file: index in spots */
        size_t cap;
        uint32_t count;
    } jobs[64];
};

void pt_explore_places_init(struct pt_explore_places *places);
void pt_explore_places_release(struct pt_explore_places *places);
/* Between runs: looks at what the program of this job has added to its file. */
void pt_explore_places_read(struct pt_explore_places *places, uint32_t job, const struct pt_explore *file);
/* Before a run: nothing was met yet. */
void pt_explore_places_unmeet(struct pt_explore *file);
/* Behind it: what it has met. */
void pt_explore_places_met(const struct pt_explore *file, struct pt_explore_outcome *outcome);
/* What a run has met becomes shared; its places were read. Returns how many keys are new. */
uint32_t pt_explore_places_meet(struct pt_explore_places *places, const struct pt_explore_outcome *outcome);
/* True: the key is new. */
bool pt_explore_places_share(struct pt_explore_places *places, uint64_t key, const char *variable);
/* No key is chosen any more, and one is. */
void pt_explore_places_choose_none(struct pt_explore_places *places);
void pt_explore_places_choose(struct pt_explore_places *places, uint64_t key);
/* Between runs: flags in the file as they are to be in the next run. */
void pt_explore_places_write(const struct pt_explore_places *places, struct pt_explore *file);
/* Turns the places of an outcome, which are indices of its job's file, into indices of spots. */
void pt_explore_places_take(const struct pt_explore_places *places, struct pt_explore_outcome *outcome);

static inline const struct pt_explore_spot *pt_explore_spot(const struct pt_explore_places *places, uint32_t index)
{
    return &places->spots[index < places->spot_count ? index : 0];
}

#endif
