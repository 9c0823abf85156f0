/*
 * Calls and returns of functions as user events (core/functions.h): `call(f)`, and with the arguments that properties
 * ask for `call(f, 5, _)`, an argument of which nobody asks being a line.
 *
 * Guarantee: a call of a function that `calls=` names is one user event of its thread, before anything that the
 * function does; its return is one after all of that. Cost: of a function that nobody names, once a look at the list,
 * and then a load and a branch.
 */
#pragma GCC visibility push(default)
#include "core/hooks.h"
#pragma GCC visibility pop

#include "runtime/functions.h"

#include <stdbool.h>
#include <string.h>

#include "core/glob.h"
#include "runtime/api.h"
#include "runtime/sys/options.h"
#include "runtime/sys/runtime.h"

enum { LONGEST = 600 };

static bool ready; /* the options are known */

void pt_functions_start(void)
{
    ready = true;
}

/* One entry of the list: `name$12`. */
static bool matches(const char *entry, size_t len, const char *name, uint8_t *wanted)
{
    const char *wants = memchr(entry, PT_FUNCTION_WANTS, len);
    size_t pattern = wants ? (size_t)(wants - entry) : len;
    if (!pattern || !pt_glob_matches(entry, pattern, name))
        return false;
    for (size_t i = pattern + 1; i < len; i++)
        if (entry[i] >= '1' && entry[i] < '1' + PT_FUNCTION_ARGUMENTS)
            *wanted |= (uint8_t)(1u << (entry[i] - '1'));
    return true;
}

/* Whether anybody wants its events, and with which arguments. */
static void decide(struct pt_function_record *function)
{
    const char *at = pt_options.calls.at, *end = at + pt_options.calls.len;
    uint8_t wanted = 0;
    bool any = false;
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t len = (size_t)((comma ? comma : end) - at);
        any |= matches(at, len, function->site->function, &wanted);
        at += len + 1;
    }
    function->wanted = wanted;
    function->state = any ? PT_FUNCTION_WATCHED : PT_FUNCTION_QUIET;
}

static bool is_wanted(struct pt_function_record *function)
{
    if (function->state == PT_FUNCTION_NEW && ready)
        decide(function);
    return function->state == PT_FUNCTION_WATCHED && pt_channel;
}

struct text {
    char bytes[LONGEST];
    size_t len;
};

static void put(struct text *text, const char *bytes)
{
    for (; *bytes && text->len + 1 < sizeof text->bytes; bytes++)
        text->bytes[text->len++] = *bytes;
    text->bytes[text->len] = '\0';
}

static void put_number(struct text *text, uint64_t value, bool is_signed)
{
    char digits[24], *at = digits + sizeof digits - 1;
    bool negative = is_signed && (int64_t)value < 0;
    uint64_t rest = negative ? 0 - value : value;
    *at = '\0';
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (negative)
        *--at = '-';
    put(text, at);
}

/* The arguments up to the last one that is wanted. */
static void put_arguments(struct text *text, const struct pt_function_record *function, const uint64_t *arguments)
{
    const char *kinds = function->arguments;
    for (unsigned i = 0; function->wanted >> i; i++) {
        char kind = i < strlen(kinds) ? kinds[i] : '-';
        put(text, ", ");
        if (!(function->wanted >> i & 1) || kind == '-')
            put(text, "_");
        else
            put_number(text, arguments[i], kind == 'i');
    }
}

static void tell(const struct pt_function_record *function, const char *what, const uint64_t *arguments)
{
    struct text kind = {.len = 0}, name;
    put(&kind, what);
    put(&kind, function->site->function);
    name = kind;
    put(&kind, ")");
    if (!arguments || !function->wanted) {
        pt_api_function_event(function->site, kind.bytes, kind.bytes);
        return;
    }
    put_arguments(&name, function, arguments);
    put(&name, ")");
    pt_api_function_event(function->site, kind.bytes, name.bytes);
}

void __portent_called(struct pt_function_record *function, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,
                      uint64_t f)
{
    const uint64_t arguments[PT_FUNCTION_ARGUMENTS] = {a, b, c, d, e, f};
    if (is_wanted(function))
        tell(function, "call(", arguments);
}

void __portent_returned(struct pt_function_record *function)
{
    if (is_wanted(function))
        tell(function, "return(", NULL);
}
