/* Patterns of suppressions, in the syntax that ThreadSanitizer reads. */
#ifndef PT_CORE_PATTERN_H
#define PT_CORE_PATTERN_H

#include <stdbool.h>

/* `*` stands for any text; the pattern may match anywhere unless `^` begins or `$` ends it, or it is to match the whole
 * text. */
bool pt_pattern_matches(const char *pattern, const char *text, bool whole);

#endif
