/*
 * JSON as a stream of members into a buffer: commas and nesting are kept here, so what comes out is well-formed
 * whatever the texts are. 64-bit integers are exact and floating point is in its shortest form that reads back the
 * same. No tree is built; time is linear in the output.
 */
#include "report/json_writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* Bytes that are no UTF-8 become U+FFFD: JSON text must be valid whatever a trace holds. */
static void put_quoted(struct pt_buf *buf, const char *text, size_t len)
{
    pt_buf_puts(buf, "\"");
    for (size_t i = 0; i < len;) {
        unsigned char c = (unsigned char)text[i];
        size_t n = pt_utf8_decode(text + i, len - i, NULL);
        if (n == 0)
            pt_buf_puts(buf, "\\ufffd");
        else if (c == '"' || c == '\\')
            pt_buf_printf(buf, "\\%c", c);
        else if (c == '\n')
            pt_buf_puts(buf, "\\n");
        else if (c == '\t')
            pt_buf_puts(buf, "\\t");
        else if (c < 0x20 || c == 0x7f)
            pt_buf_printf(buf, "\\u%04x", c);
        else
            pt_buf_add(buf, text + i, n);
        i += n ? n : 1;
    }
    pt_buf_puts(buf, "\"");
}

static void begin(struct pt_json *json, const char *key)
{
    if (json->has_before)
        pt_buf_puts(json->buf, ", ");
    json->has_before = true;
    if (key) {
        put_quoted(json->buf, key, strlen(key));
        pt_buf_puts(json->buf, ": ");
    }
}

void pt_json_open(struct pt_json *json, const char *key, char bracket)
{
    begin(json, key);
    pt_buf_add(json->buf, &bracket, 1);
    json->has_before = false;
}

void pt_json_close(struct pt_json *json, char bracket)
{
    pt_buf_add(json->buf, &bracket, 1);
    json->has_before = true;
}

void pt_json_string(struct pt_json *json, const char *key, const char *text)
{
    begin(json, key);
    text = text ? text : ""; /* a damaged result may lack it */
    put_quoted(json->buf, text, strlen(text));
}

void pt_json_text(struct pt_json *json, const char *key, const char *text)
{
    size_t len = strlen(text);
    while (len && text[len - 1] == '\n')
        len--;
    begin(json, key);
    pt_buf_add(json->buf, text, len);
}

void pt_json_uint(struct pt_json *json, const char *key, uint64_t value)
{
    begin(json, key);
    pt_buf_printf(json->buf, "%" PRIu64, value);
}

void pt_json_bool(struct pt_json *json, const char *key, bool value)
{
    begin(json, key);
    pt_buf_puts(json->buf, value ? "true" : "false");
}

void pt_json_null(struct pt_json *json, const char *key)
{
    begin(json, key);
    pt_buf_puts(json->buf, "null");
}

void pt_json_seconds(struct pt_json *json, const char *key, double value)
{
    char text[64];
    snprintf(text, sizeof text, "%.6f", isfinite(value) && value > 0 && value < 1e15 ? value : 0.0);
    size_t len = strlen(text);
    while (text[len - 1] == '0' && text[len - 2] != '.')
        len--;
    begin(json, key);
    pt_buf_add(json->buf, text, len);
}

/* The shortest digits that read back as the same number, recognisably floating point. */
static void put_double(struct pt_buf *buf, double d)
{
    if (!isfinite(d)) {
        pt_buf_puts(buf, isnan(d) ? "\"nan\"" : d > 0 ? "\"inf\"" : "\"-inf\"");
        return;
    }
    char text[64];
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, d);
        if (strtod(text, NULL) == d)
            break;
    }
    pt_buf_puts(buf, text);
    if (!strpbrk(text, ".e"))
        pt_buf_puts(buf, ".0");
}

void pt_json_value(struct pt_json *json, const char *key, struct pt_value value)
{
    begin(json, key);
    switch ((enum pt_value_kind)value.kind) {
    case PT_VALUE_INT:
        pt_buf_printf(json->buf, "%" PRId64, value.i);
        return;
    case PT_VALUE_UINT:
        pt_buf_printf(json->buf, "%" PRIu64, value.u);
        return;
    case PT_VALUE_FLOAT:
        put_double(json->buf, value.d);
        return;
    case PT_VALUE_BOOL:
        pt_buf_puts(json->buf, value.i ? "true" : "false");
        return;
    case PT_VALUE_STRING:
        put_quoted(json->buf, value.s, value.len);
        return;
    case PT_VALUE_UNKNOWN:
        break;
    }
    pt_buf_puts(json->buf, "null");
}
