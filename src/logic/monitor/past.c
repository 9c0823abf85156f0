/*
 * The machine of past.h, for one letter and for all letters at once as BDDs. What an operator means is said in both,
 * and for decentralised properties in core/mttl_past.c: test_past.c compares the first two with the definition, the
 * oracle of tests/oracle the third. Exact. Cost: linear in the number of subformulas, per state or, symbolically, in
 * BDD operations per memory.
 */
#include "logic/monitor/past.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Marks the subformulas of `root` with an explicit stack: formulas may be deep. */
static void mark(const struct pt_fpool *pool, pt_formula root, uint32_t *local)
{
    pt_formula *stack = NULL;
    size_t len = 0, cap = 0;
    PT_PUSH(stack, len, cap, root);
    while (len) {
        pt_formula f = stack[--len];
        if (local[f] != PT_NONE)
            continue;
        local[f] = 0;
        const struct pt_fnode *n = &pool->nodes[f];
        if (n->op > PT_F_PROP) {
            PT_PUSH(stack, len, cap, n->a);
            if (pt_fop_is_binary(n->op))
                PT_PUSH(stack, len, cap, n->b);
        }
    }
    free(stack);
}

enum pt_status pt_past_init(struct pt_past *past, const struct pt_fpool *pool, const pt_formula *roots,
                            uint32_t root_count, struct pt_err *err)
{
    uint32_t *local = pt_xmalloc(pool->count * sizeof *local);
    memset(local, 0xff, pool->count * sizeof *local);
    for (uint32_t i = 0; i < root_count; i++)
        mark(pool, roots[i], local);
    *past = (struct pt_past){.pool = pool, .local = local};
    /* A pool's ids are given to operands first, so ascending ids are a topological order. */
    size_t cap = 0;
    for (pt_formula f = 0; f < pool->count; f++)
        if (local[f] != PT_NONE) {
            local[f] = past->node_count;
            PT_PUSH(past->nodes, past->node_count, cap, f);
        }
    past->memory = pt_xmalloc((past->node_count + 1) * sizeof *past->memory);
    for (uint32_t k = 0; k < past->node_count; k++)
        past->memory[k] = pt_fop_is_past(pool->nodes[past->nodes[k]].op) ? past->memory_bits++ : PT_NONE;
    if (past->memory_bits > 64) {
        uint32_t bits = past->memory_bits;
        pt_past_release(past);
        return pt_err_set(err, PT_ELIMIT, "the property has %u different past subformulas, more than 64", bits);
    }
    return PT_OK;
}

void pt_past_release(struct pt_past *past)
{
    free(past->nodes);
    free(past->local);
    free(past->memory);
    *past = (struct pt_past){0};
}

struct pt_past_memory pt_past_start(const struct pt_past *past)
{
    return (struct pt_past_memory){0, past->memory_bits > 0};
}

struct pt_past_memory pt_past_step(const struct pt_past *past, struct pt_past_memory memory, uint64_t letter,
                                   bool *values)
{
    struct pt_past_memory next = {0, false};
    for (uint32_t k = 0; k < past->node_count; k++) {
        const struct pt_fnode *n = &past->pool->nodes[past->nodes[k]];
        bool a = n->op > PT_F_PROP && values[past->local[n->a]];
        bool b = n->op > PT_F_PROP && pt_fop_is_binary(n->op) && values[past->local[n->b]];
        bool m = past->memory[k] != PT_NONE && (memory.bits >> past->memory[k] & 1), keep = false, v = false;
        switch ((enum pt_fop)n->op) {
        case PT_F_FALSE:
            break;
        case PT_F_TRUE:
            v = true;
            break;
        case PT_F_PROP:
            v = letter >> n->a & 1;
            break;
        case PT_F_NOT:
            v = !a;
            break;
        case PT_F_AND:
            v = a && b;
            break;
        case PT_F_OR:
            v = a || b;
            break;
        case PT_F_IMPLIES:
            v = !a || b;
            break;
        case PT_F_IFF:
            v = a == b;
            break;
        case PT_F_PREVIOUSLY:
            v = memory.first ? a : m;
            keep = a;
            break;
        case PT_F_ONCE:
            v = keep = a || (!memory.first && m);
            break;
        case PT_F_HISTORICALLY:
            v = keep = a && (memory.first || m);
            break;
        case PT_F_SINCE:
            v = keep = b || (a && !memory.first && m);
            break;
        case PT_F_START:
            v = a && !memory.first && !m;
            keep = a;
            break;
        case PT_F_END:
            v = !a && !memory.first && m;
            keep = a;
            break;
        case PT_F_INTERVAL: /* !b since (a && !b) */
            v = keep = !b && (a || (!memory.first && m));
            break;
        case PT_F_INTERVAL_WEAK: /* the same, as if it had begun before the first state */
            v = keep = !b && (a || memory.first || m);
            break;
        default: /* future: excluded by the caller */
            break;
        }
        values[k] = v;
        if (past->memory[k] != PT_NONE)
            next.bits |= (uint64_t)keep << past->memory[k];
    }
    return next;
}

void pt_past_step_symbolic(const struct pt_past *past, struct pt_past_memory memory, struct pt_bdds *bdds,
                           pt_bdd *values, pt_bdd *next)
{
    for (uint32_t k = 0; k < past->node_count; k++) {
        const struct pt_fnode *n = &past->pool->nodes[past->nodes[k]];
        pt_bdd a = n->op > PT_F_PROP ? values[past->local[n->a]] : PT_BDD_FALSE;
        pt_bdd b = n->op > PT_F_PROP && pt_fop_is_binary(n->op) ? values[past->local[n->b]] : PT_BDD_FALSE;
        bool m = past->memory[k] != PT_NONE && (memory.bits >> past->memory[k] & 1);
        pt_bdd v = PT_BDD_FALSE, keep = PT_BDD_FALSE;
        switch ((enum pt_fop)n->op) {
        case PT_F_TRUE:
            v = PT_BDD_TRUE;
            break;
        case PT_F_PROP:
            v = pt_bdd_var(bdds, n->a);
            break;
        case PT_F_NOT:
            v = pt_bdd_not(bdds, a);
            break;
        case PT_F_AND:
            v = pt_bdd_and(bdds, a, b);
            break;
        case PT_F_OR:
            v = pt_bdd_or(bdds, a, b);
            break;
        case PT_F_IMPLIES:
            v = pt_bdd_ite(bdds, a, b, PT_BDD_TRUE);
            break;
        case PT_F_IFF:
            v = pt_bdd_ite(bdds, a, b, pt_bdd_not(bdds, b));
            break;
        case PT_F_PREVIOUSLY:
            v = memory.first ? a : m ? PT_BDD_TRUE : PT_BDD_FALSE;
            keep = a;
            break;
        case PT_F_ONCE:
            v = keep = !memory.first && m ? PT_BDD_TRUE : a;
            break;
        case PT_F_HISTORICALLY:
            v = keep = memory.first || m ? a : PT_BDD_FALSE;
            break;
        case PT_F_SINCE:
            v = keep = !memory.first && m ? pt_bdd_or(bdds, a, b) : b;
            break;
        case PT_F_START:
            v = !memory.first && !m ? a : PT_BDD_FALSE;
            keep = a;
            break;
        case PT_F_END:
            v = !memory.first && m ? pt_bdd_not(bdds, a) : PT_BDD_FALSE;
            keep = a;
            break;
        case PT_F_INTERVAL:
        case PT_F_INTERVAL_WEAK: {
            bool open = memory.first ? n->op == PT_F_INTERVAL_WEAK : m;
            pt_bdd not_b = pt_bdd_not(bdds, b);
            v = keep = open ? not_b : pt_bdd_and(bdds, a, not_b);
            break;
        }
        default: /* false, and future: excluded by the caller */
            break;
        }
        values[k] = v;
        if (past->memory[k] != PT_NONE)
            next[past->memory[k]] = keep;
    }
}
