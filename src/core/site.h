/*
 * Where an instrumented access or call stands in the source. The instrumentor makes one constant per place; the runtime
 * only passes pointers to it around, and describes a site to the observer when one is first needed.
 */
#ifndef PT_CORE_SITE_H
#define PT_CORE_SITE_H

#include <stdint.h>

struct pt_site {
    const char *file;     /* as debug information has it; "" when unknown */
    const char *function; /* "" when unknown */
    const char *variable; /* the name of what is accessed, where it can be told: "tank.level"; else "" */
    uint32_t line, column;
    const struct pt_site *caller; /* where this function was inlined; NULL: it was called (core/calls.h) */
};

#endif
