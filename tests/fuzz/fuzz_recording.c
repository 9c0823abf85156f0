/*
 * Any bytes as a recording (core/recording.h). An input that starts with the magic is the file itself. Any other is the
 * log of a thread, and behind its first byte that of a second one, to which chunks with good sums are added, since no
 * fuzzer would guess that, and definitions of two objects that events may name. Every event that comes out must be
 * expressible as a line of text that reads back as itself.
 */
#include <string.h>

#include "core/recording.h"
#include "lines.h"

static void add(struct pt_buf *file, struct pt_rec_chunk chunk, const uint8_t *bytes, size_t len)
{
    chunk.magic = PT_REC_CHUNK_MAGIC;
    chunk.raw = chunk.stored = (uint32_t)len;
    chunk.sum = pt_rec_sum(&chunk, bytes);
    pt_buf_add(file, (const char *)&chunk, sizeof chunk);
    pt_buf_add(file, (const char *)bytes, len);
}

/* An int, and a text that begins in the middle of it. */
static void define_names(struct pt_buf *defs)
{
    const struct pt_rec_named names[] = {
        {.head = {sizeof names[0] + 8, PT_REC_NAMED}, .address = 32, .number = 1, .size = 4, .bytes = 4},
        {.head = {sizeof names[0] + 16, PT_REC_NAMED},
         .address = 34,
         .number = 2,
         .size = 12,
         .type = PT_WATCH_CHARS,
         .bytes = 12},
    };
    pt_buf_add(defs, (const char *)&names[0], sizeof names[0]);
    pt_buf_add(defs, "\5\0\0\0one", 8);
    pt_buf_add(defs, (const char *)&names[1], sizeof names[1]);
    pt_buf_add(defs, "ab\0\0\0\0\0\0\0\0\0\0two", 16);
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
    define_names(&defs);
    pt_buf_add(file, PT_REC_MAGIC, PT_REC_MAGIC_LEN);
    add(file, (struct pt_rec_chunk){.kind = PT_REC_FIRST}, NULL, 0);
    add(file, (struct pt_rec_chunk){.kind = PT_REC_DEFS}, (const uint8_t *)defs.text, defs.len);
    add(file, (struct pt_rec_chunk){.kind = PT_REC_EVENTS}, data, first);
    add(file, (struct pt_rec_chunk){.kind = PT_REC_EVENTS, .thread = 1}, data + first, size - first);
    add(file, (struct pt_rec_chunk){.kind = PT_REC_MORE, .piece = 1}, data + first, size - first);
    add(file, (struct pt_rec_chunk){.kind = PT_REC_END, .stamp = UINT64_MAX}, NULL, 0);
    pt_buf_release(&defs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pt_buf file;
    if (size > PT_REC_PIECE)
        return 0;
    pt_buf_init(&file);
    if (size >= PT_REC_MAGIC_LEN && memcmp(data, PT_REC_MAGIC, PT_REC_MAGIC_LEN) == 0)
        pt_buf_add(&file, (const char *)data, size);
    else
        wrap(data, size, &file);
    must_read_back(&file);
    pt_buf_release(&file);
    return 0;
}
