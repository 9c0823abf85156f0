/*
 * Typed values: what a trace records of a variable and what expressions compute with. Freestanding: shared with
 * the monitored process. Strings are not owned: they point into a string table that outlives the value.
 */
#ifndef PT_CORE_VALUE_H
#define PT_CORE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

enum pt_value_kind {
    PT_VALUE_UNKNOWN = 0, /* the trace does not say */
    PT_VALUE_INT,         /* fits int64_t */
    PT_VALUE_UINT,        /* an integer above INT64_MAX; smaller ones are always PT_VALUE_INT */
    PT_VALUE_FLOAT,
    PT_VALUE_BOOL, /* i is 0 or 1; counts as that integer in expressions, prints as false or true */
    PT_VALUE_STRING,
};

struct pt_value {
    uint32_t kind;
    uint32_t len; /* of a string */
    union {
        int64_t i;
        uint64_t u;
        double d;
        const char *s;
    };
};

static inline struct pt_value pt_value_int(int64_t i)
{
    return (struct pt_value){.kind = PT_VALUE_INT, .i = i};
}
static inline struct pt_value pt_value_uint(uint64_t u)
{
    return u <= INT64_MAX ? pt_value_int((int64_t)u) : (struct pt_value){.kind = PT_VALUE_UINT, .u = u};
}
static inline struct pt_value pt_value_float(double d)
{
    return (struct pt_value){.kind = PT_VALUE_FLOAT, .d = d};
}
static inline struct pt_value pt_value_bool(bool b)
{
    return (struct pt_value){.kind = PT_VALUE_BOOL, .i = b};
}
static inline struct pt_value pt_value_string(const char *s, uint32_t len)
{
    return (struct pt_value){.kind = PT_VALUE_STRING, .len = len, .s = s};
}
/* Same kind and same content (floats by bits): identity, not the == of the property language. */
bool pt_value_same(struct pt_value a, struct pt_value b);

#endif
