/* Values as the text form writes them. */
#ifndef PT_TRACE_VALUETEXT_H
#define PT_TRACE_VALUETEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/table.h"
#include "core/value.h"

struct pt_value_problem {
    size_t at;           /* offset of the offending byte */
    const char *message; /* constant */
};

/* Reads exactly text[0..len). Strings are interned into `strings`. */
bool pt_value_parse(const char *text, size_t len, struct pt_strtab *strings, struct pt_value *ret_value,
                    struct pt_value_problem *ret_problem);

/* The closing quote of the string literal that opens at `text`, or NULL when it does not close before `end`. */
const char *pt_string_end(const char *text, const char *end);

/* Decimal digits only, at least one; false when there is something else or it exceeds 64 bits. */
bool pt_u64_parse(const char *text, size_t len, uint64_t *ret_number);

#endif
