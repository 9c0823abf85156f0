/*
 * A recursive-descent reader of JSON (RFC 8259). Numbers keep what is written: an integer is a 64-bit one, signed or
 * unsigned, or PT_JSON_TOO_LARGE, and never a double; libraries either refuse what is above 2^63 - 1 or round it.
 *
 * Guarantee: what is accepted is valid JSON in valid UTF-8 without repeated keys; recursion is at most MAX_DEPTH calls
 * deep whatever the text. Cost: linear in the text, but for objects of many members, whose keys are sorted to find
 * repeated ones: n log n. Memory is the tree, and while it is read the open arrays and objects once more.
 */
#include "report/json_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "trace/valuetext.h"

enum { MAX_DEPTH = 2048, FEW_MEMBERS = 32 };

struct reader {
    const char *text, *end, *at;
    struct pt_arena *arena;
    unsigned depth;
    const char *problem; /* the first one, found at `at` */
    /* Members of the objects and, with no key, items of the arrays that are open, the innermost ones last. */
    struct pt_json_member *open;
    size_t open_count, open_cap;
    char *scratch; /* a string being unescaped */
    size_t scratch_cap;
};

static bool fail(struct reader *r, const char *at, const char *problem)
{
    r->at = at;
    r->problem = problem;
    return false;
}

static bool skip_blanks(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r'))
        r->at++;
    return r->at < r->end;
}

static bool is_next(const struct reader *r, char c)
{
    return r->at < r->end && *r->at == c;
}

/* ---- strings ---- */

/* Four hexadecimal digits. */
static bool read_unit(const char *at, const char *end, uint32_t *ret_unit)
{
    uint32_t unit = 0;
    if (end - at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                                : 16;
        if (digit == 16)
            return false;
        unit = unit << 4 | digit;
    }
    *ret_unit = unit;
    return true;
}

/* \uXXXX, or two of them that are one character beyond 16 bits. r->at is behind the u. */
static bool unescape_unit(struct reader *r, char **out)
{
    uint32_t point, low;
    if (!read_unit(r->at, r->end, &point))
        return fail(r, r->at, "four hexadecimal digits are expected after \\u");
    r->at += 4;
    if (point >= 0xd800 && point < 0xdc00) {
        if (r->end - r->at < 6 || r->at[0] != '\\' || r->at[1] != 'u' || !read_unit(r->at + 2, r->end, &low) ||
            low < 0xdc00 || low > 0xdfff)
            return fail(r, r->at, "the second half of a surrogate pair is expected");
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
        r->at += 6;
    } else if (point >= 0xdc00 && point <= 0xdfff) {
        return fail(r, r->at, "a surrogate pair begins with its second half");
    }
    *out += pt_utf8_encode(point, *out);
    return true;
}

static bool unescape(struct reader *r, char **out)
{
    static const char letters[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    char letter = ++r->at < r->end ? *r->at : '\0';
    const char *simple = letter ? strchr(letters, letter) : NULL;
    if (letter == 'u') {
        r->at++;
        return unescape_unit(r, out);
    }
    if (!simple)
        return fail(r, r->at, "this escape does not exist in JSON");
    *(*out)++ = bytes[simple - letters];
    r->at++;
    return true;
}

/* The end of what can be copied as it is: plain characters, checked to be UTF-8 without controls. */
static const char *plain_end(struct reader *r)
{
    const char *at = r->at;
    while (at < r->end && *at != '"' && *at != '\\') {
        unsigned char c = (unsigned char)*at;
        size_t n = c < 0x80 ? 1 : pt_utf8_decode(at, (size_t)(r->end - at), NULL);
        if (n == 0 || c < 0x20) {
            fail(r, at, n ? "a control character stands in a string" : "this is not valid UTF-8");
            return NULL;
        }
        at += n;
    }
    if (at == r->end) {
        fail(r, at, "a string does not end");
        return NULL;
    }
    return at;
}

/* A string with escapes, of which the first stands at `from`; r->at is its first character. It never gets longer. */
static bool read_escaped(struct reader *r, const char *from, char **ret_text, size_t *ret_len)
{
    const char *closing = from;
    size_t len = (size_t)(from - r->at);
    while (closing < r->end && *closing != '"')
        closing += *closing == '\\' ? 2 : 1;
    PT_GROW(r->scratch, r->scratch_cap, (size_t)(closing - r->at) + 1);
    memcpy(r->scratch, r->at, len);
    char *out = r->scratch + len;
    r->at = from;
    while (*r->at != '"') {
        if (*r->at == '\\') {
            if (!unescape(r, &out))
                return false;
        }
        const char *end = plain_end(r);
        if (!end)
            return false;
        memcpy(out, r->at, (size_t)(end - r->at));
        out += end - r->at;
        r->at = end;
    }
    *ret_len = (size_t)(out - r->scratch);
    *ret_text = pt_arena_strndup(r->arena, r->scratch, *ret_len);
    return true;
}

/* r->at is the opening quote. */
static bool read_string(struct reader *r, char **ret_text, size_t *ret_len)
{
    r->at++;
    const char *end = plain_end(r);
    if (!end)
        return false;
    if (*end == '\\') {
        if (!read_escaped(r, end, ret_text, ret_len))
            return false;
    } else {
        *ret_len = (size_t)(end - r->at);
        *ret_text = pt_arena_strndup(r->arena, r->at, *ret_len);
        r->at = end;
    }
    r->at++;
    return *ret_len <= UINT32_MAX || fail(r, r->at, "a string is too long");
}

/* ---- numbers ---- */

static const char *skip_digits(const struct reader *r, const char *at)
{
    while (at < r->end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

/* The form is checked here; what it means says pt_value_parse, which knows the same numbers and more forms. */
static bool read_number(struct reader *r, struct pt_json_node *ret_node)
{
    const char *start = r->at + (*r->at == '-'), *at = skip_digits(r, start);
    struct pt_value_problem too_large;
    if (at == start || (*start == '0' && at > start + 1))
        return fail(r, r->at, at == start ? "a value is expected here" : "a number begins with 0");
    if (at < r->end && *at == '.') {
        const char *fraction = at + 1;
        at = skip_digits(r, fraction);
        if (at == fraction)
            return fail(r, at, "a digit is expected after the point");
    }
    if (at < r->end && (*at == 'e' || *at == 'E')) {
        const char *exponent = at + 1;
        exponent += exponent < r->end && (*exponent == '+' || *exponent == '-');
        at = skip_digits(r, exponent);
        if (at == exponent)
            return fail(r, at, "a digit is expected in the exponent");
    }
    *ret_node = (struct pt_json_node){.kind = PT_JSON_VALUE};
    if (!pt_value_parse(r->at, (size_t)(at - r->at), NULL, &ret_node->value, &too_large))
        *ret_node = (struct pt_json_node){.kind = PT_JSON_TOO_LARGE};
    r->at = at;
    return true;
}

/* ---- arrays, objects, and what else is a value ---- */

static bool read_value(struct reader *r, struct pt_json_node *ret_node);

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool has_repeated_key(const struct pt_json_member *members, size_t count)
{
    if (count <= FEW_MEMBERS) {
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < i; k++)
                if (strcmp(members[i].key, members[k].key) == 0)
                    return true;
        return false;
    }
    const char **keys = pt_xmalloc(count * sizeof *keys);
    bool repeated = false;
    for (size_t i = 0; i < count; i++)
        keys[i] = members[i].key;
    qsort(keys, count, sizeof *keys, compare_keys);
    for (size_t i = 1; i < count; i++)
        repeated = repeated || strcmp(keys[i - 1], keys[i]) == 0;
    free(keys);
    return repeated;
}

static bool read_key(struct reader *r, const char **ret_key)
{
    char *key;
    size_t len;
    const char *from = r->at;
    if (!is_next(r, '"'))
        return fail(r, r->at, "a key is expected here");
    if (!read_string(r, &key, &len))
        return false;
    if (strlen(key) != len)
        return fail(r, from, "a key has a NUL character inside");
    if (!skip_blanks(r) || *r->at != ':')
        return fail(r, r->at, "':' is expected after a key");
    r->at++;
    *ret_key = key;
    return true;
}

/* The elements between the brackets, onto the stack of open ones. r->at is behind the bracket that opens. */
static bool read_elements(struct reader *r, bool object, char closing)
{
    if (skip_blanks(r) && *r->at == closing) {
        r->at++;
        return true;
    }
    for (;;) {
        struct pt_json_member element = {.key = NULL};
        if (object && (!skip_blanks(r) || !read_key(r, &element.key)))
            return r->problem ? false : fail(r, r->at, "an object does not end");
        if (!read_value(r, &element.value))
            return false;
        PT_PUSH(r->open, r->open_count, r->open_cap, element);
        if (!skip_blanks(r))
            return fail(r, r->at, object ? "an object does not end" : "an array does not end");
        char c = *r->at;
        if (c != ',' && c != closing)
            return fail(r, r->at, object ? "',' or '}' is expected here" : "',' or ']' is expected here");
        r->at++;
        if (c == closing)
            return true;
    }
}

static bool read_compound(struct reader *r, struct pt_json_node *ret_node)
{
    bool object = *r->at == '{';
    const char *from = r->at++;
    size_t first = r->open_count;
    if (++r->depth > MAX_DEPTH)
        return fail(r, from, "arrays and objects nest too deep");
    if (!read_elements(r, object, object ? '}' : ']'))
        return false;
    r->depth--;
    const struct pt_json_member *elements = r->open ? r->open + first : NULL;
    size_t count = r->open_count - first;
    if (count > UINT32_MAX || (object && has_repeated_key(elements, count)))
        return fail(r, from, count > UINT32_MAX ? "this is too long" : "an object has the same key twice");
    *ret_node = (struct pt_json_node){.kind = object ? PT_JSON_OBJECT : PT_JSON_ARRAY, .count = (uint32_t)count};
    if (object) {
        struct pt_json_member *members = pt_arena_alloc(r->arena, count * sizeof *members);
        for (size_t i = 0; i < count; i++)
            members[i] = elements[i];
        ret_node->members = members;
    } else {
        struct pt_json_node *items = pt_arena_alloc(r->arena, count * sizeof *items);
        for (size_t i = 0; i < count; i++)
            items[i] = elements[i].value;
        ret_node->items = items;
    }
    r->open_count = first;
    return true;
}

static bool read_word(struct reader *r, struct pt_json_node *ret_node)
{
    static const struct {
        const char *word;
        struct pt_value value;
    } words[] = {{"null", {.kind = PT_VALUE_UNKNOWN}},
                 {"true", {.kind = PT_VALUE_BOOL, .i = 1}},
                 {"false", {.kind = PT_VALUE_BOOL, .i = 0}}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t len = strlen(words[i].word);
        if ((size_t)(r->end - r->at) >= len && memcmp(r->at, words[i].word, len) == 0) {
            r->at += len;
            *ret_node = (struct pt_json_node){.kind = PT_JSON_VALUE, .value = words[i].value};
            return true;
        }
    }
    return fail(r, r->at, "a value is expected here");
}

static bool read_value(struct reader *r, struct pt_json_node *ret_node)
{
    char *text;
    size_t len;
    if (!skip_blanks(r))
        return fail(r, r->at, "the text ends where a value is expected");
    switch (*r->at) {
    case '{':
    case '[':
        return read_compound(r, ret_node);
    case '"':
        if (!read_string(r, &text, &len))
            return false;
        *ret_node = (struct pt_json_node){.kind = PT_JSON_VALUE, .value = pt_value_string(text, (uint32_t)len)};
        return true;
    case 'n':
    case 't':
    case 'f':
        return read_word(r, ret_node);
    default:
        return read_number(r, ret_node);
    }
}

/* The problem with its line and column, in bytes. */
static enum pt_status report(const struct reader *r, const char *label, const char *what, struct pt_err *err)
{
    uint64_t line = 1;
    const char *start = r->text;
    for (const char *at = r->text; at < r->at; at++)
        if (*at == '\n') {
            line++;
            start = at + 1;
        }
    size_t column = (size_t)(r->at - start) + 1;
    return pt_err_at(err, PT_EINPUT, label, line, column <= UINT32_MAX ? (uint32_t)column : 0, "%s: %s", what,
                     r->problem);
}

enum pt_status pt_json_read(const char *label, const char *what, const char *text, size_t len, struct pt_arena *arena,
                            const struct pt_json_node **ret_root, struct pt_err *err)
{
    struct reader r = {.text = text, .end = text + len, .at = text, .arena = arena};
    struct pt_json_node *root = pt_arena_alloc(arena, sizeof *root);
    if (!skip_blanks(&r) || (*r.at != '{' && *r.at != '['))
        fail(&r, r.at, "'{' or '[' is expected here");
    else if (read_compound(&r, root) && skip_blanks(&r))
        fail(&r, r.at, "something follows the end");
    free(r.open);
    free(r.scratch);
    if (r.problem)
        return report(&r, label, what, err);
    *ret_root = root;
    return PT_OK;
}

const struct pt_json_node *pt_json_get(const struct pt_json_node *object, const char *key)
{
    if (!object || object->kind != PT_JSON_OBJECT)
        return NULL;
    for (uint32_t i = 0; i < object->count; i++)
        if (strcmp(object->members[i].key, key) == 0)
            return &object->members[i].value;
    return NULL;
}
