/* Statements of a property file: let, thread, property (var: parse_var.c); and what all parts of the parser need. */
#include "logic/lang/parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/suggest.h"

enum { MAX_DEPTH = 1000 };

/* --- names --- */

void pt_scope_init(struct pt_scope *scope)
{
    *scope = (struct pt_scope){0};
    pt_strtab_init(&scope->names);
}

void pt_scope_release(struct pt_scope *scope)
{
    pt_strtab_release(&scope->names);
    free(scope->symbols);
}

struct pt_symbol *pt_scope_at(struct pt_scope *scope, const char *text, size_t len, bool *ret_new)
{
    uint32_t before = scope->names.count, id = pt_strtab_intern(&scope->names, text, len);
    PT_GROW(scope->symbols, scope->cap, scope->names.count);
    *ret_new = id == before;
    return &scope->symbols[id];
}

const struct pt_symbol *pt_scope_find(const struct pt_scope *scope, const char *text, size_t len)
{
    uint32_t id = pt_strtab_find(&scope->names, text, len);
    return id == PT_NONE ? NULL : &scope->symbols[id];
}

/* --- tokens and errors --- */

void pt_parser_init(struct pt_parser *p, struct pt_properties *props, struct pt_arena *arena,
                    struct pt_prop_source source, struct pt_err *err)
{
    *p = (struct pt_parser){.props = props, .arena = arena, .source = source, .err = err};
    pt_lex(&p->source, arena, &p->tokens);
    pt_scope_init(&p->values);
    pt_scope_init(&p->threads);
    pt_scope_init(&p->patterns);
}

void pt_parser_release(struct pt_parser *p)
{
    pt_tokens_release(&p->tokens);
    pt_scope_release(&p->values);
    pt_scope_release(&p->threads);
    pt_scope_release(&p->patterns);
    free(p->binders);
}

const struct pt_token *pt_parser_token(const struct pt_parser *p)
{
    return &p->tokens.items[p->pos];
}

const struct pt_token *pt_parser_ahead(const struct pt_parser *p)
{
    return &p->tokens.items[p->pos + 1 < p->tokens.count ? p->pos + 1 : p->pos];
}

bool pt_token_is(const struct pt_parser *p, const struct pt_token *token, const char *word)
{
    return token->kind == PT_TOKEN_NAME && token->len == strlen(word) &&
           memcmp(p->source.text + token->offset, word, token->len) == 0;
}

const char *pt_token_text(struct pt_parser *p, const struct pt_token *token)
{
    return pt_arena_strndup(p->arena, p->source.text + token->offset, token->len);
}

const char *pt_token_content(struct pt_parser *p, const struct pt_token *token)
{
    return token->kind == PT_TOKEN_STRING ? token->value.s : pt_token_text(p, token);
}

bool pt_parser_accept(struct pt_parser *p, int kind)
{
    bool yes = pt_parser_token(p)->kind == kind;
    p->pos += yes;
    return yes;
}

enum pt_status pt_parser_fail(struct pt_parser *p, const struct pt_token *token, const char *fmt, ...)
{
    va_list ap;
    if (token->kind == PT_TOKEN_ERROR) {
        *p->err = p->tokens.err;
        return p->err->status;
    }
    va_start(ap, fmt);
    enum pt_status s =
        pt_prop_source_fail(&p->source, (struct pt_place){token->line, token->column, token->offset}, p->err, fmt, ap);
    va_end(ap);
    return s;
}

enum pt_status pt_parser_expected(struct pt_parser *p, const char *what)
{
    const struct pt_token *token = pt_parser_token(p);
    if (token->kind == PT_TOKEN_END)
        return pt_parser_fail(p, token, "expected %s, found the end of the text", what);
    return pt_parser_fail(p, token, "expected %s, found '%.*s%s'", what, token->len <= 40 ? (int)token->len : 37,
                          p->source.text + token->offset, token->len <= 40 ? "" : "...");
}

enum pt_status pt_parser_expect(struct pt_parser *p, int kind, const char *what)
{
    return pt_parser_accept(p, kind) ? PT_OK : pt_parser_expected(p, what);
}

enum pt_status pt_parser_enter(struct pt_parser *p)
{
    if (p->depth == MAX_DEPTH)
        return pt_parser_fail(p, pt_parser_token(p), "the formula is nested too deeply: more than %d levels",
                              MAX_DEPTH);
    p->depth++;
    return PT_OK;
}

/* --- declarations --- */

/* The new name of a let, var or thread, and the '=' after it. */
enum pt_status pt_parse_new_name(struct pt_parser *p, struct pt_scope *scope)
{
    const struct pt_token *token = pt_parser_token(p);
    if (token->kind != PT_TOKEN_NAME)
        return pt_parser_expected(p, "a name");
    const char *text = pt_token_text(p, token);
    const struct pt_word *word = pt_word_find(text, token->len);
    if (!token->plain)
        return pt_parser_fail(p, token, "a name that is declared is a plain identifier, and '%s' is not", text);
    if (word && word->use != PT_WORD_CALL)
        return pt_parser_fail(p, token, "'%s' is an operator and cannot be a name", text);
    const struct pt_symbol *old = pt_scope_find(scope, text, token->len);
    if (old && old->kind == PT_SYMBOL_USED)
        return pt_parser_fail(p, token, "'%s' is used in line %u, before this declaration of it", text, old->line);
    if (old)
        return pt_parser_fail(p, token, "'%s' is already declared in line %u", text, old->line);
    p->pos++;
    enum pt_status s = pt_parser_expect(p, '=', "'='");
    if (s != PT_OK && pt_parser_token(p)->kind != PT_TOKEN_ERROR)
        pt_err_hint(p->err,
                    "a variable that is called as in the program needs no declaration; let n = FORMULA; var n = PATH; "
                    "thread n = FUNCTION;");
    return s;
}

void pt_parser_declare(struct pt_parser *p, struct pt_scope *scope, const struct pt_token *token,
                       struct pt_symbol symbol)
{
    bool new;
    const char *text = pt_token_text(p, token);
    symbol.line = token->line;
    *pt_scope_at(scope, text, token->len, &new) = symbol;
    pt_properties_note(p->props, text);
}

static enum pt_status parse_let(struct pt_parser *p)
{
    const struct pt_token *name = pt_parser_token(p);
    struct pt_check anything = {.source = &p->source, .err = p->err};
    struct pt_ast *body = NULL;
    enum pt_status s = pt_parse_new_name(p, &p->values);
    if (s == PT_OK)
        s = pt_parse_formula(p, &body);
    if (s != PT_OK)
        return s;
    if (!pt_parser_accept(p, ';'))
        return pt_parser_expected_operator(p, "';'");
    if ((s = pt_ast_check(&anything, body)) != PT_OK)
        return s;
    const struct pt_symbol *used = pt_scope_find(&p->values, p->source.text + name->offset, name->len);
    if (used)
        return pt_parser_fail(p, name, "this let uses its own name");
    pt_parser_declare(p, &p->values, name,
                      (struct pt_symbol){.kind = PT_SYMBOL_LET, .body = body, .let = p->let_count++});
    return PT_OK;
}

static enum pt_status parse_thread_declaration(struct pt_parser *p)
{
    const struct pt_token *name = pt_parser_token(p);
    const char *target = NULL;
    enum pt_status s = pt_parse_new_name(p, &p->threads);
    if (s == PT_OK)
        s = pt_parse_object(p, "a thread of the program", &target);
    if (s == PT_OK)
        pt_parser_declare(p, &p->threads, name, (struct pt_symbol){.kind = PT_SYMBOL_THREAD, .target = target});
    return s;
}

/* --- files --- */

/* A formula stands where a statement should begin: the rest of its line, as a property. */
static void hint_property(struct pt_parser *p, const struct pt_token *token)
{
    const char *text = p->source.text + token->offset;
    size_t len = 0, left = p->source.len - token->offset;
    while (len < left && text[len] && text[len] != ';' && text[len] != '\n')
        len++;
    while (len && strchr(" \t\r", text[len - 1]))
        len--;
    const struct pt_token *next = pt_parser_ahead(p);
    bool word = token->kind == PT_TOKEN_NAME && pt_word_find(text, token->len);
    bool formula = word || (next->kind != PT_TOKEN_NAME && next->kind != '(' && next->kind != ':');
    if (formula && len && len <= 80)
        pt_err_hint(p->err, "a formula is written as a property, with a name: property NAME: %.*s;", (int)len, text);
    else
        pt_err_hint(p->err, "a formula is written as a property: property NAME: FORMULA;");
}

enum pt_status pt_parse_statement(struct pt_parser *p)
{
    static const struct {
        const char *word;
        enum pt_status (*parse)(struct pt_parser *p);
    } statements[] = {{"let", parse_let},
                      {"var", pt_parse_var},
                      {"thread", parse_thread_declaration},
                      {"property", pt_parse_property},
                      {"use", pt_parse_use},
                      {"pattern", pt_parse_pattern}};
    const struct pt_token *token = pt_parser_token(p);
    struct pt_suggest search;
    pt_suggest_init(&search, p->source.text + token->offset, token->kind == PT_TOKEN_NAME ? token->len : 0);
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        if (pt_token_is(p, token, statements[i].word)) {
            if (p->use && strchr("vt", statements[i].word[0]))
                return pt_parser_fail(p, token, "a pattern declares no variables and threads: they are its parameters");
            p->pos++;
            return statements[i].parse(p);
        }
        pt_suggest_offer(&search, statements[i].word);
    }
    enum pt_status s = pt_parser_expected(p, "'let', 'var', 'thread', 'property' or 'use'");
    if (token->kind == PT_TOKEN_ERROR)
        return s;
    if (search.best)
        pt_err_hint(p->err, "did you mean '%s'?", search.best);
    else
        hint_property(p, token);
    return s;
}

enum pt_status pt_parse_file(struct pt_parser *p)
{
    enum pt_status s = PT_OK;
    while (s == PT_OK && pt_parser_token(p)->kind != PT_TOKEN_END)
        s = pt_parse_statement(p);
    return s;
}
