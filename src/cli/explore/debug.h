/* `portent replay --gdb`: a schedule under a debugger, and what a run that left its schedule is said to be. */
#ifndef PT_CLI_EXPLORE_DEBUG_H
#define PT_CLI_EXPLORE_DEBUG_H

#include "explore/program.h"
#include "explore/schedule.h"

struct pt_explore_debugging {
    const struct pt_explore_schedule *schedule;
    const struct pt_explore_setup *setup;
    struct pt_explore_plan plan;
    struct pt_explore_places *places;
    const char *script; /* a file of gdb's commands, read before the program starts; NULL: none */
    uint64_t patience;  /* nanoseconds that the program may run, stops not counted, before it is interrupted; 0: any */
};

/* Starts gdb and waits for its end. PT_EINPUT: it is no program that can be controlled. *ret_diverged: the run was seen
 * to leave the schedule, which has been said on standard error. */
enum pt_status pt_explore_debug(struct pt_explore_debugging *debugging, bool *ret_diverged,
                                struct pt_err *err) PT_WARN_UNUSED;

/* "the run diverged at step 3, in stretch 2 of the schedule (locks b at a.c:10:5): ..." for what
 * pt_explore_schedule_compare found. */
void pt_explore_put_divergence(const struct pt_explore_schedule *schedule, const struct pt_explore_outcome *outcome,
                               const struct pt_explore_places *places, uint32_t stretch, uint64_t step,
                               struct pt_buf *buf);
/* PT_EINPUT: nothing in the file can be controlled. */
enum pt_status pt_explore_check_program(const char *path, struct pt_err *err) PT_WARN_UNUSED;

#endif
