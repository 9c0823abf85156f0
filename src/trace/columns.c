/*
 * The bytes of a block's columns, after its names (binary.h). All numbers are little-endian.
 *
 *     tags            one byte per event: op + 32 * kind of value (enum pt_op, enum pt_value_kind)
 *     threads         column of unsigned; 0: none, else id + 1
 *     objects         likewise, in the name space of the op
 *     places          likewise
 *     values          column of signed; integers as they are (those above INT64_MAX modulo 2^64), floats as IEEE 754
 *                     bits, bools 0 or 1, strings id + 1, 0 where the kind is "unknown"
 *     time mode       one byte: 0 no event has a time, 1 all have, 2 some have
 *       flags         mode 2: one byte per event, 1 where it has a time
 *       base          modes 1 and 2: 8 bytes
 *       deltas        column of signed, one per event: its time minus that of the event before it that has one (the
 *                     first: minus base), modulo 2^64; 0 where there is no time
 *     clock mode      one byte: 0 no event has a clock, 1 some have
 *       lengths       column of unsigned, one per event: its number of entries
 *       threads       column of unsigned, one per entry: id + 1
 *       counts        column of unsigned, one per entry
 *     more            only where an event has an order, a stack or bytes: one byte, the sum of 1 orders, 2 stacks,
 *                     4 bytes
 *       orders        one byte per event: its memory order (enum pt_memory_order), 0: none
 *       stacks        column of unsigned, one per event; 0: none, else id + 1
 *       bytes         column of unsigned, one per event: 65536 * the first byte of its variable that it touches + the
 *                     one after the last; 0: it touches all of it
 *
 * A column is one byte w in {0, 1, 2, 4, 8} and then w bytes per number: the fewest that hold all of them. Width 0
 * means that all are 0; it is not used in columns of clock entries, so that no block stands for more entries than it
 * has bytes.
 *
 * Why columns of one width: decoding is a widening copy without branches, which the compiler vectorises, and zstd finds
 * more in bytes of one kind than in interleaved records.
 */
#include "trace/columns.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { MORE_ORDERS = 1, MORE_STACKS = 2, MORE_BYTES = 4 };

struct pt_columns *pt_columns_new(void)
{
    return pt_xcalloc(1, sizeof(struct pt_columns));
}

void pt_columns_free(struct pt_columns *columns)
{
    if (columns) {
        free(columns->clock_thread);
        free(columns->clock_count);
    }
    free(columns);
}

void pt_columns_reserve_clock(struct pt_columns *columns, size_t total)
{
    if (total <= columns->clock_cap)
        return;
    size_t cap = columns->clock_cap ? columns->clock_cap : 1024;
    while (cap < total)
        cap *= 2;
    columns->clock_thread = pt_xrealloc(columns->clock_thread, cap * sizeof *columns->clock_thread);
    columns->clock_count = pt_xrealloc(columns->clock_count, cap * sizeof *columns->clock_count);
    columns->clock_cap = cap;
}

/* Writing. */

static unsigned unsigned_width(uint64_t bits)
{
    return bits == 0 ? 0 : bits <= UINT8_MAX ? 1 : bits <= UINT16_MAX ? 2 : bits <= UINT32_MAX ? 4 : 8;
}

/* Its lowest `width` bytes; all are written, since a copy of fixed length is one store, and the next overwrites them.
 */
static void put_number(struct pt_buf *buf, uint64_t number, unsigned width)
{
    uint64_t le = htole64(number);
    PT_GROW(buf->text, buf->cap, buf->len + sizeof le + 1);
    memcpy(buf->text + buf->len, &le, sizeof le);
    buf->len += width;
    buf->text[buf->len] = '\0';
}

static void put_column32(struct pt_buf *buf, const uint32_t *numbers, size_t len, unsigned least_width)
{
    uint32_t all = 0;
    for (size_t i = 0; i < len; i++)
        all |= numbers[i];
    unsigned width = unsigned_width(all);
    width = width < least_width ? least_width : width;
    put_number(buf, width, 1);
    for (size_t i = 0; i < len; i++)
        put_number(buf, numbers[i], width);
}

static void put_unsigned64(struct pt_buf *buf, const uint64_t *numbers, size_t len)
{
    uint64_t all = 1; /* the width is at least 1 */
    for (size_t i = 0; i < len; i++)
        all |= numbers[i];
    unsigned width = unsigned_width(all);
    put_number(buf, width, 1);
    for (size_t i = 0; i < len; i++)
        put_number(buf, numbers[i], width);
}

static void put_signed64(struct pt_buf *buf, const int64_t *numbers, size_t len)
{
    uint64_t all = 0; /* n and ~n need the same bits, plus one for the sign */
    for (size_t i = 0; i < len; i++) {
        uint64_t bits = (uint64_t)numbers[i];
        all |= numbers[i] < 0 ? ~bits << 1 | 1 : bits << 1;
    }
    unsigned width = unsigned_width(all);
    put_number(buf, width, 1);
    for (size_t i = 0; i < len; i++)
        put_number(buf, (uint64_t)numbers[i], width);
}

static void put_times(struct pt_buf *buf, const struct pt_columns *columns)
{
    uint32_t timed = 0;
    uint64_t base = 0, last = 0;
    for (uint32_t i = 0; columns->any_time && i < columns->len; i++)
        if (columns->timed[i] && timed++ == 0)
            base = last = columns->time[i];
    unsigned mode = timed == 0 ? 0 : timed == columns->len ? 1 : 2;
    put_number(buf, mode, 1);
    if (mode == 0)
        return;
    if (mode == 2)
        pt_buf_add(buf, (const char *)columns->timed, columns->len);
    put_number(buf, base, 8);
    int64_t *deltas = pt_xcalloc(columns->len, sizeof *deltas);
    for (uint32_t i = 0; i < columns->len; i++) {
        if (!columns->timed[i])
            continue;
        deltas[i] = (int64_t)(columns->time[i] - last);
        last = columns->time[i];
    }
    put_signed64(buf, deltas, columns->len);
    free(deltas);
}

void pt_columns_encode(const struct pt_columns *columns, struct pt_buf *buf)
{
    pt_buf_add(buf, (const char *)columns->tag, columns->len);
    put_column32(buf, columns->thread, columns->len, 0);
    put_column32(buf, columns->object, columns->len, 0);
    put_column32(buf, columns->loc, columns->len, 0);
    put_signed64(buf, columns->value, columns->len);
    put_times(buf, columns);
    put_number(buf, columns->any_clock, 1);
    if (columns->any_clock) {
        put_column32(buf, columns->clock_len, columns->len, 0);
        put_column32(buf, columns->clock_thread, columns->clock_total, 1);
        put_unsigned64(buf, columns->clock_count, columns->clock_total);
    }
    unsigned more = (columns->any_order ? MORE_ORDERS : 0) | (columns->any_stack ? MORE_STACKS : 0) |
                    (columns->any_bytes ? MORE_BYTES : 0);
    if (more)
        put_number(buf, more, 1);
    if (columns->any_order)
        pt_buf_add(buf, (const char *)columns->order, columns->len);
    if (columns->any_stack)
        put_column32(buf, columns->stack, columns->len, 0);
    if (columns->any_bytes)
        put_column32(buf, columns->bytes, columns->len, 0);
}

/* Reading. */

struct cursor {
    const uint8_t *at, *end;
    bool bad;
};

/* The next `len` bytes, NULL (and bad) when there are fewer. */
static const uint8_t *take(struct cursor *cursor, size_t len)
{
    if (cursor->bad || (size_t)(cursor->end - cursor->at) < len) {
        cursor->bad = true;
        return NULL;
    }
    const uint8_t *p = cursor->at;
    cursor->at += len;
    return p;
}

static unsigned take_byte(struct cursor *cursor)
{
    const uint8_t *p = take(cursor, 1);
    return p ? *p : 0;
}

/* out[i] = the i-th number of `type` bytes at p. */
#define WIDEN(out, p, len, type, from_le)                                                                              \
    for (size_t widen_i = 0; widen_i < (len); widen_i++) {                                                             \
        type widen_x;                                                                                                  \
        memcpy(&widen_x, (p) + widen_i * sizeof widen_x, sizeof widen_x);                                              \
        (out)[widen_i] = from_le(widen_x);                                                                             \
    }
#define SAME(x)     (x)
#define SIGNED8(x)  ((int64_t)(int8_t)(x))
#define SIGNED16(x) ((int16_t)le16toh(x))
#define SIGNED32(x) ((int32_t)le32toh(x))
#define SIGNED64(x) ((int64_t)le64toh(x))

/* The width and the bytes of a column of `len` numbers. */
static const uint8_t *take_column(struct cursor *cursor, size_t len, unsigned *ret_width)
{
    unsigned width = take_byte(cursor);
    *ret_width = width;
    if (width > 8 || (width & (width - 1))) {
        cursor->bad = true;
        return NULL;
    }
    return take(cursor, len * width);
}

static void take_column32(struct cursor *cursor, uint32_t *out, size_t len)
{
    unsigned width;
    const uint8_t *p = take_column(cursor, len, &width);
    if (!p)
        return;
    if (width == 0)
        memset(out, 0, len * sizeof *out);
    else if (width == 1)
        WIDEN(out, p, len, uint8_t, SAME)
    else if (width == 2)
        WIDEN(out, p, len, uint16_t, le16toh)
    else if (width == 4)
        WIDEN(out, p, len, uint32_t, le32toh)
    else
        cursor->bad = true;
}

static void take_unsigned64(struct cursor *cursor, uint64_t *out, size_t len)
{
    unsigned width;
    const uint8_t *p = take_column(cursor, len, &width);
    if (!p)
        return;
    if (width == 1)
        WIDEN(out, p, len, uint8_t, SAME)
    else if (width == 2)
        WIDEN(out, p, len, uint16_t, le16toh)
    else if (width == 4)
        WIDEN(out, p, len, uint32_t, le32toh)
    else if (width == 8)
        WIDEN(out, p, len, uint64_t, le64toh)
    else
        cursor->bad = true;
}

static void take_signed64(struct cursor *cursor, int64_t *out, size_t len)
{
    unsigned width;
    const uint8_t *p = take_column(cursor, len, &width);
    if (!p)
        return;
    if (width == 0)
        memset(out, 0, len * sizeof *out);
    else if (width == 1)
        WIDEN(out, p, len, uint8_t, SIGNED8)
    else if (width == 2)
        WIDEN(out, p, len, uint16_t, SIGNED16)
    else if (width == 4)
        WIDEN(out, p, len, uint32_t, SIGNED32)
    else
        WIDEN(out, p, len, uint64_t, SIGNED64)
}

static void take_times(struct cursor *cursor, struct pt_columns *columns)
{
    unsigned mode = take_byte(cursor);
    columns->any_time = mode != 0;
    if (mode == 0)
        return;
    const uint8_t *flags = mode == 2 ? take(cursor, columns->len) : NULL;
    const uint8_t *base = take(cursor, 8);
    int64_t *deltas = (int64_t *)columns->time; /* summed up in place */
    take_signed64(cursor, deltas, columns->len);
    if (cursor->bad || mode > 2) {
        cursor->bad = true;
        return;
    }
    uint64_t now;
    memcpy(&now, base, sizeof now);
    now = le64toh(now);
    for (uint32_t i = 0; i < columns->len; i++) {
        uint8_t timed = flags ? flags[i] : 1;
        now += (uint64_t)deltas[i];
        cursor->bad |= timed > 1 || (!timed && deltas[i] != 0);
        columns->timed[i] = timed;
        columns->time[i] = timed ? now : 0;
    }
}

static void take_clocks(struct cursor *cursor, struct pt_columns *columns)
{
    unsigned mode = take_byte(cursor);
    columns->any_clock = mode == 1;
    columns->clock_total = 0;
    cursor->bad |= mode > 1;
    if (mode != 1)
        return;
    take_column32(cursor, columns->clock_len, columns->len);
    uint64_t total = 0;
    for (uint32_t i = 0; !cursor->bad && i < columns->len; i++)
        total += columns->clock_len[i];
    if (cursor->bad || total == 0 || total > (size_t)(cursor->end - cursor->at)) { /* an entry takes bytes */
        cursor->bad = true;
        return;
    }
    pt_columns_reserve_clock(columns, total);
    columns->clock_total = total;
    take_column32(cursor, columns->clock_thread, total);
    take_unsigned64(cursor, columns->clock_count, total);
}

static void take_more(struct cursor *cursor, struct pt_columns *columns)
{
    unsigned more = cursor->at == cursor->end ? 0 : take_byte(cursor);
    columns->any_order = more & MORE_ORDERS;
    columns->any_stack = more & MORE_STACKS;
    columns->any_bytes = more & MORE_BYTES;
    cursor->bad |= more > (MORE_ORDERS | MORE_STACKS | MORE_BYTES);
    const uint8_t *orders = columns->any_order ? take(cursor, columns->len) : NULL;
    if (orders)
        memcpy(columns->order, orders, columns->len);
    if (columns->any_stack)
        take_column32(cursor, columns->stack, columns->len);
    if (columns->any_bytes)
        take_column32(cursor, columns->bytes, columns->len);
}

bool pt_columns_decode(struct pt_columns *columns, uint32_t events, const uint8_t *bytes, size_t len)
{
    struct cursor cursor = {bytes, bytes + len, false};
    columns->len = events;
    const uint8_t *tags = take(&cursor, events);
    if (tags)
        memcpy(columns->tag, tags, events);
    take_column32(&cursor, columns->thread, events);
    take_column32(&cursor, columns->object, events);
    take_column32(&cursor, columns->loc, events);
    take_signed64(&cursor, columns->value, events);
    take_times(&cursor, columns);
    take_clocks(&cursor, columns);
    take_more(&cursor, columns);
    return !cursor.bad && cursor.at == cursor.end;
}
