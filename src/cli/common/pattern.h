/* The library of patterns: PREFIX/share/portent/patterns/NAME.prop. */
#ifndef PT_CLI_COMMON_PATTERN_H
#define PT_CLI_COMMON_PATTERN_H

#include <stddef.h>

#include "base/err.h"

/* As PT_FETCH_PATTERN of logic/lang/property.h says. An unknown one is PT_EINPUT, with the nearest name as a hint. */
enum pt_status pt_pattern_fetch(const char *name, char **ret_text, size_t *ret_len, struct pt_err *err) PT_WARN_UNUSED;

#endif
