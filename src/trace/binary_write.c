/*
 * Writing the binary form (binary.h): events are collected as columns until a block is full, then compressed. A block
 * is full at PT_BLOCK_EVENTS events or when its names and clocks reach FLUSH_BYTES; since no line of text adds more
 * than NAMES_MAX and CLOCK_MAX, whatever was read as text keeps PT_BLOCK_BYTES. Larger events are refused.
 */
#include "trace/binary.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "trace/binary_index.h"
#include "trace/oprule.h"

enum {
    FLUSH_BYTES = 64 * 1024,
    CLOCK_MAX = PT_LINE_MAX / 4, /* entries; no line of text holds more */
    CLOCK_ENTRY_BYTES = 12,      /* at most, in columns */
    ROW_BYTES = 44,              /* likewise, of an event without its clock's entries */
    OVERHEAD_BYTES = 64,         /* likewise, of the payload's other parts */
    NAMES_MAX = 3 * PT_LINE_MAX, /* bytes of new names in a line of text, with their headers */
    COMPRESSION_LEVEL = 1,
};
_Static_assert(PT_BLOCK_EVENTS *ROW_BYTES + OVERHEAD_BYTES + FLUSH_BYTES + CLOCK_MAX * CLOCK_ENTRY_BYTES + NAMES_MAX <
                   PT_BLOCK_BYTES,
               "whatever a line of text holds fits");

struct writer {
    const struct pt_names *names;
    struct pt_columns *columns;
    uint64_t records; /* in finished blocks */
    uint64_t bytes;   /* of the file so far */
    struct pt_binary_index index;
    uint32_t defined[PT_SPACE_COUNT]; /* names in finished blocks */
    struct pt_buf new_names;
    uint32_t new_count;
    bool too_large;                     /* a new name is too long */
    bool is_full;                       /* the block is, and another event goes into the next one */
    uint32_t *file_ids[PT_SPACE_COUNT]; /* by id in names: id in the file + 1, 0 while undefined */
    size_t file_ids_cap[PT_SPACE_COUNT];
    uint32_t file_count[PT_SPACE_COUNT];
    struct pt_buf raw, stored;
    ZSTD_CCtx *zstd;
};

static void put32(uint8_t *p, uint32_t n)
{
    n = htole32(n);
    memcpy(p, &n, sizeof n);
}

static void put64(uint8_t *p, uint64_t n)
{
    n = htole64(n);
    memcpy(p, &n, sizeof n);
}

void pt_binary_header(struct pt_buf *out)
{
    uint8_t header[PT_BINARY_HEADER_LEN] = {0};
    memcpy(header, pt_binary_magic, PT_BINARY_MAGIC_LEN);
    put32(header + 8, PT_BINARY_VERSION);
    pt_buf_add(out, (const char *)header, sizeof header);
}

static void *begin(const struct pt_names *names, struct pt_buf *out)
{
    struct writer *writer = pt_xcalloc(1, sizeof *writer);
    writer->names = names;
    writer->columns = pt_columns_new();
    writer->zstd = ZSTD_createCCtx();
    assert(writer->zstd); /* else out of memory */
    pt_buf_init(&writer->new_names);
    pt_buf_init(&writer->raw);
    pt_buf_init(&writer->stored);
    pt_binary_header(out);
    writer->bytes = PT_BINARY_HEADER_LEN;
    return writer;
}

static void release(void *state)
{
    struct writer *writer = state;
    for (int i = 0; i < PT_SPACE_COUNT; i++)
        free(writer->file_ids[i]);
    pt_columns_free(writer->columns);
    ZSTD_freeCCtx(writer->zstd);
    pt_buf_release(&writer->new_names);
    pt_buf_release(&writer->raw);
    pt_buf_release(&writer->stored);
    pt_binary_index_release(&writer->index);
    free(writer);
}

static void put_block(struct writer *writer, const uint8_t *magic, const char *stored, size_t stored_len,
                      struct pt_buf *out)
{
    uint8_t header[PT_BLOCK_HEADER_LEN];
    memcpy(header, magic, PT_BLOCK_MAGIC_LEN);
    put32(header + 4, writer->columns->len);
    put32(header + 8, (uint32_t)writer->raw.len);
    put32(header + 12, (uint32_t)stored_len);
    put64(header + 16, writer->records);
    put64(header + PT_BLOCK_CHECKED_LEN, pt_block_checksum(header, stored, stored_len));
    pt_buf_add(out, (const char *)header, sizeof header);
    pt_buf_add(out, stored, stored_len);
    writer->bytes += sizeof header + stored_len;
}

/* The payload of the collected events into writer->raw. */
static void encode(struct writer *writer)
{
    uint8_t names_header[PT_NAMES_HEADER_LEN];
    put32(names_header, writer->new_count);
    put32(names_header + 4, (uint32_t)writer->new_names.len);
    writer->raw.len = 0;
    pt_buf_add(&writer->raw, (const char *)names_header, sizeof names_header);
    if (writer->new_names.len)
        pt_buf_add(&writer->raw, writer->new_names.text, writer->new_names.len);
    pt_columns_encode(writer->columns, &writer->raw);
}

/* The payload as it is stored: as a frame where that is allowed, and with the index where it is the last one. */
static const struct pt_buf *pack(struct writer *writer, bool last)
{
    struct pt_buf *raw = &writer->raw, *stored = &writer->stored;
    size_t bound = ZSTD_compressBound(raw->len);
    stored->len = 0;
    PT_GROW(stored->text, stored->cap, bound + 1);
    size_t len = ZSTD_compressCCtx(writer->zstd, stored->text, bound, raw->text, raw->len, COMPRESSION_LEVEL);
    if (ZSTD_isError(len) || writer->new_names.len > len * PT_NAMES_RATIO)
        return raw;
    stored->len = len;
    if (last)
        pt_binary_index_append(&writer->index, writer->records + writer->columns->len, writer->file_count,
                               (uint32_t)raw->len, stored);
    return stored->len == len && len >= raw->len ? raw : stored;
}

/* The events so far, as a block. */
static void flush(struct writer *writer, bool last, struct pt_buf *out)
{
    struct pt_columns *columns = writer->columns;
    if (columns->len == 0)
        return;
    encode(writer);
    assert(writer->raw.len <= PT_BLOCK_BYTES);
    pt_binary_index_add(&writer->index, writer->bytes, writer->records, writer->defined);
    const struct pt_buf *stored = pack(writer, last);
    put_block(writer, pt_block_magic, stored->text, stored->len, out);
    memcpy(writer->defined, writer->file_count, sizeof writer->defined);
    writer->records += columns->len;
    writer->new_names.len = 0;
    writer->new_count = 0;
    columns->len = 0;
    columns->any_time = columns->any_clock = columns->any_order = columns->any_stack = columns->any_bytes = false;
    columns->clock_total = 0;
}

/* An incomplete trace has no end marker. */
static void end(void *state, const char *incomplete, struct pt_buf *out)
{
    struct writer *writer = state;
    flush(writer, !incomplete, out);
    writer->raw.len = 0;
    if (!incomplete)
        put_block(writer, pt_block_end_magic, "", 0, out);
}

/* The file's id + 1 of a name, which is defined in the present block if it is new. */
static uint32_t file_id(struct writer *writer, enum pt_space space, uint32_t id)
{
    if (id == PT_NONE)
        return 0;
    size_t old = writer->file_ids_cap[space];
    if (id >= old) {
        PT_GROW(writer->file_ids[space], writer->file_ids_cap[space], (size_t)id + 1);
        memset(writer->file_ids[space] + old, 0, (writer->file_ids_cap[space] - old) * sizeof(uint32_t));
    }
    uint32_t *slot = &writer->file_ids[space][id];
    if (*slot == 0) {
        const struct pt_strtab *tab = &writer->names->space[space];
        uint8_t header[PT_NAME_HEADER_LEN] = {(uint8_t)space};
        put32(header + 1, pt_strtab_len(tab, id));
        pt_buf_add(&writer->new_names, (const char *)header, sizeof header);
        pt_buf_add(&writer->new_names, pt_strtab_text(tab, id), pt_strtab_len(tab, id));
        writer->new_count++;
        writer->too_large |= pt_strtab_len(tab, id) > PT_LINE_MAX;
        *slot = ++writer->file_count[space];
    }
    return *slot;
}

/* String values carry their text; the string table has their id, since that is where they live. */
static int64_t value_bits(struct writer *writer, struct pt_value value)
{
    if (value.kind == PT_VALUE_UNKNOWN)
        return 0;
    if (value.kind != PT_VALUE_STRING)
        return value.i;
    uint32_t id = pt_strtab_find(&writer->names->space[PT_SPACE_STRING], value.s, value.len);
    assert(id != PT_NONE);
    return file_id(writer, PT_SPACE_STRING, id);
}

static void add_clock(struct writer *writer, const struct pt_event *event)
{
    struct pt_columns *columns = writer->columns;
    if (event->clock_len && !columns->any_clock) {
        memset(columns->clock_len, 0, columns->len * sizeof *columns->clock_len);
        columns->any_clock = true;
    }
    columns->clock_len[columns->len] = event->clock_len;
    pt_columns_reserve_clock(columns, columns->clock_total + event->clock_len);
    for (uint32_t i = 0; i < event->clock_len; i++) {
        columns->clock_thread[columns->clock_total] = file_id(writer, PT_SPACE_THREAD, event->clock[i].thread);
        columns->clock_count[columns->clock_total++] = event->clock[i].count;
    }
}

static enum pt_status add(void *state, const struct pt_names *names, const struct pt_event *event, struct pt_buf *out,
                          struct pt_err *err)
{
    struct writer *writer = state;
    (void)names; /* those of the beginning */
    struct pt_columns *columns = writer->columns;
    if (event->clock_len > CLOCK_MAX)
        return pt_err_set(err, PT_ELIMIT, "a clock of %u threads is too large for a trace", event->clock_len);
    if (writer->is_full) /* now it is known not to be the last block */
        flush(writer, false, out);
    writer->is_full = false;
    uint32_t row = columns->len;
    columns->tag[row] = (uint8_t)(event->op | event->value.kind << PT_TAG_OP_BITS);
    columns->thread[row] = file_id(writer, PT_SPACE_THREAD, event->thread);
    columns->object[row] = pt_op_has_object(event->op) ? file_id(writer, pt_op_space(event->op), event->object) : 0;
    columns->loc[row] = file_id(writer, PT_SPACE_LOC, event->loc);
    columns->value[row] = value_bits(writer, event->value);
    columns->timed[row] = event->has_time;
    columns->time[row] = event->has_time ? event->time : 0;
    columns->any_time |= event->has_time;
    columns->order[row] = event->order;
    columns->any_order |= event->order != PT_MEMORY_NONE;
    columns->stack[row] = event->stack ? file_id(writer, PT_SPACE_STACK, event->stack - 1) : 0;
    columns->any_stack |= event->stack != 0;
    columns->bytes[row] = (uint32_t)event->from << 16 | event->to;
    columns->any_bytes |= event->to != 0;
    add_clock(writer, event);
    columns->len++;
    size_t extra = writer->new_names.len + columns->clock_total * CLOCK_ENTRY_BYTES;
    if (writer->too_large || extra + OVERHEAD_BYTES + PT_BLOCK_EVENTS * ROW_BYTES > PT_BLOCK_BYTES)
        return pt_err_set(err, PT_ELIMIT, "an event is too large for a binary trace");
    writer->is_full = columns->len == PT_BLOCK_EVENTS || extra >= FLUSH_BYTES;
    return PT_OK;
}

const struct pt_encoder pt_binary_encoder = {begin, NULL, add, end, release};
