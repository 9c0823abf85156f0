/*
 * Runs without control, for programs that control cannot handle: threads run at the same time, on one processor, on
 * two, or on all in turn, with pauses at random before they synchronise (PORTENT_OPTIONS delay=). The program's own
 * checks look for what was asked for, and tell what they find as in a controlled run. Nothing can be said about
 * schedules: a failure was seen, and may not come again. The cost is that of the runs.
 */
#include "cli/explore/stress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/common/interrupt.h"
#include "core/delay.h"
#include "core/found.h"

enum { FOUND_STATUS = 66, WAYS = 3 }; /* processors: 1, 2, all */

/* A deadlock is found by the check that ends the program for it: the status is not the program's. */
static bool is_ended_by_check(const struct pt_explore_outcome *outcome)
{
    int status = (int)outcome->wait_status;
    bool deadlock = false;
    for (uint32_t i = 0; i < outcome->report_count; i++)
        deadlock |= outcome->reports[i].check == PT_FOUND_DEADLOCK;
    return deadlock && WIFEXITED(status) && WEXITSTATUS(status) == FOUND_STATUS;
}

static enum pt_status do_run(struct pt_explorer *e, uint64_t number, struct pt_explore_outcome *ret_outcome,
                             struct pt_err *err)
{
    uint32_t checks = e->request->checks;
    struct pt_explore_setup setup = e->setup;
    struct pt_buf options;
    pt_buf_init(&options);
    pt_buf_printf(&options, "%s delay=%s seed=%" PRIu64 " exitcode=%d races=%d lifetimes=%d deadlocks=%d",
                  e->options.text, e->request->delay ? e->request->delay : PT_DELAY_STANDARD,
                  (e->request->seed * 1000003 + number) % 1000000000, FOUND_STATUS, (int)(checks >> PT_FOUND_RACE & 1),
                  (int)(checks >> PT_FOUND_LIFETIME & 1), e->request->predicts);
    setup.options = options.text;
    setup.processors = (uint32_t)((number + 1) % WAYS);
    enum pt_status status = pt_explore_program_plain(&setup, e->request->run_timeout, ret_outcome, err);
    pt_buf_release(&options);
    if (status == PT_OK && is_ended_by_check(ret_outcome))
        ret_outcome->wait_status = (uint32_t)e->expected.status << 8;
    return status;
}

enum pt_status pt_explorer_stress(struct pt_explorer *e, struct pt_err *err)
{
    struct pt_explore_plan plan = {.by = PT_EXPLORE_WILD};
    enum pt_status status = PT_OK;
    while (status == PT_OK && pt_explorer_goes_on(e)) {
        struct pt_explore_outcome outcome;
        plan.input.seed = e->runs + 1;
        status = do_run(e, e->runs + 1, &outcome, err);
        if (status == PT_OK && !pt_interrupted())
            pt_explorer_count(e, &plan, &outcome);
        pt_explore_outcome_release(&outcome);
        pt_explorer_show(e);
    }
    pt_progress_clear(&e->progress);
    return status;
}
