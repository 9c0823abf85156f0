/*
 * Runs without control, for programs that control cannot handle: threads run at the same time, on one processor, on
 * two, or on all in turn, with pauses at random before they synchronise (PORTENT_OPTIONS delay=). The program's own
 * checks look for what was asked for, and end it with a status of its own. Nothing can be said about schedules: a
 * failure was seen, and may not come again. The cost is that of the runs.
 */
#include "cli/explore/stress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/interrupt.h"
#include "core/delay.h"
#include "core/found.h"

enum { FOUND_STATUS = 66, WAYS = 3 }; /* processors: 1, 2, all */

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
    struct pt_explore_outcome outcome = {.done = true, .started = true};
    enum pt_status status = pt_explore_program_plain(&setup, e->request->run_timeout, &outcome.wait_status,
                                                     &outcome.timed_out, &outcome.output, err);
    pt_buf_release(&options);
    *ret_outcome = outcome;
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
