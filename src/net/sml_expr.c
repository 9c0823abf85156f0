/*
 * SML's expressions, by precedence climbing. Numbers and conditions are one grammar here, with types checked on the
 * way, since a parenthesis may open either. Nothing is kept of them but the global variables they read. Before that,
 * what all rules of the grammar do with tokens.
 */
#include "net/sml_impl.h"

enum pt_status pt_sml_fail_at(struct pt_sml_parser *p, const struct pt_sml_token *token, const char *message)
{
    (void)pt_err_at(p->err, PT_EINPUT, p->lexer.file, token->line, token->column, "%s", message);
    pt_sml_show(&p->lexer, token, p->err);
    return PT_EINPUT;
}

enum pt_status pt_sml_fail_name(struct pt_sml_parser *p, const struct pt_sml_token *token, const char *before,
                                const char *after)
{
    int len = token->len < 100 ? (int)token->len : 100;
    (void)pt_err_at(p->err, PT_EINPUT, p->lexer.file, token->line, token->column, "%s'%.*s'%s", before, len,
                    token->text, after);
    pt_sml_show(&p->lexer, token, p->err);
    return PT_EINPUT;
}

enum pt_status pt_sml_fail_expected(struct pt_sml_parser *p, const char *what)
{
    struct pt_buf message;
    pt_buf_init(&message);
    pt_buf_printf(&message, "expected %s%s", what, p->token.kind == PT_SML_EOF ? ", but the program ends here" : "");
    enum pt_status status = pt_sml_fail_at(p, &p->token, message.text);
    pt_buf_release(&message);
    return status;
}

enum pt_status pt_sml_advance(struct pt_sml_parser *p)
{
    p->previous_end = p->token.text + p->token.len;
    return pt_sml_next(&p->lexer, &p->token, p->err);
}

enum pt_status pt_sml_expect(struct pt_sml_parser *p, enum pt_sml_kind kind, const char *what)
{
    return p->token.kind == kind ? pt_sml_advance(p) : pt_sml_fail_expected(p, what);
}

enum pt_status pt_sml_accept(struct pt_sml_parser *p, enum pt_sml_kind kind, bool *ret_taken)
{
    *ret_taken = p->token.kind == kind;
    return *ret_taken ? pt_sml_advance(p) : PT_OK;
}

enum pt_status pt_sml_enter(struct pt_sml_parser *p)
{
    if (++p->depth > PT_SML_DEPTH)
        return pt_sml_fail_at(p, &p->token,
                              "statements and parentheses are nested too deeply here (more than 1000 levels)");
    return PT_OK;
}

/* --- Expressions ---------------------------------------------------------------------------------------------- */

enum type { TYPE_INT, TYPE_BOOL };

static enum pt_status parse_operand(struct pt_sml_parser *p, enum type *ret_type);

/* Binding strength of the binary operators, all left-associative, and of what `!` and `-` apply to. */
enum {
    STRENGTH_NONE,
    STRENGTH_OR,
    STRENGTH_AND,
    STRENGTH_NOT,
    STRENGTH_COMPARE,
    STRENGTH_SUM,
    STRENGTH_PRODUCT,
    STRENGTH_MINUS
};

static uint32_t strength(enum pt_sml_kind kind)
{
    switch (kind) {
    case PT_SML_BARS:
    case PT_SML_KW_OR:
        return STRENGTH_OR;
    case PT_SML_KW_AND:
        return STRENGTH_AND;
    case PT_SML_COMPARE:
        return STRENGTH_COMPARE;
    case PT_SML_PLUS:
    case PT_SML_MINUS:
        return STRENGTH_SUM;
    case PT_SML_STAR:
    case PT_SML_SLASH:
        return STRENGTH_PRODUCT;
    default:
        return STRENGTH_NONE;
    }
}

static enum pt_status check_type(struct pt_sml_parser *p, const struct pt_sml_token *at, enum type is, enum type wanted)
{
    if (is == wanted)
        return PT_OK;
    return pt_sml_fail_at(p, at,
                          wanted == TYPE_BOOL ? "expected a condition here, such as x != 0"
                                              : "expected a number here, but this is a condition");
}

/* An expression of operators that bind at least as strongly as `least`. */
static enum pt_status parse_binary(struct pt_sml_parser *p, uint32_t least, enum type *ret_type)
{
    enum type left, right;
    struct pt_sml_token left_at = p->token;
    enum pt_status status = pt_sml_enter(p);
    if (status == PT_OK)
        status = parse_operand(p, &left);
    while (status == PT_OK && strength(p->token.kind) >= least) {
        uint32_t s = strength(p->token.kind);
        enum type wanted = s <= STRENGTH_AND ? TYPE_BOOL : TYPE_INT;
        status = check_type(p, &left_at, left, wanted);
        if (status == PT_OK)
            status = pt_sml_advance(p);
        struct pt_sml_token right_at = p->token;
        if (status == PT_OK)
            status = parse_binary(p, s + 1, &right);
        if (status == PT_OK)
            status = check_type(p, &right_at, right, wanted);
        left = s <= STRENGTH_COMPARE ? TYPE_BOOL : TYPE_INT;
    }
    if (status != PT_OK)
        return status;
    p->depth--;
    *ret_type = left;
    return PT_OK;
}

static enum pt_status parse_typed(struct pt_sml_parser *p, uint32_t least, enum type wanted)
{
    struct pt_sml_token at = p->token;
    enum type type;
    enum pt_status status = parse_binary(p, least, &type);
    return status == PT_OK ? check_type(p, &at, type, wanted) : status;
}

static enum pt_status parse_name(struct pt_sml_parser *p)
{
    uint32_t name = pt_strtab_find(&p->names, p->token.text, p->token.len);
    if (name != PT_NONE && p->is_lock[name])
        return pt_sml_fail_name(p, &p->token, "", " is a lock, which has no value");
    if (name != PT_NONE)
        PT_PUSH(p->reads, p->read_count, p->read_cap, p->ids[name]);
    return pt_sml_advance(p);
}

/* A number, a name, true, false, -e, !b, (e) or (b). */
static enum pt_status parse_operand(struct pt_sml_parser *p, enum type *ret_type)
{
    enum pt_sml_kind kind = p->token.kind;
    enum pt_status status;
    *ret_type = TYPE_INT;
    switch (kind) {
    case PT_SML_INT:
        return pt_sml_advance(p);
    case PT_SML_ID:
        return parse_name(p);
    case PT_SML_KW_TRUE:
    case PT_SML_KW_FALSE:
        *ret_type = TYPE_BOOL;
        return pt_sml_advance(p);
    case PT_SML_MINUS:
        status = pt_sml_advance(p);
        return status == PT_OK ? parse_typed(p, STRENGTH_MINUS, TYPE_INT) : status;
    case PT_SML_NOT:
        *ret_type = TYPE_BOOL;
        status = pt_sml_advance(p);
        return status == PT_OK ? parse_typed(p, STRENGTH_NOT, TYPE_BOOL) : status;
    case PT_SML_OPEN:
        status = pt_sml_advance(p);
        if (status == PT_OK)
            status = parse_binary(p, STRENGTH_OR, ret_type);
        return status == PT_OK ? pt_sml_expect(p, PT_SML_CLOSE, "')'") : status;
    default:
        return pt_sml_fail_expected(p, "a number or a name");
    }
}

enum pt_status pt_sml_parse_number(struct pt_sml_parser *p)
{
    return parse_typed(p, STRENGTH_SUM, TYPE_INT); /* a `||` behind it begins the next thread */
}

enum pt_status pt_sml_parse_condition(struct pt_sml_parser *p)
{
    return parse_typed(p, STRENGTH_OR, TYPE_BOOL);
}
