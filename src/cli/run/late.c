/*
 * Holds events back until every variable that a property names has its initial value, which the analysis has to know
 * before the first of them.
 *
 * Guarantee: a variable that is placed within the first MOST_HELD events has the initial value that it had in memory;
 * of one that comes later it is known that the analysis took it to be 0 until then. Cost: nothing where all variables
 * are there when the program starts; else a copy of up to MOST_HELD events, and violations are reported that much
 * later.
 */
#include "cli/run/late.h"

#include <stdlib.h>
#include <string.h>

#include "logic/monitor/monitor.h"

enum { MOST_HELD = 1 << 16 };

static void expect(struct pt_late *late, const char *name, size_t *cap)
{
    for (uint32_t i = 0; i < late->missing_count; i++) {
        if (strcmp(late->missing[i], name) == 0)
            return;
    }
    PT_PUSH(late->missing, late->missing_count, *cap, name);
}

void pt_late_init(struct pt_late *late, const struct pt_analyse *analyse)
{
    size_t cap = 0;
    *late = (struct pt_late){0};
    for (uint32_t i = 0; i < analyse->input_count; i++) {
        uint32_t count = 0;
        const struct pt_varref *vars =
            analyse->inputs[i].monitor ? pt_monitor_vars(analyse->inputs[i].monitor, &count) : NULL;
        for (uint32_t v = 0; v < count; v++)
            expect(late, vars[v].target, &cap);
    }
}

void pt_late_release(struct pt_late *late)
{
    free(late->missing);
    free(late->held);
    free(late->clocks);
    free(late->after);
    *late = (struct pt_late){0};
}

void pt_late_missed(struct pt_late *late, const char *name, struct pt_value value)
{
    bool zero = value.kind == PT_VALUE_INT && value.i == 0;
    for (uint32_t i = 0; i < late->after_count && !zero; i++)
        zero = strcmp(late->after[i], name) == 0; /* it is listed already */
    if (!zero)
        PT_PUSH(late->after, late->after_count, late->after_cap, name);
}

bool pt_late_initial(struct pt_late *late, const char *name, struct pt_value value)
{
    bool expected = false;
    for (uint32_t i = 0; i < late->missing_count && !expected; i++) {
        expected = strcmp(late->missing[i], name) == 0;
        if (expected)
            late->missing[i] = late->missing[--late->missing_count];
    }
    if (expected && late->flowing)
        pt_late_missed(late, name, value);
    return !late->flowing;
}

bool pt_late_holds(struct pt_late *late, const struct pt_event *event)
{
    if (late->flowing || late->missing_count == 0 || late->held_count == MOST_HELD)
        return false;
    struct pt_event kept = *event;
    for (uint32_t i = 0; i < event->clock_len; i++)
        PT_PUSH(late->clocks, late->clock_count, late->clock_cap, event->clock[i]);
    PT_PUSH(late->held, late->held_count, late->held_cap, kept);
    return true;
}

const struct pt_event *pt_late_next(struct pt_late *late, uint32_t *at)
{
    if (*at == 0) {
        size_t first = 0;
        late->flowing = true;
        for (uint32_t i = 0; i < late->held_count; first += late->held[i++].clock_len)
            late->held[i].clock = late->held[i].clock_len ? late->clocks + first : NULL;
    }
    if (*at < late->held_count)
        return &late->held[(*at)++];
    free(late->held);
    free(late->clocks);
    late->held = NULL;
    late->clocks = NULL;
    late->held_count = 0;
    late->held_cap = late->clock_count = late->clock_cap = 0;
    return NULL;
}
