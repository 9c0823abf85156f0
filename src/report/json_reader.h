/* JSON text as a tree in memory, with integers exactly as they are written. */
#ifndef PT_REPORT_JSON_READER_H
#define PT_REPORT_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "core/value.h"

enum pt_json_kind {
    PT_JSON_VALUE, /* `value`: null is PT_VALUE_UNKNOWN; a string's text is NUL-terminated and may have NULs inside */
    PT_JSON_TOO_LARGE, /* a number that neither 64 bits nor a double hold */
    PT_JSON_ARRAY,     /* `items` */
    PT_JSON_OBJECT,    /* `members` */
};

struct pt_json_node {
    uint32_t kind;
    uint32_t count; /* of items or members */
    union {
        struct pt_value value;
        const struct pt_json_node *items;
        const struct pt_json_member *members;
    };
};

struct pt_json_member {
    const char *key; /* without NULs inside */
    struct pt_json_node value;
};

/*
 * Reads the whole text, an object or an array; all of the tree lives in `arena`. `label` names the text in errors,
 * which begin with `what`. PT_EINPUT: it is not JSON (RFC 8259), or an object has the same key twice, or it nests
 * deeper than 2048 arrays and objects.
 */
enum pt_status pt_json_read(const char *label, const char *what, const char *text, size_t len, struct pt_arena *arena,
                            const struct pt_json_node **ret_root, struct pt_err *err) PT_WARN_UNUSED;

/* These take NULL, and nodes of another kind, as if nothing were there. */
const struct pt_json_node *pt_json_get(const struct pt_json_node *object, const char *key);
static inline size_t pt_json_count(const struct pt_json_node *array)
{
    return array && array->kind == PT_JSON_ARRAY ? array->count : 0;
}
static inline const struct pt_json_node *pt_json_at(const struct pt_json_node *array, size_t index)
{
    return index < pt_json_count(array) ? &array->items[index] : NULL;
}
static inline bool pt_json_has_kind(const struct pt_json_node *node, enum pt_json_kind kind)
{
    return node && node->kind == kind;
}
/* Whether it is a plain value of this kind. */
static inline bool pt_json_is(const struct pt_json_node *node, enum pt_value_kind kind)
{
    return node && node->kind == PT_JSON_VALUE && node->value.kind == kind;
}
static inline bool pt_json_is_integer(const struct pt_json_node *node)
{
    return pt_json_is(node, PT_VALUE_INT) || pt_json_is(node, PT_VALUE_UINT);
}

#endif
