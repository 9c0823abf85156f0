#include "core/glob.h"

#include <stdint.h>

/* The set that starts at pattern[*at], which moves past it, and whether it has this character; a bracket that nothing
 * closes is a character, and *at stays. */
static bool set_has(const char *pattern, size_t len, size_t *at, char c)
{
    size_t i = *at + 1;
    bool negated = i < len && (pattern[i] == '!' || pattern[i] == '^'), has = false;
    i += negated;
    for (size_t first = i; i < len && (pattern[i] != ']' || i == first); i++) {
        if (pattern[i] == '\\' && i + 1 < len)
            i++;
        char low = pattern[i], high = low;
        if (i + 2 < len && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
            i += 2;
            if (pattern[i] == '\\' && i + 1 < len)
                i++;
            high = pattern[i];
        }
        has |= (unsigned char)low <= (unsigned char)c && (unsigned char)c <= (unsigned char)high;
    }
    if (i >= len)
        return c == '[';
    *at = i;
    return has != negated;
}

/* One character of the text against one of the pattern, at *at, which moves to its last. */
static bool one_matches(const char *pattern, size_t len, size_t *at, char c)
{
    switch (pattern[*at]) {
    case '?':
        return true;
    case '[':
        return set_has(pattern, len, at, c);
    case '\\':
        return *at + 1 < len && pattern[++*at] == c; /* the last one stands before nothing, and matches nothing */
    default:
        return pattern[*at] == c;
    }
}

/* Greedy, with one point to come back to, the latest star. */
bool pt_glob_matches(const char *pattern, size_t len, const char *text)
{
    size_t p = 0, t = 0, star = SIZE_MAX, resume = 0;
    for (;;) {
        size_t end = p;
        if (p < len && pattern[p] == '*') {
            star = ++p;
            resume = t;
        } else if (p == len && !text[t]) {
            return true;
        } else if (p < len && text[t] && one_matches(pattern, len, &end, text[t])) {
            p = end + 1;
            t++;
        } else if (star != SIZE_MAX && text[resume]) {
            p = star;
            t = ++resume;
        } else {
            return false;
        }
    }
}
