/*
 * Definition 3 of the causal-atomicity paper on the blocks of one recorded run: an occurrence of a block is violated
 * when another thread's event comes causally after its begin and causally before a later event of the occurrence.
 */
#ifndef PT_ENGINE_ATOMICITY_H
#define PT_ENGINE_ATOMICITY_H

#include "base/err.h"
#include "trace/event.h"

struct pt_run_blocks;

/* One block of one thread. */
struct pt_run_block {
    uint32_t thread, block;         /* ids of names */
    uint64_t occurrences, violated; /* how many times it began; how many of these were violated */
    /* The first violation; without clocks. */
    struct pt_event begin, foreign, later;
};

struct pt_run_blocks *pt_run_blocks_new(const char *label, const struct pt_names *names);
void pt_run_blocks_free(struct pt_run_blocks *blocks);
/* The next event of the trace, already validated. */
enum pt_status pt_run_blocks_event(struct pt_run_blocks *blocks, const struct pt_event *event,
                                   struct pt_err *err) PT_WARN_UNUSED;
/* In the order in which they began first. */
const struct pt_run_block *pt_run_blocks_all(const struct pt_run_blocks *blocks, uint32_t *ret_count);
uint64_t pt_run_blocks_events(const struct pt_run_blocks *blocks);

#endif
