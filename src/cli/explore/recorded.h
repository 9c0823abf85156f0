/* Recordings of controlled runs, analysed as `check` does: what was observed in them, and what they predict. */
#ifndef PT_CLI_EXPLORE_RECORDED_H
#define PT_CLI_EXPLORE_RECORDED_H

#include "cli/explore/explorer.h"

/* What one recording showed; its findings live as long as it. */
struct pt_explore_recorded {
    struct pt_names names;
    struct pt_checks *checks;
    struct pt_analysis *analysis;
    struct pt_result result; /* the properties come first */
    uint32_t property_count;
    bool torn; /* the recording was not whole */
};

/* The file of a job; the caller frees it. */
char *pt_explore_recorded_name(uint32_t job);
/* What is to be looked for in a recording. */
struct pt_explore_reading {
    struct pt_explore_properties *properties; /* NULL: none */
    uint32_t checks;                          /* 1 << enum pt_found_check */
    bool predicts;                            /* in other orders, too */
    bool keeps;                               /* the recording stays, for another reading */
};
/* Reads the recording, and removes it. */
struct pt_explore_recorded *pt_explore_recorded_read(const char *path, const struct pt_explore_reading *reading);
/* Removes what there is of it. */
void pt_explore_recorded_remove(const char *path);
void pt_explore_recorded_free(struct pt_explore_recorded *recorded);

/* Schedules that bring together what a recording predicts, of the run that it is of: each is handed to the tactic. */
void pt_explore_recorded_steer(const struct pt_explore_recorded *recorded, const struct pt_explore_outcome *outcome,
                               const struct pt_explore_places *places, struct pt_explore_tactic *tactic);

/* The beginning of a run in which the events of a predicted violation come as its witness has them: each with the steps
 * of the run `outcome` that it needs, and no others. The caller frees it; NULL: none of them is a step. */
struct pt_explore_stretch *pt_explore_recorded_bring(const struct pt_finding *finding,
                                                     const struct pt_explore_outcome *outcome,
                                                     const struct pt_explore_names *names, uint32_t *ret_count);
/* The step of the run in which the event is that breaks a property, from 1 on; 0: it is not known. */
uint64_t pt_explore_recorded_step(const struct pt_finding *finding, const struct pt_explore_outcome *outcome,
                                  const struct pt_explore_names *names);

#endif
