/*
 * Where calls that synchronise stand. Instrumented code says so right before it makes one (__portent_call), and the
 * function that stands in for the called one (wrap/) takes it, first of all, for the events it makes. It takes it
 * only for its own object, and whatever was said is then forgotten, so that a call from code that is not instrumented
 * is never given the place of another. Costs a test of a flag where nobody asks for places, else a few stores.
 */
#ifndef PT_RUNTIME_THREAD_CALL_H
#define PT_RUNTIME_THREAD_CALL_H

#include "runtime/thread/thread.h"

/* Events of synchronisation are recorded or evaluated. Set before main. */
extern bool pt_call_wanted;

/* What was said of the call; all NULL: nothing. */
static inline struct pt_call pt_call_take_both(const void *object)
{
    struct pt_thread *self = __builtin_expect(pt_call_wanted, 0) ? pt_thread_now() : NULL;
    if (!self)
        return (struct pt_call){0};
    struct pt_call call = self->call;
    self->call.site = NULL;
    return call.site && call.object == object ? call : (struct pt_call){0};
}

static inline const struct pt_site *pt_call_take(const void *object)
{
    return pt_call_take_both(object).site;
}

/* Of a call that fills memory, which is announced without an object: what fills a watched variable is an event even
 * where synchronisation makes none. */
static inline const struct pt_site *pt_call_take_fill(void)
{
    struct pt_thread *self = pt_is_active() ? pt_thread_now() : NULL;
    if (!self || self->call.object)
        return NULL;
    const struct pt_site *site = self->call.site;
    self->call.site = NULL;
    return site;
}

#endif
