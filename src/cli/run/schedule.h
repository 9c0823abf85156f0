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
};

/* Variables that the schedule has beside those of properties: they are watched, too, as far as the program has them. */
void pt_schedule_watch(const struct pt_finding *finding, struct pt_debuginfo *info, struct pt_resolved *resolved);
void pt_schedule_init(struct pt_schedule *schedule, const struct pt_finding *finding,
                      const struct pt_resolved *resolved);
void pt_schedule_release(struct pt_schedule *schedule);
/* PT_NONE: the schedule has nothing for this thread. */
uint32_t pt_schedule_role(const struct pt_schedule *schedule, const char *thread);

#endif
