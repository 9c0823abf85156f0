/* Values of watched variables, as src/trace/channel_decode.c has them too: the two must say the same. */
#include <float.h>
#include <string.h>

#include "core/value.h"
#include "runtime/stream/impl.h"

static uint32_t give(const void *value, uint32_t kind, unsigned char *out, uint16_t *ret_bytes)
{
    memcpy(out, value, 8);
    *ret_bytes = 8;
    return kind;
}

static uint32_t give_float(const unsigned char *memory, uint32_t size, unsigned char *out, uint16_t *ret_bytes)
{
    float f;
    double d;
    long double l = 0;
    if (size == sizeof f) {
        memcpy(&f, memory, sizeof f);
        d = f;
    } else if (size == sizeof d) {
        memcpy(&d, memory, sizeof d);
    } else if (size == sizeof l && LDBL_MANT_DIG == 64) {
        memcpy(&l, memory, 10);
        d = (double)l;
    } else {
        return PT_VALUE_UNKNOWN;
    }
    return give(&d, PT_VALUE_FLOAT, out, ret_bytes);
}

/* Of 128 bits only what 64 hold has a value. */
static uint32_t give_integer(const struct pt_watched *watched, const unsigned char *memory, unsigned char *out,
                             uint16_t *ret_bytes)
{
    unsigned __int128 word = 0;
    if (watched->size > sizeof word || watched->bit_offset > 7 || watched->bit_size > 64 || !watched->size)
        return PT_VALUE_UNKNOWN;
    memcpy(&word, memory, watched->size);
    unsigned bits = watched->bit_size ? watched->bit_size : watched->size * 8;
    word >>= watched->bit_offset;
    if (bits < 128)
        word &= ((unsigned __int128)1 << bits) - 1;
    if (watched->type == PT_WATCH_BOOL) {
        uint64_t truth = word != 0;
        return give(&truth, PT_VALUE_BOOL, out, ret_bytes);
    }
    bool negative = watched->type == PT_WATCH_INT && word >> (bits - 1) & 1;
    if (negative && bits < 128)
        word |= ~(unsigned __int128)0 << bits;
    if (negative ? (__int128)word < INT64_MIN : word > UINT64_MAX)
        return PT_VALUE_UNKNOWN;
    uint64_t low = (uint64_t)word;
    return give(&low, negative || low <= INT64_MAX ? PT_VALUE_INT : PT_VALUE_UINT, out, ret_bytes);
}

uint32_t pt_stream_value(const struct pt_watched *watched, unsigned char *out, uint16_t *ret_bytes)
{
    const unsigned char *memory = watched->last;
    *ret_bytes = 0;
    if (watched->type == PT_WATCH_CHARS) {
        size_t len = strnlen((const char *)memory, watched->size < PT_STREAM_TEXT ? watched->size : PT_STREAM_TEXT);
        memcpy(out, memory, len);
        *ret_bytes = (uint16_t)len;
        return PT_VALUE_STRING;
    }
    if (watched->type == PT_WATCH_FLOAT)
        return give_float(memory, watched->size, out, ret_bytes);
    return give_integer(watched, memory, out, ret_bytes);
}
