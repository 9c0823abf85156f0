/*
 * Lowering: a checked tree becomes a formula over numbered atoms. Each distinct comparison of a property is one atom,
 * recognised by its text after `let` expansion; it is compiled to byte code once. A `let` is lowered once per property
 * and then shared, so a chain of lets that doubles its text at every step costs nothing in formulas; inside one
 * comparison, where texts do grow, their length is bounded.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/utf8.h"
#include "logic/lang/parse.h"

enum { LONGEST_ATOM = 4096 };

void pt_builder_init(struct pt_builder *b, struct pt_parser *parser, struct pt_property *property)
{
    *b = (struct pt_builder){.parser = parser, .property = property};
    pt_strtab_init(&b->var_ids);
    pt_strtab_init(&b->event_ids);
    b->lets = pt_xmalloc(parser->let_count * sizeof *b->lets);
    for (uint32_t i = 0; i < parser->let_count; i++)
        b->lets[i] = PT_NONE;
}

void pt_builder_release(struct pt_builder *b)
{
    free(b->vars);
    free(b->functions);
    free(b->lets);
    pt_strtab_release(&b->var_ids);
    pt_strtab_release(&b->event_ids);
}

static void *copy(struct pt_arena *arena, const void *from, size_t size)
{
    void *to = pt_arena_alloc(arena, size);
    return size ? memcpy(to, from, size) : to;
}

void pt_builder_finish(struct pt_builder *b)
{
    struct pt_property *property = b->property;
    struct pt_arena *arena = b->parser->arena;
    property->atom_count = b->atom_count;
    property->atoms = copy(arena, b->atoms, b->atom_count * sizeof *b->atoms);
    property->var_count = b->var_count;
    property->vars = copy(arena, b->vars, b->var_count * sizeof *b->vars);
    pt_builder_finish_events(b);
}

static enum pt_status fail(struct pt_builder *b, const struct pt_ast *node, const char *fmt, ...) PT_PRINTF(3, 4);

static enum pt_status fail(struct pt_builder *b, const struct pt_ast *node, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    enum pt_status s = pt_prop_source_fail(&b->parser->source, node->place, b->parser->err, fmt, ap);
    va_end(ap);
    return s;
}

static uint32_t var_id(struct pt_builder *b, const struct pt_varref *var)
{
    uint32_t id = pt_strtab_intern(&b->var_ids, var->name, strlen(var->name));
    if (id == b->var_count)
        PT_PUSH(b->vars, b->var_count, b->var_cap, *var);
    return id;
}

/* --- expressions --- */

struct compiler {
    struct pt_builder *builder;
    const struct pt_ast *root;
    struct pt_buf text;
    struct pt_insn *insns;
    uint32_t count;
    size_t cap;
    struct pt_value *constants;
    uint32_t constant_count;
    size_t constant_cap;
    uint32_t *vars;
    uint32_t var_count;
    size_t var_cap;
    uint32_t depth, max_depth;
    bool in_range; /* its text is not the sum of its parts' */
};

static enum pt_status put(struct compiler *c, uint32_t op, uint32_t arg)
{
    PT_PUSH(c->insns, c->count, c->cap, ((struct pt_insn){op, arg}));
    if (op == PT_CODE_CONST || op == PT_CODE_VAR)
        c->depth++;
    else if (op != PT_CODE_NEG && op != PT_CODE_TRUTH)
        c->depth--;
    if (c->depth > c->max_depth)
        c->max_depth = c->depth;
    if (c->max_depth > PT_CODE_MAX_DEPTH)
        return fail(c->builder, c->root, "this expression is nested too deeply: it needs more than %d values at once",
                    PT_CODE_MAX_DEPTH);
    if (c->text.len > LONGEST_ATOM && !c->in_range)
        return fail(c->builder, c->root, "this comparison is longer than %d characters once its lets are expanded",
                    LONGEST_ATOM);
    return PT_OK;
}

static enum pt_status put_constant(struct compiler *c, const struct pt_ast *node)
{
    PT_PUSH(c->constants, c->constant_count, c->constant_cap, node->value);
    pt_buf_puts(&c->text, node->text);
    return put(c, PT_CODE_CONST, c->constant_count - 1);
}

static enum pt_status put_variable(struct compiler *c, const struct pt_ast *node)
{
    uint32_t id = var_id(c->builder, node->var), i = 0;
    while (i < c->var_count && c->vars[i] != id)
        i++;
    if (i == c->var_count)
        PT_PUSH(c->vars, c->var_count, c->var_cap, id);
    pt_buf_puts(&c->text, node->var->name);
    return put(c, PT_CODE_VAR, id);
}

static enum pt_status compile(struct compiler *c, const struct pt_ast *node, enum pt_level level);

static enum pt_status compile_operator(struct compiler *c, const struct pt_ast *node)
{
    enum pt_ast_kind kind = (enum pt_ast_kind)node->kind;
    enum pt_level level = pt_ast_level(kind);
    enum pt_status s;
    assert(pt_ast_is_arithmetic(kind) || pt_ast_is_comparison(kind));
    if (kind == PT_AST_NEG) {
        pt_buf_puts(&c->text, "-");
        s = compile(c, node->a, level);
    } else if ((s = compile(c, node->a, level)) == PT_OK) {
        pt_buf_printf(&c->text, " %s ", pt_ast_sign(kind));
        s = compile(c, node->b, (enum pt_level)(level + 1));
    }
    return s == PT_OK ? put(c, pt_ast_code_op(kind), 0) : s;
}

/* Many variables, and one text, as it was written. */
static enum pt_status compile_range(struct compiler *c, const struct pt_ast *node)
{
    struct pt_buf text = c->text;
    pt_buf_init(&c->text);
    c->in_range = true;
    enum pt_status s = compile(c, node->a, PT_LEVEL_IFF);
    c->in_range = false;
    pt_buf_release(&c->text);
    c->text = text;
    pt_buf_puts(&c->text, node->text);
    return s;
}

/* Code and text together; brackets where the place asks for something that binds more tightly. */
static enum pt_status compile(struct compiler *c, const struct pt_ast *node, enum pt_level level)
{
    while (node->kind == PT_AST_LET)
        node = node->a;
    switch (node->kind) {
    case PT_AST_NUMBER:
    case PT_AST_STRING:
    case PT_AST_BOOL:
        return put_constant(c, node);
    case PT_AST_VAR:
        return put_variable(c, node);
    case PT_AST_RANGE:
        return compile_range(c, node);
    default:
        break;
    }
    bool brackets = pt_ast_level((enum pt_ast_kind)node->kind) < level;
    pt_buf_puts(&c->text, brackets ? "(" : "");
    enum pt_status s = compile_operator(c, node);
    pt_buf_puts(&c->text, brackets ? ")" : "");
    return s;
}

/* --- atoms --- */

static uint32_t find_atom(const struct pt_builder *b, const char *text)
{
    for (uint32_t i = 0; i < b->atom_count; i++)
        if (strcmp(b->atoms[i].text, text) == 0)
            return i;
    return PT_NONE;
}

/* The atom of this text, a new one if need be; the caller fills what is not in `atom` yet. */
static enum pt_status add_atom(struct pt_builder *b, const struct pt_ast *node, struct pt_atom atom,
                               pt_formula *ret_formula)
{
    const struct pt_ast *first = node; /* the leftmost leaf is where it begins */
    if (b->atom_count == PT_MAX_ATOMS)
        return fail(b, node, "a property can have %d different comparisons and events, and this is one more",
                    PT_MAX_ATOMS);
    while (first->a && pt_ast_level((enum pt_ast_kind)first->kind) < PT_LEVEL_NEG)
        first = first->a;
    const struct pt_use *use = b->parser->use; /* parts of it stand in another file */
    atom.line = use ? use->line : first->place.line;
    atom.column = use ? use->column : first->place.column;
    *ret_formula = pt_formula_prop(&b->property->pool, b->atom_count);
    b->atoms[b->atom_count++] = atom;
    return PT_OK;
}

static enum pt_status finish_comparison(struct compiler *c, pt_formula *ret_formula)
{
    struct pt_builder *b = c->builder;
    struct pt_arena *arena = b->parser->arena;
    uint32_t known = find_atom(b, c->text.text);
    if (known != PT_NONE) {
        *ret_formula = pt_formula_prop(&b->property->pool, known);
        return PT_OK;
    }
    struct pt_atom atom = {.text = pt_arena_strndup(arena, c->text.text, c->text.len),
                           .event = PT_NONE,
                           .code = {.insns = copy(arena, c->insns, c->count * sizeof *c->insns),
                                    .constants = copy(arena, c->constants, c->constant_count * sizeof *c->constants),
                                    .count = c->count,
                                    .depth = c->max_depth},
                           .vars = copy(arena, c->vars, c->var_count * sizeof *c->vars),
                           .var_count = c->var_count};
    return add_atom(b, c->root, atom, ret_formula);
}

static enum pt_status lower_comparison(struct pt_builder *b, const struct pt_ast *node, pt_formula *ret_formula)
{
    struct compiler c = {.builder = b, .root = node};
    enum pt_status s = compile(&c, node, PT_LEVEL_COMPARE);
    if (s == PT_OK && !pt_ast_is_comparison((enum pt_ast_kind)node->kind))
        s = put(&c, PT_CODE_TRUTH, 0);
    if (s == PT_OK)
        s = finish_comparison(&c, ret_formula);
    pt_buf_release(&c.text);
    free(c.insns);
    free(c.constants);
    free(c.vars);
    return s;
}

static bool is_identifier(const char *name)
{
    bool plain = !(name[0] >= '0' && name[0] <= '9');
    for (const char *c = name; *c; c++)
        plain &= (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9') || *c == '_';
    return plain;
}

/* Names that are no identifiers are quoted, and what is no clean text in them escaped. */
static void put_event_name(struct pt_buf *buf, const char *name)
{
    if (is_identifier(name)) {
        pt_buf_puts(buf, name);
        return;
    }
    pt_buf_puts(buf, "\"");
    for (size_t n, len = strlen(name); len > 0; name += n, len -= n) {
        uint32_t point = 0;
        n = pt_utf8_decode(name, len, &point);
        if (n == 0 || pt_utf8_is_control(point)) {
            pt_buf_printf(buf, "\\%03o", (unsigned)(unsigned char)*name);
            n = 1;
        } else {
            pt_buf_puts(buf, point == '"' || point == '\\' ? "\\" : "");
            pt_buf_add(buf, name, n);
        }
    }
    pt_buf_puts(buf, "\"");
}

static uint32_t event_id(struct pt_builder *b, const struct pt_ast *node)
{
    uint32_t known = b->event_ids.count, id = pt_strtab_intern(&b->event_ids, node->text, strlen(node->text));
    PT_GROW(b->functions, b->function_cap, id + 1);
    if (node->function || id == known)
        b->functions[id] = node->function;
    return id;
}

static enum pt_status lower_event(struct pt_builder *b, const struct pt_ast *node, pt_formula *ret_formula)
{
    struct pt_buf text;
    enum pt_status s = PT_OK;
    pt_buf_init(&text);
    if (node->function) {
        pt_buf_puts(&text, node->text);
    } else {
        pt_buf_puts(&text, "event(");
        put_event_name(&text, node->text);
        pt_buf_puts(&text, ")");
    }
    uint32_t known = find_atom(b, text.text);
    if (known != PT_NONE) {
        *ret_formula = pt_formula_prop(&b->property->pool, known);
    } else {
        struct pt_atom atom = {.text = pt_arena_strndup(b->parser->arena, text.text, text.len),
                               .event = event_id(b, node)};
        s = add_atom(b, node, atom, ret_formula);
        if (s == PT_OK && !pt_builder_has_room(b, node->function))
            s = fail(b, node,
                     "a property can ask for %d different conditions on calls of one function, and this is one more",
                     PT_MAX_CONDITIONED);
    }
    pt_buf_release(&text);
    return s;
}

/* --- formulas --- */

static enum pt_status lower_let(struct pt_builder *b, const struct pt_ast *node, pt_formula *ret_formula)
{
    enum pt_status s = PT_OK;
    if (b->lets[node->let] == PT_NONE)
        s = pt_lower_formula(b, node->a, &b->lets[node->let]);
    if (s == PT_OK)
        *ret_formula = b->lets[node->let];
    return s;
}

static enum pt_status lower_operator(struct pt_builder *b, const struct pt_ast *node, pt_formula *ret_formula)
{
    enum pt_fop op = pt_ast_fop((enum pt_ast_kind)node->kind);
    pt_formula x = PT_NONE, y = PT_NONE;
    enum pt_status s = pt_lower_formula(b, node->a, &x);
    if (s == PT_OK && node->b)
        s = pt_lower_formula(b, node->b, &y);
    if (s != PT_OK)
        return s;
    *ret_formula =
        node->b ? pt_formula_binary(&b->property->pool, op, x, y) : pt_formula_unary(&b->property->pool, op, x);
    return PT_OK;
}

enum pt_status pt_lower_formula(struct pt_builder *b, const struct pt_ast *node, pt_formula *ret_formula)
{
    switch (node->kind) {
    case PT_AST_BOOL:
        *ret_formula = node->value.i ? PT_FORMULA_TRUE : PT_FORMULA_FALSE;
        return PT_OK;
    case PT_AST_LET:
        return lower_let(b, node, ret_formula);
    case PT_AST_EVENT:
        return lower_event(b, node, ret_formula);
    default:
        return pt_ast_is_logical((enum pt_ast_kind)node->kind) ? lower_operator(b, node, ret_formula)
                                                               : lower_comparison(b, node, ret_formula);
    }
}

void pt_lower_names(struct pt_builder *b, const struct pt_ast *node)
{
    if (node->kind == PT_AST_LET) {
        if (b->lets[node->let] != PT_NONE)
            return;
        b->lets[node->let] = PT_FORMULA_TRUE; /* seen */
    }
    if (node->var)
        (void)var_id(b, node->var);
    b->property->races_everywhere |= node->kind == PT_AST_RACE_FREE && !node->var;
    if (node->kind == PT_AST_EVENT)
        (void)event_id(b, node);
    if (node->a)
        pt_lower_names(b, node->a);
    if (node->b)
        pt_lower_names(b, node->b);
}
