#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/result_impl.h"

void rd_fail(struct reading *r, const char *fmt, ...)
{
    if (r->failed)
        return;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->problem, sizeof r->problem, fmt, ap);
    va_end(ap);
    r->failed = true;
}

/* Names are C strings everywhere: one with a NUL inside would be cut. */
char *rd_text(struct reading *r, const json_t *value, const char *where)
{
    const char *text = json_string_value(value);
    size_t len = json_string_length(value);
    if (!text || strlen(text) != len) {
        rd_fail(r, "%s is not a text", where);
        return pt_arena_strndup(r->arena, "", 0);
    }
    return pt_arena_strndup(r->arena, text, len);
}

static const json_t *member(struct reading *r, const json_t *object, const char *where, const char *key, bool required)
{
    const json_t *value = json_object_get(object, key);
    if (!value && required)
        rd_fail(r, "%s has no \"%s\"", where, key);
    return value;
}

const char *rd_string_or(struct reading *r, const json_t *object, const char *where, const char *key,
                         const char *fallback)
{
    const json_t *value = member(r, object, where, key, false);
    char place[128];
    snprintf(place, sizeof place, "\"%s\" of %s", key, where);
    return value ? rd_text(r, value, place) : fallback;
}

const char *rd_string(struct reading *r, const json_t *object, const char *where, const char *key)
{
    return member(r, object, where, key, true) ? rd_string_or(r, object, where, key, "") : "";
}

uint64_t rd_uint_or(struct reading *r, const json_t *object, const char *where, const char *key, uint64_t max,
                    uint64_t fallback)
{
    const json_t *value = member(r, object, where, key, false);
    if (!value)
        return fallback;
    if (!json_is_integer(value) || json_integer_value(value) < 0 || (uint64_t)json_integer_value(value) > max) {
        rd_fail(r, "\"%s\" of %s is not a number in range", key, where);
        return fallback;
    }
    return (uint64_t)json_integer_value(value);
}

uint64_t rd_uint(struct reading *r, const json_t *object, const char *where, const char *key, uint64_t max)
{
    return member(r, object, where, key, true) ? rd_uint_or(r, object, where, key, max, 0) : 0;
}

bool rd_bool_or(struct reading *r, const json_t *object, const char *where, const char *key, bool fallback)
{
    const json_t *value = member(r, object, where, key, false);
    if (value && !json_is_boolean(value))
        rd_fail(r, "\"%s\" of %s is neither true nor false", key, where);
    return value ? json_is_true(value) : fallback;
}

const json_t *rd_array(struct reading *r, const json_t *object, const char *where, const char *key)
{
    const json_t *value = member(r, object, where, key, false);
    if (value && !json_is_array(value)) {
        rd_fail(r, "\"%s\" of %s is not a list", key, where);
        return NULL;
    }
    return value;
}

const json_t *rd_object(struct reading *r, const json_t *object, const char *where, const char *key)
{
    const json_t *value = member(r, object, where, key, false);
    if (value && !json_is_object(value)) {
        rd_fail(r, "\"%s\" of %s is not an object", key, where);
        return NULL;
    }
    return value;
}

uint32_t rd_index(struct reading *r, const json_t *value, const char *where, uint64_t limit)
{
    json_int_t number = json_is_integer(value) ? json_integer_value(value) : -1;
    if (number < 0 || (uint64_t)number >= limit) {
        rd_fail(r, "a number of %s is out of range", where);
        return 0;
    }
    return (uint32_t)number;
}

/* See protect_integers of result_read.c: jansson has no integers beyond its own type. */
static bool protected_integer(const char *text, size_t len, struct pt_value *ret_value)
{
    if (len < 2 || text[0] != '\1')
        return false;
    char *end;
    *ret_value =
        text[1] == '-' ? pt_value_int(strtoll(text + 1, &end, 10)) : pt_value_uint(strtoull(text + 1, &end, 10));
    return *end == '\0' && end == text + len;
}

struct pt_value rd_value(struct reading *r, const json_t *value)
{
    struct pt_value number;
    switch (json_typeof(value)) {
    case JSON_INTEGER:
        return pt_value_int(json_integer_value(value));
    case JSON_REAL:
        return pt_value_float(json_real_value(value));
    case JSON_TRUE:
    case JSON_FALSE:
        return pt_value_bool(json_is_true(value));
    case JSON_STRING:
        if (protected_integer(json_string_value(value), json_string_length(value), &number))
            return number;
        return pt_value_string(pt_arena_strndup(r->arena, json_string_value(value), json_string_length(value)),
                               (uint32_t)json_string_length(value));
    case JSON_NULL:
        break;
    default:
        rd_fail(r, "a value is a list or an object");
    }
    return (struct pt_value){0};
}
