/* The members of `within` findings that json.c writes. A result without the object "within" has the promised ones only.
 */
#include <string.h>

#include "report/result_impl.h"

/* Times may be any number of 64 bits. */
static uint64_t read_number(struct reading *r, const struct pt_json_node *object, const char *key)
{
    const struct pt_json_node *member = pt_json_get(object, key);
    if (!member || pt_json_is(member, PT_VALUE_UNKNOWN))
        return 0;
    struct pt_value value = rd_value(r, member);
    if (value.kind == PT_VALUE_UINT || (value.kind == PT_VALUE_INT && value.i >= 0))
        return value.u;
    rd_fail(r, "\"%s\" of a property is not a number in range", key);
    return 0;
}

void rd_within(struct reading *r, const struct pt_json_node *object, struct pt_finding *finding)
{
    struct pt_finding_within *w = &finding->within;
    const struct pt_json_node *more = rd_object(r, object, "a property", "within"), *time = pt_json_get(object, "time");
    w->event = read_number(r, object, "event");
    w->time = read_number(r, object, "time");
    w->timed = time && !pt_json_is(time, PT_VALUE_UNKNOWN);
    w->states = "{}";
    if (!more)
        return;
    w->bound = read_number(r, more, "bound");
    w->bound_in_events = strcmp(rd_string_or(r, more, "\"within\"", "unit", "ns"), "events") == 0;
    w->events = read_number(r, more, "letters");
    w->timed = rd_bool_or(r, more, "\"within\"", "timed", w->timed);
    w->silent = rd_bool_or(r, more, "\"within\"", "silent", false);
    w->passed = rd_bool_or(r, more, "\"within\"", "passed", false);
    w->last_pass = read_number(r, more, "last_pass");
    w->states = rd_string_or(r, more, "\"within\"", "states", "{}");
    const struct pt_json_node *step = rd_object(r, more, "\"within\"", "step");
    if (step) {
        w->step = pt_arena_alloc(r->arena, sizeof *w->step);
        rd_step(r, step, "\"within\"", w->step);
        w->step->line = read_number(r, step, "line");
    }
}
