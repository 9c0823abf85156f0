/*
 * Reads a format of the scanf family again, to find out what it has filled and how long that is.
 *
 * Guarantee: a conversion is reported exactly if it was assigned; a %n if all conversions before it were, though text
 * that stands between may have ended the scan. Cost: linear in the format, and only where something is watched.
 */
#include "runtime/wrap/scan.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

#include "runtime/wrap/fill.h"

/* One conversion: %[*][n$][width][m][length]letter */
struct conversion {
    unsigned position; /* of its argument, from 1; 0: the next one */
    size_t width;      /* 0: none is given */
    bool dropped, allocates;
    char length; /* H and q stand for hh and ll */
    char letter;
};

static size_t read_number(const char **at)
{
    size_t number = 0;
    for (; **at >= '0' && **at <= '9'; ++*at)
        number = number * 10 + (size_t)(**at - '0');
    return number;
}

static char read_length(const char **at)
{
    if (!**at || !strchr("hlLqjzt", **at))
        return 0;
    char length = *(*at)++;
    if ((length == 'h' || length == 'l') && **at == length) {
        ++*at;
        return length == 'h' ? 'H' : 'q';
    }
    return length;
}

/* Stands behind the set's bracket afterwards; a bracket right at its beginning is one of it. */
static void skip_set(const char **at)
{
    *at += **at == '^';
    *at += **at == ']';
    while (**at && **at != ']')
        ++*at;
    *at += **at == ']';
}

/* `at` stands behind the percent sign. */
static struct conversion read_conversion(const char **at)
{
    struct conversion made = {0};
    made.width = read_number(at);
    if (**at == '$') {
        made.position = (unsigned)made.width;
        ++*at;
        made.width = 0;
    }
    for (; **at && strchr("*'I", **at); ++*at)
        made.dropped |= **at == '*';
    if (!made.width)
        made.width = read_number(at);
    made.allocates = **at == 'm';
    *at += made.allocates;
    made.length = read_length(at);
    made.letter = **at;
    *at += **at != 0;
    if (made.letter == '[')
        skip_set(at);
    if (made.letter == 'S' || made.letter == 'C') {
        made.length = 'l';
        made.letter = made.letter == 'S' ? 's' : 'c';
    }
    return made;
}

static size_t number_size(const struct conversion *c)
{
    bool floats = strchr("aefgAEFG", c->letter);
    switch (c->length) {
    case 'H':
        return sizeof(char);
    case 'h':
        return sizeof(short);
    case 'l':
        return floats ? sizeof(double) : sizeof(long);
    case 'q':
    case 'L':
        return floats ? sizeof(long double) : sizeof(long long);
    case 'j':
        return sizeof(intmax_t);
    case 'z':
    case 't':
        return sizeof(size_t);
    default:
        return c->letter == 'p' ? sizeof(void *) : floats ? sizeof(float) : sizeof(int);
    }
}

static size_t filled_size(const struct conversion *c, const void *to)
{
    bool wide = c->length == 'l';
    if (c->allocates)
        return sizeof(char *);
    if (c->letter == 's' || c->letter == '[')
        return wide ? (wcslen(to) + 1) * sizeof(wchar_t) : strlen(to) + 1;
    if (c->letter == 'c')
        return (c->width ? c->width : 1) * (wide ? sizeof(wchar_t) : 1);
    return number_size(c);
}

static void *argument(va_list list, unsigned position)
{
    va_list own;
    void *found = NULL;
    va_copy(own, list);
    for (unsigned i = 0; i < position; i++)
        found = va_arg(own, void *);
    va_end(own);
    return found;
}

void pt_scan_report(const struct pt_site *site, const char *format, va_list list, int assigned)
{
    unsigned next = 0;
    while (assigned >= 0 && pt_is_active() && (format = strchr(format, '%'))) {
        const char *at = format + 1;
        struct conversion c = read_conversion(&at);
        format = at;
        if (c.letter == '%' || c.letter == 0 || c.dropped)
            continue;
        if (c.letter != 'n' && assigned-- == 0)
            return;
        void *to = argument(list, c.position ? c.position : ++next);
        pt_fill(site, to, filled_size(&c, to));
    }
}
