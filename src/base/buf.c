#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void pt_buf_init(struct pt_buf *buf)
{
    *buf = (struct pt_buf){0};
}

void pt_buf_release(struct pt_buf *buf)
{
    free(buf->text);
    pt_buf_init(buf);
}

void pt_buf_add(struct pt_buf *buf, const char *text, size_t len)
{
    PT_GROW(buf->text, buf->cap, buf->len + len + 1);
    if (len) /* nothing may come from nowhere */
        memcpy(buf->text + buf->len, text, len);
    buf->len += len;
    buf->text[buf->len] = '\0';
}

void pt_buf_puts(struct pt_buf *buf, const char *text)
{
    pt_buf_add(buf, text, strlen(text));
}

void pt_buf_printf(struct pt_buf *buf, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    PT_GROW(buf->text, buf->cap, buf->len + (size_t)n + 1);
    va_start(ap, fmt);
    vsnprintf(buf->text + buf->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    buf->len += (size_t)n;
}

char *pt_buf_take(struct pt_buf *buf)
{
    if (!buf->text)
        pt_buf_add(buf, "", 0);
    char *text = buf->text;
    pt_buf_init(buf);
    return text;
}
