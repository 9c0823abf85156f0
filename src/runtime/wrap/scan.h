/* What a call of the scanf family has filled. */
#ifndef PT_RUNTIME_WRAP_SCAN_H
#define PT_RUNTIME_WRAP_SCAN_H

#include <stdarg.h>

#include "core/site.h"

/* The pointers are in `list`, which is not changed, and the function has returned `assigned`. */
void pt_scan_report(const struct pt_site *site, const char *format, va_list list, int assigned);

#endif
