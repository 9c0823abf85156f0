/*
 * A block is checked, decompressed and widened to columns as a whole. Its lengths and its place among the others are
 * believed after its checksum, or within limits.
 *
 * Memory: one block, stored and decoded.
 */
#include "trace/binary_block.h"

#include <stdlib.h>
#include <xxhash.h>

#include "base/mem.h"

uint64_t pt_block_checksum(const void *header, const void *stored, size_t len)
{
    return XXH3_64bits_withSeed(stored, len, XXH3_64bits(header, PT_BLOCK_CHECKED_LEN));
}

struct pt_binary_block *pt_binary_block_new(void)
{
    struct pt_binary_block *block = pt_xcalloc(1, sizeof *block);
    block->columns = pt_columns_new();
    return block;
}

void pt_binary_block_free(struct pt_binary_block *block)
{
    if (!block)
        return;
    pt_columns_free(block->columns);
    free(block->raw);
    free(block);
}

bool pt_block_want(struct pt_input *input, size_t need, const char *label, struct pt_err *err)
{
    while (pt_input_left(input) < need && !input->eof)
        if (pt_input_fill(input, label, err) != PT_OK)
            return false;
    return true;
}

struct pt_block_header pt_block_parse(const uint8_t *p)
{
    return (struct pt_block_header){
        .is_end = memcmp(p, pt_block_end_magic, PT_BLOCK_MAGIC_LEN) == 0,
        .events = pt_block_get32(p + 4),
        .raw_len = pt_block_get32(p + 8),
        .stored_len = pt_block_get32(p + 12),
        .events_before = pt_block_get64(p + 16),
        .checksum = pt_block_get64(p + 24),
    };
}

bool pt_block_is_plausible(const uint8_t *p, const struct pt_block_header *header)
{
    return (header->is_end || memcmp(p, pt_block_magic, PT_BLOCK_MAGIC_LEN) == 0) &&
           header->stored_len <= PT_BLOCK_BYTES;
}

bool pt_block_unpack(ZSTD_DCtx *zstd, const struct pt_block_header *header, const uint8_t *stored,
                     struct pt_binary_block *block)
{
    PT_GROW(block->raw, block->raw_cap, header->raw_len);
    if (header->stored_len == header->raw_len) {
        memcpy(block->raw, stored, header->raw_len);
        return true;
    }
    size_t got = ZSTD_decompressDCtx(zstd, block->raw, header->raw_len, stored, header->stored_len);
    return !ZSTD_isError(got) && got == header->raw_len;
}

static enum pt_binary_found say(struct pt_binary_block *block, enum pt_binary_found found, const char *why)
{
    block->why = why;
    return found;
}

/* Columns follow the names; where those are too long, whoever reads them says so. */
static enum pt_binary_found decode(struct pt_block_taker *taker, const uint8_t *stored, struct pt_binary_block *block)
{
    const struct pt_block_header *header = &block->header;
    if (header->raw_len < PT_NAMES_HEADER_LEN || header->raw_len > PT_BLOCK_BYTES || header->events == 0 ||
        header->events > PT_BLOCK_EVENTS)
        return say(block, PT_BLOCK_HOSTILE, "its size is beyond the limits");
    if (!pt_block_unpack(taker->zstd, header, stored, block))
        return say(block, PT_BLOCK_HOSTILE, "it cannot be decompressed");
    block->names_len = PT_NAMES_HEADER_LEN + (size_t)pt_block_get32(block->raw + 4);
    block->columns_good = block->names_len <= header->raw_len &&
                          pt_columns_decode(block->columns, header->events, block->raw + block->names_len,
                                            header->raw_len - block->names_len);
    return PT_BLOCK_GOOD;
}

static enum pt_binary_found take_end(struct pt_block_taker *taker, struct pt_binary_block *block)
{
    const struct pt_block_header *header = &block->header;
    if (header->events || header->raw_len || header->stored_len)
        return say(block, PT_BLOCK_HOSTILE, "the end marker is not empty");
    taker->input->pos += PT_BLOCK_HEADER_LEN;
    block->offset += PT_BLOCK_HEADER_LEN;
    if (!pt_block_want(taker->input, 1, taker->label, &block->err))
        return PT_BLOCK_FAILED;
    return pt_input_left(taker->input) ? say(block, PT_BLOCK_TORN, "bytes follow the end marker") : PT_BLOCK_END;
}

static enum pt_binary_found find(struct pt_block_taker *taker, struct pt_binary_block *block)
{
    struct pt_input *input = taker->input;
    if (!pt_block_want(input, PT_BLOCK_HEADER_LEN, taker->label, &block->err))
        return PT_BLOCK_FAILED;
    if (pt_input_left(input) < PT_BLOCK_HEADER_LEN)
        return say(block, PT_BLOCK_TORN, pt_input_left(input) ? "a block is incomplete" : "the end marker is missing");
    struct pt_block_header *header = &block->header;
    *header = pt_block_parse(pt_block_at(input));
    if (!pt_block_is_plausible(pt_block_at(input), header))
        return say(block, PT_BLOCK_TORN, "what stands there is no block");
    size_t len = PT_BLOCK_HEADER_LEN + (size_t)header->stored_len;
    if (!pt_block_want(input, len, taker->label, &block->err))
        return PT_BLOCK_FAILED;
    if (pt_input_left(input) < len)
        return say(block, PT_BLOCK_TORN, "a block is incomplete");
    const uint8_t *p = pt_block_at(input), *stored = p + PT_BLOCK_HEADER_LEN;
    if (pt_block_checksum(p, stored, header->stored_len) != header->checksum)
        return say(block, PT_BLOCK_TORN, "a block is damaged (its checksum differs)");
    if (header->events_before != taker->records)
        return say(block, PT_BLOCK_TORN, "a block is missing or out of place");
    if (header->is_end)
        return take_end(taker, block);
    enum pt_binary_found found = decode(taker, stored, block);
    input->pos += len;
    return found;
}

bool pt_block_take(void *context, void *piece)
{
    struct pt_block_taker *taker = context;
    struct pt_binary_block *block = piece;
    block->columns->len = 0;
    block->offset = taker->input->offset + taker->input->pos;
    block->before = taker->records;
    block->found = find(taker, block);
    if (block->found == PT_BLOCK_GOOD)
        taker->records += block->header.events;
    return block->found == PT_BLOCK_GOOD;
}
