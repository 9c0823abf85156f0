/* property NAME [at THREAD | at each VAR] [within D]: formula | never ERE | hoa "file" {...}; */
#include <string.h>

#include "base/buf.h"
#include "logic/lang/parse.h"

/* --- within D --- */

/* A duration in nanoseconds from its decimal spelling, exactly; false when it is no whole number or does not fit. */
static bool nanoseconds(const char *text, size_t len, uint64_t unit, uint64_t *ret)
{
    uint64_t sum = 0, scale = unit;
    size_t i = 0;
    for (; i < len && text[i] >= '0' && text[i] <= '9'; i++)
        if (__builtin_mul_overflow(sum, (uint64_t)10, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)(text[i] - '0'), &sum))
            return false;
    if (__builtin_mul_overflow(sum, unit, &sum))
        return false;
    if (i < len && text[i] != '.')
        return false; /* an exponent, or hexadecimal */
    for (i++; i < len; i++) {
        if (text[i] < '0' || text[i] > '9' || (scale == 1 && text[i] != '0'))
            return false;
        scale = scale > 1 ? scale / 10 : 1;
        if (__builtin_add_overflow(sum, (uint64_t)(text[i] - '0') * scale, &sum))
            return false;
    }
    *ret = sum;
    return true;
}

enum pt_status pt_parse_limit(struct pt_parser *p, struct pt_bound *ret_bound)
{
    static const struct {
        const char *name;
        uint64_t unit;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000 * 1000}, {"s", 1000 * 1000 * 1000}, {"events", 1}, {"event", 1}};
    struct pt_bound bound = {0};
    size_t i = 0;
    const struct pt_token *number = pt_parser_token(p);
    if (number->kind != PT_TOKEN_NUMBER)
        return pt_parser_expected(p, "a time such as '10ms', or a number of events");
    p->pos++;
    const struct pt_token *unit = pt_parser_token(p);
    while (i < sizeof units / sizeof *units && !pt_token_is(p, unit, units[i].name))
        i++;
    if (i == sizeof units / sizeof *units)
        return pt_parser_expected(p, "'ns', 'us', 'ms', 's' or 'events'");
    bound.events = units[i].name[0] == 'e';
    if (!nanoseconds(p->source.text + number->offset, number->len, units[i].unit, &bound.bound))
        return pt_parser_fail(p, number, "this is not a whole number of %s that fits 64 bits",
                              bound.events ? "events" : "nanoseconds");
    if (bound.bound == 0)
        return pt_parser_fail(p, number, "the bound of 'within' is zero, which nothing can meet");
    p->pos++;
    *ret_bound = bound;
    return PT_OK;
}

static enum pt_status parse_within(struct pt_parser *p, struct pt_property *property)
{
    struct pt_bound bound = {0};
    p->pos++;
    const struct pt_token *token = pt_parser_token(p);
    const struct pt_symbol *parameter =
        token->kind == PT_TOKEN_NAME ? pt_scope_find(&p->values, p->source.text + token->offset, token->len) : NULL;
    enum pt_status s = PT_OK;
    if (parameter && parameter->kind == PT_SYMBOL_BOUND) {
        bound = parameter->bound;
        p->pos++;
    } else {
        s = pt_parse_limit(p, &bound);
    }
    property->within = true;
    property->within_events = bound.events;
    property->within_bound = bound.bound;
    return s;
}

/* --- at --- */

static enum pt_status parse_at(struct pt_parser *p, struct pt_ast **ret_at)
{
    const struct pt_token *token = pt_parser_token(p);
    p->pos++;
    const struct pt_token *name = pt_parser_ahead(p);
    if (pt_token_is(p, pt_parser_token(p), "each") && name->kind == PT_TOKEN_NAME && !pt_token_is(p, name, "within")) {
        const char *text = pt_token_text(p, name);
        const struct pt_word *word = pt_word_find(text, name->len);
        if (!name->plain || (word && word->use != PT_WORD_CALL))
            return pt_parser_fail(p, name, "'%s' cannot be the name of a thread variable", text);
        p->pos += 2;
        *ret_at = pt_ast_new(p, PT_AST_AT_EACH, token);
        (*ret_at)->text = text;
        PT_PUSH(p->binders, p->binder_count, p->binder_cap, text);
        return PT_OK;
    }
    *ret_at = pt_ast_new(p, PT_AST_AT, token);
    return pt_parse_thread(p, &(*ret_at)->thread);
}

/* --- bodies --- */

/* race_free(x) && race_free(y), at one thread, at each or without `at`, which is the same. */
static void make_races(struct pt_builder *b, const struct pt_ast *at, const struct pt_ast *node)
{
    pt_lower_names(b, node);
    b->property->kind = PT_KIND_RACE;
    b->property->races_at = at && at->kind == PT_AST_AT ? at->thread.target : NULL;
}

static enum pt_status parse_local(struct pt_builder *b, struct pt_ast *at)
{
    struct pt_parser *p = b->parser;
    struct pt_check check = {
        .source = &p->source, .no_future = true, .no_conditions = true, .place = "an 'at' property", .err = p->err};
    struct pt_ast *node = NULL;
    bool races = false;
    enum pt_status s = pt_parse_formula(p, &node);
    if (s == PT_OK)
        s = pt_ast_check_races(&check, node, &races);
    if (s == PT_OK && races)
        make_races(b, at, node);
    if (s != PT_OK || races)
        return s;
    at->a = node;
    at->height = node->height + 1;
    at->type = PT_TYPE_FORMULA;
    at->has_past = node->has_past;
    at->has_mttl = true;
    pt_lower_names(b, node);
    b->property->kind = PT_KIND_MTTL;
    b->property->ast = at;
    return PT_OK;
}

static enum pt_status parse_global(struct pt_builder *b)
{
    struct pt_parser *p = b->parser;
    struct pt_check check = {.source = &p->source,
                             .no_mttl = true,
                             .no_races = b->property->within,
                             .place = "a 'within' property",
                             .err = p->err};
    struct pt_ast *node = NULL;
    bool races = false;
    enum pt_status s = pt_parse_formula(p, &node);
    if (s == PT_OK)
        s = pt_ast_check_races(&check, node, &races);
    if (s == PT_OK && races)
        make_races(b, NULL, node);
    if (s != PT_OK || races)
        return s;
    b->property->kind = PT_KIND_LTL;
    return pt_lower_formula(b, node, &b->property->formula);
}

static enum pt_status parse_body(struct pt_builder *b, struct pt_ast *at)
{
    struct pt_parser *p = b->parser;
    const struct pt_token *token = pt_parser_token(p);
    bool never = pt_token_is(p, token, "never");
    bool hoa = pt_token_is(p, token, "hoa") && pt_parser_ahead(p)->kind == PT_TOKEN_STRING;
    if (at && (never || hoa))
        return pt_parser_fail(p, token, "an 'at' property is a formula, not %s",
                              hoa ? "an automaton" : "a regular expression");
    if (never && b->property->within)
        return pt_parser_fail(p, token,
                              "'within' takes an LTL formula or an automaton: a regular expression has no "
                              "meaning on infinite words");
    p->pos += never || hoa;
    return never ? pt_parse_ere(b) : hoa ? pt_parse_hoa(b) : at ? parse_local(b, at) : parse_global(b);
}

const char *pt_parser_one_line(struct pt_parser *p, size_t from, size_t to)
{
    struct pt_buf buf;
    pt_buf_init(&buf);
    for (size_t i = from; i < to; i++) {
        const struct pt_token *t = &p->tokens.items[i];
        if (i > from && !t->attached)
            pt_buf_puts(&buf, " ");
        pt_buf_add(&buf, p->source.text + t->offset, t->len);
    }
    const char *text = pt_arena_strndup(p->arena, buf.text ? buf.text : "", buf.len);
    pt_buf_release(&buf);
    return text;
}

/* The body, and the property with it; `end` is the token that must follow. */
static enum pt_status parse_rest(struct pt_parser *p, struct pt_property *property, struct pt_ast *at, int end)
{
    struct pt_builder b;
    size_t from = p->pos;
    pt_fpool_init(&property->pool);
    pt_builder_init(&b, p, property);
    enum pt_status s = parse_body(&b, at);
    if (s == PT_OK) {
        property->text = p->use ? p->use->text : pt_parser_one_line(p, from, p->pos);
        if (end == PT_TOKEN_END)
            (void)pt_parser_accept(p, ';');
        const struct pt_token *token = pt_parser_token(p);
        if (token->kind != end) {
            s = pt_parser_expected_operator(p, end == ';' ? "an operator or ';'" : "an operator");
            bool next = token->kind == PT_TOKEN_END || (p->pos > 0 && token->line > token[-1].line);
            if (end == ';' && next && !p->err->hint[0])
                pt_err_hint(p->err, "a statement ends with ';'");
        }
    }
    if (s == PT_OK) {
        p->pos += end == ';';
        pt_builder_finish(&b);
        pt_properties_push(p->props, property);
    } else {
        pt_property_release(property);
    }
    pt_builder_release(&b);
    p->binder_count = 0;
    return s;
}

/* Behind the name and what belongs to it. Who leaves out the name has the formula's first word for it. */
static enum pt_status expect_colon(struct pt_parser *p, const struct pt_token *name, const char *what)
{
    bool formula = pt_word_find(p->source.text + name->offset, name->len) != NULL;
    bool error = pt_parser_token(p)->kind == PT_TOKEN_ERROR;
    enum pt_status s = pt_parser_expect(p, ':', what);
    if (s != PT_OK && !error)
        pt_err_hint(p->err,
                    formula ? "a name and ':' come before the formula: property NAME: %.*s..."
                            : "':' stands between the name and the formula: property %.*s: FORMULA;",
                    name->len < 100 ? (int)name->len : 100, p->source.text + name->offset);
    return s;
}

/* A property of a pattern stands where it is used. That of the pattern's own name gets the one that is given there, and
 * is the first part of that of others. */
static void place_use(struct pt_parser *p, struct pt_property *property)
{
    struct pt_buf name;
    property->file = p->use->file;
    property->line = p->use->line;
    property->column = p->use->column;
    property->of_pattern = true;
    pt_buf_init(&name);
    pt_buf_puts(&name, p->use->name);
    if (strcmp(property->name, p->use->pattern) != 0)
        pt_buf_printf(&name, "_%s", property->name);
    property->name = pt_arena_strndup(p->arena, name.text, name.len);
    pt_buf_release(&name);
}

static enum pt_status fail_known(struct pt_parser *p, const struct pt_token *name, const char *property)
{
    enum pt_status s = pt_parser_fail(p, name, "there is already a property '%s'", property);
    if (p->use)
        pt_err_hint(p->err, "give it another name: use NAME = %s(...)", p->use->pattern);
    return s;
}

enum pt_status pt_parse_property(struct pt_parser *p)
{
    const struct pt_token *name = pt_parser_token(p);
    struct pt_property property = {.file = p->source.file, .line = name->line, .column = name->column};
    struct pt_ast *at = NULL;
    enum pt_status s = PT_OK;
    if (name->kind != PT_TOKEN_NAME) {
        s = pt_parser_expected(p, "the name of the property");
        if (name->kind != PT_TOKEN_ERROR)
            pt_err_hint(p->err, "property NAME: FORMULA;");
        return s;
    }
    property.name = pt_token_text(p, name);
    if (p->use)
        place_use(p, &property);
    if (!name->plain)
        return pt_parser_fail(p, name, "the name of a property is a plain identifier, and '%s' is not", property.name);
    if (pt_properties_has(p->props, property.name))
        return fail_known(p, name, property.name);
    p->pos++;
    if (pt_token_is(p, pt_parser_token(p), "at"))
        s = parse_at(p, &at);
    const struct pt_token *within = pt_parser_token(p);
    if (s == PT_OK && pt_token_is(p, within, "within"))
        s = at ? pt_parser_fail(p, within, "an 'at' property cannot have 'within'") : parse_within(p, &property);
    if (s == PT_OK)
        s = expect_colon(p, name, at || property.within ? "':'" : "'at', 'within' or ':'");
    return s == PT_OK ? parse_rest(p, &property, at, ';') : s;
}

enum pt_status pt_parse_single(struct pt_parser *p)
{
    struct pt_property property = {.name = "formula", .file = p->source.file, .line = 1, .column = 1};
    if (pt_properties_has(p->props, property.name))
        return pt_parser_fail(p, pt_parser_token(p), "there is already a property '%s'", property.name);
    return parse_rest(p, &property, NULL, PT_TOKEN_END);
}
