/*
 * Members of JSON objects as C values. Each is checked for its type and range before it is used; the first that is
 * wrong ends the reading (result_impl.h). Cost: a member is searched among its object's, which are few.
 */
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

/* A copy of a string; NULL where it is none. Names are C strings everywhere: one with a NUL inside would be cut. */
static char *copy_text(struct reading *r, const struct pt_json_node *node)
{
    if (!pt_json_is(node, PT_VALUE_STRING) || strlen(node->value.s) != node->value.len)
        return NULL;
    return pt_arena_strndup(r->arena, node->value.s, node->value.len);
}

char *rd_text(struct reading *r, const struct pt_json_node *value, const char *where)
{
    char *text = copy_text(r, value);
    if (text)
        return text;
    rd_fail(r, "%s is not a text", where);
    return pt_arena_strndup(r->arena, "", 0);
}

static const struct pt_json_node *member(struct reading *r, const struct pt_json_node *object, const char *where,
                                         const char *key, bool required)
{
    const struct pt_json_node *value = pt_json_get(object, key);
    if (!value && required)
        rd_fail(r, "%s has no \"%s\"", where, key);
    return value;
}

const char *rd_string_or(struct reading *r, const struct pt_json_node *object, const char *where, const char *key,
                         const char *fallback)
{
    const struct pt_json_node *value = member(r, object, where, key, false);
    if (!value)
        return fallback;
    const char *text = copy_text(r, value);
    if (!text)
        rd_fail(r, "\"%s\" of %s is not a text", key, where);
    return text ? text : "";
}

const char *rd_string(struct reading *r, const struct pt_json_node *object, const char *where, const char *key)
{
    return member(r, object, where, key, true) ? rd_string_or(r, object, where, key, "") : "";
}

uint64_t rd_uint_or(struct reading *r, const struct pt_json_node *object, const char *where, const char *key,
                    uint64_t max, uint64_t fallback)
{
    const struct pt_json_node *value = member(r, object, where, key, false);
    if (!value)
        return fallback;
    bool natural = pt_json_is_integer(value) && (value->value.kind == PT_VALUE_UINT || value->value.i >= 0);
    if (!natural || value->value.u > max) {
        rd_fail(r, "\"%s\" of %s is not a number in range", key, where);
        return fallback;
    }
    return value->value.u;
}

uint64_t rd_uint(struct reading *r, const struct pt_json_node *object, const char *where, const char *key, uint64_t max)
{
    return member(r, object, where, key, true) ? rd_uint_or(r, object, where, key, max, 0) : 0;
}

bool rd_bool_or(struct reading *r, const struct pt_json_node *object, const char *where, const char *key, bool fallback)
{
    const struct pt_json_node *value = member(r, object, where, key, false);
    if (!value)
        return fallback;
    if (!pt_json_is(value, PT_VALUE_BOOL))
        rd_fail(r, "\"%s\" of %s is neither true nor false", key, where);
    return pt_json_is(value, PT_VALUE_BOOL) && value->value.i;
}

const struct pt_json_node *rd_array(struct reading *r, const struct pt_json_node *object, const char *where,
                                    const char *key)
{
    const struct pt_json_node *value = member(r, object, where, key, false);
    if (value && value->kind != PT_JSON_ARRAY) {
        rd_fail(r, "\"%s\" of %s is not a list", key, where);
        return NULL;
    }
    return value;
}

const struct pt_json_node *rd_object(struct reading *r, const struct pt_json_node *object, const char *where,
                                     const char *key)
{
    const struct pt_json_node *value = member(r, object, where, key, false);
    if (value && value->kind != PT_JSON_OBJECT) {
        rd_fail(r, "\"%s\" of %s is not an object", key, where);
        return NULL;
    }
    return value;
}

static uint64_t rd_below(struct reading *r, const struct pt_json_node *value, const char *where, uint64_t limit)
{
    int64_t number = pt_json_is(value, PT_VALUE_INT) ? value->value.i : -1;
    if (number < 0 || (uint64_t)number >= limit) {
        rd_fail(r, "a number of %s is out of range", where);
        return 0;
    }
    return (uint64_t)number;
}

uint32_t rd_index(struct reading *r, const struct pt_json_node *value, const char *where, uint32_t limit)
{
    return (uint32_t)rd_below(r, value, where, limit);
}

uint64_t rd_count(struct reading *r, const struct pt_json_node *value, const char *where)
{
    return rd_below(r, value, where, UINT64_MAX);
}

struct pt_value rd_value(struct reading *r, const struct pt_json_node *node)
{
    if (node->kind != PT_JSON_VALUE) {
        rd_fail(r, node->kind == PT_JSON_TOO_LARGE ? "a value is a number that 64 bits do not hold"
                                                   : "a value is a list or an object");
        return (struct pt_value){0};
    }
    if (node->value.kind == PT_VALUE_STRING) /* the tree does not live as long as what is read from it */
        return pt_value_string(pt_arena_strndup(r->arena, node->value.s, node->value.len), node->value.len);
    return node->value;
}
