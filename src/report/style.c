/*
 * Text for a terminal. Nothing that comes from a trace reaches it unfiltered: control characters and broken UTF-8
 * become '?', so a name cannot move a cursor or change a title. Columns are code points; every function is one pass
 * over its text.
 */
#include "report/style.h"

#include <string.h>

#include "base/utf8.h"

const char *pt_style_color(const struct pt_style *style, enum pt_color color)
{
    static const char *const sequences[] = {
        [PT_COLOR_RESET] = "\033[0m", [PT_COLOR_BOLD] = "\033[1m",   [PT_COLOR_DIM] = "\033[2m",
        [PT_COLOR_RED] = "\033[31m",  [PT_COLOR_GREEN] = "\033[32m", [PT_COLOR_YELLOW] = "\033[33m",
    };
    return style->color ? sequences[color] : "";
}

/*
 * Characters that move the cursor or reorder the line, so that a name in a trace could forge a report: C0 and C1
 * controls, the bidirectional overrides U+202A..U+202E and U+2066..U+2069.
 */
static bool is_harmful(const unsigned char *s, size_t n)
{
    if (n == 1)
        return s[0] < 0x20 || s[0] == 0x7f;
    if (n == 2)
        return s[0] == 0xc2 && s[1] < 0xa0;
    if (n == 3 && s[0] == 0xe2)
        return (s[1] == 0x80 && s[2] >= 0xa8 && s[2] <= 0xae) || (s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9);
    return false;
}

void pt_style_clean(struct pt_buf *buf, const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t n = pt_utf8_decode(text + i, len - i, NULL);
        if (text[i] == '\t' || text[i] == '\n')
            pt_buf_puts(buf, " ");
        else if (n == 0 || is_harmful((const unsigned char *)text + i, n))
            pt_buf_puts(buf, "?");
        else
            pt_buf_add(buf, text + i, n);
        i += n ? n : 1;
    }
}

size_t pt_style_columns(const char *text)
{
    size_t columns = 0;
    for (; *text; text++)
        columns += pt_utf8_starts(*text);
    return columns;
}

/* The byte at which column `column` begins, or the text's length. */
static size_t byte_of_column(const char *text, size_t column)
{
    size_t i = 0;
    for (; text[i]; i++) {
        if (pt_utf8_starts(text[i]) && column-- == 0)
            break;
    }
    return i;
}

static void pad(struct pt_buf *buf, size_t columns)
{
    for (size_t i = 0; i < columns; i++)
        pt_buf_add(buf, " ", 1);
}

void pt_style_fit(struct pt_buf *buf, const char *text, size_t columns, enum pt_cut cut)
{
    size_t have = pt_style_columns(text);
    if (have <= columns) {
        pt_buf_puts(buf, text);
        pad(buf, columns - have);
        return;
    }
    size_t dots = columns < 4 ? 0 : 2;
    if (cut == PT_CUT_START) {
        pt_buf_add(buf, "..", dots);
        pt_buf_puts(buf, text + byte_of_column(text, have - (columns - dots)));
    } else {
        pt_buf_add(buf, text, byte_of_column(text, columns - dots));
        pt_buf_add(buf, "..", dots);
    }
}

void pt_style_wrap(struct pt_buf *buf, const char *text, unsigned first, unsigned rest, unsigned width)
{
    unsigned indent = first;
    do {
        size_t room = width > indent + 10 ? width - indent : 10;
        size_t end = byte_of_column(text, room);
        size_t next = end;
        if (text[end]) {
            size_t space = end;
            while (space > 0 && text[space] != ' ')
                space--;
            if (space > 0) {
                end = space;
                next = space + 1;
            }
        }
        pad(buf, indent);
        pt_buf_add(buf, text, end);
        pt_buf_puts(buf, "\n");
        text += next;
        indent = rest;
    } while (*text);
}
