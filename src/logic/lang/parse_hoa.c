/* The body `hoa "file" { a = formula; "b c" = formula; }`: every proposition of the automaton is bound exactly once. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "logic/lang/parse.h"

/* Relative to the folder of the file that names it. */
static char *join(const char *file, const char *path)
{
    const char *slash = strrchr(file, '/');
    struct pt_buf buf;
    pt_buf_init(&buf);
    if (slash && path[0] != '/')
        pt_buf_add(&buf, file, (size_t)(slash - file) + 1);
    pt_buf_puts(&buf, path);
    return pt_buf_take(&buf);
}

static enum pt_status read_automaton(struct pt_builder *b, const struct pt_token *token)
{
    struct pt_parser *p = b->parser;
    const char *path = pt_token_content(p, token);
    char *text = NULL;
    size_t len = 0;
    if (token->value.len == 0 || strlen(path) != token->value.len)
        return pt_parser_fail(p, token, "this is not the name of a file");
    if (!p->fetch)
        return pt_parser_fail(p, token, "an automaton can be named only in a property file");
    char *full = join(p->source.file, path);
    enum pt_status s = p->fetch(p->fetch_context, full, &text, &len, p->err);
    if (s == PT_OK) {
        s = pt_hoa_read(full, text, len, &b->property->automaton, p->err);
        free(text);
    } else if (p->err->line == 0) { /* say which line of the property file wanted it */
        struct pt_err cause = *p->err;
        (void)pt_parser_fail(p, token, "%s", cause.message);
        p->err->status = s;
    }
    free(full);
    return s;
}

static enum pt_status parse_binding(struct pt_builder *b)
{
    struct pt_parser *p = b->parser;
    struct pt_property *property = b->property;
    struct pt_check check = {&p->source, true, false, true, true, "the meaning of an automaton's proposition", p->err};
    const struct pt_token *token = pt_parser_token(p);
    struct pt_ast *node = NULL;
    uint32_t i = 0;
    if (token->kind != PT_TOKEN_NAME && token->kind != PT_TOKEN_STRING)
        return pt_parser_expected(p, "a proposition of the automaton, or '}'");
    const char *name = pt_token_content(p, token);
    while (i < property->automaton->prop_count && strcmp(property->automaton->props[i], name) != 0)
        i++;
    if (i == property->automaton->prop_count)
        return pt_parser_fail(p, token, "the automaton has no proposition '%s'", name);
    if (property->bindings[i] != PT_NONE)
        return pt_parser_fail(p, token, "the proposition '%s' is bound twice", name);
    p->pos++;
    enum pt_status s = pt_parser_expect(p, '=', "'='");
    if (s == PT_OK)
        s = pt_parse_formula(p, &node);
    if (s == PT_OK && !pt_parser_accept(p, ';'))
        return pt_parser_expected_operator(p, "';'");
    if (s == PT_OK)
        s = pt_ast_check_formula(&check, node);
    return s == PT_OK ? pt_lower_formula(b, node, &property->bindings[i]) : s;
}

enum pt_status pt_parse_hoa(struct pt_builder *b)
{
    struct pt_parser *p = b->parser;
    struct pt_property *property = b->property;
    const struct pt_token *file = pt_parser_token(p);
    property->kind = PT_KIND_HOA;
    enum pt_status s = read_automaton(b, file);
    if (s != PT_OK)
        return s;
    p->pos++;
    uint32_t count = property->automaton->prop_count;
    property->bindings = pt_arena_alloc(p->arena, count * sizeof *property->bindings);
    for (uint32_t i = 0; i < count; i++)
        property->bindings[i] = PT_NONE;
    if ((s = pt_parser_expect(p, '{', "'{'")) != PT_OK)
        return s;
    while (s == PT_OK && !pt_parser_accept(p, '}'))
        s = parse_binding(b);
    for (uint32_t i = 0; s == PT_OK && i < count; i++)
        if (property->bindings[i] == PT_NONE)
            return pt_parser_fail(p, file, "the automaton's proposition '%s' is not bound",
                                  property->automaton->props[i]);
    return s;
}
