/*
 * Suppressions inside the program: a violation that people have decided to live with calls nothing and ends nothing.
 * A line that is no suppression matches nothing.
 */
#include <string.h>

#include "core/suppress.h"
#include "runtime/local/monitor.h"
#include "runtime/sys/log.h"
#include "runtime/sys/options.h"
#include "runtime/sys/sys.h"

static char *lines;
static size_t bytes;

static void complain(const char *path, const char *what)
{
    struct pt_line line = {0};
    pt_line_text(&line, "portent: suppressions: '");
    pt_line_text(&line, path);
    pt_line_text(&line, "' ");
    pt_line_text(&line, what);
    pt_line_write(&line);
}

static bool take(const char *text, size_t len)
{
    char *copy = pt_sys_reserve(len + 1);
    if (!copy)
        return false;
    memcpy(copy, text, len);
    lines = copy;
    bytes = len;
    return true;
}

void pt_suppressed_start(const struct pt_config *config)
{
    const char *given = (const char *)config + config->suppressions;
    struct pt_line path = {0};
    if (*given && take(given, strlen(given)))
        return;
    if (!pt_options.suppressions.len)
        return;
    pt_line_span(&path, pt_options.suppressions);
    path.text[path.len] = 0;
    size_t len;
    char *file = pt_sys_read_file(path.text, &len);
    if (!file || !take(file, len))
        complain(path.text, "cannot be read");
    if (file)
        pt_sys_release(file, len);
}

bool pt_suppressed_any(void)
{
    return lines != NULL;
}

bool pt_suppressed_elements(void)
{
    return lines && memchr(lines, '[', bytes);
}

static bool is_about(const struct pt_suppress_rule *rule, const char *property, const char *text,
                     const char *const *names)
{
    if (pt_suppress_names(rule, property))
        return true;
    if (!pt_suppress_asks_names(rule, text))
        return false;
    for (; *names; names++)
        if (**names && pt_suppress_matches(rule, *names))
            return true;
    return false;
}

bool pt_suppressed_matches(const char *property, const char *text, const char *thread, const char *object,
                           const char *place)
{
    const char *names[] = {object, place, thread, NULL};
    struct pt_suppress_rule rule;
    for (size_t at = 0, len; at < bytes; at += len + 1) {
        const char *end = memchr(lines + at, '\n', bytes - at);
        len = end ? (size_t)(end - lines) - at : bytes - at;
        if (pt_suppress_parse(lines + at, len, &rule) == PT_SUPPRESS_RULE && is_about(&rule, property, text, names))
            return true;
    }
    return false;
}
