/* Recordings of controlled runs, analysed as `check` does: what was observed in them, and what they predict. */
#ifndef PT_CLI_EXPLORE_RECORDED_H
#define PT_CLI_EXPLORE_RECORDED_H

#include "cli/explore/explorer.h"

/* What one recording showed; its findings live as long as it. */
struct pt_explore_recorded {
    struct pt_names names;
    struct pt_checks *checks;
    struct pt_analysis *analysis;
    struct pt_result result;
    bool torn; /* the recording was not whole */
};

/* The file of a job; the caller frees it. */
char *pt_explore_recorded_name(uint32_t job);
/* Reads the recording, and removes it. NULL: there is none. `checks`: 1 << enum pt_found_check; `predicts`: in the
 * orders sync and values, too. */
struct pt_explore_recorded *pt_explore_recorded_read(const char *path, struct pt_analyse *analyse, uint32_t checks,
                                                     bool predicts);
void pt_explore_recorded_free(struct pt_explore_recorded *recorded);

/* Schedules that bring together what a recording predicts, of the run that it is of: each is handed to the tactic. */
void pt_explore_recorded_steer(const struct pt_explore_recorded *recorded, const struct pt_explore_outcome *outcome,
                               const struct pt_explore_places *places, struct pt_explore_tactic *tactic);

#endif
