/*
 * Formulas and expressions, by precedence climbing: one function for all binary operators, one for prefixes, one for
 * what binds tightest. The depth of the recursion is counted, and the height of every tree built is bounded; long
 * chains of && and || become balanced trees, which keep the order of evaluation and stay low.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "logic/lang/parse.h"
#include "base/suggest.h"

static struct pt_ast *parse_level(struct pt_parser *p, enum pt_level level);
static struct pt_ast *parse_primary(struct pt_parser *p);

/* --- building --- */

struct pt_ast *pt_ast_new(struct pt_parser *p, enum pt_ast_kind kind, const struct pt_token *token)
{
    struct pt_ast *node = pt_arena_alloc(p->arena, sizeof *node);
    node->kind = (uint8_t)kind;
    node->height = 1;
    node->place = (struct pt_place){token->line, token->column, token->offset};
    return node;
}

/* For `return nothing(fail(...))`: inside this file, a tree that could not be read is NULL, and the error is set. */
static struct pt_ast *nothing(enum pt_status status)
{
    (void)status;
    return NULL;
}

static struct pt_ast *build(struct pt_parser *p, enum pt_ast_kind kind, const struct pt_token *token, struct pt_ast *a,
                            struct pt_ast *b)
{
    struct pt_ast *node = pt_ast_new(p, kind, token);
    uint32_t height = b && b->height > a->height ? b->height : a->height;
    if (height >= PT_AST_MAX_HEIGHT)
        return nothing(pt_parser_fail(
            p, token, "the formula is nested too deeply: more than %d operators inside each other", PT_AST_MAX_HEIGHT));
    node->height = height + 1;
    node->a = a;
    node->b = b;
    return node;
}

/* --- errors --- */

static const char *nearest_word(const struct pt_parser *p, const struct pt_token *token, bool lets)
{
    const char *text = p->source.text + token->offset;
    const char *synonym = pt_word_synonym(text, token->len);
    struct pt_suggest search;
    size_t count;
    const struct pt_word *words = pt_words(&count);
    if (synonym)
        return synonym;
    pt_suggest_init(&search, text, token->len);
    for (size_t i = 0; i < count; i++)
        pt_suggest_offer(&search, words[i].text);
    for (uint32_t id = 0; lets && id < p->values.names.count; id++)
        if (p->values.symbols[id].kind == PT_SYMBOL_LET)
            pt_suggest_offer(&search, pt_strtab_text(&p->values.names, id));
    return search.best;
}

static bool is_undeclared(const struct pt_parser *p, const struct pt_token *token)
{
    const struct pt_symbol *s = pt_scope_find(&p->values, p->source.text + token->offset, token->len);
    return token->kind == PT_TOKEN_NAME && token->plain && (!s || s->kind == PT_SYMBOL_USED) &&
           !pt_word_find(p->source.text + token->offset, token->len);
}

static enum pt_status unknown_word(struct pt_parser *p, const struct pt_token *token, const char *what,
                                   const char *nearest)
{
    enum pt_status s = pt_parser_fail(p, token, "unknown %s '%.*s'", what, token->len < 100 ? (int)token->len : 100,
                                      p->source.text + token->offset);
    if (token->len == 2 && memcmp(p->source.text + token->offset, "if", 2) == 0)
        pt_err_hint(p->err, "if (a) b is written a -> b");
    else if (nearest)
        pt_err_hint(p->err, "did you mean '%s'?", nearest);
    else
        pt_err_hint(p->err,
                    "a formula calls none of the program's functions; it has start(f), end(f), event(NAME), ...");
    return s;
}

enum pt_status pt_parser_expected_operator(struct pt_parser *p, const char *what)
{
    static const struct {
        int kind;
        const char *hint;
    } slips[] = {{'=', "did you mean '=='?"},
                 {'&', "did you mean '&&'?"},
                 {'|', "did you mean '||'?"},
                 {'?', "a ? b : c is written (a -> b) && (!a -> c)"},
                 {'[', "an index is a number, without a gap: a[3]"},
                 {PT_TOKEN_DIAMOND, "'<>' means eventually; not equal is '!='"}};
    const struct pt_token *token = pt_parser_token(p), *before = p->pos > 0 ? token - 1 : NULL;
    const char *nearest;
    if (token->kind != PT_TOKEN_ERROR) {
        if (is_undeclared(p, token) && (nearest = nearest_word(p, token, false)))
            return unknown_word(p, token, "operator", nearest);
        if (before && is_undeclared(p, before) && (nearest = nearest_word(p, before, false)))
            return unknown_word(p, before, "operator", nearest);
    }
    enum pt_status s = pt_parser_expected(p, what);
    for (size_t i = 0; i < sizeof slips / sizeof *slips; i++)
        if (token->kind == slips[i].kind)
            pt_err_hint(p->err, "%s", slips[i].hint);
    const struct pt_word *call =
        before && before->kind == PT_TOKEN_NAME ? pt_word_find(p->source.text + before->offset, before->len) : NULL;
    if (call && call->use == PT_WORD_CALL && token->kind == PT_TOKEN_NAME)
        pt_err_hint(p->err, "parentheses are needed: %s(%.*s)", call->text, token->len < 100 ? (int)token->len : 100,
                    p->source.text + token->offset);
    if (token->kind == PT_TOKEN_NAME && before && before->kind == ')' && token->attached)
        pt_err_hint(p->err, "there are no casts: a variable has the type that the program gives it");
    return s;
}

/* What C has where formulas have none. */
static void hint_c(struct pt_parser *p, const struct pt_token *token, const struct pt_token *before)
{
    const struct pt_token *after = token->kind == PT_TOKEN_END ? token : token + 1;
    int len = after->kind == PT_TOKEN_NAME && after->len < 100 ? (int)after->len : 1;
    const char *name = after->kind == PT_TOKEN_NAME ? p->source.text + after->offset : "p";
    if (token->kind == '*')
        pt_err_hint(p->err, "what a pointer leads to gets a name first: var v = *%.*s;", len, name);
    else if (token->kind == '&')
        pt_err_hint(p->err, "there are no addresses: a property sees values of variables");
    else if (before && token->attached && token->kind == before->kind && strchr("+", token->kind))
        pt_err_hint(p->err, "a formula changes nothing: x + 1 is a value, x++ is none");
}

static enum pt_status expected_operand(struct pt_parser *p)
{
    const struct pt_token *token = pt_parser_token(p), *before = p->pos > 0 ? token - 1 : NULL;
    const char *text = p->source.text;
    const struct pt_word *word = token->kind == PT_TOKEN_NAME ? pt_word_find(text + token->offset, token->len) : NULL;
    enum pt_status s;
    if (word && word->use == PT_WORD_PREFIX)
        return pt_parser_fail(p, token, "'%s' needs parentheses around it here", word->text);
    if (word) {
        s = pt_parser_fail(p, token, "the operator '%s' needs a formula on its left", word->text);
    } else {
        s = pt_parser_expected(p, "a formula or a value");
        word = before && before->kind == PT_TOKEN_NAME ? pt_word_find(text + before->offset, before->len) : NULL;
        if (token->kind == PT_TOKEN_ERROR || (word && word->use == PT_WORD_CALL))
            word = NULL;
        hint_c(p, token, before);
    }
    if (word)
        pt_err_hint(p->err, "a variable of the name '%s' is reached by 'var other = %s;'", word->text, word->text);
    return s;
}

/* --- names --- */

/* A name, bare or in quotes; NULL is an error. */
static const char *parse_word(struct pt_parser *p, const char *what)
{
    const struct pt_token *token = pt_parser_token(p);
    if (token->kind != PT_TOKEN_NAME && token->kind != PT_TOKEN_STRING) {
        (void)pt_parser_expected(p, what);
        return NULL;
    }
    const char *content = pt_token_content(p, token);
    if (token->kind == PT_TOKEN_STRING && (token->value.len == 0 || strlen(content) != token->value.len)) {
        (void)pt_parser_fail(p, token, "a name is not empty and has no NUL character");
        return NULL;
    }
    p->pos++;
    return content;
}

static bool is_bound(const struct pt_parser *p, const char *name)
{
    for (uint32_t i = 0; i < p->binder_count; i++)
        if (strcmp(p->binders[i], name) == 0)
            return true;
    return false;
}

enum pt_status pt_parse_thread(struct pt_parser *p, struct pt_ast_thread *ret_thread)
{
    uint32_t line = pt_parser_token(p)->line;
    const char *name = parse_word(p, "the name of a thread");
    bool new;
    if (!name)
        return PT_EINPUT;
    if (is_bound(p, name)) {
        *ret_thread = (struct pt_ast_thread){name, name};
        return PT_OK;
    }
    struct pt_symbol *symbol = pt_scope_at(&p->threads, name, strlen(name), &new);
    if (new)
        *symbol = (struct pt_symbol){.kind = PT_SYMBOL_USED, .line = line, .target = name};
    *ret_thread = (struct pt_ast_thread){name, symbol->target};
    return PT_OK;
}

/* The variable of that name; one that is only used is entered, so that it cannot be declared later. NULL: an error. */
static const struct pt_varref *variable(struct pt_parser *p, const struct pt_token *token, const char *name)
{
    bool new;
    if (token->range) {
        (void)pt_parser_fail(p, token, "'%s' are several variables, and one is needed here", name);
        return NULL;
    }
    struct pt_symbol *symbol = pt_scope_at(&p->values, name, strlen(name), &new);
    if (new) {
        struct pt_varref *var = pt_arena_alloc(p->arena, sizeof *var);
        *var = (struct pt_varref){name, name, name, 0, 0};
        *symbol = (struct pt_symbol){.kind = PT_SYMBOL_USED, .line = token->line, .var = var};
    }
    if (symbol->kind == PT_SYMBOL_LET)
        (void)pt_parser_fail(p, token, "'%s' is a let, and a variable is needed here", name);
    return symbol->var; /* a let has none */
}

/* --- what binds tightest --- */

static struct pt_ast *parse_name(struct pt_parser *p)
{
    const struct pt_token *token = pt_parser_token(p);
    const char *text = pt_token_text(p, token);
    const struct pt_symbol *symbol = pt_scope_find(&p->values, text, token->len);
    if (pt_parser_ahead(p)->kind == '(') {
        if (symbol && symbol->kind != PT_SYMBOL_USED)
            return nothing(pt_parser_fail(p, token, "'%s' is not a function", text));
        struct pt_ast *node = nothing(unknown_word(p, token, "function or operator", nearest_word(p, token, true)));
        if (pt_token_is_fold(p, token))
            pt_err_hint(p->err, "it is written in a declaration: var n = %s(items[0..15]%s); and then n > 3", text,
                        text[0] == 'c' ? " != 0" : "");
        return node;
    }
    if (token->range) {
        struct pt_ast *node = nothing(pt_parser_fail(p, token, "'%s' are several variables", text));
        pt_err_hint(p->err, "a declaration says what is computed from them: var n = count(%s != 0);", text);
        return node;
    }
    if (is_bound(p, text))
        return nothing(
            pt_parser_fail(p, token, "'%s' is a thread here, not a value: what it knows is '@%s x'", text, text));
    p->pos++;
    bool let = symbol && symbol->kind == PT_SYMBOL_LET;
    struct pt_ast *node = let ? build(p, PT_AST_LET, token, symbol->body, NULL) : pt_ast_new(p, PT_AST_VAR, token);
    if (node && let) {
        node->text = symbol->target ? symbol->target : text;
        node->let = symbol->let;
    } else if (node) {
        node->var = variable(p, token, text);
    }
    return node;
}

static struct pt_ast *parse_literal(struct pt_parser *p, enum pt_ast_kind kind)
{
    const struct pt_token *token = pt_parser_token(p);
    struct pt_ast *node = pt_ast_new(p, kind, token);
    node->text = pt_token_text(p, token);
    node->value = kind == PT_AST_BOOL ? pt_value_bool(node->text[0] == 't') : token->value;
    p->pos++;
    return node;
}

/* An operator that is written as a call: start(f), end(f) */
static struct pt_ast *parse_applied(struct pt_parser *p, enum pt_ast_kind kind)
{
    const struct pt_token *token = pt_parser_token(p);
    p->pos += 2;
    struct pt_ast *inner = parse_level(p, PT_LEVEL_IFF);
    if (!inner)
        return NULL;
    if (!pt_parser_accept(p, ')'))
        return nothing(pt_parser_expected_operator(p, "')'"));
    return build(p, kind, token, inner, NULL);
}

/* event(NAME), read(x), write(x), race_free(x), race_free(*), atomic_block(NAME) */
static struct pt_ast *parse_call(struct pt_parser *p, enum pt_ast_kind kind)
{
    const struct pt_token *token = pt_parser_token(p), *argument = token + 2;
    struct pt_ast *node = pt_ast_new(p, kind, token);
    bool is_name = kind == PT_AST_EVENT || kind == PT_AST_ATOMIC_BLOCK;
    p->pos += 2;
    if (kind != PT_AST_RACE_FREE || !pt_parser_accept(p, '*')) {
        const char *name = parse_word(p, is_name ? "a name" : "the name of a variable");
        if (!name)
            return NULL;
        if (is_name)
            node->text = name;
        else if (!(node->var = variable(p, argument, name)))
            return NULL;
    }
    return pt_parser_expect(p, ')', "')'") == PT_OK ? node : NULL;
}

/* [f, g) and [f, g)w */
static struct pt_ast *parse_interval(struct pt_parser *p)
{
    const struct pt_token *token = pt_parser_token(p);
    p->pos++;
    struct pt_ast *from = parse_level(p, PT_LEVEL_IFF);
    if (!from)
        return NULL;
    if (!pt_parser_accept(p, ','))
        return nothing(pt_parser_expected_operator(p, "',' of an interval '[f, g)'"));
    struct pt_ast *to = parse_level(p, PT_LEVEL_IFF);
    if (!to)
        return NULL;
    if (!pt_parser_accept(p, ')'))
        return nothing(pt_parser_expected_operator(p, "')', the end of an interval '[f, g)'"));
    bool weak = pt_token_is(p, pt_parser_token(p), "w");
    p->pos += weak;
    return build(p, weak ? PT_AST_INTERVAL_WEAK : PT_AST_INTERVAL, token, from, to);
}

/* @t x, @t(f), @t @u x */
static struct pt_ast *parse_known(struct pt_parser *p)
{
    const struct pt_token *token = pt_parser_token(p);
    struct pt_ast_thread thread = {0};
    p->pos++;
    if (pt_parse_thread(p, &thread) != PT_OK || pt_parser_enter(p) != PT_OK)
        return NULL;
    struct pt_ast *inner = parse_primary(p);
    p->depth--;
    struct pt_ast *node = inner ? build(p, PT_AST_KNOWN, token, inner, NULL) : NULL;
    if (node)
        node->thread = thread;
    return node;
}

static struct pt_ast *parse_parentheses(struct pt_parser *p)
{
    p->pos++;
    struct pt_ast *inner = parse_level(p, PT_LEVEL_IFF);
    if (inner && !pt_parser_accept(p, ')'))
        return nothing(pt_parser_expected_operator(p, "')'"));
    return inner;
}

static struct pt_ast *parse_primary(struct pt_parser *p)
{
    const struct pt_token *token = pt_parser_token(p);
    const struct pt_word *word = NULL;
    switch (token->kind) {
    case PT_TOKEN_NUMBER:
        return parse_literal(p, PT_AST_NUMBER);
    case PT_TOKEN_STRING:
        return parse_literal(p, PT_AST_STRING);
    case '(':
        return parse_parentheses(p);
    case '[':
        return parse_interval(p);
    case '@':
        return parse_known(p);
    case PT_TOKEN_NAME:
        word = pt_word_find(p->source.text + token->offset, token->len);
        if (!word)
            return parse_name(p);
        if (word->kind == PT_AST_BOOL)
            return parse_literal(p, PT_AST_BOOL);
        if (word->use != PT_WORD_CALL)
            return nothing(expected_operand(p));
        if (pt_parser_ahead(p)->kind != '(')
            return parse_name(p);
        if (word->kind == PT_AST_CALLED || word->kind == PT_AST_RETURNED)
            return pt_parse_function_event(p, word->text);
        return pt_ast_is_logical((enum pt_ast_kind)word->kind) ? parse_applied(p, (enum pt_ast_kind)word->kind)
                                                               : parse_call(p, (enum pt_ast_kind)word->kind);
    default:
        return nothing(expected_operand(p));
    }
}

/* --- prefixes --- */

/* exists j: f, forall j != i: f; as far to the right as possible */
static struct pt_ast *parse_quantifier(struct pt_parser *p, enum pt_ast_kind kind)
{
    const struct pt_token *token = pt_parser_token(p), *name = token + 1;
    struct pt_ast_thread other = {0};
    p->pos++;
    if (name->kind != PT_TOKEN_NAME || !name->plain)
        return nothing(pt_parser_expected(p, "the name of a thread variable"));
    const char *text = pt_token_text(p, name);
    const struct pt_word *word = pt_word_find(text, name->len);
    if (word && word->use != PT_WORD_CALL)
        return nothing(pt_parser_fail(p, name, "'%s' is an operator and cannot be a thread variable", text));
    p->pos++;
    if (pt_parser_accept(p, PT_TOKEN_NE)) {
        const struct pt_token *excluded = pt_parser_token(p);
        if (pt_parse_thread(p, &other) != PT_OK)
            return NULL;
        if (strcmp(other.name, text) == 0)
            return nothing(pt_parser_fail(p, excluded, "'%s' cannot differ from itself", text));
    }
    if (pt_parser_expect(p, ':', "':'") != PT_OK)
        return NULL;
    PT_PUSH(p->binders, p->binder_count, p->binder_cap, text);
    struct pt_ast *body = parse_level(p, PT_LEVEL_IFF);
    p->binder_count--;
    struct pt_ast *node = body ? build(p, kind, token, body, NULL) : NULL;
    if (node) {
        node->text = text;
        node->thread = other;
    }
    return node;
}

/* The prefix operator that the token is; PT_AST_KINDS when it is none. */
static enum pt_ast_kind prefix_kind(const struct pt_parser *p, const struct pt_token *token)
{
    const struct pt_word *word;
    switch (token->kind) {
    case '!':
        return PT_AST_NOT;
    case '-':
        return PT_AST_NEG;
    case PT_TOKEN_BOX:
        return PT_AST_ALWAYS;
    case PT_TOKEN_DIAMOND:
        return PT_AST_EVENTUALLY;
    case PT_TOKEN_NAME:
        word = pt_word_find(p->source.text + token->offset, token->len);
        return word && word->use == PT_WORD_PREFIX && word->kind != PT_AST_BOOL ? (enum pt_ast_kind)word->kind
                                                                                : PT_AST_KINDS;
    default:
        return PT_AST_KINDS;
    }
}

static struct pt_ast *parse_prefix(struct pt_parser *p)
{
    const struct pt_token *token = pt_parser_token(p);
    enum pt_ast_kind kind = prefix_kind(p, token);
    if (kind == PT_AST_KINDS)
        return parse_primary(p);
    if (kind == PT_AST_EXISTS || kind == PT_AST_FORALL)
        return parse_quantifier(p, kind);
    p->pos++;
    /* a sign binds tighter than everything binary, the other prefixes looser than comparisons */
    struct pt_ast *operand = parse_level(p, kind == PT_AST_NEG ? PT_LEVEL_NEG : PT_LEVEL_COMPARE);
    return operand ? build(p, kind, token, operand, NULL) : NULL;
}

/* --- binary operators --- */

static enum pt_ast_kind binary_kind(const struct pt_parser *p, const struct pt_token *token)
{
    static const struct {
        int token;
        enum pt_ast_kind kind;
    } kinds[] = {{PT_TOKEN_IFF, PT_AST_IFF}, {PT_TOKEN_IMPLIES, PT_AST_IMPLIES},
                 {PT_TOKEN_OR, PT_AST_OR},   {PT_TOKEN_AND, PT_AST_AND},
                 {PT_TOKEN_EQ, PT_AST_EQ},   {PT_TOKEN_NE, PT_AST_NE},
                 {'<', PT_AST_LT},           {PT_TOKEN_LE, PT_AST_LE},
                 {'>', PT_AST_GT},           {PT_TOKEN_GE, PT_AST_GE},
                 {'+', PT_AST_ADD},          {'-', PT_AST_SUB},
                 {'*', PT_AST_MUL},          {'/', PT_AST_DIV},
                 {'%', PT_AST_MOD}};
    if (token->kind == PT_TOKEN_NAME) {
        const struct pt_word *word = pt_word_find(p->source.text + token->offset, token->len);
        return word && word->use == PT_WORD_INFIX ? (enum pt_ast_kind)word->kind : PT_AST_KINDS;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].token == token->kind)
            return kinds[i].kind;
    return PT_AST_KINDS;
}

/* One operand of a chain a && b && ..., and the operator before it. */
struct link {
    struct pt_ast *operand;
    const struct pt_token *sign;
};

/* Chains of ordinary length lean to the left, as people read them; only long ones are balanced. */
enum { LEANING = 64 };

static struct pt_ast *fold(struct pt_parser *p, enum pt_ast_kind kind, const struct link *links, size_t count)
{
    if (count <= LEANING) {
        struct pt_ast *left = links[0].operand;
        for (size_t i = 1; left && i < count; i++)
            left = build(p, kind, links[i].sign, left, links[i].operand);
        return left;
    }
    size_t middle = count / 2;
    struct pt_ast *left = fold(p, kind, links, middle), *right = fold(p, kind, links + middle, count - middle);
    return left && right ? build(p, kind, links[middle].sign, left, right) : NULL;
}

static struct pt_ast *parse_chain(struct pt_parser *p, enum pt_ast_kind kind, struct pt_ast *first)
{
    struct link *links = NULL, link = {first, NULL};
    size_t count = 0, cap = 0;
    while (link.operand) {
        PT_PUSH(links, count, cap, link);
        link.sign = pt_parser_token(p);
        if (binary_kind(p, link.sign) != kind)
            break;
        p->pos++;
        link.operand = parse_level(p, (enum pt_level)(pt_ast_level(kind) + 1));
    }
    struct pt_ast *node = link.operand ? fold(p, kind, links, count) : NULL;
    free(links);
    return node;
}

static struct pt_ast *parse_binary(struct pt_parser *p, enum pt_ast_kind kind, struct pt_ast *left)
{
    const struct pt_token *sign = pt_parser_token(p);
    enum pt_level level = pt_ast_level(kind);
    bool to_the_right = level == PT_LEVEL_IMPLIES || level == PT_LEVEL_TEMPORAL;
    p->pos++;
    struct pt_ast *right = parse_level(p, to_the_right ? level : (enum pt_level)(level + 1));
    if (!right)
        return NULL;
    if (level == PT_LEVEL_COMPARE) {
        enum pt_ast_kind next = binary_kind(p, pt_parser_token(p));
        if (next != PT_AST_KINDS && pt_ast_is_comparison(next))
            return nothing(pt_parser_fail(p, pt_parser_token(p), "comparisons do not chain: write 'a < b && b < c'"));
    }
    return build(p, kind, sign, left, right);
}

/* Everything that binds at least as tightly as `level`. */
static struct pt_ast *parse_level(struct pt_parser *p, enum pt_level level)
{
    if (pt_parser_enter(p) != PT_OK)
        return NULL;
    struct pt_ast *left = parse_prefix(p);
    while (left) {
        enum pt_ast_kind kind = binary_kind(p, pt_parser_token(p));
        if (kind == PT_AST_KINDS || pt_ast_level(kind) < level)
            break;
        if (kind == PT_AST_AND || kind == PT_AST_OR)
            left = parse_chain(p, kind, left);
        else
            left = parse_binary(p, kind, left);
    }
    p->depth--;
    return left;
}

enum pt_status pt_parse_formula(struct pt_parser *p, struct pt_ast **ret_node)
{
    struct pt_ast *node = parse_level(p, PT_LEVEL_IFF);
    if (!node)
        return PT_EINPUT;
    *ret_node = node;
    return PT_OK;
}
