/*
 * Any bytes as a binary trace. An input that starts with the magic is the file itself. Any other is a block's number of
 * events (2 bytes) and its payload, to which headers and a good checksum are added, since no fuzzer would guess that.
 * Every event that comes out must be expressible as a line of text that reads back as itself. Of one that is opened in
 * the middle, whatever its index says, reading must stay within bounds.
 */
#include <string.h>

#include "lines.h"
#include "trace/binary_index.h"

static void wrap(const uint8_t *payload, uint32_t len, uint32_t events, struct pt_buf *file)
{
    uint8_t header[PT_BLOCK_HEADER_LEN] = {0};
    memcpy(header, pt_block_magic, PT_BLOCK_MAGIC_LEN);
    memcpy(header + 4, &events, 4); /* fuzzing happens on little-endian machines */
    memcpy(header + 8, &len, 4);
    memcpy(header + 12, &len, 4);
    uint64_t sum = pt_block_checksum(header, payload, len);
    memcpy(header + PT_BLOCK_CHECKED_LEN, &sum, 8);
    pt_binary_header(file);
    pt_buf_add(file, (const char *)header, sizeof header);
    pt_buf_add(file, (const char *)payload, len);
}

/* By its last byte: an index that nobody would guess is wrong in its numbers all the same. */
static void seek(const struct pt_buf *file)
{
    struct pt_names names;
    struct pt_event event;
    struct pt_err err;
    pt_names_init(&names);
    struct pt_source *source = pt_source_from_memory("fuzz", file->text, file->len, &names);
    enum pt_read got = pt_source_seek(source, 1 + (uint8_t)file->text[file->len - 1], &err);
    while (got == PT_READ_EVENT)
        got = pt_source_next(source, &event, &err);
    pt_source_free(source);
    pt_names_release(&names);
}

/* An index of any rows, in a block and before an end marker that are good. */
static void wrap_index(const uint8_t *rows, uint32_t len, struct pt_buf *file)
{
    enum { ROW = 4 * (2 + PT_SPACE_COUNT) };
    struct pt_binary_index index = {0};
    struct pt_buf stored;
    uint32_t names[PT_SPACE_COUNT] = {0}, blocks = len / ROW;
    uint64_t offset = PT_BINARY_HEADER_LEN, before = 0;
    pt_buf_init(&stored);
    wrap(rows, len, 1, file);
    for (uint32_t i = 0; i < blocks; i++, rows += ROW) {
        uint32_t row[2 + PT_SPACE_COUNT];
        memcpy(row, rows, sizeof row);
        pt_binary_index_add(&index, offset, before, names);
        offset += row[0] % 64;
        before += row[1] % 512;
        for (int space = 0; space < PT_SPACE_COUNT; space++)
            names[space] += row[2 + space] % 64;
    }
    if (blocks)
        index.rows[blocks - 1].offset = file->len;
    if (blocks)
        pt_binary_index_append(&index, before, names, 0, &stored);
    uint8_t header[2 * PT_BLOCK_HEADER_LEN] = {0}, *end = header + PT_BLOCK_HEADER_LEN;
    uint32_t stored_len = (uint32_t)stored.len, one = 1, raw_len = PT_NAMES_HEADER_LEN;
    memcpy(header, pt_block_magic, PT_BLOCK_MAGIC_LEN);
    memcpy(header + 4, &one, 4);
    memcpy(header + 8, &raw_len, 4);
    memcpy(header + 12, &stored_len, 4);
    memcpy(header + 16, &one, 1);
    memcpy(end, pt_block_end_magic, PT_BLOCK_MAGIC_LEN);
    memcpy(end + 16, &before, 8);
    uint64_t sum = pt_block_checksum(header, stored.text, stored.len), end_sum = pt_block_checksum(end, "", 0);
    memcpy(header + PT_BLOCK_CHECKED_LEN, &sum, 8);
    memcpy(end + PT_BLOCK_CHECKED_LEN, &end_sum, 8);
    pt_buf_add(file, (const char *)header, PT_BLOCK_HEADER_LEN);
    if (stored.len)
        pt_buf_add(file, stored.text, stored.len);
    pt_buf_add(file, (const char *)end, PT_BLOCK_HEADER_LEN);
    pt_buf_release(&stored);
    pt_binary_index_release(&index);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pt_buf file;
    pt_buf_init(&file);
    if (size >= PT_BINARY_MAGIC_LEN && memcmp(data, pt_binary_magic, PT_BINARY_MAGIC_LEN) == 0)
        pt_buf_add(&file, (const char *)data, size);
    else if (size >= 2 && data[0] == 0xff && data[1] == 0xff)
        wrap_index(data + 2, (uint32_t)size - 2, &file);
    else if (size >= 2)
        wrap(data + 2, (uint32_t)size - 2, data[0] | (uint32_t)data[1] << 8, &file);
    must_read_back(&file);
    if (file.len)
        seek(&file);
    pt_buf_release(&file);
    return 0;
}
