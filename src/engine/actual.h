/*
 * The actual run of a property that is searched for in one wider order alone, and so has no lattice that would follow
 * it: what the run itself breaks is told at once.
 */
#ifndef PT_ENGINE_ACTUAL_H
#define PT_ENGINE_ACTUAL_H

#include "engine/analysis.h"

struct pt_actual;

/* All of them outlive it. */
struct pt_actual *pt_actual_new(struct pt_monitor *monitor, const struct pt_names *names,
                                const struct pt_analysis_options *options, struct pt_finding *finding);
void pt_actual_free(struct pt_actual *actual); /* NULL is fine */
/* Before the first event. */
void pt_actual_initial(struct pt_actual *actual, uint32_t var, struct pt_value value);
/* A relevant event: the variable of the monitor that it writes, or which user event it is. A bad one makes the finding
 * an observed one, and the options' `observed` hears of it. */
void pt_actual_event(struct pt_actual *actual, const struct pt_event *event, uint32_t var, uint32_t user_event);
/* Events are missing here: what comes after them is not judged. */
void pt_actual_gap(struct pt_actual *actual);

#endif
