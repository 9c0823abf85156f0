/*
 * The calls that a thread is in, kept by instrumented code: before a call that may reach instrumented code its site is
 * put at the thread's depth, which grows by one; after the call the depth is what the function found when it was
 * entered, so that longjmp and exceptions do no lasting harm. Deeper than PT_CALLS the outer calls are lost.
 */
#ifndef PT_CORE_CALLS_H
#define PT_CORE_CALLS_H

#include <stdint.h>

#include "core/site.h"

enum { PT_CALLS = 256 }; /* a power of two */

struct pt_calls {
    uint32_t depth;
    const struct pt_site *frames[PT_CALLS]; /* [(depth - 1) % PT_CALLS] is the innermost */
};

/* Defined by the runtime. */
extern __thread struct pt_calls __portent_calls __attribute__((tls_model("initial-exec")));

#endif
