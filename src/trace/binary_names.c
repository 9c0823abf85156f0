/*
 * Names of the binary form (binary.h): those that a block defines, and, where a trace was opened in the middle by its
 * index, those of earlier blocks, which are read when an event of the present one has them.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "trace/binary_read_impl.h"
#include "trace/oprule.h"

const char *pt_binary_names(struct pt_binary_reader *reader, const struct pt_binary_block *block, uint32_t *at)
{
    const struct pt_block_header *header = &block->header;
    const uint8_t *p = block->raw, *end = p + header->raw_len;
    uint32_t count = pt_block_get32(p), len = pt_block_get32(p + 4);
    p += PT_NAMES_HEADER_LEN;
    if (len > (size_t)(end - p))
        return "it is too short for its names";
    if (header->stored_len != header->raw_len && len > (uint64_t)header->stored_len * PT_NAMES_RATIO)
        return "its names are compressed beyond the limit";
    end = p + len;
    for (uint32_t i = 0; i < count; i++) {
        if (end - p < PT_NAME_HEADER_LEN)
            return "a name is cut off";
        unsigned space = p[0];
        size_t name_len = pt_block_get32(p + 1), bad_at;
        p += PT_NAME_HEADER_LEN;
        if (space >= PT_SPACE_COUNT || name_len > (size_t)(end - p) || name_len > PT_LINE_MAX)
            return "a name has an impossible space or length";
        const char *problem = pt_name_problem(space, (const char *)p, name_len, &bad_at);
        if (problem)
            return problem;
        struct pt_binary_ids *map = &reader->maps[space];
        uint32_t id = pt_strtab_intern(&reader->names->space[space], (const char *)p, name_len);
        if (!at)
            PT_PUSH(map->ids, map->len, map->cap, id);
        else if (at[space] + 1 < map->len)
            map->ids[++at[space]] = id;
        else
            return "the index counts its names otherwise";
        p += name_len;
    }
    return p != end ? "its names are longer than they say" : NULL;
}

/* --- a trace that was opened in the middle --- */

/* All names that a block before the present one defines. NULL: they are known now. */
static const char *read_definitions(struct pt_binary_reader *reader, uint32_t number)
{
    const struct pt_binary_index_row *row = &reader->index.rows[number];
    struct pt_binary_block *block = reader->defines;
    uint64_t len = row[1].offset - row->offset;
    uint32_t at[PT_SPACE_COUNT];
    if (len > PT_BLOCK_HEADER_LEN + PT_BLOCK_BYTES)
        return "the index says that a block is too large";
    uint8_t *bytes = pt_xmalloc(len);
    bool good = pt_input_read_at(reader->input, row->offset, bytes, len);
    if (good) {
        struct pt_block_header *header = &block->header;
        *header = pt_block_parse(bytes);
        good = pt_block_is_plausible(bytes, header) && !header->is_end && header->raw_len <= PT_BLOCK_BYTES &&
               header->raw_len >= PT_NAMES_HEADER_LEN && header->stored_len == len - PT_BLOCK_HEADER_LEN &&
               pt_block_checksum(bytes, bytes + PT_BLOCK_HEADER_LEN, header->stored_len) == header->checksum &&
               pt_block_unpack(reader->defines_zstd, header, bytes + PT_BLOCK_HEADER_LEN, block);
    }
    free(bytes);
    if (!good)
        return "a block before it, which defines names, is damaged";
    memcpy(at, row->names, sizeof at);
    const char *problem = pt_binary_names(reader, block, at);
    if (problem)
        return problem;
    return memcmp(at, row[1].names, sizeof at) == 0 ? NULL : "the index counts names that a block does not define";
}

/* A name that an event has, by its number in the file plus 1. */
static const char *need(struct pt_binary_reader *reader, unsigned space, uint64_t id)
{
    const struct pt_binary_ids *map = &reader->maps[space];
    if (id >= map->len || map->ids[id] != NOT_READ)
        return NULL;
    return read_definitions(reader, pt_binary_index_find_name(&reader->index, space, (uint32_t)id - 1));
}

const char *pt_binary_names_needed(struct pt_binary_reader *reader)
{
    const struct pt_columns *columns = reader->columns;
    const char *problem = NULL;
    for (uint32_t row = 0; row < columns->len && !problem; row++) {
        unsigned op = columns->tag[row] & PT_TAG_OP_MASK, kind = columns->tag[row] >> PT_TAG_OP_BITS;
        problem = need(reader, PT_SPACE_THREAD, columns->thread[row]);
        if (!problem)
            problem = need(reader, reader->rules[op].space, columns->object[row]);
        if (!problem)
            problem = need(reader, PT_SPACE_LOC, columns->loc[row]);
        if (!problem && columns->any_stack)
            problem = need(reader, PT_SPACE_STACK, columns->stack[row]);
        if (!problem && kind == PT_VALUE_STRING)
            problem = need(reader, PT_SPACE_STRING, (uint64_t)columns->value[row]);
    }
    for (size_t i = 0; columns->any_clock && i < columns->clock_total && !problem; i++)
        problem = need(reader, PT_SPACE_THREAD, columns->clock_thread[i]);
    return problem;
}

bool pt_binary_seek(struct pt_source *source, uint64_t event, uint64_t *ret_before)
{
    struct pt_file_source *file = (struct pt_file_source *)source;
    struct pt_binary_reader *reader = file->state;
    uint8_t head[PT_BINARY_HEADER_LEN];
    struct pt_buf good;
    if (reader->header_read || reader->index.rows || !pt_input_read_at(&file->input, 0, head, sizeof head))
        return false;
    pt_buf_init(&good);
    pt_binary_header(&good);
    bool mine = memcmp(head, good.text, sizeof head) == 0;
    pt_buf_release(&good);
    if (!mine || !pt_binary_index_load(&file->input, &reader->index))
        return false;
    const struct pt_binary_index_row *row = &reader->index.rows[pt_binary_index_find(&reader->index, event)];
    if (!pt_input_seek(&file->input, row->offset)) {
        pt_binary_index_release(&reader->index);
        return false;
    }
    for (int space = 0; space < PT_SPACE_COUNT; space++)
        for (uint32_t i = 0; i < row->names[space]; i++)
            PT_PUSH(reader->maps[space].ids, reader->maps[space].len, reader->maps[space].cap, NOT_READ);
    reader->defines = pt_binary_block_new();
    reader->defines_zstd = ZSTD_createDCtx();
    assert(reader->defines_zstd); /* else out of memory */
    reader->header_read = true;
    reader->input = reader->taker.input = &file->input;
    reader->taker.records = *ret_before = row->before;
    return true;
}
