#include "base/utf8.h"

#include <string.h>

size_t pt_utf8_decode(const char *text, size_t len, uint32_t *ret_point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)text[0];
    size_t n = first < 0x80             ? 1
               : (first & 0xe0) == 0xc0 ? 2
               : (first & 0xf0) == 0xe0 ? 3
               : (first & 0xf8) == 0xf0 ? 4
                                        : 0;
    if (n == 0 || n > len)
        return 0;
    uint32_t point = n == 1 ? first : first & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (pt_utf8_starts(text[i]))
            return 0;
        point = point << 6 | ((unsigned char)text[i] & 0x3f);
    }
    if (point < least[n] || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
        return 0;
    if (ret_point)
        *ret_point = point;
    return n;
}

size_t pt_utf8_encode(uint32_t point, char *out)
{
    static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    out[0] = (char)(lead[more] | point >> (6 * more));
    for (size_t i = 1; i <= more; i++)
        out[i] = (char)(0x80 | ((point >> (6 * (more - i))) & 0x3f));
    return more + 1;
}

size_t pt_utf8_cut(const char *text, size_t len)
{
    while (len > 0 && !pt_utf8_starts(text[len]))
        len--;
    return len;
}

void pt_xml_escape(struct pt_buf *buf, const char *text)
{
    for (size_t n, len = strlen(text); len > 0; text += n, len -= n) {
        uint32_t point = 0;
        n = pt_utf8_decode(text, len, &point);
        if (n == 0 || point == 0xfffe || point == 0xffff || (point < 0x20 && point != '\n' && point != '\t')) {
            pt_buf_puts(buf, "?");
            n = n ? n : 1;
        } else if (point == '&')
            pt_buf_puts(buf, "&amp;");
        else if (point == '<')
            pt_buf_puts(buf, "&lt;");
        else if (point == '>')
            pt_buf_puts(buf, "&gt;");
        else if (point == '"')
            pt_buf_puts(buf, "&quot;");
        else
            pt_buf_add(buf, text, n);
    }
}
