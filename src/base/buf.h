/* Growing text. */
#ifndef PT_BASE_BUF_H
#define PT_BASE_BUF_H

#include <stddef.h>

#include "base/err.h"

struct pt_buf {
    char *text; /* NUL-terminated once anything was added; NULL before */
    size_t len, cap;
};
void pt_buf_init(struct pt_buf *buf);
void pt_buf_release(struct pt_buf *buf);
void pt_buf_add(struct pt_buf *buf, const char *text, size_t len);
void pt_buf_puts(struct pt_buf *buf, const char *text);
void pt_buf_printf(struct pt_buf *buf, const char *fmt, ...) PT_PRINTF(2, 3);
/* Hands the text to the caller, who frees it; the buffer is empty again. Never NULL. */
char *pt_buf_take(struct pt_buf *buf);

#endif
