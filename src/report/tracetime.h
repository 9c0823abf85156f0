/* The time line of a trace for pictures: starts at 0 and never runs backwards. */
#ifndef PT_REPORT_TRACETIME_H
#define PT_REPORT_TRACETIME_H

#include "trace/event.h"

enum { PT_TRACETIME_STEP = 1000 }; /* nanoseconds per event, in a trace without time stamps */

struct pt_tracetime {
    uint64_t now;   /* nanoseconds since the start */
    uint64_t first; /* the first time stamp, which is the start */
    bool stamped;
};

/* The event's time. Events without a stamp take one step each as long as there was no stamp, and no time afterwards. */
static inline uint64_t pt_tracetime_next(struct pt_tracetime *time, const struct pt_event *event)
{
    if (event->has_time && !time->stamped) {
        time->stamped = true;
        time->first = event->time > time->now ? event->time - time->now : 0;
    }
    if (event->has_time && event->time > time->first && event->time - time->first > time->now)
        time->now = event->time - time->first;
    else if (!time->stamped && event->thread != PT_NONE)
        time->now += PT_TRACETIME_STEP;
    return time->now;
}

#endif
