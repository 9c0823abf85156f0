/* What the files of a replay share: the run that is held to a schedule. */
#ifndef PT_CLI_RUN_REPLAY_IMPL_H
#define PT_CLI_RUN_REPLAY_IMPL_H

#include "cli/run/after.h"
#include "cli/run/replay.h"
#include "cli/run/schedule.h"

struct replay {
    struct pt_session session;
    struct pt_finding *finding;
    struct pt_schedule schedule;
    uint64_t patience;
    const char *names[PT_GATE_THREADS];              /* of threads, by number; NULL: not known */
    uint32_t thread_count;                           /* their numbers are below it */
    uint32_t *numbers;                               /* of threads, by role; PT_NONE: not started */
    uint64_t events;                                 /* relevant ones so far */
    uint32_t turn;                                   /* of the gate, when last looked ... */
    uint64_t turn_since, settled_since, stuck_since; /* ... since when; since when the verdict can be known; and how
                                                        long nobody can leave the present state: times, 0: not yet */
    struct pt_after after;                           /* what comes when all is played ... */
    bool after_over;                                 /* ... until nobody is held any more */
    char *reason;                                    /* the schedule was left, because ... */
    char *differs;                                   /* the first value that is another one than predicted */
};

static inline bool replay_is_played(const struct replay *r)
{
    return r->turn >= r->schedule.gate.from + r->schedule.gate.count;
}
/* Which step was to come. */
void replay_put_expected(struct replay *r, struct pt_buf *buf);
/* What the program looks for itself, 1 << enum pt_found_check; 0: not this. */
uint32_t replay_check_of(const struct pt_finding *finding);
/* Is it of a marked block that was disturbed (check --atomicity)? Its witness is the chain of events that did it. */
bool replay_is_block(const struct pt_finding *finding);
/* The program has ended: what was seen, or why it was not. */
void replay_conclude(struct replay *r, struct pt_replay_outcome *outcome);

#endif
