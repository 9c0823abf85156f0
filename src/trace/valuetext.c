/*
 * Values in text: integers in [INT64_MIN, UINT64_MAX], decimal or 0x; floats as [-]digits[.digits][e[+-]digits], inf,
 * -inf, nan; "strings" with the escapes of C; true, false.
 *
 * Writing and reading are inverse: an integer never has '.', 'e' or a letter other than 0x, a float always has one; a
 * float is written with the fewest of 15, 16 or 17 digits that read back as the same bits (17 always do). The sign
 * and payload of a NaN are not kept.
 */
#include "trace/valuetext.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "trace/writer.h"

enum { NUMBER_MAX = 400 }; /* bytes of a float literal; the longest exact double needs fewer */

static bool problem(struct pt_value_problem *ret, size_t at, const char *message)
{
    *ret = (struct pt_value_problem){at, message};
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool pt_u64_parse(const char *text, size_t len, uint64_t *ret_number)
{
    uint64_t n = 0;
    if (len == 0)
        return false;
    for (size_t i = 0; i < len; i++) {
        unsigned d = (unsigned char)text[i] - (unsigned)'0';
        if (d > 9)
            return false;
        if (i >= 18 && (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, d, &n)))
            return false;
        if (i < 18)
            n = n * 10 + d;
    }
    *ret_number = n;
    return true;
}

static bool finish_int(bool negative, uint64_t n, bool overflow, struct pt_value *ret, struct pt_value_problem *prob)
{
    if (overflow || (negative && n > (uint64_t)INT64_MAX + 1))
        return problem(prob, 0, "the integer does not fit 64 bits");
    *ret = negative ? pt_value_int((int64_t)(0 - n)) : pt_value_uint(n);
    return true;
}

static bool parse_hex(const char *text, size_t len, size_t at, struct pt_value *ret, struct pt_value_problem *prob)
{
    uint64_t n = 0;
    bool overflow = false;
    if (at + 2 == len)
        return problem(prob, len, "a hexadecimal digit is expected after 0x");
    for (size_t i = at + 2; i < len; i++) {
        int d = hex_digit(text[i]);
        if (d < 0)
            return problem(prob, i, "this is not a hexadecimal digit");
        overflow |= n >> 60 != 0;
        n = n << 4 | (uint64_t)d;
    }
    return finish_int(at == 1, n, overflow, ret, prob);
}

/* text[0..len) has the form of a float already. strtod obeys the locale, so it is read in the C locale. */
static bool convert_float(const char *text, size_t len, struct pt_value *ret, struct pt_value_problem *prob)
{
    char copy[NUMBER_MAX + 1];
    if (len > NUMBER_MAX)
        return problem(prob, 0, "the number is too long");
    memcpy(copy, text, len);
    copy[len] = '\0';
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* glibc: a static object, no allocation */
    double d = strtod_l(copy, NULL, c_locale);
    freelocale(c_locale);
    if (isinf(d))
        return problem(prob, 0, "the number is too large for a double");
    *ret = pt_value_float(d);
    return true;
}

static size_t skip_digits(const char *text, size_t len, size_t i)
{
    while (i < len && is_digit(text[i]))
        i++;
    return i;
}

/* Integers and floats; `text` starts with '-', '.' or a digit. */
static bool parse_number(const char *text, size_t len, struct pt_value *ret, struct pt_value_problem *prob)
{
    size_t start = text[0] == '-';
    if (len >= start + 2 && text[start] == '0' && (text[start + 1] | 0x20) == 'x')
        return parse_hex(text, len, start, ret, prob);
    size_t i = skip_digits(text, len, start);
    size_t digits = i - start;
    if (i == len && digits) {
        uint64_t n = 0;
        bool fits = pt_u64_parse(text + start, digits, &n);
        return finish_int(start == 1, n, !fits, ret, prob);
    }
    if (i < len && text[i] == '.') {
        size_t next = skip_digits(text, len, i + 1);
        digits += next - i - 1;
        i = next;
    }
    if (digits == 0)
        return problem(prob, i < len ? i : len, "a digit is expected here");
    if (i < len && (text[i] | 0x20) == 'e') {
        size_t from = i + 1;
        if (from < len && (text[from] == '+' || text[from] == '-'))
            from++;
        i = skip_digits(text, len, from);
        if (i == from)
            return problem(prob, i, "a digit is expected in the exponent");
    }
    if (i < len)
        return problem(prob, i, "this does not belong to a number");
    return convert_float(text, len, ret, prob);
}

const char *pt_string_end(const char *text, const char *end)
{
    for (const char *p = text + 1; p < end; p++) {
        if (*p == '"')
            return p;
        if (*p == '\\')
            p++;
    }
    return NULL;
}

/* The escape whose letter is text[i]; appends its bytes to out and returns the offset after it, 0 on a problem. */
static size_t parse_escape(const char *text, size_t len, size_t i, char *out, size_t *out_len,
                           struct pt_value_problem *prob)
{
    static const char letters[] = "ntrabfv\\\"'?", bytes[] = "\n\t\r\a\b\f\v\\\"'?";
    char c = text[i];
    const char *simple = c ? strchr(letters, c) : NULL;
    if (simple) {
        out[(*out_len)++] = bytes[simple - letters];
        return i + 1;
    }
    bool octal = c >= '0' && c <= '7';
    bool universal = c == 'u' || c == 'U';
    if (!octal && !universal && c != 'x')
        return problem(prob, i - 1, "this escape does not exist in C");
    size_t from = octal ? i : i + 1;
    size_t most = octal ? 3 : c == 'u' ? 4 : c == 'U' ? 8 : len;
    uint32_t n = 0;
    size_t j = from;
    for (int d; j < len && j - from < most && (d = hex_digit(text[j])) >= 0 && (!octal || d < 8); j++)
        n = (n & 0xf0000000u) ? UINT32_MAX : n * (octal ? 8 : 16) + (uint32_t)d;
    if (j == from || (universal && j - from < most))
        return problem(prob, i - 1, "the escape has too few digits");
    if (universal ? n > 0x10ffff || (n >= 0xd800 && n < 0xe000) : n > 0xff)
        return problem(prob, i - 1, "the escape names no character");
    if (universal)
        *out_len += pt_utf8_encode(n, out + *out_len);
    else
        out[(*out_len)++] = (char)n;
    return j;
}

/* A string never gets longer by unescaping. `text` starts with its quote. */
static bool parse_string(const char *text, size_t len, struct pt_strtab *strings, struct pt_value *ret,
                         struct pt_value_problem *prob)
{
    char *out = pt_xmalloc(len);
    size_t n = 0, i = 1;
    bool closed = false;
    while (i < len && !closed) {
        char c = text[i];
        if (c == '\\' && i + 1 < len) {
            i = parse_escape(text, len, i + 1, out, &n, prob);
            if (i == 0)
                break;
        } else if (c == '\0' || c == '\r' || c == '\n') {
            problem(prob, i, "a control character in a string must be written as an escape");
            i = 0;
            break;
        } else {
            closed = c == '"';
            if (!closed)
                out[n++] = c;
            i++;
        }
    }
    bool good = closed && i == len;
    if (good) {
        uint32_t id = pt_strtab_intern(strings, out, n);
        *ret = pt_value_string(pt_strtab_text(strings, id), (uint32_t)n);
    } else if (i != 0) {
        problem(prob, closed ? i : 0, closed ? "nothing may follow the closing quote" : "the string does not end");
    }
    free(out);
    return good;
}

static bool is_word(const char *text, size_t len, const char *word)
{
    return len == strlen(word) && memcmp(text, word, len) == 0;
}

bool pt_value_parse(const char *text, size_t len, struct pt_strtab *strings, struct pt_value *ret_value,
                    struct pt_value_problem *ret_problem)
{
    if (len == 0)
        return problem(ret_problem, 0, "a value is expected after '='");
    if (text[0] == '"')
        return parse_string(text, len, strings, ret_value, ret_problem);
    if (is_word(text, len, "true") || is_word(text, len, "false"))
        *ret_value = pt_value_bool(text[0] == 't');
    else if (is_word(text, len, "nan"))
        *ret_value = pt_value_float((double)NAN);
    else if (is_word(text, len, "inf") || is_word(text, len, "-inf"))
        *ret_value = pt_value_float(text[0] == '-' ? -(double)INFINITY : (double)INFINITY);
    else if (is_digit(text[0]) || text[0] == '-' || text[0] == '.')
        return parse_number(text, len, ret_value, ret_problem);
    else
        return problem(ret_problem, 0, "this is no value: a number, a \"string\", true or false is expected");
    return true;
}

static void float_to_text(double d, struct pt_buf *buf)
{
    if (isnan(d) || isinf(d)) {
        pt_buf_puts(buf, isnan(d) ? "nan" : d < 0 ? "-inf" : "inf");
        return;
    }
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    locale_t before = uselocale(c_locale);
    char text[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, d);
        if (strtod(text, NULL) == d)
            break;
    }
    uselocale(before);
    freelocale(c_locale);
    pt_buf_puts(buf, text);
    if (!strpbrk(text, ".e"))
        pt_buf_puts(buf, ".0");
}

/* '|' is escaped as well, so that tools which split lines at it keep working. */
static void string_to_text(const char *s, size_t len, struct pt_buf *buf)
{
    pt_buf_add(buf, "\"", 1);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\')
            pt_buf_printf(buf, "\\%c", c);
        else if (c == '\n' || c == '\t')
            pt_buf_puts(buf, c == '\n' ? "\\n" : "\\t");
        else if (c < 0x20 || c == 0x7f || c == '|')
            pt_buf_printf(buf, "\\%03o", c);
        else
            pt_buf_add(buf, s + i, 1);
    }
    pt_buf_add(buf, "\"", 1);
}

void pt_value_to_text(struct pt_value value, struct pt_buf *buf)
{
    switch ((enum pt_value_kind)value.kind) {
    case PT_VALUE_UNKNOWN:
        pt_buf_puts(buf, "?");
        break;
    case PT_VALUE_INT:
        pt_buf_printf(buf, "%lld", (long long)value.i);
        break;
    case PT_VALUE_UINT:
        pt_buf_printf(buf, "%llu", (unsigned long long)value.u);
        break;
    case PT_VALUE_FLOAT:
        float_to_text(value.d, buf);
        break;
    case PT_VALUE_BOOL:
        pt_buf_puts(buf, value.i ? "true" : "false");
        break;
    case PT_VALUE_STRING:
        string_to_text(value.s, value.len, buf);
        break;
    }
}
