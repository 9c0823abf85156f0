/*
 * Variables that are placed while the program runs: objects that portent_watch names, and variables of libraries that
 * it opens. Their initial values are those in memory when they are first observed, and what happened before has to wait
 * for them.
 */
#ifndef PT_CLI_RUN_LATE_H
#define PT_CLI_RUN_LATE_H

#include "base/buf.h"
#include "cli/common/analyse.h"
#include "trace/event.h"

struct pt_late {
    const char **missing; /* variables that properties name and that have no value yet; some may never get one */
    uint32_t missing_count;
    struct pt_event *held; /* what came before */
    uint32_t held_count;
    size_t held_cap;
    struct pt_clock_entry *clocks; /* of all of them, one after the other */
    size_t clock_count, clock_cap;
    bool flowing;       /* events do not wait any more */
    const char **after; /* variables that came later than that, and were taken to be 0 until then */
    uint32_t after_count;
    size_t after_cap;
};

/* The variables of all properties; `analyse` outlives it. */
void pt_late_init(struct pt_late *late, const struct pt_analyse *analyse);
void pt_late_release(struct pt_late *late);
/* An initial value has come. True: it counts as one. */
bool pt_late_initial(struct pt_late *late, const char *name, struct pt_value value);
/* It has come too late: the analysis took it to be 0. */
void pt_late_missed(struct pt_late *late, const char *name, struct pt_value value);
/* Another event has come. True: it waits. False: it is next, after all that has waited, see pt_late_next. */
bool pt_late_holds(struct pt_late *late, const struct pt_event *event);
/* Nothing waits any more: the events that did, one by one from *at = 0; NULL: those were all. */
const struct pt_event *pt_late_next(struct pt_late *late, uint32_t *at);

#endif
