/*
 * Blocks of memory of a run, as far as a proposal can speak of them: by the place that allocates them and by where in
 * the block something lies, since addresses are other ones in every run.
 */
#ifndef PT_CLI_SUGGEST_HEAP_H
#define PT_CLI_SUGGEST_HEAP_H

#include "base/table.h"
#include "trace/blocks.h"
#include "trace/event.h"

struct pt_suggest_block {
    uint64_t low;
    uint32_t place; /* that allocated it */
    bool again;     /* memory of a block before it: what is known of its addresses is of both */
};

/* What a lock is called: by whoever lies in its block too, and by others. Ids in `words`. */
struct pt_suggest_lock_words {
    uint32_t block, own, other; /* `block` PT_NONE: none; `other` PT_NONE: not looked at yet */
};

struct pt_suggest_heap {
    struct pt_blocks map;            /* of the present run; names are indices of `blocks` */
    struct pt_suggest_block *blocks; /* of all runs */
    uint32_t count;
    size_t cap;
    struct pt_strtab words;
    struct pt_suggest_lock_words *locks; /* by id in PT_SPACE_LOCK */
    size_t lock_cap;
};

void pt_suggest_heap_init(struct pt_suggest_heap *heap);
void pt_suggest_heap_release(struct pt_suggest_heap *heap);
void pt_suggest_heap_run(struct pt_suggest_heap *heap);
void pt_suggest_heap_alloc(struct pt_suggest_heap *heap, const struct pt_names *names, const struct pt_event *event);
/* The block that a name that is an address lies in, PT_NONE: in none, or in memory that was used before. */
uint32_t pt_suggest_heap_block(const struct pt_suggest_heap *heap, const char *name, uint64_t *ret_offset);
/* What the lock is called at an access of something in that block. */
uint32_t pt_suggest_heap_lock(struct pt_suggest_heap *heap, const struct pt_names *names, uint32_t lock,
                              uint32_t block);

#endif
