/* Blocks of memory that do not overlap, by their addresses: which of them an address lies in. */
#ifndef PT_TRACE_BLOCKS_H
#define PT_TRACE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "trace/pages.h"

struct pt_block {
    uint64_t low, size; /* size is not 0 */
    uint32_t name;      /* the caller's */
};

struct pt_blocks {
    struct pt_block_node *nodes;
    uint32_t count, root, free;
    size_t cap;
    struct pt_pages pages; /* uint32_t: the number of the small block that a granule lies in, plus 1 */
};
void pt_blocks_init(struct pt_blocks *blocks);
void pt_blocks_release(struct pt_blocks *blocks);
/* Nothing that is there overlaps it. */
void pt_blocks_add(struct pt_blocks *blocks, struct pt_block block);
/* The first block of which something lies in [low, high); NULL: there is none. Good until the next change. */
const struct pt_block *pt_blocks_first(const struct pt_blocks *blocks, uint64_t low, uint64_t high);
/* There will soon be a question about it. */
static inline void pt_blocks_expect(const struct pt_blocks *blocks, uint64_t low)
{
    const uint32_t *page = pt_pages_peek(&blocks->pages, low >> PT_PAGE_BITS);
    if (page)
        pt_prefetch(&page[(low >> 3) % PT_PAGE_GRANULES]);
}
/* Removes all those. */
void pt_blocks_remove(struct pt_blocks *blocks, uint64_t low, uint64_t high);

#endif
