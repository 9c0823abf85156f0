#include "engine/full_run.h"

#include <stdlib.h>
#include <string.h>

void pt_full_run_release(struct pt_full_run *run)
{
    free(run->stacks);
}

void pt_full_run_gap(struct pt_full_run *run)
{
    if (run->stopped)
        return;
    run->stopped = true;
    run->unknown = "events are missing, and what comes after them cannot be judged";
}

enum pt_status pt_full_run_event(struct pt_full_run *run, const char *trace, const struct pt_event *event,
                                 bool *ret_looked_at, struct pt_err *err)
{
    *ret_looked_at = false;
    if (event->op == PT_OP_STACK) {
        PT_ROOM(run->stacks, run->stack_cap, event->object);
        run->stacks[event->object] = event->value;
    }
    if (event->op == PT_OP_LOST)
        pt_full_run_gap(run);
    if (event->thread == PT_NONE)
        return PT_OK;
    run->events++;
    if (event->clock && !run->stopped) {
        run->stopped = run->lacking = true;
        run->unknown = "the trace has relevant events alone (c=), so that reads, writes and locks are missing; "
                       "'portent run --record-all -o' records them";
    }
    if (run->stopped)
        return PT_OK;
    if (event->thread >= PT_HB_THREADS || (pt_op_is_of_thread(event->op) && event->object >= PT_HB_THREADS))
        return pt_err_at(err, PT_ELIMIT, trace, event->line, 0, "more than %u threads", PT_HB_THREADS);
    *ret_looked_at = true;
    return PT_OK;
}

void pt_full_run_settle(const struct pt_full_run *run, struct pt_finding *finding, const char *lost)
{
    const char *unknown = run->unknown ? run->unknown : lost;
    finding->complete = !unknown;
    if (!unknown)
        return;
    finding->message = pt_arena_strndup(&finding->arena, unknown, strlen(unknown));
    if (finding->verdict != PT_VERDICT_VIOLATED)
        finding->verdict = PT_VERDICT_UNKNOWN;
}
