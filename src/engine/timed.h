/* A `within` property as part of an analysis: the events of a trace in, a finding out (engine/within.h decides). */
#ifndef PT_ENGINE_TIMED_H
#define PT_ENGINE_TIMED_H

#include "engine/analysis.h"
#include "engine/within.h"

struct pt_timed;

/* Fills `finding` when the verdict falls; names, monitor, options and finding outlive this. */
struct pt_timed *pt_timed_new(struct pt_monitor *monitor, const struct pt_names *names,
                              const struct pt_analysis_options *options, struct pt_finding *finding);
void pt_timed_free(struct pt_timed *timed);
/* Before the first event. */
void pt_timed_initial(struct pt_timed *timed, uint32_t var, struct pt_value value);
/* Every line of the trace: `var` is the monitor's variable that it writes, `user_event` the monitor's event that it is,
 * or PT_NONE. Lines without a thread (init, clock) only bring the time. */
void pt_timed_event(struct pt_timed *timed, const struct pt_event *event, uint32_t var, uint32_t user_event);
void pt_timed_gap(struct pt_timed *timed, uint64_t lost);
void pt_timed_finish(struct pt_timed *timed, const char *lost);
struct pt_within *pt_timed_within(struct pt_timed *timed);

#endif
