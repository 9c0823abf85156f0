/*
 * Notices that code which is not instrumented has written a variable that a property speaks of: a recording has a tie
 * (trace/recording_unseen.c) right before a read that returns what no write in the trace has left there. What the
 * property would have said of that value, and of others that nobody has read, is not known.
 *
 * Only where there is a tie: in traces of other origin a read may have any value, and the writes are what counts
 * (contract section 3).
 *
 * Guarantee: such a read of a variable by its name is noticed, if the write was the last one before it. Cost: constant
 * time for an event.
 */
#include "engine/foreign.h"

#include <stdlib.h>

#include "base/mem.h"

void pt_foreign_release(struct pt_foreign *foreign)
{
    free(foreign->vars);
    free(foreign->tied);
}

static void follow_ties(struct pt_foreign *foreign, const struct pt_event *event)
{
    bool tie = pt_event_is_tie(event);
    if (event->thread == PT_NONE || (!tie && (event->thread >= foreign->tied_cap || event->op == PT_OP_READ)))
        return;
    PT_ROOM(foreign->tied, foreign->tied_cap, event->thread);
    foreign->tied[event->thread] = tie;
}

void pt_foreign_event(struct pt_foreign *foreign, const struct pt_event *event, bool named)
{
    follow_ties(foreign, event);
    if (!named)
        return;
    PT_ROOM(foreign->vars, foreign->var_cap, event->object);
    struct pt_foreign_var *var = &foreign->vars[event->object];
    bool tied = event->thread < foreign->tied_cap && foreign->tied[event->thread];
    if (pt_foreign_value(&var->value, event) && tied)
        foreign->any = var->written = true;
}
