/*
 * Any bytes as a recording (core/recording.h). An input that starts with the magic is the file itself. Any other is the
 * log of a thread, and behind its first byte that of a second one, to which chunks with good sums are added, since no
 * fuzzer would guess that. Every event that comes out must be expressible as a line of text that reads back as itself.
 */
#include <stdlib.h>
#include <string.h>

#include "core/recording.h"
#include "trace/oprule.h"
#include "trace/source.h"
#include "trace/text.h"
#include "trace/writer.h"

/* The lines of all events; false when one is too long for a text. */
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
        expressible = expressible && lines->len - start <= PT_LINE_MAX;
        pt_buf_add(lines, "\n", 1);
    }
    pt_source_free(reader);
    pt_names_release(&names);
    return expressible;
}

static void add(struct pt_buf *file, struct pt_rec_chunk chunk, const uint8_t *bytes, size_t len)
{
    chunk.magic = PT_REC_CHUNK_MAGIC;
    chunk.raw = chunk.stored = (uint32_t)len;
    chunk.sum = pt_rec_sum(&chunk, bytes);
    pt_buf_add(file, (const char *)&chunk, sizeof chunk);
    pt_buf_add(file, (const char *)bytes, len);
}

static void wrap(const uint8_t *data, size_t size, struct pt_buf *file)
{
    size_t first = size ? data[0] % size : 0;
    struct pt_record_thread threads[2] = {
        {.head = {sizeof threads[0] + 8, PT_RECORD_THREAD}},
        {.head = {sizeof threads[0] + 8, PT_RECORD_THREAD}, .thread = 1},
    };
    struct pt_buf defs;
    pt_buf_init(&defs);
    for (int i = 0; i < 2; i++) {
        pt_buf_add(&defs, (const char *)&threads[i], sizeof threads[i]);
        pt_buf_add(&defs, "\0\0\0\0\0\0\0", 8);
    }
    pt_buf_add(file, PT_REC_MAGIC, PT_REC_MAGIC_LEN);
    add(file, (struct pt_rec_chunk){.kind = PT_REC_FIRST}, NULL, 0);
    add(file, (struct pt_rec_chunk){.kind = PT_REC_DEFS}, (const uint8_t *)defs.text, defs.len);
    add(file, (struct pt_rec_chunk){.kind = PT_REC_EVENTS}, data, first);
    add(file, (struct pt_rec_chunk){.kind = PT_REC_EVENTS, .thread = 1}, data + first, size - first);
    add(file, (struct pt_rec_chunk){.kind = PT_REC_END, .stamp = UINT64_MAX}, NULL, 0);
    pt_buf_release(&defs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pt_buf file, lines, again;
    enum pt_read end;
    if (size > PT_REC_PIECE)
        return 0;
    pt_buf_init(&file);
    pt_buf_init(&lines);
    pt_buf_init(&again);
    if (size >= PT_REC_MAGIC_LEN && memcmp(data, PT_REC_MAGIC, PT_REC_MAGIC_LEN) == 0)
        pt_buf_add(&file, (const char *)data, size);
    else
        wrap(data, size, &file);
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
