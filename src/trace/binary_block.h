/* Blocks of a binary trace (binary.h): from its bytes to columns, without their names. Nothing here is shared with
 * whoever uses the events, so that it can be done ahead. */
#ifndef PT_TRACE_BINARY_BLOCK_H
#define PT_TRACE_BINARY_BLOCK_H

#include <endian.h>
#include <string.h>
#include <zstd.h>

#include "trace/binary.h"

struct pt_block_header {
    bool is_end;
    uint32_t events, raw_len, stored_len;
    uint64_t events_before, checksum;
};

/* What was found where a block should be. */
struct pt_binary_block {
    enum pt_binary_found {
        PT_BLOCK_GOOD,    /* `raw` and `columns` are there; whether its names are good is for others to say */
        PT_BLOCK_END,     /* the end marker, and nothing behind it */
        PT_BLOCK_TORN,    /* `why` the file is good up to here only */
        PT_BLOCK_HOSTILE, /* `why` nobody has written that */
        PT_BLOCK_FAILED,  /* `err` */
    } found;
    const char *why;
    struct pt_err err;
    uint64_t offset, before; /* in the file; events in the blocks before it */
    struct pt_block_header header;
    uint8_t *raw;
    size_t raw_cap, names_len; /* names_len: what the payload says of its names, with their head */
    bool columns_good;
    struct pt_columns *columns;
};
struct pt_binary_block *pt_binary_block_new(void);
void pt_binary_block_free(struct pt_binary_block *block);

/* Takes one block after the other from an input, from behind the file's header on. */
struct pt_block_taker {
    struct pt_input *input;
    const char *label;
    uint64_t records; /* events so far */
    ZSTD_DCtx *zstd;
};
/* For pt_ahead_start, too: false: it was the last. */
bool pt_block_take(void *taker, void *block);

struct pt_block_header pt_block_parse(const uint8_t *bytes);
/* Whether these bytes begin a block. The lengths are believed only within limits, even before the checksum can be
 * known. */
bool pt_block_is_plausible(const uint8_t *bytes, const struct pt_block_header *header);
/* The payload that is stored in a block; false: it is none. */
bool pt_block_unpack(ZSTD_DCtx *zstd, const struct pt_block_header *header, const uint8_t *stored,
                     struct pt_binary_block *block);
/* Makes `need` bytes available, or as many as there are; false: *err. */
bool pt_block_want(struct pt_input *input, size_t need, const char *label, struct pt_err *err);

static inline const uint8_t *pt_block_at(const struct pt_input *input)
{
    return (const uint8_t *)input->buf + input->pos;
}

static inline uint32_t pt_block_get32(const uint8_t *p)
{
    uint32_t n;
    memcpy(&n, p, sizeof n);
    return le32toh(n);
}

static inline uint64_t pt_block_get64(const uint8_t *p)
{
    uint64_t n;
    memcpy(&n, p, sizeof n);
    return le64toh(n);
}

#endif
