/* The formula pool (hash-consing) and printing in the property language's own words. */
#include "logic/formula/formula.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

enum { FIRST_SLOTS = 256 };

static pt_formula intern(struct pt_fpool *pool, struct pt_fnode node)
{
    uint32_t hash = pt_unique_hash(node.a, node.b, node.op);
    for (uint32_t at = hash, id; (id = pt_unique_next(&pool->unique, hash, &at)) != PT_NONE;) {
        const struct pt_fnode *n = &pool->nodes[id];
        if (n->op == node.op && n->a == node.a && n->b == node.b)
            return id;
    }
    pt_unique_add(&pool->unique, hash, pool->count);
    PT_PUSH(pool->nodes, pool->count, pool->cap, node);
    return pool->count - 1;
}

void pt_fpool_init(struct pt_fpool *pool)
{
    *pool = (struct pt_fpool){0};
    pt_unique_init(&pool->unique, FIRST_SLOTS);
    pt_formula no = intern(pool, (struct pt_fnode){.op = PT_F_FALSE});
    pt_formula yes = intern(pool, (struct pt_fnode){.op = PT_F_TRUE});
    assert(no == PT_FORMULA_FALSE && yes == PT_FORMULA_TRUE);
}

void pt_fpool_release(struct pt_fpool *pool)
{
    free(pool->nodes);
    pt_unique_release(&pool->unique);
    *pool = (struct pt_fpool){0};
}

pt_formula pt_formula_prop(struct pt_fpool *pool, uint32_t prop)
{
    return intern(pool, (struct pt_fnode){.op = PT_F_PROP, .a = prop});
}

pt_formula pt_formula_unary(struct pt_fpool *pool, enum pt_fop op, pt_formula a)
{
    assert(op >= PT_F_NOT && !pt_fop_is_binary(op) && a < pool->count);
    return intern(pool, (struct pt_fnode){.op = (uint8_t)op,
                                          .has_future = pt_fop_is_future(op) || pool->nodes[a].has_future,
                                          .has_past = pt_fop_is_past(op) || pool->nodes[a].has_past,
                                          .a = a});
}

pt_formula pt_formula_binary(struct pt_fpool *pool, enum pt_fop op, pt_formula a, pt_formula b)
{
    assert(pt_fop_is_binary(op) && a < pool->count && b < pool->count);
    const struct pt_fnode *na = &pool->nodes[a], *nb = &pool->nodes[b];
    return intern(pool, (struct pt_fnode){.op = (uint8_t)op,
                                          .has_future = pt_fop_is_future(op) || na->has_future || nb->has_future,
                                          .has_past = pt_fop_is_past(op) || na->has_past || nb->has_past,
                                          .a = a,
                                          .b = b});
}

/*
 * Per operator: the text before, between and after the operands, how tightly the whole binds and how tightly each
 * operand must; a text that binds less than its place asks for is bracketed. The implication and the temporal operators
 * associate to the right, && and || to the left; nested <-> is always bracketed, so that nobody has to know.
 */
static const struct syntax {
    const char *before, *between, *after;
    uint8_t level, left, right;
} syntax_of[] = {
#define SYNTAX_BINARY(word, level, left, right) "", " " word " ", "", level, left, right
#define SYNTAX_IFF(word)                        SYNTAX_BINARY(word, PT_LEVEL_IFF, PT_LEVEL_IFF + 1, PT_LEVEL_IFF + 1)
#define SYNTAX_IMPLIES(word)                    SYNTAX_BINARY(word, PT_LEVEL_IMPLIES, PT_LEVEL_IMPLIES + 1, PT_LEVEL_IMPLIES)
#define SYNTAX_OR(word)                         SYNTAX_BINARY(word, PT_LEVEL_OR, PT_LEVEL_OR, PT_LEVEL_OR + 1)
#define SYNTAX_AND(word)                        SYNTAX_BINARY(word, PT_LEVEL_AND, PT_LEVEL_AND, PT_LEVEL_AND + 1)
#define SYNTAX_INFIX(word)                      SYNTAX_BINARY(word, PT_LEVEL_TEMPORAL, PT_LEVEL_TEMPORAL + 1, PT_LEVEL_TEMPORAL)
#define SYNTAX_PREFIX(word)                     word " ", "", "", PT_LEVEL_UNARY, PT_LEVEL_UNARY, 0
#define SYNTAX_SIGN(word)                       word, "", "", PT_LEVEL_UNARY, PT_LEVEL_UNARY, 0
#define SYNTAX_CALL(word)                       word "(", "", ")", PT_LEVEL_PRIMARY, PT_LEVEL_IFF, 0
#define SYNTAX_INTERVAL(word)                   "[", ", ", &(word)[3], PT_LEVEL_PRIMARY, PT_LEVEL_IFF, PT_LEVEL_IFF
#define ROW(name, operands, form, word, letter) [PT_F_##name] = {SYNTAX_##form(word)},
#define PT_OPERATOR_NOW                         ROW
#define PT_OPERATOR_FUTURE                      ROW
#define PT_OPERATOR_PAST                        ROW
#include "core/operators.def"
};

/* What is still to be printed: a text, or a formula in a place that asks for `level`. A stack of its own, because a
 * formula may be deeper than the C stack. */
struct pending {
    const char *text; /* NULL: the formula */
    pt_formula formula;
    uint8_t level;
};

struct printer {
    struct pending *stack;
    uint32_t len;
    size_t cap;
};

static void later_text(struct printer *p, const char *text)
{
    if (*text)
        PT_PUSH(p->stack, p->len, p->cap, ((struct pending){.text = text}));
}

static void later_formula(struct printer *p, pt_formula f, uint8_t level)
{
    PT_PUSH(p->stack, p->len, p->cap, ((struct pending){.formula = f, .level = level}));
}

void pt_formula_print(const struct pt_fpool *pool, pt_formula f, const char *const *names, struct pt_buf *buf)
{
    struct printer p = {0};
    later_formula(&p, f, PT_LEVEL_IFF);
    while (p.len > 0) {
        struct pending item = p.stack[--p.len];
        if (item.text) {
            pt_buf_puts(buf, item.text);
            continue;
        }
        const struct pt_fnode *n = &pool->nodes[item.formula];
        if (n->op <= PT_F_PROP) {
            pt_buf_puts(buf, n->op == PT_F_FALSE ? "false" : n->op == PT_F_TRUE ? "true" : names[n->a]);
            continue;
        }
        const struct syntax *s = &syntax_of[n->op];
        bool brackets = s->level < item.level;
        later_text(&p, brackets ? ")" : "");
        later_text(&p, s->after);
        if (pt_fop_is_binary(n->op)) {
            later_formula(&p, n->b, s->right);
            later_text(&p, s->between);
        }
        later_formula(&p, n->a, s->left);
        later_text(&p, s->before);
        later_text(&p, brackets ? "(" : "");
    }
    free(p.stack);
}
