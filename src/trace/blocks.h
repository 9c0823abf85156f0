/* Blocks of memory that do not overlap, by their addresses: which of them an address lies in. */
#ifndef PT_TRACE_BLOCKS_H
#define PT_TRACE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

struct pt_block {
    uint64_t low, size; /* size is not 0 */
    uint32_t name;      /* the caller's */
};

struct pt_blocks {
    struct pt_block_node *nodes;
    uint32_t count, root, free;
    size_t cap;
};
void pt_blocks_init(struct pt_blocks *blocks);
void pt_blocks_release(struct pt_blocks *blocks);
/* Nothing that is there overlaps it. */
void pt_blocks_add(struct pt_blocks *blocks, struct pt_block block);
/* The first block of which something lies in [low, high); NULL: there is none. Good until the next change. */
const struct pt_block *pt_blocks_first(const struct pt_blocks *blocks, uint64_t low, uint64_t high);
/* Removes all those. */
void pt_blocks_remove(struct pt_blocks *blocks, uint64_t low, uint64_t high);

#endif
