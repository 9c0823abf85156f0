/* Variables of properties that code which is not instrumented has written (foreign.c). */
#ifndef PT_ENGINE_FOREIGN_H
#define PT_ENGINE_FOREIGN_H

#include "trace/event.h"

/* Follows the value of a variable, as far as the trace says it. True: the event is a read that returned another one. */
static inline bool pt_foreign_value(struct pt_value *value, const struct pt_event *event)
{
    bool known = event->value.kind != PT_VALUE_UNKNOWN && !event->to, reads = event->op == PT_OP_READ;
    if (reads && !known)
        return false;
    bool other = reads && value->kind != PT_VALUE_UNKNOWN && !pt_value_same(*value, event->value);
    *value = known ? event->value : (struct pt_value){0};
    return other;
}

struct pt_foreign {
    struct pt_foreign_var {
        struct pt_value value; /* that it has now, as far as the trace says */
        bool written;          /* by somebody else */
    } * vars;                  /* by their ids in the trace */
    size_t var_cap;
    bool any;
    bool *tied; /* by thread: its latest events are a tie and reads after it */
    size_t tied_cap;
};

void pt_foreign_release(struct pt_foreign *foreign);
/* The next event of the trace. `named`: some property speaks of its variable. */
void pt_foreign_event(struct pt_foreign *foreign, const struct pt_event *event, bool named);
static inline bool pt_foreign_has_written(const struct pt_foreign *foreign, uint32_t var)
{
    return var < foreign->var_cap && foreign->vars[var].written;
}

#endif
