/* What was found out about the atomic blocks of one recorded run: plain data, owned by its arena. */
#ifndef PT_FINDING_BLOCKS_H
#define PT_FINDING_BLOCKS_H

#include "finding/finding.h"

enum pt_block_role { PT_BLOCK_OTHER, PT_BLOCK_BEGIN, PT_BLOCK_FOREIGN, PT_BLOCK_LATER };

struct pt_block_event {
    struct pt_step step;
    enum pt_block_role role;
};

/* A block: all its occurrences, which begin in one thread, at one place, under one name. */
struct pt_block_finding {
    const char *thread, *name, *loc;
    uint32_t number; /* among the blocks of its thread, by their first occurrences, from 1 */
    uint64_t occurrences, violated, unfinished;
    enum pt_verdict verdict;
    /* Of the first violated occurrence: a chain, each event a cause of the next (an immediate one where lines carry no
     * c=), from the begin through an event of another thread to a later event of the block. */
    struct pt_block_event *events;
    uint32_t event_count;
    const char *suppressed; /* both as of a finding */
    bool known;
    const struct pt_finding
        *tried; /* what another run has shown of it (its confirm and confirmation); NULL: none was */
};

struct pt_block_findings {
    struct pt_arena arena;
    struct pt_block_finding *items; /* by their first occurrences */
    uint32_t count;
    uint64_t stray_ends; /* which name no open block of their thread, and were ignored */
    const char *message; /* why some verdicts are unknown, NULL */
    double seconds;
    uint64_t peak_bytes;
};

#endif
