#include "finding/suppress.h"

#include <stdlib.h>
#include <string.h>

#include "core/pattern.h"

static const char *const types[] = {"property", "block",  "race",     "atomicity",       "race_top", "thread",
                                    "mutex",    "signal", "deadlock", "called_from_lib", NULL};

void pt_suppressions_init(struct pt_suppressions *list)
{
    *list = (struct pt_suppressions){0};
    pt_arena_init(&list->arena);
}

void pt_suppressions_release(struct pt_suppressions *list)
{
    pt_arena_release(&list->arena);
    free(list->items);
}

static bool is_type(const char *line, size_t len)
{
    for (uint32_t i = 0; types[i]; i++)
        if (strlen(types[i]) == len && memcmp(types[i], line, len) == 0)
            return true;
    return false;
}

static enum pt_status add_line(struct pt_suppressions *list, const char *file, uint32_t number, const char *line,
                               size_t len, struct pt_err *err)
{
    while (len && (line[0] == ' ' || line[0] == '\t')) {
        line++;
        len--;
    }
    while (len && strchr(" \t\r", line[len - 1]))
        len--;
    if (len == 0 || line[0] == '#')
        return PT_OK;
    const char *colon = memchr(line, ':', len);
    enum pt_status status = PT_OK;
    if (!colon || colon + 1 == line + len)
        status = pt_err_at(err, PT_EINPUT, file, number, 1, "a suppression is TYPE:PATTERN, as in property:NAME");
    else if (!is_type(line, (size_t)(colon - line)))
        status = pt_err_at(err, PT_EINPUT, file, number, 1, "there is no suppression type '%.*s'",
                           (int)(colon - line < 60 ? colon - line : 60), line);
    else if (memchr(line, '\0', len))
        status = pt_err_at(err, PT_EINPUT, file, number, 1, "a NUL character stands in this line");
    if (status != PT_OK) {
        pt_err_source(err, line, len);
        pt_err_hint(err, "types: property, block, race, atomicity, and ThreadSanitizer's others");
        return status;
    }
    struct pt_suppression item = {.text = pt_arena_strndup(&list->arena, line, len),
                                  .file = pt_arena_strndup(&list->arena, file, strlen(file)),
                                  .line = number};
    PT_PUSH(list->items, list->count, list->cap, item);
    return PT_OK;
}

enum pt_status pt_suppressions_add(struct pt_suppressions *list, const char *file, const char *text, size_t len,
                                   struct pt_err *err)
{
    uint32_t number = 1;
    for (size_t at = 0; at < len; number++) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t line = end ? (size_t)(end - text) - at : len - at;
        enum pt_status status = add_line(list, file, number, text + at, line, err);
        if (status != PT_OK)
            return status;
        at += line + 1;
    }
    return PT_OK;
}

bool pt_suppression_matches(const char *pattern, const char *text, bool whole)
{
    return pt_pattern_matches(pattern, text, whole);
}

static bool step_matches(const char *pattern, const struct pt_step *step)
{
    return pt_suppression_matches(pattern, step->object, false) || pt_suppression_matches(pattern, step->loc, false) ||
           pt_suppression_matches(pattern, step->thread, false) ||
           (step->source && pt_suppression_matches(pattern, step->source, false));
}

/* An object, a place or a thread of the violating event, of the one it races with or was disturbed by, or the block. */
static bool sides_match(const char *pattern, const struct pt_finding *finding)
{
    const struct pt_finding_first *first = &finding->first;
    if (first->state > 0 && step_matches(pattern, &first->event))
        return true;
    for (uint32_t i = 0; i < first->knew_count; i++) {
        const struct pt_known *known = &first->knew[i];
        if (known->text[0] == '@')
            continue;
        if (known->state > 0 && step_matches(pattern, &known->from))
            return true;
        if (known->value.kind == PT_VALUE_STRING && pt_suppression_matches(pattern, known->value.s, false))
            return true;
    }
    return false;
}

static bool matches(const char *suppression, const struct pt_finding *finding)
{
    size_t type = strcspn(suppression, ":");
    const char *pattern = suppression + type + 1, *text = finding->text ? finding->text : "";
    if (strncmp(suppression, "property:", type + 1) == 0)
        return pt_suppression_matches(pattern, finding->property, true);
    if (strncmp(suppression, "race:", type + 1) == 0)
        return strstr(text, "race_free") && sides_match(pattern, finding);
    if (strncmp(suppression, "atomicity:", type + 1) == 0)
        return strstr(text, "atomic_block") && sides_match(pattern, finding);
    return false;
}

struct pt_suppression *pt_suppressions_match(const struct pt_suppressions *list, const struct pt_finding *finding)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (matches(list->items[i].text, finding))
            return &list->items[i];
    return NULL;
}

struct pt_suppression *pt_suppressions_match_block(const struct pt_suppressions *list, const char *label,
                                                   const char *thread, const char *file)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const char *text = list->items[i].text, *pattern = strchr(text, ':') + 1;
        bool whole = strncmp(text, "block:", 6) == 0, any = strncmp(text, "atomicity:", 10) == 0;
        if ((whole || any) && pt_suppression_matches(pattern, label, whole))
            return &list->items[i];
        if (any && (pt_suppression_matches(pattern, thread, false) || pt_suppression_matches(pattern, file, false)))
            return &list->items[i];
    }
    return NULL;
}
