/*
 * Suppressions inside the program: a violation that people have decided to live with calls nothing and ends nothing.
 *
 * Guarantee: a line that is no suppression matches nothing; what is matched is what an observer would compare, under
 * the names that the source has. Cost: every line is parsed and compared for each finding that is new.
 */
#include "runtime/found/suppressed.h"

#include <string.h>

#include "core/found.h"
#include "core/suppress.h"
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

/* The next line that is a suppression; false: there is none. */
static bool next_rule(size_t *at, struct pt_suppress_rule *ret_rule)
{
    while (*at < bytes) {
        const char *line = lines + *at, *end = memchr(line, '\n', bytes - *at);
        size_t len = end ? (size_t)(end - line) : bytes - *at;
        *at += len + 1;
        if (pt_suppress_parse(line, len, ret_rule) == PT_SUPPRESS_RULE)
            return true;
    }
    return false;
}

bool pt_suppressed_matches(const char *property, const char *text, const char *thread, const char *object,
                           const char *place)
{
    const char *names[] = {object, place, thread, NULL};
    struct pt_suppress_rule rule;
    for (size_t at = 0; next_rule(&at, &rule);)
        if (is_about(&rule, property, text, names))
            return true;
    return false;
}

/* --- what built-in checks found --- */

static bool call_matches(const struct pt_suppress_rule *rule, unsigned by, const struct pt_found_frame *frame, bool top)
{
    struct pt_line place = {0};
    pt_line_text(&place, frame->file);
    pt_line_text(&place, ":");
    pt_line_number(&place, frame->line);
    place.text[place.len] = 0;
    if (((by & PT_SUPPRESS_BY_CALL) || (top && (by & PT_SUPPRESS_BY_TOP))) &&
        pt_suppress_matches_call(rule, frame->function, frame->file, place.text))
        return true;
    return (by & PT_SUPPRESS_BY_FILE) && pt_suppress_matches(rule, frame->file);
}

/* All of it is read, whatever matches: something else follows. */
static bool stack_matches(const struct pt_suppress_rule *rule, unsigned by, struct pt_local_report_reader *r, bool side)
{
    bool matches = false;
    uint64_t count = pt_found_read_stack(r);
    for (uint64_t i = 0; count != PT_FOUND_LOST && i < count; i++) {
        struct pt_found_frame frame = pt_found_read_frame(r);
        matches |= call_matches(rule, by, &frame, side && i == 0);
    }
    return matches;
}

static bool side_matches(const struct pt_suppress_rule *rule, unsigned by, struct pt_local_report_reader *r)
{
    struct pt_found_frame at;
    struct pt_found_side side = pt_found_read_side(r);
    bool matches = ((by & PT_SUPPRESS_BY_THREAD) && pt_suppress_matches(rule, side.thread_name)) ||
                   ((by & PT_SUPPRESS_BY_OBJECT) && side.variable[0] && pt_suppress_matches(rule, side.variable));
    matches |= stack_matches(rule, by, r, true);
    for (uint32_t left = pt_found_read_locks(r); left; left--) {
        struct pt_found_lock lock = pt_found_read_lock(r, &at);
        matches |= (by & PT_SUPPRESS_BY_LOCK) && lock.name[0] && pt_suppress_matches(rule, lock.name);
    }
    return stack_matches(rule, by, r, false) || matches;
}

static bool found_matches(const struct pt_suppress_rule *rule, struct pt_local_report_reader r)
{
    static const struct {
        const char *kind, *check;
    } words[] = {[PT_FOUND_RACE] = {"race", "races"},
                 [PT_FOUND_DEADLOCK] = {"deadlock", "deadlocks"},
                 [PT_FOUND_LIFETIME] = {"lifetime", "lifetimes"}};
    struct pt_found_head head = pt_found_read_head(&r);
    unsigned by = pt_suppress_asks(rule, words[head.check].kind);
    if (!head.property_count && pt_suppress_names(rule, words[head.check].check))
        return true;
    bool matches = (by & PT_SUPPRESS_BY_OBJECT) && head.object[0] && pt_suppress_matches(rule, head.object);
    if (head.block_size) /* where memory was allocated says nothing of who races on it */
        pt_found_skip_stack(&r);
    for (uint32_t left = pt_found_read_sides(&r); left; left--)
        matches |= side_matches(rule, by, &r);
    return matches;
}

bool pt_suppressed_property(const char *name)
{
    struct pt_suppress_rule rule;
    for (size_t at = 0; next_rule(&at, &rule);)
        if (pt_suppress_names(&rule, name))
            return true;
    return false;
}

bool pt_suppressed_found(const char *found, size_t len)
{
    struct pt_suppress_rule rule;
    for (size_t at = 0; next_rule(&at, &rule);)
        if (found_matches(&rule, (struct pt_local_report_reader){found, len, false}))
            return true;
    return false;
}
