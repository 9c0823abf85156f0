/*
 * Causal atomicity of the blocks of one recorded run: Definition 3 of the causal-atomicity paper, as contract section 8
 * corrects it. An occurrence of a block, begun by event e1 of thread T, is violated if some event f of another thread
 * and some event e2 of T before the occurrence's end have e1 <= f <= e2 in the causal order of the trace. An
 * occurrence that never ends goes on to the end of the trace.
 *
 * Guarantee: exact for the recorded events. With c= clocks that do not count begin events (`portent run -o`), every
 * violation is one, and blocks without are unknown: what happened to them may not be in the trace.
 *
 * Cost: O(threads) for an event that teaches its thread of a begin it did not know, O(1) for nearly all others; memory
 * for what is known of open blocks, objects and threads, not for the length of the trace.
 */
#ifndef PT_ENGINE_ATOMICITY_H
#define PT_ENGINE_ATOMICITY_H

#include "base/err.h"
#include "finding/blocks.h"
#include "trace/event.h"

struct pt_blocks_options {
    const char *trace;     /* its name, for places in messages */
    uint64_t memory_limit; /* bytes; 0: none */
    uint64_t (*now)(void); /* nanoseconds, for `seconds`; may be NULL */
};

struct pt_blocks;

struct pt_blocks *pt_blocks_new(const struct pt_names *names, const struct pt_blocks_options *options);
void pt_blocks_free(struct pt_blocks *blocks);
/* Every event of the trace in order. PT_EINPUT when a c= clock makes no sense. */
enum pt_status pt_blocks_event(struct pt_blocks *blocks, const struct pt_event *event,
                               struct pt_err *err) PT_WARN_UNUSED;
/* The trace has ended; `lost`: why events are missing, NULL. The findings are valid until the engine is freed. */
struct pt_block_findings *pt_blocks_finish(struct pt_blocks *blocks, const char *lost);

#endif
