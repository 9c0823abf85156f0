/*
 * call(f), return(f), and call(f, $1 > 3 && $2 == 0): the calls of a function of the program as events. They are user
 * events under these names (runtime/functions.c makes them); of one call a property may name several, `call(f)` and
 * `call(f, $1 > 3)`, and the state that it makes is that of all that hold. So what a property's engine is told is one
 * of the sets of them that are possible, and the name of an event in a trace, `call(f, 5, _)`, decides which.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "logic/lang/parse.h"

/* --- reading --- */

/* $1 > 3 */
static enum pt_status parse_condition(struct pt_parser *p, struct pt_buf *text, struct pt_condition *ret_condition)
{
    const struct pt_token *token = pt_parser_token(p);
    if (token->kind != PT_TOKEN_ARGUMENT)
        return pt_parser_expected(p, "an argument of the call, such as '$1'");
    if (token->value.i < 1 || token->value.i > 6)
        return pt_parser_fail(p, token, "the arguments that can be asked for are $1 to $6");
    ret_condition->argument = (uint32_t)token->value.i;
    pt_buf_printf(text, "$%u", ret_condition->argument);
    p->pos++;
    enum pt_ast_kind sign = pt_parse_sign(p);
    if (sign == PT_AST_KINDS)
        return pt_parser_expected(p, "a comparison with a number, such as '$1 > 3'");
    ret_condition->op = pt_ast_code_op(sign);
    pt_buf_printf(text, " %s ", pt_ast_sign(sign));
    const struct pt_token *literal = pt_parser_token(p);
    enum pt_status s = pt_parse_literal(p, text, &ret_condition->value);
    if (s == PT_OK && ret_condition->value.kind == PT_VALUE_STRING)
        s = pt_parser_fail(p, literal, "an argument is a number: of a pointer, 0 where it is null and else 1");
    return s;
}

static enum pt_status parse_conditions(struct pt_parser *p, struct pt_buf *text, struct pt_function_event *event)
{
    enum { MOST = 6 };
    struct pt_condition *conditions = pt_arena_alloc(p->arena, MOST * sizeof *conditions);
    enum pt_status s = PT_OK;
    const char *between = ", ";
    event->conditions = conditions;
    do {
        if (event->condition_count == MOST)
            return pt_parser_fail(p, pt_parser_token(p), "a call can have %d conditions, and this is one more", MOST);
        pt_buf_puts(text, between);
        between = " && ";
        s = parse_condition(p, text, &conditions[event->condition_count]);
        event->condition_count += s == PT_OK;
    } while (s == PT_OK && pt_parser_accept(p, PT_TOKEN_AND));
    return s;
}

static enum pt_status parse_event(struct pt_parser *p, const char *word, struct pt_buf *text,
                                  struct pt_function_event *event)
{
    const struct pt_token *token = pt_parser_token(p);
    if (token->kind != PT_TOKEN_NAME && token->kind != PT_TOKEN_STRING)
        return pt_parser_expected(p, "the name of a function");
    event->function = pt_token_content(p, token);
    if (!*event->function || token->range || strchr(event->function, '#'))
        return pt_parser_fail(p, token, "this is not the name of a function");
    p->pos++;
    pt_buf_printf(text, "%s(%s)", word, event->function);
    event->base = pt_arena_strndup(p->arena, text->text, text->len);
    text->len--;
    const struct pt_token *comma = pt_parser_token(p);
    enum pt_status s = PT_OK;
    if (pt_parser_accept(p, ','))
        s = word[0] == 'c' ? parse_conditions(p, text, event)
                           : pt_parser_fail(p, comma, "arguments are those of the call: call(f, $1 > 3)");
    pt_buf_puts(text, ")");
    return s == PT_OK ? pt_parser_expect(p, ')', event->condition_count ? "'&&' or ')'" : "',' or ')'") : s;
}

struct pt_ast *pt_parse_function_event(struct pt_parser *p, const char *word)
{
    struct pt_ast *node = pt_ast_new(p, PT_AST_EVENT, pt_parser_token(p));
    struct pt_function_event *event = pt_arena_alloc(p->arena, sizeof *event);
    struct pt_buf text;
    *event = (struct pt_function_event){0};
    pt_buf_init(&text);
    p->pos += 2;
    enum pt_status s = parse_event(p, word, &text, event);
    node->function = event;
    node->text = pt_arena_strndup(p->arena, text.text ? text.text : "", text.len);
    pt_buf_release(&text);
    return s == PT_OK ? node : NULL;
}

/* --- sets of events --- */

static bool has_base(const struct pt_builder *b, uint32_t event, const char *base)
{
    return b->functions[event] && strcmp(b->functions[event]->base, base) == 0;
}

bool pt_builder_has_room(const struct pt_builder *b, const struct pt_function_event *event)
{
    uint32_t same = 0;
    for (uint32_t e = 0; event && event->condition_count && e < b->event_ids.count; e++)
        same += has_base(b, e, event->base) && b->functions[e]->condition_count;
    return same <= PT_MAX_CONDITIONED;
}

/* The sets of two and more of these named events, of one function, that one call can be. */
static void add_sets(struct pt_builder *b, uint32_t first, uint64_t **sets, uint32_t *count, size_t *cap)
{
    uint32_t members[PT_MAX_CONDITIONED + 2], member_count = 0;
    uint64_t always = 0;
    for (uint32_t e = first; e < b->event_ids.count; e++) {
        if (!has_base(b, e, b->functions[first]->base))
            continue;
        if (!b->functions[e]->condition_count)
            always |= (uint64_t)1 << e;
        else if (member_count < PT_MAX_CONDITIONED)
            members[member_count++] = e;
    }
    for (uint32_t choice = 1; choice < 1u << member_count; choice++) {
        uint64_t set = always;
        for (uint32_t i = 0; i < member_count; i++)
            set |= (uint64_t)(choice >> i & 1) << members[i];
        if (set & (set - 1))
            PT_PUSH(*sets, *count, *cap, set);
    }
}

/* The named events, and behind them the sets. More than 64 has only what is evaluated without them (mttl). */
void pt_builder_finish_events(struct pt_builder *b)
{
    struct pt_property *property = b->property;
    struct pt_arena *arena = b->parser->arena;
    uint64_t *sets = NULL;
    uint32_t named = b->event_ids.count, count = 0;
    size_t cap = 0;
    for (uint32_t e = 0; e < named && named <= 64; e++) {
        bool first = b->functions[e];
        for (uint32_t k = 0; k < e && first; k++)
            first = !has_base(b, k, b->functions[e]->base);
        if (first)
            add_sets(b, e, &sets, &count, &cap);
    }
    property->named_events = named;
    property->event_count = named + count;
    property->events = pt_arena_alloc(arena, (named + count) * sizeof *property->events);
    property->event_sets = pt_arena_alloc(arena, (named + count) * sizeof *property->event_sets);
    property->functions = pt_arena_alloc(arena, named * sizeof *property->functions);
    for (uint32_t e = 0; e < named; e++) {
        property->events[e] =
            pt_arena_strndup(arena, pt_strtab_text(&b->event_ids, e), pt_strtab_len(&b->event_ids, e));
        property->event_sets[e] = (uint64_t)1 << (e & 63);
        property->functions[e] = b->functions[e];
    }
    for (uint32_t i = 0; i < count; i++) {
        property->event_sets[named + i] = sets[i];
        property->events[named + i] = b->functions[__builtin_ctzll(sets[i])]->base;
    }
    free(sets);
}

/* --- which of them an event is --- */

bool pt_is_function_event(const char *name)
{
    return strncmp(name, "call(", 5) == 0 || strncmp(name, "return(", 7) == 0;
}

char *pt_function_event_base(const char *name)
{
    size_t len = strlen(name), end = len;
    if (!pt_is_function_event(name) || name[len - 1] != ')')
        return NULL;
    /* `, 5, _)`: numbers and lines, from the end on */
    for (size_t at = len - 1; at > 2; at--) {
        if (name[at - 1] == ' ' && name[at - 2] == ',')
            end = at - 2;
        else if (!strchr("0123456789-_, ", name[at - 1]))
            break;
    }
    char *base = pt_xstrdup(name);
    if (end < len)
        memcpy(base + end, ")", 2);
    return base;
}

/* The arguments in the name of an event, behind the base without its ')': ", 5, _)". NULL: it is another event. */
static const char *arguments_of(const char *name, const char *base)
{
    size_t len = strlen(base) - 1;
    if (strncmp(name, base, len) != 0)
        return NULL;
    return strcmp(name + len, ")") == 0 || strncmp(name + len, ", ", 2) == 0 ? name + len : NULL;
}

static bool argument_value(const char *arguments, uint32_t number, struct pt_value *ret_value)
{
    for (uint32_t i = 1; *arguments == ','; i++) {
        char *end;
        arguments += 2;
        if (i == number && *arguments != '_') {
            *ret_value = *arguments == '-' ? pt_value_int(strtoll(arguments, &end, 10))
                                           : pt_value_uint(strtoull(arguments, &end, 10));
            return end > arguments;
        }
        arguments += strcspn(arguments, ",)");
    }
    return false;
}

static enum pt_status conditions_hold(const struct pt_function_event *event, const char *arguments, bool *ret_hold,
                                      struct pt_err *err)
{
    *ret_hold = true;
    for (uint32_t i = 0; i < event->condition_count; i++) {
        const struct pt_condition *condition = &event->conditions[i];
        struct pt_value value, truth = {0};
        uint32_t detail = 0;
        struct pt_insn insns[] = {{PT_CODE_VAR, 0}, {PT_CODE_CONST, 0}, {condition->op, 0}};
        struct pt_code code = {.insns = insns, .constants = &condition->value, .count = 3, .depth = 2};
        if (!argument_value(arguments, condition->argument, &value))
            return pt_err_set(err, PT_EINPUT, "the trace does not give argument $%u of %s, which a property asks for",
                              condition->argument, event->base);
        if (pt_code_run(&code, &value, &truth, &detail) != PT_CODE_OK || !truth.i)
            *ret_hold = false;
    }
    return PT_OK;
}

enum pt_status pt_property_event(const struct pt_property *property, const char *name, uint32_t *ret_event,
                                 struct pt_err *err)
{
    uint64_t set = 0;
    *ret_event = PT_NONE;
    for (uint32_t e = 0; e < property->named_events && e < 64; e++) {
        const struct pt_function_event *event = property->functions[e];
        const char *arguments = event ? arguments_of(name, event->base) : NULL;
        bool is = event ? arguments != NULL : strcmp(property->events[e], name) == 0;
        enum pt_status s = event && is ? conditions_hold(event, arguments, &is, err) : PT_OK;
        if (s != PT_OK)
            return s;
        set |= (uint64_t)is << e;
    }
    for (uint32_t e = 0; set && e < property->event_count; e++)
        if (property->event_sets[e] == set)
            *ret_event = e;
    return PT_OK;
}
