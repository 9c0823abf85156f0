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

/* How tightly an operator binds (contract section 2); a text that binds less than its place asks for is bracketed. */
enum level { LEVEL_IFF, LEVEL_IMPLIES, LEVEL_OR, LEVEL_AND, LEVEL_TEMPORAL, LEVEL_UNARY };

/*
 * Per operator: the text before, between and after the operands, how tightly the whole binds and how tightly each
 * operand must. The implication and the temporal operators associate to the right, && and || to the left; nested
 * <-> is always bracketed, so that nobody has to know.
 */
static const struct syntax {
    const char *before, *between, *after;
    uint8_t level, left, right;
} syntax_of[] = {
    [PT_F_NOT] = {"!", "", "", LEVEL_UNARY, LEVEL_UNARY, 0},
    [PT_F_AND] = {"", " && ", "", LEVEL_AND, LEVEL_AND, LEVEL_AND + 1},
    [PT_F_OR] = {"", " || ", "", LEVEL_OR, LEVEL_OR, LEVEL_OR + 1},
    [PT_F_IMPLIES] = {"", " -> ", "", LEVEL_IMPLIES, LEVEL_IMPLIES + 1, LEVEL_IMPLIES},
    [PT_F_IFF] = {"", " <-> ", "", LEVEL_IFF, LEVEL_IFF + 1, LEVEL_IFF + 1},
    [PT_F_NEXT] = {"next ", "", "", LEVEL_UNARY, LEVEL_UNARY, 0},
    [PT_F_EVENTUALLY] = {"eventually ", "", "", LEVEL_UNARY, LEVEL_UNARY, 0},
    [PT_F_ALWAYS] = {"always ", "", "", LEVEL_UNARY, LEVEL_UNARY, 0},
    [PT_F_UNTIL] = {"", " until ", "", LEVEL_TEMPORAL, LEVEL_TEMPORAL + 1, LEVEL_TEMPORAL},
    [PT_F_WEAKUNTIL] = {"", " weakuntil ", "", LEVEL_TEMPORAL, LEVEL_TEMPORAL + 1, LEVEL_TEMPORAL},
    [PT_F_RELEASE] = {"", " release ", "", LEVEL_TEMPORAL, LEVEL_TEMPORAL + 1, LEVEL_TEMPORAL},
    [PT_F_PREVIOUSLY] = {"previously ", "", "", LEVEL_UNARY, LEVEL_UNARY, 0},
    [PT_F_ONCE] = {"once ", "", "", LEVEL_UNARY, LEVEL_UNARY, 0},
    [PT_F_HISTORICALLY] = {"historically ", "", "", LEVEL_UNARY, LEVEL_UNARY, 0},
    [PT_F_SINCE] = {"", " since ", "", LEVEL_TEMPORAL, LEVEL_TEMPORAL + 1, LEVEL_TEMPORAL},
    [PT_F_START] = {"start(", "", ")", LEVEL_UNARY, LEVEL_IFF, 0},
    [PT_F_END] = {"end(", "", ")", LEVEL_UNARY, LEVEL_IFF, 0},
    [PT_F_INTERVAL] = {"[", ", ", ")", LEVEL_UNARY, LEVEL_IFF, LEVEL_IFF},
    [PT_F_INTERVAL_WEAK] = {"[", ", ", ")w", LEVEL_UNARY, LEVEL_IFF, LEVEL_IFF},
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
    later_formula(&p, f, LEVEL_IFF);
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
