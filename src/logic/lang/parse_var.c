/*
 * var NAME = [file.c:]path; and var NAME = count([file.c:]path [!= 0]); with sum, min and max. Inside such a statement
 * `->` and `*` are C's, and `<...>` belongs to the name of a template. A path is taken as it is written but for gaps;
 * whether the program has such a variable is not asked here.
 *
 * What is computed over ranges of indices (`items[0..15]`) becomes one operation on the variables of all elements, so
 * that each of them is named by the property like any other: a write of it is a relevant event, a recording has it
 * under its own name. At most MAX_ELEMENTS in one statement.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "logic/lang/parse.h"

enum { MAX_ELEMENTS = 256 };

/* The end of a file's name is one colon; two belong to a path. */
static bool ends_file(const struct pt_token *token)
{
    return token->kind == ':' && !(token[1].kind == ':' && token[1].attached);
}

/* The name of a file, as far as the ':' that ends it: in quotes, or written out without a gap (src/my-tank.c). */
static enum pt_status parse_file_name(struct pt_parser *p, const char **ret_file)
{
    size_t last = p->pos;
    const struct pt_token *t = p->tokens.items;
    *ret_file = NULL;
    if (t[last].kind == PT_TOKEN_STRING && t[last + 1].kind == ':') {
        *ret_file = pt_token_content(p, &t[last]);
        if (t[last].value.len == 0 || strlen(*ret_file) != t[last].value.len)
            return pt_parser_fail(p, &t[last], "this is not the name of a file");
        p->pos += 2;
        return PT_OK;
    }
    while (t[last].kind != PT_TOKEN_END && t[last].kind != PT_TOKEN_ERROR && t[last + 1].attached &&
           !strchr(";(", t[last].kind < 128 ? t[last].kind : 'x') && !ends_file(&t[last]))
        last += t[last].kind == ':' ? 2 : 1;
    if (t[last].kind != ':' || last == p->pos)
        return PT_OK;
    *ret_file = pt_arena_strndup(p->arena, p->source.text + t[p->pos].offset, t[last].offset - t[p->pos].offset);
    p->pos = last + 1;
    return PT_OK;
}

static enum pt_status parse_quoted(struct pt_parser *p, const char **ret_name)
{
    const struct pt_token *token = pt_parser_token(p);
    *ret_name = pt_token_content(p, token);
    if (**ret_name == '\0' || (token->kind == PT_TOKEN_STRING && strlen(*ret_name) != token->value.len))
        return pt_parser_fail(p, token, "a name is not empty and has no NUL character");
    p->pos++;
    return PT_OK;
}

enum pt_status pt_parse_object(struct pt_parser *p, const char *what, const char **ret_name)
{
    const struct pt_token *token = pt_parser_token(p);
    if (token->kind != PT_TOKEN_NAME && token->kind != PT_TOKEN_STRING)
        return pt_parser_expected(p, what);
    enum pt_status s = parse_quoted(p, ret_name);
    return s == PT_OK ? pt_parser_expect(p, ';', "';'") : s;
}

/* --- paths --- */

/* `<int, 4>` after the name of a template: where the token after it stands, or 0: it is no such thing. */
static size_t after_template(const struct pt_parser *p)
{
    const struct pt_token *t = p->tokens.items;
    size_t at = p->pos, open = 0;
    do {
        if (t[at].kind == PT_TOKEN_END || t[at].kind == PT_TOKEN_ERROR || t[at].kind == ';')
            return 0;
        open += t[at].kind == '<';
        open -= t[at].kind == '>';
        at++;
    } while (open);
    bool goes_on = t[at].kind == ':' && t[at].attached && t[at + 1].kind == ':';
    return goes_on && t[at + 2].kind == PT_TOKEN_NAME ? at : 0;
}

static void put_token(const struct pt_parser *p, const struct pt_token *token, struct pt_buf *path)
{
    pt_buf_add(path, p->source.text + token->offset, token->len);
}

/* `<unsigned long, 4>::total`, with blanks as a debugger has them. */
static void take_template(struct pt_parser *p, size_t end, struct pt_buf *path)
{
    for (; p->pos < end; p->pos++) {
        const struct pt_token *token = pt_parser_token(p);
        put_token(p, token, path);
        pt_buf_puts(path,
                    token->kind == ',' || (token->kind == PT_TOKEN_NAME && token[1].kind == PT_TOKEN_NAME) ? " " : "");
    }
    pt_buf_puts(path, "::");
    put_token(p, pt_parser_token(p) + 2, path);
    p->pos += 3;
}

/* A name with what belongs to it: a template's arguments, and the () of size(). */
static enum pt_status take_name(struct pt_parser *p, bool *has_range, struct pt_buf *path)
{
    static const char size[] = ".size", nameless[] = "(anonymous namespace)::";
    const struct pt_token *token = pt_parser_token(p);
    size_t end;
    while (strncmp(p->source.text + token->offset, nameless, sizeof nameless - 1) == 0) {
        p->pos += 6; /* tokens; debug information has no name for it */
        token = pt_parser_token(p);
    }
    if (token->kind != PT_TOKEN_NAME)
        return pt_parser_expected(p, path->len ? "a member" : "a variable of the program");
    put_token(p, token, path);
    *has_range |= token->range;
    for (p->pos++; pt_parser_token(p)->kind == '<' && pt_parser_token(p)->attached && (end = after_template(p));)
        take_template(p, end, path);
    bool ends_in_size = path->len >= sizeof size - 1 && strcmp(path->text + path->len - (sizeof size - 1), size) == 0;
    if (pt_parser_token(p)->kind == '(' && pt_parser_ahead(p)->kind == ')' && ends_in_size) {
        pt_buf_puts(path, "()");
        p->pos += 2;
    }
    return PT_OK;
}

/* *p, a.b[2]->c->d: into a buffer. */
static enum pt_status take_path(struct pt_parser *p, bool *has_range, struct pt_buf *path)
{
    enum pt_status s = PT_OK;
    while (pt_parser_accept(p, '*'))
        pt_buf_puts(path, "*");
    s = take_name(p, has_range, path);
    while (s == PT_OK && pt_parser_accept(p, PT_TOKEN_IMPLIES)) {
        pt_buf_puts(path, "->");
        s = pt_parser_token(p)->kind == PT_TOKEN_NAME ? take_name(p, has_range, path)
                                                      : pt_parser_expected(p, "a member after '->'");
    }
    return s;
}

struct path {
    const char *file, *path; /* file: NULL where none is given */
    bool has_range;
};

static enum pt_status parse_path(struct pt_parser *p, struct path *ret_path)
{
    struct path path = {0};
    struct pt_buf buf;
    enum pt_status s = parse_file_name(p, &path.file);
    if (s != PT_OK)
        return s;
    if (pt_parser_token(p)->kind == PT_TOKEN_STRING) {
        s = parse_quoted(p, &path.path);
    } else {
        pt_buf_init(&buf);
        s = take_path(p, &path.has_range, &buf);
        path.path = pt_arena_strndup(p->arena, buf.text ? buf.text : "", buf.len);
        pt_buf_release(&buf);
    }
    if (s == PT_OK)
        *ret_path = path;
    return s;
}

static const char *target_of(struct pt_parser *p, const char *file, const char *path)
{
    struct pt_buf buf;
    if (!file)
        return path;
    pt_buf_init(&buf);
    pt_buf_printf(&buf, "%s:%s", file, path);
    const char *target = pt_arena_strndup(p->arena, buf.text, buf.len);
    pt_buf_release(&buf);
    return target;
}

/* --- count, sum, min, max --- */

struct fold {
    struct pt_parser *p;
    const struct pt_token *place;
    enum { FOLD_COUNT, FOLD_SUM, FOLD_MIN, FOLD_MAX } how;
    const char *file;
    enum pt_ast_kind comparison;
    struct pt_ast *other; /* what each element is compared with */
    struct pt_ast *all;   /* so far */
    uint32_t count;
};

static struct pt_ast *typed(const struct fold *f, enum pt_ast_kind kind, enum pt_type type, struct pt_ast *a,
                            struct pt_ast *b)
{
    struct pt_ast *node = pt_ast_new(f->p, kind, f->place);
    node->type = (uint8_t)type;
    node->a = a;
    node->b = b;
    node->height = 1 + (a && b ? (a->height > b->height ? a->height : b->height) : 0);
    return node;
}

static enum pt_status fold_element(struct fold *f, const char *path)
{
    static const enum pt_ast_kind operations[] = {
        [FOLD_COUNT] = PT_AST_ADD, [FOLD_SUM] = PT_AST_ADD, [FOLD_MIN] = PT_AST_MIN, [FOLD_MAX] = PT_AST_MAX};
    if (f->count++ == MAX_ELEMENTS)
        return pt_parser_fail(f->p, f->place, "these are more than %d elements", MAX_ELEMENTS);
    const char *copy = pt_arena_strndup(f->p->arena, path, strlen(path));
    const char *target = target_of(f->p, f->file, copy);
    struct pt_varref *var = pt_arena_alloc(f->p->arena, sizeof *var);
    *var = (struct pt_varref){target, target, copy, f->place->line, f->place->column};
    struct pt_ast *element = typed(f, PT_AST_VAR, PT_TYPE_ANY, NULL, NULL);
    element->var = var;
    if (f->how == FOLD_COUNT)
        element = typed(f, f->comparison, PT_TYPE_FORMULA, element, f->other);
    f->all = f->all ? typed(f, operations[f->how], PT_TYPE_NUMBER, f->all, element) : element;
    return PT_OK;
}

/* Every element of `path`, whose first range begins at or behind `from`: the last range changes fastest. */
static enum pt_status fold_ranges(struct fold *f, const char *path, size_t from)
{
    const char *dots = strstr(path + from, "..");
    if (!dots)
        return fold_element(f, path);
    const char *open = dots;
    char *end;
    while (open[-1] != '[')
        open--;
    unsigned long long first = strtoull(open, NULL, 10), last = strtoull(dots + 2, &end, 10);
    if (first > last)
        return pt_parser_fail(f->p, f->place, "the range [%llu..%llu] is empty", first, last);
    enum pt_status s = PT_OK;
    for (unsigned long long i = first; s == PT_OK && i <= last; i++) {
        struct pt_buf buf;
        pt_buf_init(&buf);
        pt_buf_printf(&buf, "%.*s%llu", (int)(open - path), path, i);
        size_t rest = buf.len;
        pt_buf_puts(&buf, end);
        s = fold_ranges(f, buf.text, rest);
        pt_buf_release(&buf);
    }
    return s;
}

enum pt_status pt_parse_literal(struct pt_parser *p, struct pt_buf *text, struct pt_value *ret_value)
{
    const struct pt_token *minus = pt_parser_token(p);
    bool negative = pt_parser_accept(p, '-');
    const struct pt_token *token = pt_parser_token(p);
    const struct pt_word *word = pt_word_find(p->source.text + token->offset, token->len);
    bool truth = token->kind == PT_TOKEN_NAME && word && word->kind == PT_AST_BOOL;
    if (token->kind != PT_TOKEN_NUMBER && (negative || (!truth && token->kind != PT_TOKEN_STRING)))
        return pt_parser_expected(p, "a number, a string, true or false");
    struct pt_value value = truth ? pt_value_bool(word->text[0] == 't') : token->value;
    if (negative && value.kind != PT_VALUE_INT && value.kind != PT_VALUE_FLOAT)
        return pt_parser_fail(p, minus, "this number does not fit 64 bits");
    pt_buf_printf(text, "%s%.*s", negative ? "-" : "", (int)token->len, p->source.text + token->offset);
    if (negative && value.kind == PT_VALUE_FLOAT)
        value.d = -value.d;
    else if (negative)
        value.i = -value.i;
    p->pos++;
    *ret_value = value;
    return PT_OK;
}

enum pt_ast_kind pt_parse_sign(struct pt_parser *p)
{
    static const struct {
        int token;
        enum pt_ast_kind kind;
    } signs[] = {{PT_TOKEN_EQ, PT_AST_EQ}, {PT_TOKEN_NE, PT_AST_NE}, {'<', PT_AST_LT},
                 {PT_TOKEN_LE, PT_AST_LE}, {'>', PT_AST_GT},         {PT_TOKEN_GE, PT_AST_GE}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (pt_parser_accept(p, signs[i].token))
            return signs[i].kind;
    return PT_AST_KINDS;
}

/* `!= 0`, after the path of count. Without it: as that. */
static enum pt_status parse_comparison(struct fold *f, struct pt_buf *text)
{
    struct pt_value value = pt_value_int(0);
    enum pt_status s = PT_OK;
    size_t before = text->len;
    f->comparison = pt_parse_sign(f->p);
    if (f->comparison == PT_AST_KINDS) {
        f->comparison = PT_AST_NE;
    } else {
        pt_buf_printf(text, " %s ", pt_ast_sign(f->comparison));
        before = text->len;
        s = pt_parse_literal(f->p, text, &value);
    }
    bool string = value.kind == PT_VALUE_STRING;
    f->other = typed(f, string ? PT_AST_STRING : PT_AST_NUMBER, string ? PT_TYPE_STRING : PT_TYPE_NUMBER, NULL, NULL);
    f->other->value = value;
    f->other->text = text->len > before ? pt_arena_strndup(f->p->arena, text->text + before, text->len - before) : "0";
    return s;
}

/* count(path [comparison]), sum(path), min(path), max(path), from the word on; the tree in f->all. */
static enum pt_status parse_fold(struct fold *f, struct pt_buf *text)
{
    struct pt_parser *p = f->p;
    struct path path = {0};
    p->pos += 2;
    enum pt_status s = parse_path(p, &path);
    if (s != PT_OK)
        return s;
    f->file = path.file;
    pt_buf_puts(text, target_of(p, path.file, path.path));
    if (f->how == FOLD_COUNT)
        s = parse_comparison(f, text);
    if (s == PT_OK)
        s = pt_parser_expect(p, ')', f->how == FOLD_COUNT ? "a comparison or ')'" : "')'");
    if (s != PT_OK && f->how != FOLD_COUNT)
        pt_err_hint(p->err, "count, alone, takes a comparison: count(items[0..15] != 0)");
    if (s == PT_OK)
        s = pt_parser_expect(p, ';', "';'");
    if (s == PT_OK && !path.has_range) {
        s = pt_parser_fail(p, f->place, "there is no range of indices here");
        pt_err_hint(p->err, "a range has both its ends: items[0..15] are sixteen elements");
    }
    return s == PT_OK ? fold_ranges(f, path.path, 0) : s;
}

static bool find_fold(const struct pt_parser *p, const struct pt_token *token, const char **ret_word, uint32_t *ret_how)
{
    static const char *const folds[] = {
        [FOLD_COUNT] = "count", [FOLD_SUM] = "sum", [FOLD_MIN] = "min", [FOLD_MAX] = "max"};
    for (uint32_t i = 0; i < sizeof folds / sizeof *folds; i++)
        if (pt_token_is(p, token, folds[i]) && token[1].kind == '(') {
            *ret_word = folds[i];
            *ret_how = i;
            return true;
        }
    return false;
}

bool pt_token_is_fold(const struct pt_parser *p, const struct pt_token *token)
{
    const char *word;
    uint32_t how;
    return find_fold(p, token, &word, &how);
}

/* The name stands for an expression over the elements, as that of a let does. */
static enum pt_status declare_fold(struct pt_parser *p, const struct pt_token *name, const char *word, uint32_t how)
{
    struct fold f = {.p = p, .place = pt_parser_token(p), .how = how};
    struct pt_buf text;
    pt_buf_init(&text);
    pt_buf_printf(&text, "%s(", word);
    enum pt_status s = parse_fold(&f, &text);
    pt_buf_puts(&text, ")");
    if (s == PT_OK) {
        struct pt_ast *body = typed(&f, PT_AST_RANGE, PT_TYPE_NUMBER, f.all, NULL);
        body->height = f.all->height + 1;
        body->text = pt_arena_strndup(p->arena, text.text, text.len);
        pt_parser_declare(p, &p->values, name,
                          (struct pt_symbol){.kind = PT_SYMBOL_LET, .body = body, .let = p->let_count++});
    }
    pt_buf_release(&text);
    return s;
}

enum pt_status pt_parse_var(struct pt_parser *p)
{
    const struct pt_token *name = pt_parser_token(p);
    struct path path = {0};
    const char *word;
    uint32_t how;
    enum pt_status s = pt_parse_new_name(p, &p->values);
    if (s == PT_OK && find_fold(p, pt_parser_token(p), &word, &how))
        return declare_fold(p, name, word, how);
    const struct pt_token *first = pt_parser_token(p);
    if (s == PT_OK)
        s = parse_path(p, &path);
    if (s == PT_OK && path.has_range) {
        s = pt_parser_fail(p, first, "these are several variables");
        pt_err_hint(p->err, "say what is computed from them: count(%s != 0), sum(...), min(...) or max(...)",
                    path.path);
    }
    if (s == PT_OK)
        s = pt_parser_expect(p, ';', strstr(path.path, "->") || path.path[0] == '*' ? "'->' or ';'" : "';'");
    if (s != PT_OK)
        return s;
    struct pt_varref *var = pt_arena_alloc(p->arena, sizeof *var);
    *var = (struct pt_varref){pt_token_text(p, name), target_of(p, path.file, path.path), path.path, first->line,
                              first->column};
    pt_parser_declare(p, &p->values, name, (struct pt_symbol){.kind = PT_SYMBOL_VAR, .var = var});
    return PT_OK;
}
