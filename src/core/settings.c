/*
 * PORTENT_OPTIONS and its like, split and checked without allocation: the runtime reads them before main. A name that
 * is not in the table, or a value that its row does not allow, is reported to the caller with its place and changes
 * nothing; the settings given before and after it count. One pass over the text.
 */
#include "core/settings.h"

#define ROW(name, type, standard, words, help)                                                                         \
    {#name, PT_SETTING_##type, standard, words, help, offsetof(struct pt_settings, name)},
const struct pt_setting pt_setting_rows[PT_SETTING_COUNT] = {PT_SETTINGS(ROW)};
#undef ROW

_Static_assert(PT_SETTING_COUNT <= 32, "one bit each in pt_settings.given");

bool pt_span_is(struct pt_span span, const char *word)
{
    size_t i = 0;
    while (i < span.len && word[i] == span.at[i] && word[i])
        i++;
    return i == span.len && !word[i];
}

static struct pt_span span_of(const char *text)
{
    struct pt_span span = {text, 0};
    while (text[span.len])
        span.len++;
    return span;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name(char c)
{
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool ends_value(const char *c)
{
    if (!*c || is_space(*c))
        return true;
    if (*c != ':')
        return false;
    const char *next = c + 1;
    while (is_name(*next))
        next++;
    return *next == '=' ? next > c + 1 : next == c + 1 && (!*next || *next == ':' || is_space(*next));
}

static bool is_word(struct pt_span value, const char *words)
{
    while (*words) {
        struct pt_span word = {words, 0};
        while (word.at[word.len] && word.at[word.len] != ' ')
            word.len++;
        bool same = word.len == value.len;
        for (size_t i = 0; same && i < word.len; i++)
            same = word.at[i] == value.at[i];
        if (same)
            return true;
        words = word.at + word.len + (word.at[word.len] == ' ');
    }
    return false;
}

static bool read_flag(struct pt_span value, bool *ret_flag)
{
    *ret_flag = is_word(value, "1 yes true");
    return *ret_flag || is_word(value, "0 no false");
}

static bool read_number(struct pt_span value, int64_t *ret_number)
{
    bool negative = value.len && value.at[0] == '-';
    int64_t number = 0;
    if (value.len == (size_t)negative)
        return false;
    for (size_t i = negative; i < value.len; i++) {
        if (value.at[i] < '0' || value.at[i] > '9' || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, value.at[i] - '0', &number))
            return false;
    }
    *ret_number = negative ? -number : number;
    return true;
}

/* `bounds` are two numbers, or nothing. */
static bool is_within(int64_t number, const char *bounds)
{
    struct pt_span least = {bounds, 0};
    int64_t low, high;
    while (bounds[least.len] && bounds[least.len] != ' ')
        least.len++;
    return !bounds[0] || (read_number(least, &low) && read_number(span_of(bounds + least.len + 1), &high) &&
                          low <= number && number <= high);
}

static bool set(struct pt_settings *settings, const struct pt_setting *row, struct pt_span value)
{
    void *field = (char *)settings + row->offset;
    int64_t number;
    bool flag;
    switch (row->type) {
    case PT_SETTING_FLAG:
        if (!read_flag(value, &flag))
            return false;
        *(bool *)field = flag;
        return true;
    case PT_SETTING_NUMBER:
        if (!read_number(value, &number) || !is_within(number, row->words))
            return false;
        *(int64_t *)field = number;
        return true;
    case PT_SETTING_TEXT:
        if (row->words[0] && !is_word(value, row->words))
            return false;
        *(struct pt_span *)field = value;
        return true;
    }
    return false;
}

static const struct pt_setting *find(struct pt_span name)
{
    for (unsigned i = 0; i < PT_SETTING_COUNT; i++)
        if (pt_span_is(name, pt_setting_rows[i].name))
            return &pt_setting_rows[i];
    return NULL;
}

/* The value that starts at *at, which moves past it. */
static struct pt_span take_value(const char **at)
{
    char quote = **at == '"' || **at == '\'' ? **at : 0;
    const char *end = *at + (quote != 0);
    struct pt_span value = {end, 0};
    while (*end && (quote ? *end != quote : !ends_value(end)))
        end++;
    value.len = (size_t)(end - value.at);
    *at = end + (quote && *end);
    return value;
}

void pt_settings_read(struct pt_settings *settings, const char *text, pt_setting_complain complain, void *context)
{
    settings->given = 0;
    for (unsigned i = 0; i < PT_SETTING_COUNT; i++)
        (void)set(settings, &pt_setting_rows[i], span_of(pt_setting_rows[i].standard));
    for (const char *at = text ? text : ""; *at;) {
        if (is_space(*at) || *at == ':') {
            at++;
            continue;
        }
        struct pt_span name = {at, 0}, value = {at, 0}, pair = {at, 0};
        while (*at && *at != '=' && !is_space(*at) && *at != ':')
            at++;
        name.len = (size_t)(at - name.at);
        bool assigned = *at == '=';
        if (assigned) {
            at++;
            value = take_value(&at);
        }
        pair.len = (size_t)(at - pair.at);
        const struct pt_setting *row = find(name);
        if (row && assigned && set(settings, row, value))
            settings->given |= 1u << (row - pt_setting_rows);
        else
            complain(context, row ? PT_SETTING_BAD_VALUE : PT_SETTING_UNKNOWN, name, pair);
    }
}
