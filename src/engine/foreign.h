/* Variables of properties that code which is not instrumented has written (foreign.c). */
#ifndef PT_ENGINE_FOREIGN_H
#define PT_ENGINE_FOREIGN_H

#include "trace/event.h"

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
