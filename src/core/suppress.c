/*
 * The syntax and the meaning of suppressions, for the tools, which complain about a wrong line, and for the monitored
 * process, which ignores it. Cost: a pattern is compared with a name in time linear in practice, and never worse than
 * the product of their lengths; nothing is copied or allocated.
 */
#include "core/suppress.h"

#include <stdint.h>
#include <string.h>

static const struct {
    const char *word;
    enum pt_suppress_type type;
} types[] = {
    {"property", PT_SUPPRESS_PROPERTY},   {"block", PT_SUPPRESS_BLOCK},          {"race", PT_SUPPRESS_RACE},
    {"atomicity", PT_SUPPRESS_ATOMICITY}, {"race_top", PT_SUPPRESS_RACE_TOP},    {"thread", PT_SUPPRESS_THREAD},
    {"mutex", PT_SUPPRESS_MUTEX},         {"signal", PT_SUPPRESS_OTHER},         {"deadlock", PT_SUPPRESS_OTHER},
    {"lifetime", PT_SUPPRESS_OTHER},      {"called_from_lib", PT_SUPPRESS_FILE},
};

static bool find_type(const char *word, size_t len, enum pt_suppress_type *ret_type)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].word) == len && memcmp(types[i].word, word, len) == 0) {
            *ret_type = types[i].type;
            return true;
        }
    return false;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

enum pt_suppress_line pt_suppress_parse(const char *line, size_t len, struct pt_suppress_rule *ret_rule)
{
    while (len && is_blank(line[0])) {
        line++;
        len--;
    }
    while (len && is_blank(line[len - 1]))
        len--;
    if (len == 0 || line[0] == '#')
        return PT_SUPPRESS_BLANK;
    const char *colon = memchr(line, ':', len);
    ret_rule->text = line;
    ret_rule->text_len = len;
    if (!colon || colon + 1 == line + len)
        return PT_SUPPRESS_NO_PATTERN;
    ret_rule->pattern = colon + 1;
    ret_rule->pattern_len = (size_t)(line + len - ret_rule->pattern);
    if (!find_type(line, (size_t)(colon - line), &ret_rule->type))
        return PT_SUPPRESS_NO_TYPE;
    return memchr(line, '\0', len) ? PT_SUPPRESS_NUL : PT_SUPPRESS_RULE;
}

/* Greedy matching with one point to come back to, the latest star. */
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

bool pt_suppress_pattern(const char *pattern, size_t len, const char *text, bool whole)
{
    bool start = whole, end = whole;
    if (!whole && len && pattern[0] == '^') {
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

bool pt_suppress_matches(const struct pt_suppress_rule *rule, const char *name)
{
    bool whole = rule->type == PT_SUPPRESS_PROPERTY || rule->type == PT_SUPPRESS_BLOCK;
    return pt_suppress_pattern(rule->pattern, rule->pattern_len, name, whole);
}

bool pt_suppress_names(const struct pt_suppress_rule *rule, const char *property)
{
    return rule->type == PT_SUPPRESS_PROPERTY && pt_suppress_matches(rule, property);
}

bool pt_suppress_asks_names(const struct pt_suppress_rule *rule, const char *text)
{
    return (rule->type == PT_SUPPRESS_RACE && strstr(text, "race_free")) ||
           (rule->type == PT_SUPPRESS_ATOMICITY && strstr(text, "atomic_block"));
}

unsigned pt_suppress_asks(const struct pt_suppress_rule *rule, const char *kind)
{
    enum { NAMES = PT_SUPPRESS_BY_OBJECT | PT_SUPPRESS_BY_CALL | PT_SUPPRESS_BY_THREAD };
    size_t len = (size_t)(rule->pattern - rule->text) - 1;
    bool deadlock = strcmp(kind, "deadlock") == 0, lifetime = strcmp(kind, "lifetime") == 0,
         memory = lifetime || strcmp(kind, "race") == 0;
    if (strlen(kind) == len && memcmp(kind, rule->text, len) == 0)
        return deadlock ? NAMES | PT_SUPPRESS_BY_LOCK : NAMES;
    switch (rule->type) {
    case PT_SUPPRESS_RACE:
        return lifetime ? NAMES : 0;
    case PT_SUPPRESS_RACE_TOP:
        return memory ? PT_SUPPRESS_BY_TOP : 0;
    case PT_SUPPRESS_MUTEX:
        return deadlock ? PT_SUPPRESS_BY_OBJECT | PT_SUPPRESS_BY_LOCK : 0;
    case PT_SUPPRESS_THREAD:
        return PT_SUPPRESS_BY_THREAD;
    case PT_SUPPRESS_FILE:
        return PT_SUPPRESS_BY_FILE;
    default:
        return 0;
    }
}

bool pt_suppress_matches_call(const struct pt_suppress_rule *rule, const char *function, const char *file,
                              const char *place)
{
    return pt_suppress_matches(rule, function) || pt_suppress_matches(rule, file) || pt_suppress_matches(rule, place);
}
