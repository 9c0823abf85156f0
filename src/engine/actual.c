/*
 * A monitor along the recorded run. Guarantee: `observed` is told with the first relevant event after which the run so
 * far is bad, before the next event is taken. Cost: a letter and a step of the monitor for each relevant event; memory:
 * a value for each variable of the property.
 */
#include "engine/actual.h"

#include <stdlib.h>

#include "base/mem.h"
#include "engine/step.h"

struct pt_actual {
    struct pt_monitor *monitor;
    const struct pt_names *names;
    const struct pt_analysis_options *options;
    struct pt_finding *finding;
    struct pt_value *values;
    pt_mstate state;
    uint64_t events;
    bool begun, over;
};

struct pt_actual *pt_actual_new(struct pt_monitor *monitor, const struct pt_names *names,
                                const struct pt_analysis_options *options, struct pt_finding *finding)
{
    struct pt_actual *a = pt_xcalloc(1, sizeof *a);
    uint32_t count;
    (void)pt_monitor_vars(monitor, &count);
    *a = (struct pt_actual){.monitor = monitor, .names = names, .options = options, .finding = finding};
    a->values = pt_xcalloc((size_t)count + 1, sizeof *a->values);
    for (uint32_t i = 0; i < count; i++)
        a->values[i] = pt_value_int(0);
    return a;
}

void pt_actual_free(struct pt_actual *a)
{
    if (!a)
        return;
    free(a->values);
    free(a);
}

void pt_actual_initial(struct pt_actual *a, uint32_t var, struct pt_value value)
{
    if (!a->begun)
        a->values[var] = value;
}

/* The state after the event; NULL: the initial one. */
static void step(struct pt_actual *a, const struct pt_event *event, uint32_t user_event)
{
    a->state = pt_monitor_step(a->monitor, a->state, pt_monitor_letter(a->monitor, a->values, user_event));
    a->over = a->state == PT_MSTATE_BAD || a->state == PT_MSTATE_ERROR;
    if (a->state != PT_MSTATE_BAD)
        return;
    a->finding->how = PT_HOW_OBSERVED;
    struct pt_step at = event ? pt_step_of(a->names, event, a->events) : (struct pt_step){0};
    if (a->options->observed)
        a->options->observed(a->options->context, a->finding, event ? &at : NULL);
}

void pt_actual_event(struct pt_actual *a, const struct pt_event *event, uint32_t var, uint32_t user_event)
{
    if (var == PT_NONE && user_event == PT_NONE)
        return;
    if (!a->begun) {
        a->begun = true;
        a->state = pt_monitor_start(a->monitor);
        step(a, NULL, PT_NONE);
    }
    if (a->over)
        return;
    a->events++;
    if (var != PT_NONE)
        a->values[var] = event->value;
    step(a, event, user_event);
}

void pt_actual_gap(struct pt_actual *a)
{
    a->begun = a->over = true;
}
