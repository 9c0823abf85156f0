/*
 * An index lies in a skippable frame behind that of the last block, where readers that know nothing of it pass it by.
 *
 * Guarantee: what is loaded is consistent in itself and with the size of the file, and the last block, with the index,
 * has a good checksum; so damage is noticed, but an index that somebody has forged can lead to the names of other
 * objects, as a forged trace could have them anyway. Cost: reading the last block, and a row for each.
 */
#include "trace/binary_index.h"

#include <stdlib.h>

#include "base/mem.h"
#include "trace/binary_block.h"

enum {
    ROW_LEN = 4 * (2 + PT_SPACE_COUNT), /* bytes of the block, its events, the names it defines */
    FOOTER_LEN = 32,
    FRAME_HEADER_LEN = 8,
    SKIPPABLE = 0x184D2A5E,
    LEVEL = 3,
    LEAST_NAME = PT_NAME_HEADER_LEN,
};
static const uint8_t footer_magic[8] = {'P', 'T', 'I', 'N', 'D', 'E', 'X', '1'};

void pt_binary_index_release(struct pt_binary_index *index)
{
    free(index->rows);
    *index = (struct pt_binary_index){0};
}

static void put_row(struct pt_binary_index *index, uint32_t at, uint64_t offset, uint64_t before, const uint32_t *names)
{
    PT_GROW(index->rows, index->cap, (size_t)at + 1);
    index->rows[at].offset = offset;
    index->rows[at].before = before;
    memcpy(index->rows[at].names, names, sizeof index->rows[at].names);
}

void pt_binary_index_add(struct pt_binary_index *index, uint64_t offset, uint64_t before, const uint32_t *names)
{
    put_row(index, index->blocks++, offset, before, names);
}

static void add32(struct pt_buf *buf, uint32_t number)
{
    number = htole32(number);
    pt_buf_add(buf, (const char *)&number, sizeof number);
}

static void add64(struct pt_buf *buf, uint64_t number)
{
    number = htole64(number);
    pt_buf_add(buf, (const char *)&number, sizeof number);
}

/* The rows as they are stored; the length of the last block is known from its header. */
static void encode(const struct pt_binary_index *index, struct pt_buf *raw)
{
    for (uint32_t i = 0; i < index->blocks; i++) {
        const struct pt_binary_index_row *row = &index->rows[i], *next = row + 1;
        add32(raw, i + 1 < index->blocks ? (uint32_t)(next->offset - row->offset) : 0);
        add32(raw, (uint32_t)(next->before - row->before));
        for (int space = 0; space < PT_SPACE_COUNT; space++)
            add32(raw, next->names[space] - row->names[space]);
    }
}

void pt_binary_index_append(struct pt_binary_index *index, uint64_t events, const uint32_t *names, uint32_t raw_len,
                            struct pt_buf *stored)
{
    struct pt_buf raw;
    pt_buf_init(&raw);
    put_row(index, index->blocks, 0, events, names);
    encode(index, &raw);
    size_t bound = ZSTD_compressBound(raw.len);
    char *packed = pt_xmalloc(bound);
    size_t len = ZSTD_compress(packed, bound, raw.text, raw.len, LEVEL);
    size_t frame = len + FOOTER_LEN, whole = stored->len + FRAME_HEADER_LEN + frame;
    /* equal lengths would say that the payload is not compressed */
    if (!ZSTD_isError(len) && raw.len <= UINT32_MAX && whole <= PT_BLOCK_BYTES && whole != raw_len) {
        add32(stored, SKIPPABLE);
        add32(stored, (uint32_t)frame);
        pt_buf_add(stored, packed, len);
        pt_buf_add(stored, (const char *)footer_magic, sizeof footer_magic);
        add64(stored, index->rows[index->blocks - 1].offset);
        add32(stored, (uint32_t)raw.len);
        add32(stored, (uint32_t)len);
        add32(stored, index->blocks);
        add32(stored, PT_SPACE_COUNT);
    }
    free(packed);
    pt_buf_release(&raw);
}

/* --- reading --- */

/* Of names that a block of so many bytes may define. */
static bool are_possible(const uint32_t *names, uint64_t bytes)
{
    uint64_t sum = 0;
    for (int space = 0; space < PT_SPACE_COUNT; space++)
        sum += names[space];
    return sum * LEAST_NAME <= bytes * PT_NAMES_RATIO;
}

/* From rows as they are stored; `end`: where the end marker stands, behind so many events. */
static bool decode(const uint8_t *raw, uint32_t blocks, uint64_t end, uint64_t events, struct pt_binary_index *index)
{
    struct pt_binary_index_row row = {.offset = PT_BINARY_HEADER_LEN};
    for (uint32_t i = 0; i < blocks; i++, raw += ROW_LEN) {
        uint32_t bytes = pt_block_get32(raw), count = pt_block_get32(raw + 4), names[PT_SPACE_COUNT];
        uint64_t len = i + 1 < blocks ? bytes : end > row.offset ? end - row.offset : 0;
        for (int space = 0; space < PT_SPACE_COUNT; space++)
            names[space] = pt_block_get32(raw + 8 + 4 * (size_t)space);
        if (len <= PT_BLOCK_HEADER_LEN || len > end || !count || count > PT_BLOCK_EVENTS || !are_possible(names, len))
            return false;
        put_row(index, i, row.offset, row.before, row.names);
        row.offset += len;
        row.before += count;
        for (int space = 0; space < PT_SPACE_COUNT; space++) {
            row.names[space] += names[space];
            if (row.names[space] < names[space] || row.names[space] >= PT_NONE - 1)
                return false;
        }
    }
    put_row(index, blocks, row.offset, row.before, row.names);
    index->blocks = blocks;
    return row.offset == end && row.before == events;
}

/* The footer and the end marker behind it. */
struct tail {
    uint64_t size, end, events, last; /* of the file; where the end marker stands; the last block */
    uint32_t raw_len, stored_len, blocks;
};

static bool read_tail(const struct pt_input *input, struct tail *ret_tail)
{
    uint8_t bytes[FOOTER_LEN + PT_BLOCK_HEADER_LEN];
    uint64_t size = pt_input_size(input);
    if (size < PT_BINARY_HEADER_LEN + PT_BLOCK_HEADER_LEN + sizeof bytes ||
        !pt_input_read_at(input, size - sizeof bytes, bytes, sizeof bytes))
        return false;
    struct pt_block_header header = pt_block_parse(bytes + FOOTER_LEN);
    *ret_tail = (struct tail){size,
                              size - PT_BLOCK_HEADER_LEN,
                              header.events_before,
                              pt_block_get64(bytes + 8),
                              pt_block_get32(bytes + 16),
                              pt_block_get32(bytes + 20),
                              pt_block_get32(bytes + 24)};
    return header.is_end && !header.stored_len && memcmp(bytes, footer_magic, sizeof footer_magic) == 0 &&
           pt_block_get32(bytes + 28) == PT_SPACE_COUNT &&
           pt_block_checksum(bytes + FOOTER_LEN, "", 0) == header.checksum;
}

/* The last block, of which *ret_packed is the index; NULL: it is none. To be freed. */
static uint8_t *read_last(const struct pt_input *input, const struct tail *tail, const uint8_t **ret_packed)
{
    uint64_t len = tail->end - tail->last;
    if (tail->last < PT_BINARY_HEADER_LEN || tail->last >= tail->end || len > PT_BLOCK_HEADER_LEN + PT_BLOCK_BYTES ||
        len < PT_BLOCK_HEADER_LEN + FRAME_HEADER_LEN + FOOTER_LEN + (uint64_t)tail->stored_len)
        return NULL;
    uint8_t *block = pt_xmalloc(len);
    if (pt_input_read_at(input, tail->last, block, len)) {
        struct pt_block_header header = pt_block_parse(block);
        const uint8_t *stored = block + PT_BLOCK_HEADER_LEN;
        *ret_packed = block + len - FOOTER_LEN - tail->stored_len;
        const uint8_t *frame = *ret_packed - FRAME_HEADER_LEN;
        if (!header.is_end && pt_block_is_plausible(block, &header) && header.stored_len == len - PT_BLOCK_HEADER_LEN &&
            pt_block_checksum(block, stored, header.stored_len) == header.checksum &&
            pt_block_get32(frame) == SKIPPABLE && pt_block_get32(frame + 4) == tail->stored_len + FOOTER_LEN)
            return block;
    }
    free(block);
    return NULL;
}

bool pt_binary_index_load(const struct pt_input *input, struct pt_binary_index *ret_index)
{
    struct pt_binary_index index = {0};
    struct tail tail;
    const uint8_t *packed;
    if (!read_tail(input, &tail) || !tail.blocks || tail.blocks > tail.size / PT_BLOCK_HEADER_LEN ||
        tail.raw_len != (uint64_t)tail.blocks * ROW_LEN)
        return false;
    uint8_t *last = read_last(input, &tail, &packed);
    if (!last)
        return false;
    uint8_t *raw = pt_xmalloc(tail.raw_len);
    bool good = ZSTD_decompress(raw, tail.raw_len, packed, tail.stored_len) == tail.raw_len &&
                decode(raw, tail.blocks, tail.end, tail.events, &index) &&
                index.rows[index.blocks - 1].offset == tail.last;
    free(raw);
    free(last);
    if (good)
        *ret_index = index;
    else
        pt_binary_index_release(&index);
    return good;
}

uint32_t pt_binary_index_find(const struct pt_binary_index *index, uint64_t event)
{
    uint32_t low = 0, high = index->blocks; /* the block is in [low, high) */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (index->rows[middle].before < event)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t pt_binary_index_find_name(const struct pt_binary_index *index, unsigned space, uint32_t name)
{
    uint32_t low = 0, high = index->blocks;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (index->rows[middle].names[space] <= name)
            low = middle;
        else
            high = middle;
    }
    return low;
}
