#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum pt_status pt_err_set(struct pt_err *err, enum pt_status status, const char *fmt, ...)
{
    va_list ap;
    memset(err, 0, sizeof *err);
    err->status = status;
    va_start(ap, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, ap);
    va_end(ap);
    return status;
}

enum pt_status pt_err_at(struct pt_err *err, enum pt_status status, const char *file, uint64_t line, uint32_t column,
                         const char *fmt, ...)
{
    va_list ap;
    memset(err, 0, sizeof *err);
    err->status = status;
    snprintf(err->file, sizeof err->file, "%s", file);
    err->line = line;
    err->column = column;
    va_start(ap, fmt);
    vsnprintf(err->message, sizeof err->message, fmt, ap);
    va_end(ap);
    return status;
}

void pt_err_hint(struct pt_err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->hint, sizeof err->hint, fmt, ap);
    va_end(ap);
}

void pt_err_source(struct pt_err *err, const char *text, size_t len)
{
    size_t n = len < sizeof err->source - 1 ? len : sizeof err->source - 1;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        err->source[i] = (c < 0x20 && c != '\t') || c == 0x7f ? '?' : (char)c;
    }
    err->source[n] = '\0';
}
