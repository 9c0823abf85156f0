/*
 * The body `never ERE`. The regular expression is built while it is read; its letters are lowered formulas, and equal
 * ones share a number. Loosest first: | & juxtaposition ~ postfix.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "logic/lang/parse.h"

enum { MAX_BOUND = 1000 }; /* n and m of {n,m} */

struct ere_parser {
    struct pt_builder *builder;
    struct pt_parser *p;
    struct pt_ere_pool *pool;
    struct pt_map64 numbers; /* of letters, by formula */
    pt_formula *letters;
    uint32_t letter_count;
    size_t letter_cap;
};

static enum pt_status parse_or(struct ere_parser *e, pt_ere *ret);

static enum pt_status parse_letter(struct ere_parser *e, pt_ere *ret)
{
    struct pt_parser *p = e->p;
    struct pt_check check = {&p->source, true, true, true, true, "a letter of a regular expression", p->err};
    struct pt_ast *node = NULL;
    pt_formula formula = PT_NONE;
    p->pos++;
    enum pt_status s = pt_parse_formula(p, &node);
    if (s == PT_OK && !pt_parser_accept(p, ']'))
        return pt_parser_expected_operator(p, "']'");
    if (s == PT_OK)
        s = pt_ast_check_formula(&check, node);
    if (s == PT_OK)
        s = pt_lower_formula(e->builder, node, &formula);
    if (s != PT_OK)
        return s;
    uint32_t *number = pt_map64_at(&e->numbers, formula);
    if (*number == PT_NONE) {
        *number = e->letter_count;
        PT_PUSH(e->letters, e->letter_count, e->letter_cap, formula);
    }
    *ret = pt_ere_letter(e->pool, *number);
    return PT_OK;
}

static enum pt_status expected_ere(struct pt_parser *p)
{
    int kind = pt_parser_token(p)->kind;
    enum pt_status s = pt_parser_expected(p, "a letter '[f]', 'empty', 'epsilon', '~' or '('");
    if (kind == PT_TOKEN_BOX)
        pt_err_hint(p->err, "a letter that is any state is '[true]'");
    else if (kind == ')')
        pt_err_hint(p->err, "the empty word is 'epsilon'");
    else if (kind != PT_TOKEN_ERROR && kind != PT_TOKEN_END && kind != ';')
        pt_err_hint(p->err,
                    "states stand in brackets: never [true]* [f]; that a formula f is never true is always !(f)");
    return s;
}

static enum pt_status parse_ere_primary(struct ere_parser *e, pt_ere *ret)
{
    struct pt_parser *p = e->p;
    const struct pt_token *token = pt_parser_token(p);
    if (token->kind == '[')
        return parse_letter(e, ret);
    if (pt_token_is(p, token, "empty") || pt_token_is(p, token, "epsilon")) {
        bool empty = pt_token_is(p, token, "empty");
        *ret = empty ? pt_ere_empty(e->pool) : pt_ere_epsilon(e->pool);
        p->pos++;
        return PT_OK;
    }
    if (token->kind != '(')
        return expected_ere(p);
    p->pos++;
    enum pt_status s = parse_or(e, ret);
    return s == PT_OK ? pt_parser_expect(p, ')', "')'") : s;
}

static enum pt_status parse_bound(struct pt_parser *p, uint32_t *ret)
{
    const struct pt_token *token = pt_parser_token(p);
    if (token->kind != PT_TOKEN_NUMBER || (token->value.kind != PT_VALUE_INT && token->value.kind != PT_VALUE_UINT))
        return pt_parser_expected(p, "the number of repetitions");
    if (token->value.kind == PT_VALUE_UINT || token->value.i > MAX_BOUND)
        return pt_parser_fail(p, token, "a repetition counts to %d at most", MAX_BOUND);
    *ret = (uint32_t)token->value.i;
    p->pos++;
    return PT_OK;
}

/* {n}, {n,}, {n,m} */
static enum pt_status parse_braces(struct pt_parser *p, uint32_t *ret_min, uint32_t *ret_max)
{
    p->pos++;
    enum pt_status s = parse_bound(p, ret_min);
    *ret_max = *ret_min;
    if (s == PT_OK && pt_parser_accept(p, ',')) {
        const struct pt_token *token = pt_parser_token(p);
        *ret_max = PT_NONE;
        if (token->kind != '}')
            s = parse_bound(p, ret_max);
        if (s == PT_OK && *ret_max < *ret_min)
            return pt_parser_fail(p, token, "the upper bound %u is below the lower bound %u", *ret_max, *ret_min);
    }
    return s == PT_OK ? pt_parser_expect(p, '}', "'}'") : s;
}

static enum pt_status parse_postfix(struct ere_parser *e, pt_ere *ret)
{
    struct pt_parser *p = e->p;
    enum pt_status s = parse_ere_primary(e, ret);
    while (s == PT_OK) {
        uint32_t min = 0, max = PT_NONE;
        switch (pt_parser_token(p)->kind) {
        case '*':
            p->pos++;
            break;
        case '+':
            p->pos++;
            min = 1;
            break;
        case '?':
            p->pos++;
            max = 1;
            break;
        case '{':
            s = parse_braces(p, &min, &max);
            break;
        default:
            return PT_OK;
        }
        if (s == PT_OK)
            *ret = pt_ere_repeat(e->pool, *ret, min, max);
    }
    return s;
}

/* ~ is a loop, not a recursion: only whether their number is odd matters. */
static enum pt_status parse_not(struct ere_parser *e, pt_ere *ret)
{
    bool odd = false;
    while (pt_parser_accept(e->p, '~'))
        odd = !odd;
    enum pt_status s = parse_postfix(e, ret);
    if (s == PT_OK && odd)
        *ret = pt_ere_not(e->pool, *ret);
    return s;
}

static bool begins_factor(const struct pt_parser *p)
{
    const struct pt_token *token = pt_parser_token(p);
    return token->kind == '[' || token->kind == '(' || token->kind == '~' || pt_token_is(p, token, "empty") ||
           pt_token_is(p, token, "epsilon");
}

static enum pt_status parse_row(struct ere_parser *e, pt_ere *ret)
{
    pt_ere *row = NULL;
    size_t count = 0, cap = 0;
    enum pt_status s;
    do {
        pt_ere one = 0;
        s = parse_not(e, &one);
        PT_PUSH(row, count, cap, one);
    } while (s == PT_OK && begins_factor(e->p));
    /* from the right: the shape in which concatenations are kept */
    for (*ret = row[--count]; s == PT_OK && count > 0;)
        *ret = pt_ere_concat(e->pool, row[--count], *ret);
    free(row);
    return s;
}

static enum pt_status parse_and(struct ere_parser *e, pt_ere *ret)
{
    enum pt_status s = parse_row(e, ret);
    while (s == PT_OK && pt_parser_accept(e->p, '&')) {
        pt_ere right = 0;
        if ((s = parse_row(e, &right)) == PT_OK)
            *ret = pt_ere_and(e->pool, *ret, right);
    }
    return s;
}

static enum pt_status parse_or(struct ere_parser *e, pt_ere *ret)
{
    enum pt_status s = pt_parser_enter(e->p);
    if (s != PT_OK)
        return s;
    s = parse_and(e, ret);
    while (s == PT_OK && pt_parser_accept(e->p, '|')) {
        pt_ere right = 0;
        if ((s = parse_and(e, &right)) == PT_OK)
            *ret = pt_ere_or(e->pool, *ret, right);
    }
    e->p->depth--;
    return s;
}

enum pt_status pt_parse_ere(struct pt_builder *b)
{
    struct pt_property *property = b->property;
    struct ere_parser e = {.builder = b, .p = b->parser};
    pt_ere whole = 0;
    property->kind = PT_KIND_ERE;
    property->eres = e.pool = pt_ere_pool_new();
    pt_map64_init(&e.numbers);
    enum pt_status s = parse_or(&e, &whole);
    property->ere = whole;
    property->letter_count = e.letter_count;
    property->letters = pt_arena_alloc(b->parser->arena, e.letter_count * sizeof *e.letters);
    for (uint32_t i = 0; i < e.letter_count; i++)
        property->letters[i] = e.letters[i];
    pt_map64_release(&e.numbers);
    free(e.letters);
    return s;
}
