#include "core/shape.h"

#include <float.h>
#include <string.h>

static struct pt_value decode_float(const unsigned char *bytes, uint32_t size)
{
    float f;
    double d;
    if (size == sizeof f) {
        memcpy(&f, bytes, sizeof f);
        return pt_value_float(f);
    }
    if (size == sizeof d) {
        memcpy(&d, bytes, sizeof d);
        return pt_value_float(d);
    }
#if LDBL_MANT_DIG == 64 /* x87: any 80 bits are a number or a NaN */
    long double l = 0;
    if (size == sizeof l) {
        memcpy(&l, bytes, 10);
        return pt_value_float((double)l);
    }
#endif
    return (struct pt_value){0};
}

static struct pt_value decode_integer(const struct pt_shape *w, const unsigned char *bytes)
{
    unsigned __int128 word = 0;
    if (w->size > sizeof word || w->bit_offset > 7 || w->bit_size > 64)
        return (struct pt_value){0};
    memcpy(&word, bytes, w->size);
    unsigned bits = w->bit_size ? w->bit_size : w->size * 8;
    word >>= w->bit_offset;
    if (bits < 128)
        word &= ((unsigned __int128)1 << bits) - 1;
    if (w->type == PT_WATCH_BOOL)
        return pt_value_bool(word != 0);
    bool negative = w->type == PT_WATCH_INT && bits && (word >> (bits - 1) & 1);
    if (negative && bits < 128)
        word |= ~(unsigned __int128)0 << bits;
    /* Of 128 bits only what 64 hold has a value. */
    if (negative)
        return (__int128)word >= INT64_MIN ? pt_value_int((int64_t)word) : (struct pt_value){0};
    return word <= UINT64_MAX ? pt_value_uint((uint64_t)word) : (struct pt_value){0};
}

/* Whole elements between two pointers in the right order; else it is no vector at present, and has no size. */
static struct pt_value decode_span(const struct pt_shape *w, const unsigned char *bytes)
{
    uint64_t ends[2], element = w->type >> PT_WATCH_ELEMENT;
    if (w->size != sizeof ends || !element)
        return (struct pt_value){0};
    memcpy(ends, bytes, sizeof ends);
    bool good = ends[0] <= ends[1] && (ends[1] - ends[0]) % element == 0;
    return good ? pt_value_uint((ends[1] - ends[0]) / element) : (struct pt_value){0};
}

struct pt_value pt_shape_value(const struct pt_shape *shape, const unsigned char *bytes)
{
    if (shape->type == PT_WATCH_CHARS)
        return pt_value_string((const char *)bytes, (uint32_t)strnlen((const char *)bytes, shape->size));
    if (shape->size == 0)
        return (struct pt_value){0};
    if ((shape->type & 0xff) == PT_WATCH_SPAN)
        return decode_span(shape, bytes);
    return shape->type == PT_WATCH_FLOAT ? decode_float(bytes, shape->size) : decode_integer(shape, bytes);
}
