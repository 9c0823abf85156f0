/*
 * pattern NAME(a, b) { statements }          properties with parameters
 * use [PROPERTY =] NAME(a = formula, b = 10ms);   and with arguments
 *
 * A pattern that the file does not define is one of the library: a file of that name, which defines it, fetched by
 * whoever lends pt_fetch. Its statements are read anew for each use, by a parser of their own, in which each parameter
 * is a let that stands for the argument's tree; an argument that is a variable is that variable, and a time the bound
 * of `within`. Nothing else of the user's file is known there. An error in them is told at its place in the pattern,
 * with the place of its use as a hint.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "logic/lang/parse.h"

enum { MAX_PARAMETERS = 16 };

struct argument {
    const struct pt_token *name;
    struct pt_symbol symbol;
    bool taken;
};

struct arguments {
    struct argument items[MAX_PARAMETERS];
    uint32_t count;
};

/* --- definitions --- */

/* From '{' to behind its '}'. */
static enum pt_status skip_body(struct pt_parser *p)
{
    unsigned open = 0;
    if (pt_parser_token(p)->kind != '{')
        return pt_parser_expected(p, "'{'");
    do {
        int kind = pt_parser_token(p)->kind;
        if (kind == PT_TOKEN_END || kind == PT_TOKEN_ERROR)
            return pt_parser_expected(p, "'}', the end of the pattern");
        open += kind == '{';
        open -= kind == '}';
        p->pos++;
    } while (open);
    return PT_OK;
}

static enum pt_status parse_pattern_name(struct pt_parser *p, const struct pt_token **ret_name)
{
    const struct pt_token *name = pt_parser_token(p);
    if (name->kind != PT_TOKEN_NAME || !name->plain)
        return pt_parser_expected(p, "the name of a pattern");
    p->pos++;
    *ret_name = name;
    return pt_parser_token(p)->kind == '(' ? PT_OK : pt_parser_expected(p, "'('");
}

enum pt_status pt_parse_pattern(struct pt_parser *p)
{
    const struct pt_token *name = NULL;
    enum pt_status s = parse_pattern_name(p, &name);
    if (s != PT_OK)
        return s;
    const struct pt_symbol *old = pt_scope_find(&p->patterns, p->source.text + name->offset, name->len);
    if (old)
        return pt_parser_fail(p, name, "this pattern is already defined in line %u", old->line);
    struct pt_symbol symbol = {.kind = PT_SYMBOL_PATTERN, .pos = p->pos};
    while (pt_parser_token(p)->kind != ')' && pt_parser_token(p)->kind != PT_TOKEN_END &&
           pt_parser_token(p)->kind != PT_TOKEN_ERROR)
        p->pos++;
    s = pt_parser_expect(p, ')', "')'");
    if (s == PT_OK)
        s = skip_body(p);
    if (s == PT_OK)
        pt_parser_declare(p, &p->patterns, name, symbol);
    return s;
}

/* --- arguments, in the user's file --- */

/* The argument as it is written, in brackets where it would be read otherwise. */
static const char *text_of(struct pt_parser *p, size_t from, const struct pt_ast *node)
{
    const char *text = pt_parser_one_line(p, from, p->pos);
    struct pt_buf buf;
    if (pt_ast_level((enum pt_ast_kind)node->kind) >= PT_LEVEL_PRIMARY)
        return text;
    pt_buf_init(&buf);
    pt_buf_printf(&buf, "(%s)", text);
    text = pt_arena_strndup(p->arena, buf.text, buf.len);
    pt_buf_release(&buf);
    return text;
}

/* A formula, an expression, a variable or a bound. */
static enum pt_status parse_argument(struct pt_parser *p, struct argument *argument)
{
    const struct pt_token *token = pt_parser_token(p), *after = pt_parser_ahead(p);
    struct pt_check anything = {.source = &p->source, .err = p->err};
    struct pt_ast *node = NULL;
    if (token->kind == PT_TOKEN_NUMBER && after->kind == PT_TOKEN_NAME) {
        argument->symbol.kind = PT_SYMBOL_BOUND;
        return pt_parse_limit(p, &argument->symbol.bound);
    }
    size_t from = p->pos;
    enum pt_status s = pt_parse_formula(p, &node);
    if (s == PT_OK && pt_parser_token(p)->kind != ',' && pt_parser_token(p)->kind != ')')
        s = pt_parser_expected_operator(p, "',' or ')'");
    if (s == PT_OK)
        s = pt_ast_check(&anything, node);
    if (s != PT_OK)
        return s;
    if (node->kind == PT_AST_VAR)
        argument->symbol = (struct pt_symbol){.kind = PT_SYMBOL_VAR, .var = node->var};
    else
        argument->symbol = (struct pt_symbol){
            .kind = PT_SYMBOL_LET, .body = node, .let = p->let_count++, .target = text_of(p, from, node)};
    return PT_OK;
}

static enum pt_status parse_arguments(struct pt_parser *p, struct arguments *arguments)
{
    p->pos++; /* '(' */
    do {
        if (arguments->count == MAX_PARAMETERS)
            return pt_parser_fail(p, pt_parser_token(p), "a pattern has at most %d parameters", MAX_PARAMETERS);
        struct argument *argument = &arguments->items[arguments->count];
        argument->name = pt_parser_token(p);
        if (argument->name->kind != PT_TOKEN_NAME || !argument->name->plain)
            return pt_parser_expected(p, "the name of a parameter");
        p->pos++;
        enum pt_status s = pt_parser_expect(p, '=', "'=', as in 'init = call(load)'");
        if (s == PT_OK)
            s = parse_argument(p, argument);
        if (s != PT_OK)
            return s;
        argument->symbol.line = argument->name->line;
        arguments->count++;
    } while (pt_parser_accept(p, ','));
    return pt_parser_expect(p, ')', "',' or ')'");
}

/* --- the pattern, read with them --- */

static bool is_named(const struct pt_parser *p, const struct argument *argument, const char *name, size_t len)
{
    return argument->name->len == len && memcmp(p->source.text + argument->name->offset, name, len) == 0;
}

/* The parameters of the pattern at hand, each bound to its argument. */
static enum pt_status bind_parameters(struct pt_parser *p, struct pt_parser *sub, const struct pt_token *place,
                                      struct arguments *arguments)
{
    bool new;
    sub->pos++; /* '(' */
    do {
        const struct pt_token *name = pt_parser_token(sub);
        if (name->kind != PT_TOKEN_NAME || !name->plain)
            return pt_parser_expected(sub, "the name of a parameter");
        const char *text = pt_token_text(sub, name);
        struct argument *found = NULL;
        for (uint32_t i = 0; i < arguments->count; i++)
            if (is_named(p, &arguments->items[i], text, name->len)) {
                if (found)
                    return pt_parser_fail(p, arguments->items[i].name, "'%s' is given twice", text);
                found = &arguments->items[i];
            }
        if (!found) {
            enum pt_status s = pt_parser_fail(p, place, "the pattern needs '%s', which is not given", text);
            pt_err_hint(p->err, "its parameters are in %s, line %u", sub->source.file, name->line);
            return s;
        }
        found->taken = true;
        *pt_scope_at(&sub->values, text, name->len, &new) = found->symbol;
        sub->pos++;
    } while (pt_parser_accept(sub, ','));
    return pt_parser_expect(sub, ')', "',' or ')'");
}

static enum pt_status check_taken(struct pt_parser *p, const struct pt_parser *sub, const struct arguments *arguments)
{
    for (uint32_t i = 0; i < arguments->count; i++) {
        const struct pt_token *name = arguments->items[i].name;
        struct pt_suggest search;
        if (arguments->items[i].taken)
            continue;
        pt_suggest_init(&search, p->source.text + name->offset, name->len);
        for (uint32_t id = 0; id < sub->values.names.count; id++)
            pt_suggest_offer(&search, pt_strtab_text(&sub->values.names, id));
        enum pt_status s = pt_parser_fail(p, name, "the pattern has no parameter '%.*s'", (int)name->len,
                                          p->source.text + name->offset);
        if (search.best)
            pt_err_hint(p->err, "did you mean '%s'?", search.best);
        return s;
    }
    return PT_OK;
}

static enum pt_status parse_body(struct pt_parser *sub)
{
    enum pt_status s = pt_parser_expect(sub, '{', "'{'");
    while (s == PT_OK && !pt_parser_accept(sub, '}'))
        s = pt_parse_statement(sub);
    return s;
}

/* An error in the pattern's own text has its place there; where it was used is said behind what there is to say. */
static void add_use(const struct pt_parser *sub)
{
    size_t len = strlen(sub->err->hint);
    if (strcmp(sub->err->file, sub->use->file) == 0 && sub->source.file == sub->use->file &&
        sub->err->line == sub->use->line)
        return;
    snprintf(sub->err->hint + len, sizeof sub->err->hint - len, "%sused at %.120s:%u:%u", len ? "; " : "",
             sub->use->file, sub->use->line, sub->use->column);
}

static enum pt_status read_pattern(struct pt_parser *p, struct pt_parser *sub, const struct pt_token *place,
                                   struct arguments *arguments)
{
    pt_scope_init(&sub->values);
    pt_scope_init(&sub->threads);
    pt_scope_init(&sub->patterns);
    enum pt_status s = bind_parameters(p, sub, place, arguments);
    if (s == PT_OK)
        s = check_taken(p, sub, arguments);
    if (s == PT_OK) {
        s = parse_body(sub);
        if (s != PT_OK)
            add_use(sub);
    }
    p->let_count = sub->let_count;
    pt_scope_release(&sub->values);
    pt_scope_release(&sub->threads);
    pt_scope_release(&sub->patterns);
    free(sub->binders);
    return s;
}

/* --- which pattern --- */

static struct pt_parser sub_parser(const struct pt_parser *p, const struct pt_use *use)
{
    return (struct pt_parser){.props = p->props,
                              .arena = p->arena,
                              .let_count = p->let_count,
                              .fetch = p->fetch,
                              .fetch_context = p->fetch_context,
                              .err = p->err,
                              .use = use};
}

/* Finds `pattern NAME(` in the text of the library's file. */
static enum pt_status find_pattern(struct pt_parser *sub, const struct pt_use *use)
{
    static const char word[] = "pattern";
    for (sub->pos = 0; pt_parser_token(sub)->kind != PT_TOKEN_END && pt_parser_token(sub)->kind != PT_TOKEN_ERROR;
         sub->pos++)
        if (pt_token_is(sub, pt_parser_token(sub), word) && pt_token_is(sub, pt_parser_ahead(sub), use->pattern)) {
            sub->pos += 2;
            return pt_parser_token(sub)->kind == '(' ? PT_OK : pt_parser_expected(sub, "'('");
        }
    return pt_parser_fail(sub, pt_parser_token(sub), "this file defines no pattern '%s'", use->pattern);
}

static enum pt_status use_library(struct pt_parser *p, const struct pt_use *use, const struct pt_token *place,
                                  struct arguments *arguments)
{
    struct pt_parser sub = sub_parser(p, use);
    struct pt_buf path;
    char *text = NULL;
    size_t len = 0;
    if (!p->fetch)
        return pt_parser_fail(p, place, "a pattern of the library can be used only in a property file");
    pt_buf_init(&path);
    pt_buf_printf(&path, PT_FETCH_PATTERN "%s", use->pattern);
    enum pt_status s = p->fetch(p->fetch_context, path.text, &text, &len, p->err);
    if (s != PT_OK) {
        struct pt_err cause = *p->err;
        (void)pt_parser_fail(p, place, "%s", cause.message);
        pt_err_hint(p->err, "%s", cause.hint);
        p->err->status = s;
    } else {
        /* The fetched text begins with the name of its file, for messages. */
        size_t name = strnlen(text, len);
        const char *file = name < len ? text : use->pattern;
        size_t skip = name < len ? name + 1 : 0;
        sub.source = (struct pt_prop_source){pt_arena_strndup(p->arena, file, strlen(file)), text + skip, len - skip};
        pt_lex(&sub.source, p->arena, &sub.tokens);
        s = find_pattern(&sub, use);
        if (s == PT_OK)
            s = read_pattern(p, &sub, place, arguments);
        pt_tokens_release(&sub.tokens);
    }
    pt_buf_release(&path);
    free(text);
    return s;
}

enum pt_status pt_parse_use(struct pt_parser *p)
{
    const struct pt_token *place = pt_parser_token(p), *name = NULL;
    const char *given = NULL;
    struct arguments arguments = {.count = 0};
    if (p->use)
        return pt_parser_fail(p, place, "a pattern uses no other pattern");
    if (place->kind == PT_TOKEN_NAME && place->plain && pt_parser_ahead(p)->kind == '=') {
        given = pt_token_text(p, place);
        p->pos += 2;
    }
    enum pt_status s = parse_pattern_name(p, &name);
    if (s == PT_OK)
        s = parse_arguments(p, &arguments);
    const struct pt_token *end = pt_parser_token(p);
    if (s == PT_OK)
        s = pt_parser_expect(p, ';', "';'");
    if (s != PT_OK)
        return s;
    const char *pattern = pt_token_text(p, name);
    struct pt_use use = {.file = p->source.file,
                         .line = place->line,
                         .column = place->column,
                         .pattern = pattern,
                         .name = given ? given : pattern,
                         .text =
                             pt_parser_one_line(p, (size_t)(name - p->tokens.items), (size_t)(end - p->tokens.items))};
    const struct pt_symbol *own = pt_scope_find(&p->patterns, pattern, name->len);
    if (!own)
        return use_library(p, &use, name, &arguments);
    struct pt_parser sub = sub_parser(p, &use);
    sub.source = p->source;
    sub.tokens = p->tokens;
    sub.pos = own->pos;
    return read_pattern(p, &sub, name, &arguments);
}
