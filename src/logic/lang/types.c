/*
 * Types, and which operators may stand where. A value where a formula is needed means `!= 0`; a formula where a value
 * is needed is an error. A `let` was checked at its definition; where it is used, only what it contains matters.
 */
#include "logic/lang/ast.h"

#include <assert.h>
#include <stdarg.h>

static enum pt_status fail(const struct pt_check *check, const struct pt_ast *node, const char *fmt, ...)
    PT_PRINTF(3, 4);

static enum pt_status fail(const struct pt_check *check, const struct pt_ast *node, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    enum pt_status s = pt_prop_source_fail(check->source, node->place, check->err, fmt, ap);
    va_end(ap);
    return s;
}

/* What a message calls the node: the operator, or the let that hides it. */
static const char *name_of(const struct pt_ast *node)
{
    return node->kind == PT_AST_LET ? node->text : pt_ast_sign((enum pt_ast_kind)node->kind);
}

static bool is_future(const struct pt_ast *node)
{
    return pt_ast_is_logical((enum pt_ast_kind)node->kind) &&
           pt_fop_is_future(pt_ast_fop((enum pt_ast_kind)node->kind));
}

static bool is_past(const struct pt_ast *node)
{
    return pt_ast_is_logical((enum pt_ast_kind)node->kind) && pt_fop_is_past(pt_ast_fop((enum pt_ast_kind)node->kind));
}

static bool is_mttl(const struct pt_ast *node)
{
    return node->kind >= PT_AST_READ && node->kind <= PT_AST_FORALL && node->kind != PT_AST_RACE_FREE;
}

/* Of what has been checked below. */
static bool is_only_races(const struct pt_ast *node)
{
    switch (node->kind) {
    case PT_AST_RACE_FREE:
        return true;
    case PT_AST_AND:
        return node->a->only_races && node->b->only_races;
    case PT_AST_LET:
    case PT_AST_ALWAYS:
        return node->a->only_races;
    default:
        return false;
    }
}

/* Whether the node may stand here: by itself, or, for a let, by what it stands for. */
static enum pt_status check_place(const struct pt_check *check, const struct pt_ast *past, const struct pt_ast *node)
{
    bool let = node->kind == PT_AST_LET;
    bool future = let ? node->a->has_future : is_future(node);
    bool before = let ? node->a->has_past : is_past(node);
    bool mttl = let ? node->a->has_mttl : is_mttl(node);
    bool races = let ? node->a->has_races : node->kind == PT_AST_RACE_FREE;
    const char *contains = let ? " contains a" : " is a";
    if (node->kind == PT_AST_EVENT && node->function && node->function->condition_count && check->no_conditions)
        return fail(check, node, "arguments of calls may not be asked for in %s", check->place);
    if (races && check->no_races)
        return fail(check, node, "'%s' may not stand in %s", let ? node->text : "race_free", check->place);
    if (mttl && check->no_mttl) {
        (void)(let ? fail(check, node, "'%s' contains an operator that may stand only in an 'at' property", node->text)
                   : fail(check, node, "'%s' may stand only in an 'at' property", name_of(node)));
        pt_err_hint(check->err, "it is about what one thread knows: property NAME at THREAD: FORMULA;");
        return PT_EINPUT;
    }
    if (future && past)
        return fail(check, node, "'%s'%s future operator and may not stand inside the past operator '%s'",
                    name_of(node), contains, pt_ast_sign((enum pt_ast_kind)past->kind));
    if (future && check->no_future) {
        (void)fail(check, node, "'%s'%s future operator and may not stand in %s", name_of(node), contains,
                   check->place);
        if (node->kind == PT_AST_ALWAYS && !check->no_past)
            pt_err_hint(check->err, "leave it out: the formula is asked in every state of its thread");
        return PT_EINPUT;
    }
    if (before && check->no_past)
        return fail(check, node, "'%s'%s past operator and may not stand in %s", name_of(node), contains, check->place);
    return PT_OK;
}

static enum pt_status need_value(const struct pt_check *check, const struct pt_ast *parent, const struct pt_ast *node)
{
    if (node->type == PT_TYPE_FORMULA) {
        enum pt_status s = fail(check, node, "a formula stands here where '%s' needs a value",
                                pt_ast_sign((enum pt_ast_kind)parent->kind));
        if (parent->kind == PT_AST_EQ || parent->kind == PT_AST_NE)
            pt_err_hint(check->err, "formulas are compared with '<->'");
        return s;
    }
    if (node->type == PT_TYPE_STRING && !pt_ast_is_comparison((enum pt_ast_kind)parent->kind))
        return fail(check, node, "'%s' does not work on strings, which can only be compared",
                    pt_ast_sign((enum pt_ast_kind)parent->kind));
    return PT_OK;
}

static enum pt_status need_formula(const struct pt_check *check, const struct pt_ast *node)
{
    if (node->type == PT_TYPE_STRING)
        return fail(check, node, "a string stands here where a formula is needed");
    return PT_OK;
}

static enum pt_status check_operands(const struct pt_check *check, const struct pt_ast *node)
{
    const struct pt_ast *operands[] = {node->a, node->b};
    enum pt_ast_kind kind = (enum pt_ast_kind)node->kind;
    bool values = pt_ast_is_arithmetic(kind) || pt_ast_is_comparison(kind);
    for (int i = 0; i < 2 && operands[i]; i++) {
        if (kind == PT_AST_LET || kind == PT_AST_RANGE || kind == PT_AST_KNOWN)
            continue;
        enum pt_status s = values ? need_value(check, node, operands[i]) : need_formula(check, operands[i]);
        if (s != PT_OK)
            return s;
    }
    if (pt_ast_is_comparison(kind)) {
        assert(node->a && node->b);
        uint8_t x = node->a->type, y = node->b->type;
        if ((x == PT_TYPE_STRING && y == PT_TYPE_NUMBER) || (x == PT_TYPE_NUMBER && y == PT_TYPE_STRING))
            return fail(check, node, "a string is compared with a number");
    }
    return PT_OK;
}

static enum pt_type type_of(const struct pt_ast *node)
{
    switch (node->kind) {
    case PT_AST_NUMBER:
    case PT_AST_BOOL:
    case PT_AST_RANGE:
        return PT_TYPE_NUMBER;
    case PT_AST_STRING:
        return PT_TYPE_STRING;
    case PT_AST_VAR:
        return PT_TYPE_ANY;
    case PT_AST_LET:
    case PT_AST_KNOWN:
        assert(node->a);
        return (enum pt_type)node->a->type;
    default:
        return pt_ast_is_arithmetic((enum pt_ast_kind)node->kind) ? PT_TYPE_NUMBER : PT_TYPE_FORMULA;
    }
}

/* `past`: the innermost past operator around the node, NULL where there is none. */
static enum pt_status visit(const struct pt_check *check, const struct pt_ast *past, struct pt_ast *node)
{
    enum pt_status s = check_place(check, past, node);
    if (s != PT_OK)
        return s;
    struct pt_ast *operands[] = {node->a, node->b};
    bool checked = node->kind == PT_AST_LET || node->kind == PT_AST_RANGE; /* below it, where it was made */
    node->has_future = is_future(node);
    node->has_past = is_past(node);
    node->has_mttl = is_mttl(node);
    node->has_races = node->kind == PT_AST_RACE_FREE;
    for (int i = 0; i < 2 && operands[i]; i++) {
        if (!checked && (s = visit(check, is_past(node) ? node : past, operands[i])) != PT_OK)
            return s;
        node->has_future |= operands[i]->has_future;
        node->has_past |= operands[i]->has_past;
        node->has_mttl |= operands[i]->has_mttl;
        node->has_races |= operands[i]->has_races;
    }
    node->only_races = is_only_races(node);
    node->type = (uint8_t)type_of(node);
    return check_operands(check, node);
}

enum pt_status pt_ast_check(const struct pt_check *check, struct pt_ast *node)
{
    return visit(check, NULL, node);
}

enum pt_status pt_ast_check_formula(const struct pt_check *check, struct pt_ast *node)
{
    enum pt_status s = pt_ast_check(check, node);
    return s == PT_OK ? need_formula(check, node) : s;
}

enum pt_status pt_ast_check_races(const struct pt_check *check, struct pt_ast *node, bool *ret_races)
{
    enum pt_status s = pt_ast_check_formula(check, node);
    *ret_races = s == PT_OK && node->only_races;
    if (s != PT_OK || *ret_races || !node->has_races)
        return s;
    while (node->kind != PT_AST_RACE_FREE && node->kind != PT_AST_LET)
        node = node->a->has_races ? node->a : node->b;
    s = fail(check, node, "'%s' is about two accesses, not about a state, and may not be part of another formula",
             node->kind == PT_AST_LET ? node->text : "race_free");
    pt_err_hint(check->err, "it stands alone, or with other race_free(...) between '&&'; the rest can be a property of "
                            "its own");
    return s;
}
