/*
 * The compressor of recordings: greedy matches found through one table of hashes of six bytes.
 *
 * Guarantee: what unpacks is what was packed; unpacking any bytes stays within both buffers. Cost: linear; about a
 * nanosecond for each byte that is packed, less for each that is unpacked.
 */
#include "core/lz.h"

#include <string.h>

enum { SHORT = 16 }; /* bytes: of so many a copy is no call */

static uint32_t four(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/* Of the first six of eight bytes: shorter matches cost more time than they save room. */
static unsigned slot_of(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return (unsigned)((word << 16) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PT_LZ_BITS));
}

/* The part of a length that does not fit into its half of a byte; NULL: there is no room. */
static uint8_t *put_length(uint8_t *to, const uint8_t *end, size_t length)
{
    for (length -= 15; length >= 255; length -= 255) {
        if (to == end)
            return NULL;
        *to++ = 255;
    }
    if (to == end)
        return NULL;
    *to++ = (uint8_t)length;
    return to;
}

/* A sequence; without a match where `match` is 0. */
static inline uint8_t *put_sequence(uint8_t *to, const uint8_t *end, const uint8_t *literals, size_t count,
                                    size_t match, size_t distance)
{
    size_t extra = match ? match - PT_LZ_LEAST : 0;
    if ((size_t)(end - to) < count + 4)
        return NULL;
    *to++ = (uint8_t)((count < 15 ? count : 15) << 4 | (extra < 15 ? extra : 15));
    if (count >= 15)
        to = put_length(to, end, count);
    if (!to || (size_t)(end - to) < count + 2)
        return NULL;
    if (count <= SHORT && match && end - to >= SHORT) /* there is as much to read, or pt_lz_pack would have ended */
        memcpy(to, literals, SHORT);
    else
        memcpy(to, literals, count);
    to += count;
    if (!match)
        return to;
    *to++ = (uint8_t)distance;
    *to++ = (uint8_t)(distance >> 8);
    return extra >= 15 ? put_length(to, end, extra) : to;
}

static size_t match_length(const uint8_t *a, const uint8_t *b, const uint8_t *end)
{
    const uint8_t *begin = b;
    uint64_t x, y;
    for (; (size_t)(end - b) >= sizeof x; a += sizeof x, b += sizeof x) {
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        if (x != y) /* little-endian: the lowest bit that differs is in the first byte that does */
            return (size_t)(b - begin) + (unsigned)__builtin_ctzll(x ^ y) / 8;
    }
    while (b < end && *a == *b)
        a++, b++;
    return (size_t)(b - begin);
}

size_t pt_lz_pack(struct pt_lz *lz, const uint8_t *from, size_t len, uint8_t *to, size_t room)
{
    const uint8_t *at = from, *end = from + len, *literals = from, *out_end = to + room;
    uint8_t *out = to;
    size_t step = 1; /* grows by one with each position without a match: what saves little is to cost little */
    memset(lz->table, 0, sizeof lz->table);
    while (out && at + SHORT < end) {
        uint32_t word = four(at);
        unsigned slot = slot_of(at);
        const uint8_t *earlier = from + lz->table[slot];
        lz->table[slot] = (uint16_t)(at - from);
        if (earlier >= at || four(earlier) != word) {
            at += step++;
            continue;
        }
        size_t match = PT_LZ_LEAST + match_length(earlier + PT_LZ_LEAST, at + PT_LZ_LEAST, end);
        out = put_sequence(out, out_end, literals, (size_t)(at - literals), match, (size_t)(at - earlier));
        at += match;
        literals = at;
        step = 1;
    }
    if (out)
        out = put_sequence(out, out_end, literals, (size_t)(end - literals), 0, 0);
    return out ? (size_t)(out - to) : 0;
}

/* Adds what follows to a length of 15; false: it does not end. */
static bool take_length(const uint8_t **from, const uint8_t *end, size_t *length)
{
    uint8_t more = 255;
    if (*length < 15)
        return true;
    while (more == 255) {
        if (*from == end)
            return false;
        more = *(*from)++;
        *length += more;
    }
    return true;
}

bool pt_lz_unpack(const uint8_t *from, size_t packed, uint8_t *to, size_t len)
{
    const uint8_t *end = from + packed;
    uint8_t *out = to, *out_end = to + len;
    while (from < end) {
        size_t count = *from >> 4, match = *from & 15;
        from++;
        if (!take_length(&from, end, &count) || count > (size_t)(end - from) || count > (size_t)(out_end - out))
            return false;
        memcpy(out, from, count);
        from += count;
        out += count;
        if (from == end)
            break;
        if (end - from < 2)
            return false;
        size_t distance = from[0] | (size_t)from[1] << 8;
        from += 2;
        if (!take_length(&from, end, &match))
            return false;
        match += PT_LZ_LEAST;
        if (!distance || distance > (size_t)(out - to) || match > (size_t)(out_end - out))
            return false;
        if (distance >= match)
            memcpy(out, out - distance, match);
        else
            for (size_t i = 0; i < match; i++)
                out[i] = out[i - distance];
        out += match;
    }
    return out == out_end;
}
