/*
 * Any bytes as a binary trace. An input that starts with the magic is the file itself. Any other is a block's number of
 * events (2 bytes) and its payload, to which headers and a good checksum are added, since no fuzzer would guess that.
 * Every event that comes out must be expressible as a line of text that reads back as itself.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/binary.h"
#include "trace/oprule.h"
#include "trace/writer.h"

/* A comma separates the entries of c=, so a thread with one in its name has no place there. */
static bool has_text_form(const struct pt_names *names, const struct pt_event *event)
{
    for (uint32_t i = 0; i < event->clock_len; i++)
        if (strchr(pt_name(names, PT_SPACE_THREAD, event->clock[i].thread), ','))
            return false;
    return true;
}

/* The lines of all events; false when one has no text form. */
static bool read_lines(const void *bytes, size_t len, struct pt_buf *lines, enum pt_read *ret_end)
{
    struct pt_names names;
    struct pt_event event;
    struct pt_err err;
    bool expressible = true;
    pt_names_init(&names);
    struct pt_source *reader = pt_source_from_memory("fuzz", bytes, len, &names);
    while ((*ret_end = pt_source_next(reader, &event, &err)) == PT_READ_EVENT) {
        size_t start = lines->len;
        pt_event_to_text(&names, &event, lines);
        expressible = expressible && lines->len - start <= PT_LINE_MAX && has_text_form(&names, &event);
        pt_buf_add(lines, "\n", 1);
    }
    pt_source_free(reader);
    pt_names_release(&names);
    return expressible;
}

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
    struct pt_buf file, lines, again;
    enum pt_read end;
    pt_buf_init(&file);
    pt_buf_init(&lines);
    pt_buf_init(&again);
    if (size >= PT_BINARY_MAGIC_LEN && memcmp(data, pt_binary_magic, PT_BINARY_MAGIC_LEN) == 0)
        pt_buf_add(&file, (const char *)data, size);
    else if (size >= 2)
        wrap(data + 2, (uint32_t)size - 2, data[0] | (uint32_t)data[1] << 8, &file);
    if (read_lines(file.text, file.len, &lines, &end) && lines.len) {
        if (!read_lines(lines.text, lines.len, &again, &end) || end != PT_READ_END)
            abort();
        if (again.len != lines.len || memcmp(again.text, lines.text, lines.len) != 0)
            abort();
    }
    pt_buf_release(&file);
    pt_buf_release(&lines);
    pt_buf_release(&again);
    return 0;
}
