/* Between tell.c, which puts down what a thread has found out, and tell_print.c. */
#ifndef PT_RUNTIME_TELL_IMPL_H
#define PT_RUNTIME_TELL_IMPL_H

#include "core/told.h"
#include "runtime/monitor_impl.h"

struct pt_told {
    struct pt_told *next;
    uint32_t property;
    uint32_t slot;
    uint32_t result; /* enum pt_local_result */
    uint64_t state;
    size_t len;
    char bytes[PT_TOLD_BYTES];
};

static inline const struct pt_mttl_property *pt_tell_property(uint32_t property)
{
    return pt_mttl_at(pt_monitor_block, properties, struct pt_mttl_property, property);
}

static inline const char *pt_tell_string(uint32_t offset)
{
    return pt_mttl_string(pt_monitor_block, offset);
}

#endif
