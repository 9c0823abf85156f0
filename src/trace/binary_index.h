/* The index of a binary trace (binary.h): where its blocks are, and which names they define. */
#ifndef PT_TRACE_BINARY_INDEX_H
#define PT_TRACE_BINARY_INDEX_H

#include "trace/binary.h"

struct pt_binary_index {
    struct pt_binary_index_row {
        uint64_t offset, before;        /* of the block in the file; events in the blocks before it */
        uint32_t names[PT_SPACE_COUNT]; /* that the blocks before it define */
    } * rows;                           /* of the blocks, and one behind the last: that of the end marker */
    uint32_t blocks;
    size_t cap;
};
void pt_binary_index_release(struct pt_binary_index *index);

/* A writer's: another block of so many events begins at the offset, after names of so many of each space. */
void pt_binary_index_add(struct pt_binary_index *index, uint64_t offset, uint64_t before, const uint32_t *names);
/* Appends the index to the stored payload of the last block of a trace that ends with `names`, unless the block would
 * become too large. `stored` is a zstd frame. */
void pt_binary_index_append(struct pt_binary_index *index, uint64_t events, const uint32_t *names, uint32_t raw_len,
                            struct pt_buf *stored);

/* Reads it from a whole trace; false: it has none that can be believed. */
bool pt_binary_index_load(const struct pt_input *input, struct pt_binary_index *ret_index);
/* The block with this event, counted from 1; of one behind the end, the last block. */
uint32_t pt_binary_index_find(const struct pt_binary_index *index, uint64_t event);
/* The block that defines the name of this number in its space; there is one. */
uint32_t pt_binary_index_find_name(const struct pt_binary_index *index, unsigned space, uint32_t name);

#endif
