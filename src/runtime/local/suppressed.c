/*
 * Suppressions inside the program: a violation that people have decided to live with calls nothing and ends nothing.
 * The types are those of finding/suppress.h; a line that is none matches nothing.
 */
#include <string.h>

#include "core/pattern.h"
#include "runtime/local/monitor.h"
#include "runtime/sys/log.h"
#include "runtime/sys/options.h"
#include "runtime/sys/sys.h"

static char *lines; /* each NUL-terminated */
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
    for (size_t i = len; i-- > 0;) { /* blanks at the end of a line are none of it */
        bool blank = text[i] == ' ' || text[i] == '\t' || text[i] == '\r';
        copy[i] = text[i] == '\n' || (blank && !copy[i + 1]) ? 0 : text[i];
    }
    lines = copy;
    bytes = len + 1;
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

static bool is_about(const char *line, const char *property, const char *text, const char *const *names)
{
    const char *pattern = strchr(line, ':');
    size_t type = pattern ? (size_t)(pattern - line) : 0;
    if (!pattern++ || !*pattern)
        return false;
    if (type == 8 && memcmp(line, "property", 8) == 0)
        return pt_pattern_matches(pattern, property, true);
    if (!(type == 4 && memcmp(line, "race", 4) == 0 && strstr(text, "race_free")) &&
        !(type == 9 && memcmp(line, "atomicity", 9) == 0 && strstr(text, "atomic_block")))
        return false;
    for (; *names; names++)
        if (**names && pt_pattern_matches(pattern, *names, false))
            return true;
    return false;
}

bool pt_suppressed_matches(const char *property, const char *text, const char *thread, const char *object,
                           const char *place)
{
    const char *names[] = {object, place, thread, NULL};
    for (size_t at = 0; at < bytes; at += strlen(lines + at) + 1) {
        const char *line = lines + at;
        while (*line == ' ' || *line == '\t')
            line++;
        if (*line && *line != '#' && is_about(line, property, text, names))
            return true;
    }
    return false;
}
