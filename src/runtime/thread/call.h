/*
 * Where calls that synchronise stand. Instrumented code says so right before it makes one (core/calls.h), and the
 * function that stands in for the called one (wrap/) takes it, first of all, for the events it makes. It takes it
 * only for its own object, and whatever was said is then forgotten, so that a call from code that is not instrumented
 * is never given the place of another. Costs two stores, or a test of a flag where nobody asks for places, else a few.
 */
#ifndef PT_RUNTIME_THREAD_CALL_H
#define PT_RUNTIME_THREAD_CALL_H

#include "core/calls.h"
#include "runtime/race/window.h"
#include "runtime/thread/thread.h"

/* Events of synchronisation are recorded or evaluated. Set before main. */
#pragma GCC visibility push(hidden)
extern bool pt_call_wanted;
#pragma GCC visibility pop

/* What was said of the call; all NULL: nothing. */
static inline struct pt_call pt_call_take_both(const void *object)
{
    if (!__builtin_expect(pt_call_wanted, 0))
        return (struct pt_call){0};
    struct pt_call call = __portent_calls.call;
    __portent_calls.call.site = NULL;
    return call.site && call.object == object ? call : (struct pt_call){0};
}

static inline const struct pt_site *pt_call_take(const void *object)
{
    return pt_call_take_both(object).site;
}

/* In a gap of sampling, once a lock is taken: there is nothing to be done but to count it, and the release of it, which
 * is nearly always so; its place was taken. */
static inline bool pt_call_passes(void)
{
    if (!pt_race_is_often(__portent_calls.call.site) || !pt_race_window_passes())
        return false;
    __portent_calls.call.site = NULL;
    return true;
}
/* The same before it is given up, which is not counted; twins do not say at which place. */
static inline bool pt_call_passes_back(void)
{
    const struct pt_site *site = __portent_calls.call.site;
    if (!pt_race_window_is_gap() || (site && !pt_race_is_often(site)))
        return false;
    if (site)
        __portent_calls.call.site = NULL;
    return true;
}

/* Of a call that fills memory, which is announced without an object: what fills a watched variable is an event even
 * where synchronisation makes none. */
static inline const struct pt_site *pt_call_take_fill(void)
{
    struct pt_thread *self = pt_is_active() ? pt_thread_now() : NULL;
    struct pt_call *call = &__portent_calls.call;
    if (!self || call->object)
        return NULL;
    const struct pt_site *site = call->site;
    call->site = NULL;
    return site;
}

#endif
