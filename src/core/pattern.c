#include "core/pattern.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Greedy matching with one point to come back to, the latest star: linear in practice, never exponential. */
static bool glob(const char *pattern, size_t len, const char *text, bool at_start, bool at_end)
{
    size_t p = 0, t = 0, star = at_start ? SIZE_MAX : 0, resume = 0;
    bool open_start = !at_start;
    for (;;) {
        if (p < len && pattern[p] == '*') {
            star = ++p;
            resume = t;
            open_start = false;
        } else if (p == len && (!at_end || !text[t])) {
            return true;
        } else if (p < len && text[t] && pattern[p] == text[t]) {
            p++;
            t++;
        } else if ((star != SIZE_MAX || open_start) && text[resume]) {
            p = star;
            t = ++resume;
        } else {
            return false;
        }
    }
}

bool pt_pattern_matches(const char *pattern, const char *text, bool whole)
{
    size_t len = strlen(pattern);
    bool start = whole, end = whole;
    if (!whole && pattern[0] == '^') {
        pattern++;
        len--;
        start = true;
    }
    if (!whole && len && pattern[len - 1] == '$') {
        len--;
        end = true;
    }
    return glob(pattern, len, text, start, end);
}
