/* An event of the recorded run as a step of a report. */
#ifndef PT_ENGINE_STEP_H
#define PT_ENGINE_STEP_H

#include "finding/finding.h"
#include "trace/event.h"

/* Its texts are the names'. `number`: among the relevant events of the property. */
static inline struct pt_step pt_step_of(const struct pt_names *names, const struct pt_event *event, uint64_t number)
{
    return (struct pt_step){.thread = pt_name(names, PT_SPACE_THREAD, event->thread),
                            .op = pt_op_word(event->op),
                            .object = pt_name(names, pt_op_space(event->op), event->object),
                            .loc = pt_name(names, PT_SPACE_LOC, event->loc),
                            .value = event->value,
                            .number = number,
                            .line = event->line};
}

#endif
