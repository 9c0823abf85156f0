/*
 * The calls that a thread is in, kept by instrumented code.
 *
 * Before a call that may reach instrumented code, the instrumentor (instrument/frames.c) has the caller store the
 * call's site in frames[depth & (PT_CALLS - 1)] and then raise depth; after it, and where an exception lands, the
 * caller puts back the depth that it found when it was entered. So whatever left a function without returning (an
 * exception, a longjmp) is forgotten by the next function that goes on. A function that calls nothing costs nothing.
 *
 * The calls of a function of core/sync.def before which __portent_call says where it stands are not in here, unless it
 * runs a function of the program (pthread_once): their site is at hand already. Those of malloc, free and the like are.
 *
 * Only the thread itself reads it. A stack deeper than PT_CALLS has lost its outermost calls.
 *
 * Right before a call of a function of core/sync.def that has an object, the twin of a function (core/plain.h) stores
 * the object and the place into `call` itself, unless it gives up a lock; its body has __portent_call do that. The
 * function that stands in for the called one takes it (runtime/thread/call.h).
 *
 * The runtime may set the lowest bit of a frame, to see later whether that call is still under way: who calls anew
 * stores the frame anew. So frames are read by pt_calls_at.
 */
#ifndef PT_CORE_CALLS_H
#define PT_CORE_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include "core/site.h"

enum { PT_CALLS = 256 }; /* a power of two */

/* A call that instrumented code is about to make, and where it stands. */
struct pt_call {
    const void *object;          /* as the called function gets it */
    const struct pt_site *site;  /* NULL: there is none */
    const struct pt_site *mutex; /* by __portent_call alone */
};

struct pt_calls {
    uint32_t depth;
    struct pt_call call; /* that comes next */
    const struct pt_site *frames[PT_CALLS];
};

extern __thread struct pt_calls __portent_calls __attribute__((tls_model("initial-exec")));

#define PT_CALLS_MARK ((uintptr_t)1)

/* The site of a frame, by its number from the outermost call on. */
static inline const struct pt_site *pt_calls_at(const struct pt_calls *calls, uint32_t number)
{
    return (const struct pt_site *)((uintptr_t)calls->frames[number % PT_CALLS] & ~PT_CALLS_MARK);
}

/* How many calls are known, and how many were lost at the outer end. */
static inline uint32_t pt_calls_known(const struct pt_calls *calls)
{
    return calls->depth < PT_CALLS ? calls->depth : PT_CALLS;
}

static inline uint32_t pt_calls_lost(const struct pt_calls *calls)
{
    return calls->depth - pt_calls_known(calls);
}

#endif
