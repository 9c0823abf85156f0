/*
 * Lists of suppressions. What a line means is core/suppress.c's business; here are its errors, and what of a finding it
 * is compared with. Cost: every finding is compared with every line until one matches.
 */
#include "finding/suppress.h"

#include <stdlib.h>
#include <string.h>

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

/* The message for a line that is no suppression. */
static enum pt_status complain(enum pt_suppress_line problem, const struct pt_suppress_rule *rule, const char *file,
                               uint32_t number, struct pt_err *err)
{
    if (problem == PT_SUPPRESS_NO_PATTERN)
        (void)pt_err_at(err, PT_EINPUT, file, number, 1, "a suppression is TYPE:PATTERN, as in property:NAME");
    else if (problem == PT_SUPPRESS_NO_TYPE) {
        size_t len = strcspn(rule->text, ":");
        (void)pt_err_at(err, PT_EINPUT, file, number, 1, "there is no suppression type '%.*s'",
                        (int)(len < 60 ? len : 60), rule->text);
    } else
        (void)pt_err_at(err, PT_EINPUT, file, number, 1, "a NUL character stands in this line");
    pt_err_source(err, rule->text, rule->text_len);
    pt_err_hint(err,
                "types: property, block, race, deadlock, lifetime, atomicity, thread, and ThreadSanitizer's others");
    return PT_EINPUT;
}

static enum pt_status add_line(struct pt_suppressions *list, const char *file, uint32_t number, const char *line,
                               size_t len, struct pt_err *err)
{
    struct pt_suppress_rule rule;
    enum pt_suppress_line parsed = pt_suppress_parse(line, len, &rule);
    if (parsed == PT_SUPPRESS_BLANK)
        return PT_OK;
    if (parsed != PT_SUPPRESS_RULE)
        return complain(parsed, &rule, file, number, err);
    struct pt_suppression item = {.text = pt_arena_strndup(&list->arena, rule.text, rule.text_len),
                                  .file = pt_arena_strndup(&list->arena, file, strlen(file)),
                                  .line = number};
    (void)pt_suppress_parse(item.text, rule.text_len, &item.rule); /* the same, but of the copy */
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

static bool step_matches(const struct pt_suppress_rule *rule, const struct pt_step *step)
{
    return pt_suppress_matches(rule, step->object) || pt_suppress_matches(rule, step->loc) ||
           pt_suppress_matches(rule, step->thread) || (step->source && pt_suppress_matches(rule, step->source));
}

/* A call of a stack, "function file:line". */
static bool call_matches(const struct pt_suppress_rule *rule, unsigned by, const char *call)
{
    char *function = strndup(call, strlen(call)), *place = strrchr(function, ' ');
    if (place)
        *place++ = '\0';
    char *file = strdup(place ? place : ""), *colon = strrchr(file, ':');
    if (colon)
        *colon = '\0';
    bool matches = (by & PT_SUPPRESS_BY_CALL) && (pt_suppress_matches(rule, call) ||
                                                  pt_suppress_matches_call(rule, function, file, place ? place : ""));
    matches |= (by & PT_SUPPRESS_BY_FILE) && pt_suppress_matches(rule, file);
    free(function);
    free(file);
    return matches;
}

static bool stack_matches(const struct pt_suppress_rule *rule, unsigned by, const char *const *stack)
{
    for (; stack && *stack; stack++)
        if (call_matches(rule, by, *stack))
            return true;
    return false;
}

static bool side_matches(const struct pt_suppress_rule *rule, unsigned by, const struct pt_side *side)
{
    const struct pt_step *step = &side->step;
    if (((by & PT_SUPPRESS_BY_THREAD) && pt_suppress_matches(rule, step->thread)) ||
        ((by & (PT_SUPPRESS_BY_CALL | PT_SUPPRESS_BY_TOP | PT_SUPPRESS_BY_FILE)) &&
         pt_suppress_matches(rule, step->loc)))
        return true;
    if ((by & PT_SUPPRESS_BY_OBJECT) &&
        (pt_suppress_matches(rule, step->object) || (step->source && pt_suppress_matches(rule, step->source))))
        return true;
    for (const char *const *lock = side->locks; (by & PT_SUPPRESS_BY_LOCK) && lock && *lock; lock++)
        if (pt_suppress_matches(rule, *lock))
            return true;
    if ((by & PT_SUPPRESS_BY_TOP) && side->stack && *side->stack &&
        call_matches(rule, PT_SUPPRESS_BY_CALL, *side->stack))
        return true;
    return stack_matches(rule, by, side->stack) || stack_matches(rule, by, side->created);
}

static bool found_matches(const struct pt_suppress_rule *rule, const struct pt_finding *finding)
{
    unsigned by = pt_suppress_asks(rule, finding->kind);
    if ((by & PT_SUPPRESS_BY_OBJECT) && finding->object && pt_suppress_matches(rule, finding->object))
        return true;
    for (uint32_t i = 0; by && i < finding->side_count; i++)
        if (side_matches(rule, by, &finding->sides[i]))
            return true;
    return false;
}

/* An object, a place or a thread of the violating event, of the one it races with or was disturbed by, or the block. */
static bool sides_match(const struct pt_suppress_rule *rule, const struct pt_finding *finding)
{
    const struct pt_finding_first *first = &finding->first;
    if (first->state > 0 && step_matches(rule, &first->event))
        return true;
    for (uint32_t i = 0; i < first->knew_count; i++) {
        const struct pt_known *known = &first->knew[i];
        if (known->text[0] == '@')
            continue;
        if (known->state > 0 && step_matches(rule, &known->from))
            return true;
        if (known->value.kind == PT_VALUE_STRING && pt_suppress_matches(rule, known->value.s))
            return true;
    }
    return false;
}

static bool matches(const struct pt_suppress_rule *rule, const struct pt_finding *finding)
{
    if (pt_suppress_names(rule, finding->property))
        return true;
    if (finding->builtin)
        return found_matches(rule, finding);
    return pt_suppress_asks_names(rule, finding->text ? finding->text : "") && sides_match(rule, finding);
}

struct pt_suppression *pt_suppressions_match(const struct pt_suppressions *list, const struct pt_finding *finding)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (matches(&list->items[i].rule, finding))
            return &list->items[i];
    return NULL;
}

struct pt_suppression *pt_suppressions_match_block(const struct pt_suppressions *list, const char *label,
                                                   const char *thread, const char *file)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const struct pt_suppress_rule *rule = &list->items[i].rule;
        bool any = rule->type == PT_SUPPRESS_ATOMICITY;
        if ((any || rule->type == PT_SUPPRESS_BLOCK) && pt_suppress_matches(rule, label))
            return &list->items[i];
        if (any && (pt_suppress_matches(rule, thread) || pt_suppress_matches(rule, file)))
            return &list->items[i];
    }
    return NULL;
}
