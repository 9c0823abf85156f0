/* UTF-8: the one place that knows which bytes form a character. Overlong forms and surrogates are malformed. */
#ifndef PT_BASE_UTF8_H
#define PT_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* How many bytes the character at text[0..len) takes, and its code point; 0 when it is malformed. `len` is at least 1;
 * ret_point may be NULL. */
size_t pt_utf8_decode(const char *text, size_t len, uint32_t *ret_point);
/* Writes the character, at most four bytes, and returns how many it took. `point` is no surrogate, at most 0x10ffff. */
size_t pt_utf8_encode(uint32_t point, char *out);
/* Whether a byte begins a character, or stands for itself. */
static inline bool pt_utf8_starts(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}
/* The largest length up to `len` at which text, which is longer, can be cut without cutting a character in two. */
size_t pt_utf8_cut(const char *text, size_t len);
/* C0 and C1 controls and DEL. */
static inline bool pt_utf8_is_control(uint32_t point)
{
    return point < 0x20 || (point >= 0x7f && point < 0xa0);
}

/* Text as XML 1.0 can hold it: markup escaped; '?' for control characters, malformed bytes and noncharacters. */
void pt_xml_escape(struct pt_buf *buf, const char *text);

#endif
