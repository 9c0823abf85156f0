/* Several programs side by side, one for each job, and rounds of runs that they share. */
#ifndef PT_EXPLORE_CREW_H
#define PT_EXPLORE_CREW_H

#include "explore/places.h"
#include "explore/program.h"

enum { PT_EXPLORE_JOBS = 64 };

struct pt_explore_crew;

/* `setup->job` is not looked at. PT_EIO: memory files cannot be made. */
enum pt_status pt_explore_crew_new(const struct pt_explore_setup *setup, uint32_t jobs, uint64_t timeout,
                                   struct pt_explore_crew **ret_crew, struct pt_err *err) PT_WARN_UNUSED;
void pt_explore_crew_free(struct pt_explore_crew *crew);
uint32_t pt_explore_crew_jobs(const struct pt_explore_crew *crew);
/* Whether a program could not be a fork server, though it was to be. Between rounds. */
bool pt_explore_crew_is_unserved(const struct pt_explore_crew *crew);

/* Whether a run is one after which the rest of its round is not needed. Called by any job. */
typedef bool (*pt_explore_stops)(void *context, const struct pt_explore_outcome *outcome);

/*
 * Does the runs of a round, in their order as far as jobs are free. What is a scheduling point is the same in all of
 * them, and what they met is shared from the next round on: so outcomes do not depend on the number of jobs. Runs
 * behind one that stops the round may be left out (`done` is false then). Outcomes are the caller's, with places taken
 * in. `stops` may be NULL. *ret_fresh: keys that have become shared.
 */
enum pt_status pt_explore_crew_round(struct pt_explore_crew *crew, struct pt_explore_places *places,
                                     const struct pt_explore_plan *plans, uint32_t count, pt_explore_stops stops,
                                     void *context, struct pt_explore_outcome *ret_outcomes, uint32_t *ret_fresh,
                                     struct pt_err *err) PT_WARN_UNUSED;

#endif
