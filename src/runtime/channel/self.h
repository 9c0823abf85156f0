/* What recording keeps of a thread. It lies beside the thread, and is all zero when it begins. */
#ifndef PT_RUNTIME_CHANNEL_SELF_H
#define PT_RUNTIME_CHANNEL_SELF_H

#include <stdbool.h>
#include <stdint.h>

#include "core/site.h"
#include "runtime/channel/ring.h"
#include "runtime/clock/clock.h"

enum { PT_SITE_CACHE = 256, PT_NAME_CACHE = 32, PT_STACK_CACHE = 64, PT_BLOCK_MAX = 64 };

struct pt_channel_self {
    struct pt_ring_writer writer;
    pt_clock_id emitted;         /* the clock of its latest event, with a reference; 0: not remembered (emit.c) */
    bool lane_told;              /* a record has said whose lane the thread has taken over */
    const struct pt_site *place; /* of the annotation that comes next (place.c), or NULL */
    struct {
        const struct pt_site *site;
        uint32_t number;
    } sites[PT_SITE_CACHE];          /* that were lately described in this ring, by a hash */
    uint64_t stacks[PT_STACK_CACHE]; /* calls that were, by a hash */
    uint32_t names[PT_NAME_CACHE];   /* names that were, by number */
    uint32_t blocks[PT_BLOCK_MAX];   /* atomic blocks it is in, by name, innermost last (api.c) */
    uint32_t block_count;
    uint32_t gate_next;    /* its next entry in the gate's schedule, as far as was looked (gate.c) ... */
    uint64_t gate_waited;  /* ... and how long, in nanoseconds, it has waited for the causes of that one */
    uint32_t gate_pending; /* the entry, plus 1, that has happened when the thread comes to its next stop */
    bool gate_yields;      /* at its next stop somebody else has the floor (gate_after.c) */
};

#endif
