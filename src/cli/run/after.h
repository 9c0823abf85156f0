/* After the schedule of a run that is held to one: who goes on (core/gate.h, "floor"). */
#ifndef PT_CLI_RUN_AFTER_H
#define PT_CLI_RUN_AFTER_H

#include <sys/types.h>

#include "trace/channel.h"

struct pt_after {
    uint64_t since;                    /* when it began; 0: not yet. Times are monotonic, in nanoseconds */
    uint32_t leader;                   /* the number of the thread that had the floor first, plus 1 */
    uint32_t floor;                    /* who has it, as last seen: ... */
    uint64_t floor_since, still_since; /* ... since when, and since when it has not moved ... */
    uint64_t steps, object;
    uint32_t doing;      /* ... from here */
    uint64_t none_since; /* nobody is there to give it to; 0: not so */
};

/* What the observer knows of the program. */
struct pt_after_view {
    struct pt_channel_reader *reader;
    pid_t process;
    uint32_t thread_count; /* numbers of threads are below it */
    uint64_t patience;     /* for all of it */
};

/* To be called now and then when the schedule is played. Passes the floor on; true: nobody has to be held any more. */
bool pt_after_tick(struct pt_after *after, const struct pt_after_view *view, uint64_t now);

#endif
