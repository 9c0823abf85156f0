/* The witness of a finding as an order that the runtime can hold threads to (core/gate.h). */
#ifndef PT_CLI_RUN_SCHEDULE_H
#define PT_CLI_RUN_SCHEDULE_H

#include "cli/run/resolve.h"
#include "finding/finding.h"

struct pt_schedule {
    struct pt_channel_gate gate;
    struct pt_gate_entry *entries;
    const struct pt_step **steps; /* of the finding, one for each entry */
    uint32_t *before;
    const char **roles; /* names of threads, which are the finding's */
    uint32_t role_count;
    size_t role_cap;
    struct pt_gate_place places[PT_GATE_MEET];
};

/* Variables that the schedule has beside those of properties: they are watched, too, as far as the program has them. */
void pt_schedule_watch(const struct pt_finding *finding, struct pt_debuginfo *info, struct pt_resolved *resolved);
void pt_schedule_init(struct pt_schedule *schedule, const struct pt_finding *finding,
                      const struct pt_resolved *resolved);
void pt_schedule_release(struct pt_schedule *schedule);
/* The events before which threads are to stand at one time (meet.c), added to the end. */
void pt_schedule_meet(struct pt_schedule *schedule, const struct pt_finding *finding,
                      const struct pt_resolved *resolved);
/* How many steps at the end of the finding's witness are such events: 2 at most, which are listed if there is a list.
 */
uint32_t pt_schedule_last(const struct pt_finding *finding, const struct pt_step *ret_last[2]);
/* The number of the step's variable or user event; PT_GATE_ANY_OBJECT: the program does not have it by name. */
uint32_t pt_schedule_object(const struct pt_step *step, const struct pt_resolved *resolved);
bool pt_schedule_is_access(const struct pt_step *step);
uint32_t pt_schedule_add_role(struct pt_schedule *schedule, const char *thread);
/* PT_NONE: the schedule has nothing for this thread. */
uint32_t pt_schedule_role(const struct pt_schedule *schedule, const char *thread);

#endif
