/* What each check of a recording of everything keeps of it, whatever it looks for: where it is, stacks, and whether the
 * recording has what such a check needs. */
#ifndef PT_ENGINE_FULL_RUN_H
#define PT_ENGINE_FULL_RUN_H

#include "base/err.h"
#include "finding/finding.h"
#include "race/hb.h"
#include "trace/event.h"

/* All zero at first. */
struct pt_full_run {
    uint64_t events;         /* of threads, so far */
    struct pt_value *stacks; /* texts, by id */
    size_t stack_cap;
    const char *unknown; /* why the answer is not whole; NULL */
    bool stopped;        /* nothing more is looked at */
    bool lacking;        /* because the trace has relevant events alone */
};
void pt_full_run_release(struct pt_full_run *run);
/* *ret_looked_at: the check goes on with the event; otherwise it is none of a thread, or nothing is looked at any more.
 * An error: there are more threads than clocks can have. */
enum pt_status pt_full_run_event(struct pt_full_run *run, const char *trace, const struct pt_event *event,
                                 bool *ret_looked_at, struct pt_err *err) PT_WARN_UNUSED;
/* The same for most events, without a call: whether this is one that the check goes on with. False: nothing was done,
 * and pt_full_run_event is to be asked. */
static inline bool pt_full_run_usual(struct pt_full_run *run, const struct pt_event *event)
{
    bool usual = event->thread < PT_HB_THREADS && !event->clock && !run->stopped && event->op != PT_OP_FORK &&
                 event->op != PT_OP_JOIN;
    run->events += usual;
    return usual;
}
/* Events are missing here: what comes after them is not judged. */
void pt_full_run_gap(struct pt_full_run *run);
/* The trace has ended: what is not known is said in the finding. `lost` as in check.h. */
void pt_full_run_settle(const struct pt_full_run *run, struct pt_finding *finding, const char *lost);

#endif
