/*
 * Where an instrumented access stands in the source. The instrumentor makes one constant per access; the runtime only
 * passes pointers to it around, and describes a site to the observer when one is first needed.
 */
#ifndef PT_CORE_SITE_H
#define PT_CORE_SITE_H

#include <stdint.h>

struct pt_site {
    const char *file;     /* as debug information has it; "" when unknown */
    const char *function; /* "" when unknown */
    const char *variable; /* the name of what is accessed, where it can be told: "tank.level"; else "" */
    uint32_t line, column;
};

#endif
