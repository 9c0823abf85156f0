/* What the files of the binary form's reader share: binary_read.c (blocks, rows, events) and binary_names.c. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/ahead.h"
#include "trace/binary.h"
#include "trace/binary_block.h"
#include "trace/binary_index.h"

/* Ids of the file, plus 1, to ids of the names; slot 0 is PT_NONE. */
struct pt_binary_ids {
    uint32_t *ids;
    uint32_t len;
    size_t cap;
};

/* What a tag's op allows. */
struct pt_op_rule {
    uint8_t kinds; /* set of kinds of value */
    uint8_t space; /* of the object; PT_SPACE_COUNT: none */
    bool thread;   /* has one */
    bool object, partial, ordered;
    const uint32_t *ids; /* of its objects, as of the present block */
};

/* What the columns of a row with that tag must be, as of the present block: `thread` and `object` from `least` on, so
 * many; where the tag is none of a possible event, none. */
struct pt_tag_rule {
    uint32_t least_thread, threads, least_object, objects;
    uint64_t no_value; /* all bits: the value is 0 */
};

enum { PT_BLOCKS_AHEAD = 3 };
struct pt_binary_reader {
    const char *label;
    struct pt_names *names;
    bool header_read;
    bool seen_event;                     /* anything but init and clock */
    bool ended;                          /* the end marker was read */
    uint64_t records;                    /* events in the blocks before the present one */
    struct pt_binary_block *block, *own; /* the present one; and that of who takes them by himself */
    struct pt_block_taker taker;
    struct pt_ahead *ahead; /* NULL: nobody works ahead */
    struct pt_binary_block *pieces[PT_BLOCKS_AHEAD];
    uint32_t row;                                  /* next event of the present block */
    size_t clock_at;                               /* its first clock entry */
    struct pt_columns *columns;                    /* the present block's */
    struct pt_binary_ids maps[PT_SPACE_COUNT + 1]; /* the last one knows "none" only */
    struct pt_op_rule rules[PT_TAG_OP_MASK + 1];
    struct pt_tag_rule tags[UINT8_MAX + 1];
    bool apart[UINT8_MAX + 1]; /* by tag: its rows are checked one by one */
    enum {
        ROWS_ANY,
        ROWS_GOOD,
        ROWS_SHORT
    } rows; /* of the present block: unchecked; all others obey their rules; and
               none has a time, an order, bytes, a stack or a clock */
    struct pt_clock_entry *clock;
    size_t clock_cap;
    struct pt_binary_index index;    /* where it was opened in the middle; no rows: it was not */
    struct pt_binary_block *defines; /* a block that names are looked for in */
    ZSTD_DCtx *defines_zstd;
    const struct pt_input *input;
};

/* In an id map: the name is defined in a block that was not read. */
#define NOT_READ (PT_NONE - 1)

/* Defines the names at the head of a block's payload; `at`: as these of the file, otherwise as the next ones. Returns
 * what is wrong, or NULL. */
const char *pt_binary_names(struct pt_binary_reader *reader, const struct pt_binary_block *block, uint32_t *at);

/* Of a trace that was opened in the middle: all names of the present block's events. Returns what is wrong, or NULL. */
const char *pt_binary_names_needed(struct pt_binary_reader *reader);

/* Before anything was read: the block with this event comes next. False: it has no index, or is read already. */
bool pt_binary_seek(struct pt_source *source, uint64_t event, uint64_t *ret_before);
