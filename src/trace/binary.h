/*
 * The binary form of a trace, byte by byte. All numbers are little-endian.
 *
 * File header, 16 bytes:
 *      0   8  magic: 89 'P' 'T' 'T' 'R' 'A' 'C' 0A    (89 starts no UTF-8 text, so no text trace starts like this)
 *      8   4  version: 1
 *     12   4  0
 *
 * Then blocks, each independent of the bytes before it apart from the names they define. A block header, 32 bytes:
 *      0   4  'P' 'T' 'B' 'L' a block of events, 'P' 'T' 'E' 'N' the end marker
 *      4   4  events in the block (at most PT_BLOCK_EVENTS; end marker: 0)
 *      8   4  length of the payload before compression (at most PT_BLOCK_BYTES; end marker: 0)
 *     12   4  length of the payload as stored (end marker: 0)
 *     16   8  events in all blocks before this one
 *     24   8  XXH3-64 of the stored payload, with the XXH3-64 of bytes 0 to 23 of this header as its seed
 * and the payload as stored: one zstd frame, or, where both lengths are equal, the payload itself.
 *
 * Payload:
 *      0   4  number of names this block adds
 *      4   4  bytes of names, all together
 *      8      each name: one byte of enum pt_space, 4 bytes length (at most PT_LINE_MAX), its bytes. The names of a
 * space get the ids 0, 1, 2, ... of the file in the order of their definition. A name is defined in the first block
 * that uses it, so a stream can be read without an index. then the columns of the events (columns.c). In a compressed
 * block the names take at most PT_NAMES_RATIO times the stored bytes: names stay in memory, so a small file must not be
 * able to define gigabytes of them. A writer stores the block as it is where that does not hold.
 *
 * Index. The stored payload of the last block may go on behind its frame with a skippable frame of zstd (magic 5E 2A 4D
 * 18, 4 bytes length), so that readers that do not know of it pass it by: a file with an index is of version 1 like one
 * without. In it stand
 *      0      the rows, one zstd frame: for each block 4 bytes each: its length in the file, header and all (of the
 * last block 0), its events, and how many names it defines in each space, in the order of enum pt_space and, right
 * before the end marker, the footer, 32 bytes: 0   8  'P' 'T' 'I' 'N' 'D' 'E' 'X' '1' 8   8  where the last block
 * begins in the file 16   4  length of the rows 20   4  length of their frame 24   4  number of blocks 28   4  number
 * of spaces A reader that is asked for an event reads the footer, the last block, the block with the event, and those
 * that define names which its events have. An index whose numbers do not fit each other and the file is as none.
 *
 * The end marker is the last block. A file without it, or with a block that is short or fails its checksum, is torn:
 * all blocks before that place are intact and were delivered. A block with a good checksum whose contents break these
 * rules was not written by us, and is an error.
 */
#ifndef PT_TRACE_BINARY_H
#define PT_TRACE_BINARY_H

#include "trace/columns.h"
#include "trace/format.h"

enum {
    PT_BINARY_MAGIC_LEN = 8,
    PT_BINARY_VERSION = 1,
    PT_BINARY_HEADER_LEN = 16,
    PT_BLOCK_MAGIC_LEN = 4,
    PT_BLOCK_HEADER_LEN = 32,
    PT_BLOCK_CHECKED_LEN = 24, /* bytes of the header under the checksum */
    PT_NAMES_HEADER_LEN = 8,
    PT_NAME_HEADER_LEN = 5,
    PT_NAMES_RATIO = 256,
};
extern const uint8_t pt_binary_magic[PT_BINARY_MAGIC_LEN], pt_block_magic[PT_BLOCK_MAGIC_LEN],
    pt_block_end_magic[PT_BLOCK_MAGIC_LEN];

/* The checksum of a block: its header's first bytes and its stored payload. */
uint64_t pt_block_checksum(const void *header, const void *stored, size_t len);

/* Appends a file header. */
void pt_binary_header(struct pt_buf *out);
/* Encodes events into blocks; whole ones are appended to the buffer. */
extern const struct pt_encoder pt_binary_encoder;

#endif
