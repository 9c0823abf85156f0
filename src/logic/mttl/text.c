/* Trees of MtTL formulas as text, with as few brackets as they need: what reports call a subformula, and its key. */
#include "logic/mttl/build.h"

static void put_quantifier(const struct pt_ast *node, struct pt_buf *buf)
{
    pt_buf_printf(buf, "%s %s", pt_ast_sign((enum pt_ast_kind)node->kind), node->text);
    if (node->thread.name)
        pt_buf_printf(buf, " != %s", node->thread.name);
    pt_buf_puts(buf, ": ");
    pt_mttl_text(node->a, PT_LEVEL_IFF, buf);
}

static void put_call(const struct pt_ast *node, struct pt_buf *buf)
{
    pt_buf_printf(buf, "%s(", pt_ast_sign((enum pt_ast_kind)node->kind));
    if (node->a)
        pt_mttl_text(node->a, PT_LEVEL_IFF, buf);
    else
        pt_buf_puts(buf, node->var ? node->var->name : node->text ? node->text : "*");
    pt_buf_puts(buf, ")");
}

static void put_interval(const struct pt_ast *node, struct pt_buf *buf)
{
    pt_buf_puts(buf, "[");
    pt_mttl_text(node->a, PT_LEVEL_IFF, buf);
    pt_buf_puts(buf, ", ");
    pt_mttl_text(node->b, PT_LEVEL_IFF, buf);
    pt_buf_puts(buf, node->kind == PT_AST_INTERVAL_WEAK ? ")w" : ")");
}

/* A name, a literal, a call: what needs no brackets. False: something else. */
static bool put_primary(const struct pt_ast *node, struct pt_buf *buf)
{
    switch (node->kind) {
    case PT_AST_NUMBER:
    case PT_AST_STRING:
    case PT_AST_BOOL:
    case PT_AST_LET:
    case PT_AST_RANGE:
        pt_buf_puts(buf, node->text);
        return true;
    case PT_AST_VAR:
        pt_buf_puts(buf, node->var->name);
        return true;
    case PT_AST_EVENT:
    case PT_AST_READ:
    case PT_AST_WRITE:
    case PT_AST_ATOMIC_BLOCK:
        put_call(node, buf);
        return true;
    case PT_AST_INTERVAL:
    case PT_AST_INTERVAL_WEAK:
        put_interval(node, buf);
        return true;
    case PT_AST_KNOWN: {
        bool brackets = pt_ast_level((enum pt_ast_kind)node->a->kind) < PT_LEVEL_PRIMARY;
        pt_buf_printf(buf, "@%s%s", node->thread.name, brackets ? "(" : " ");
        pt_mttl_text(node->a, PT_LEVEL_IFF, buf);
        pt_buf_puts(buf, brackets ? ")" : "");
        return true;
    }
    default: /* an operator that is written as a call */
        if (pt_ast_level((enum pt_ast_kind)node->kind) != PT_LEVEL_PRIMARY)
            return false;
        put_call(node, buf);
        return true;
    }
}

void pt_mttl_text(const struct pt_ast *node, enum pt_level level, struct pt_buf *buf)
{
    enum pt_ast_kind kind = (enum pt_ast_kind)node->kind;
    enum pt_level own = pt_ast_level(kind);
    bool brackets = own < level;
    if (put_primary(node, buf))
        return;
    pt_buf_puts(buf, brackets ? "(" : "");
    if (kind == PT_AST_EXISTS || kind == PT_AST_FORALL) {
        put_quantifier(node, buf);
    } else if (!node->b) {
        pt_buf_printf(buf, "%s%s", pt_ast_sign(kind), kind == PT_AST_NOT || kind == PT_AST_NEG ? "" : " ");
        pt_mttl_text(node->a, kind == PT_AST_NEG ? PT_LEVEL_NEG : PT_LEVEL_COMPARE, buf);
    } else { /* brackets around equals on the left of what associates to the right, and the other way round */
        bool right = kind == PT_AST_IMPLIES || own == PT_LEVEL_TEMPORAL;
        pt_mttl_text(node->a, right ? (enum pt_level)(own + 1) : own, buf);
        pt_buf_printf(buf, " %s ", pt_ast_sign(kind));
        pt_mttl_text(node->b, right ? own : (enum pt_level)(own + 1), buf);
    }
    pt_buf_puts(buf, brackets ? ")" : "");
}
