/*
 * The events of one block of a binary trace, column by column, and their bytes. In memory every id column holds id + 1,
 * with 0 for "none"; ids are those of the file (binary.h), not those of a struct pt_names.
 */
#ifndef PT_TRACE_COLUMNS_H
#define PT_TRACE_COLUMNS_H

#include "base/buf.h"
#include "trace/event.h"

enum {
    PT_BLOCK_EVENTS = 8192,   /* most events in a block: its columns fit the second-level cache */
    PT_BLOCK_BYTES = 8 << 20, /* most bytes of a block before compression */
    PT_TAG_OP_BITS = 5,       /* tag = op | kind of value << 5 */
    PT_TAG_OP_MASK = (1 << PT_TAG_OP_BITS) - 1,
};
_Static_assert(PT_OP_COUNT <= 1 << PT_TAG_OP_BITS, "an op fits its bits");
_Static_assert(PT_VALUE_STRING < 8, "a kind of value fits its bits");

struct pt_columns {
    uint32_t len;
    bool any_time, any_clock;             /* else the columns time, timed and clock_len are not filled */
    bool any_order, any_stack, any_bytes; /* likewise order, stack and bytes */
    uint8_t tag[PT_BLOCK_EVENTS];
    uint8_t timed[PT_BLOCK_EVENTS];
    uint32_t thread[PT_BLOCK_EVENTS];
    uint32_t object[PT_BLOCK_EVENTS];
    uint32_t loc[PT_BLOCK_EVENTS];
    uint32_t clock_len[PT_BLOCK_EVENTS];
    uint8_t order[PT_BLOCK_EVENTS]; /* enum pt_memory_order */
    uint32_t stack[PT_BLOCK_EVENTS];
    uint32_t bytes[PT_BLOCK_EVENTS]; /* first << 16 | the one after the last; 0: all of its variable */
    int64_t value[PT_BLOCK_EVENTS];  /* the 64 bits of the value; for strings id + 1; 0 without value */
    uint64_t time[PT_BLOCK_EVENTS];  /* 0 without time */
    uint32_t *clock_thread;          /* the entries of all clocks, one after the other */
    uint64_t *clock_count;
    size_t clock_total, clock_cap;
};

struct pt_columns *pt_columns_new(void);
void pt_columns_free(struct pt_columns *columns);
/* Makes room for `total` clock entries. */
void pt_columns_reserve_clock(struct pt_columns *columns, size_t total);

/* Appends the bytes of the columns. */
void pt_columns_encode(const struct pt_columns *columns, struct pt_buf *buf);
/* Reads `events` (at most PT_BLOCK_EVENTS) rows from exactly bytes[0..len). False when the bytes are not that. */
bool pt_columns_decode(struct pt_columns *columns, uint32_t events, const uint8_t *bytes, size_t len);

#endif
