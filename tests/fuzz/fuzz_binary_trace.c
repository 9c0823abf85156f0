/*
 * Any bytes as a binary trace. An input that starts with the magic is the file itself. Any other is a block's number of
 * events (2 bytes) and its payload, to which headers and a good checksum are added, since no fuzzer would guess that.
 * Every event that comes out must be expressible as a line of text that reads back as itself.
 */
#include <string.h>

#include "lines.h"
#include "trace/binary.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pt_buf file;
    pt_buf_init(&file);
    if (size >= PT_BINARY_MAGIC_LEN && memcmp(data, pt_binary_magic, PT_BINARY_MAGIC_LEN) == 0)
        pt_buf_add(&file, (const char *)data, size);
    else if (size >= 2)
        wrap(data + 2, (uint32_t)size - 2, data[0] | (uint32_t)data[1] << 8, &file);
    must_read_back(&file);
    pt_buf_release(&file);
    return 0;
}
