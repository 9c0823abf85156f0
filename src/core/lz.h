/*
 * A small compressor for recordings (core/recording.h): LZ77 over one block of at most PT_LZ_MOST bytes, fast rather
 * than tight, without memory of its own, so that it can work inside a monitored program.
 *
 * A block is a list of sequences: a byte whose upper half is the number of literals and whose lower half is the length
 * of a match less PT_LZ_LEAST, 15 in either half meaning that bytes follow which are added to it, up to and including
 * the first one that is not 255; the literals; two bytes, little-endian, how far back the match begins. The last
 * sequence ends behind its literals.
 */
#ifndef PT_CORE_LZ_H
#define PT_CORE_LZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PT_LZ_MOST = 1 << 16, PT_LZ_LEAST = 4, PT_LZ_BITS = 13 };

/* What the compressor needs to work; its contents do not matter before or after. */
struct pt_lz {
    uint16_t table[1 << PT_LZ_BITS];
};

/* Compresses `len` bytes, at most PT_LZ_MOST, into `room`; 0: they do not become smaller than that. */
size_t pt_lz_pack(struct pt_lz *lz, const uint8_t *from, size_t len, uint8_t *to, size_t room);
/* The other way; false when the block is none, or does not make exactly `len` bytes. */
bool pt_lz_unpack(const uint8_t *from, size_t packed, uint8_t *to, size_t len);

#endif
