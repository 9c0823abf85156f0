/*
 * Brzozowski derivatives of an expression by all valuations at once. The derivative is a reduced ordered decision
 * diagram over the propositions whose leaves are expressions (a multi-terminal BDD): a letter's is its label's BDD
 * with leaves epsilon and empty, and every operator works leaf by leaf. So the valuation space is split only where
 * letters at the front of the expression split it, and no valuation is ever enumerated. Lists of | and & are derived
 * up to the first tail whose derivative is known, so a state that shares its tail with an earlier one costs little,
 * and their operands are joined in pairs, so that a list of n operands costs O(n log n).
 *
 * Recursion is as deep as there are propositions, at most 64; expressions are walked with a stack of their own.
 */
#include "logic/ere/node.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum step { STEP_OR, STEP_AND, STEP_CONCAT, STEP_NOT, STEP_LETTER };

enum { FIRST_SLOTS = 256, CACHE_LIMIT = 1 << 20 /* entries, after which a cache starts anew */ };

void pt_ere_deriver_init(struct ere_deriver *der, struct pt_ere_pool *pool, struct pt_bdds *bdds, const pt_bdd *meaning)
{
    *der = (struct ere_deriver){.pool = pool, .bdds = bdds, .meaning = meaning};
    pt_unique_init(&der->unique, FIRST_SLOTS);
    pt_map64_init(&der->cache);
    pt_map64_init(&der->labels);
}

void pt_ere_deriver_release(struct ere_deriver *der)
{
    free(der->nodes);
    pt_unique_release(&der->unique);
    free(der->memo);
    free(der->stack);
    free(der->parts);
    pt_map64_release(&der->cache);
    pt_map64_release(&der->labels);
}

static uint32_t decision(struct ere_deriver *der, uint32_t var, uint32_t lo, uint32_t hi)
{
    if (var != PT_NONE && lo == hi)
        return lo;
    uint32_t hash = pt_unique_hash(lo, hi, var);
    for (uint32_t at = hash, id; (id = pt_unique_next(&der->unique, hash, &at)) != PT_NONE;) {
        const struct ere_decision *node = &der->nodes[id];
        if (node->var == var && node->lo == lo && node->hi == hi)
            return id;
    }
    if (der->count >= ERE_MAX_DECISIONS) {
        der->overflow = true;
        return 0;
    }
    pt_unique_add(&der->unique, hash, der->count);
    PT_PUSH(der->nodes, der->count, der->cap, ((struct ere_decision){.var = var, .lo = lo, .hi = hi}));
    return der->count - 1;
}

static uint32_t leaf(struct ere_deriver *der, pt_ere ere)
{
    return decision(der, PT_NONE, ere, 0);
}

static bool is_leaf(const struct ere_deriver *der, uint32_t x)
{
    return der->nodes[x].var == PT_NONE;
}

/* Whether any limit has been passed: operations then return at once, so that giving up is quick. */
static bool exhausted(const struct ere_deriver *der)
{
    return der->overflow || der->pool->overflow || der->bdd_overflow;
}

static uint64_t cache_key(enum step step, uint32_t x, uint32_t y)
{
    return (uint64_t)step << 60 | (uint64_t)x << 30 | y;
}

static void keep(struct pt_map64 *map, uint64_t key, uint32_t value)
{
    if (map->count >= CACHE_LIMIT) {
        pt_map64_release(map);
        pt_map64_init(map);
    }
    *pt_map64_at(map, key) = value;
}

static uint32_t of_bdd(struct ere_deriver *der, pt_bdd f)
{
    if (f == PT_BDD_FALSE || f == PT_BDD_TRUE)
        return leaf(der, f == PT_BDD_TRUE ? ERE_ID_EPSILON : ERE_ID_EMPTY);
    uint64_t key = (uint64_t)STEP_LETTER << 60 | f;
    uint32_t known = pt_map64_get(&der->cache, key);
    if (known != PT_NONE || exhausted(der))
        return known != PT_NONE ? known : 0;
    uint32_t lo = of_bdd(der, pt_bdd_low(der->bdds, f));
    uint32_t hi = of_bdd(der, pt_bdd_high(der->bdds, f));
    uint32_t result = decision(der, pt_bdd_top(der->bdds, f), lo, hi);
    keep(&der->cache, key, result);
    return result;
}

/* x | y or x & y, leaf by leaf. */
static uint32_t combine(struct ere_deriver *der, enum step step, uint32_t x, uint32_t y)
{
    if (x == y || exhausted(der))
        return x;
    struct ere_decision dx = der->nodes[x], dy = der->nodes[y];
    if (dx.var == PT_NONE && dy.var == PT_NONE)
        return leaf(der, step == STEP_OR ? pt_ere_or(der->pool, dx.lo, dy.lo) : pt_ere_and(der->pool, dx.lo, dy.lo));
    pt_ere unit = step == STEP_OR ? ERE_ID_EMPTY : ERE_ID_ALL, zero = step == STEP_OR ? ERE_ID_ALL : ERE_ID_EMPTY;
    if ((dx.var == PT_NONE && dx.lo == unit) || (dy.var == PT_NONE && dy.lo == zero))
        return y;
    if ((dy.var == PT_NONE && dy.lo == unit) || (dx.var == PT_NONE && dx.lo == zero))
        return x;
    uint64_t key = x < y ? cache_key(step, x, y) : cache_key(step, y, x);
    uint32_t known = pt_map64_get(&der->cache, key);
    if (known != PT_NONE)
        return known;
    uint32_t var = dx.var < dy.var ? dx.var : dy.var; /* PT_NONE is above every variable */
    uint32_t lo = combine(der, step, dx.var == var ? dx.lo : x, dy.var == var ? dy.lo : y);
    uint32_t hi = combine(der, step, dx.var == var ? dx.hi : x, dy.var == var ? dy.hi : y);
    uint32_t result = decision(der, var, lo, hi);
    keep(&der->cache, key, result);
    return result;
}

/* x.right or ~x, leaf by leaf. */
static uint32_t map_leaves(struct ere_deriver *der, enum step step, uint32_t x, pt_ere right)
{
    if (exhausted(der))
        return x;
    struct ere_decision dx = der->nodes[x];
    if (dx.var == PT_NONE)
        return leaf(der, step == STEP_NOT ? pt_ere_not(der->pool, dx.lo) : pt_ere_concat(der->pool, dx.lo, right));
    uint64_t key = cache_key(step, x, right);
    uint32_t known = pt_map64_get(&der->cache, key);
    if (known != PT_NONE)
        return known;
    uint32_t lo = map_leaves(der, step, dx.lo, right);
    uint32_t hi = map_leaves(der, step, dx.hi, right);
    uint32_t result = decision(der, dx.var, lo, hi);
    keep(&der->cache, key, result);
    return result;
}

/* The derivative of an OR or AND, those of the operands being in the memo. */
static uint32_t derive_list(struct ere_deriver *der, pt_ere list)
{
    const struct ere_node *nodes = der->pool->nodes;
    uint8_t op = nodes[list].op;
    uint32_t count = 0;
    do {
        PT_PUSH(der->parts, count, der->parts_cap, der->memo[nodes[list].a]);
        list = nodes[list].b;
    } while (nodes[list].op == op && der->memo[list] == PT_NONE);
    PT_PUSH(der->parts, count, der->parts_cap, der->memo[list]);
    while (count > 1) {
        uint32_t pairs = 0;
        for (uint32_t i = 0; i < count; i += 2)
            der->parts[pairs++] =
                i + 1 == count ? der->parts[i]
                               : combine(der, op == ERE_OR ? STEP_OR : STEP_AND, der->parts[i], der->parts[i + 1]);
        count = pairs;
    }
    return der->parts[0];
}

/* By Brzozowski's rules; the derivatives of the operands are in the memo. */
static uint32_t derive_node(struct ere_deriver *der, pt_ere ere)
{
    struct ere_node node = der->pool->nodes[ere];
    uint32_t a = ere_arity(&node) ? der->memo[node.a] : PT_NONE;
    uint32_t result;
    switch ((enum ere_op)node.op) {
    case ERE_LETTER:
        return of_bdd(der, der->meaning[node.a]);
    case ERE_OR:
    case ERE_AND:
        return derive_list(der, ere);
    case ERE_CONCAT:
        result = map_leaves(der, STEP_CONCAT, a, node.b);
        return der->pool->nodes[node.a].nullable ? combine(der, STEP_OR, result, der->memo[node.b]) : result;
    case ERE_NOT:
        return map_leaves(der, STEP_NOT, a, 0);
    case ERE_STAR:
        return map_leaves(der, STEP_CONCAT, a, ere);
    case ERE_POWER:
        return map_leaves(der, STEP_CONCAT, a, pt_ere_repeat(der->pool, node.a, node.b - 1, node.b - 1));
    case ERE_UPTO: /* right for a nullable operand too: the first factor that is not empty may come first */
        return map_leaves(der, STEP_CONCAT, a, pt_ere_repeat(der->pool, node.a, 0, node.b - 1));
    case ERE_EMPTY:
    case ERE_EPSILON:
        break;
    }
    return leaf(der, ERE_ID_EMPTY);
}

static void cover_memo(struct ere_deriver *der)
{
    size_t old = der->memo_cap;
    PT_GROW(der->memo, der->memo_cap, der->pool->count);
    if (der->memo_cap > old)
        memset(der->memo + old, 0xff, (der->memo_cap - old) * sizeof *der->memo); /* PT_NONE */
}

/* Pushes `ere` unless its derivative is known; whether it did. */
static bool need(struct ere_deriver *der, size_t *depth, pt_ere ere)
{
    if (der->memo[ere] != PT_NONE)
        return false;
    PT_PUSH(der->stack, *depth, der->stack_cap, ere);
    return true;
}

/* Pushes the operands whose derivatives derive_node will want and does not have; whether there were any. */
static bool need_operands(struct ere_deriver *der, size_t *depth, pt_ere ere)
{
    const struct ere_node *nodes = der->pool->nodes, *node = &nodes[ere];
    bool waits = ere_arity(node) > 0 && need(der, depth, node->a);
    if (node->op == ERE_CONCAT && nodes[node->a].nullable)
        return need(der, depth, node->b) || waits;
    if (node->op != ERE_OR && node->op != ERE_AND)
        return waits;
    pt_ere list = node->b;
    for (; nodes[list].op == node->op && der->memo[list] == PT_NONE; list = nodes[list].b) {
        waits = need(der, depth, nodes[list].a) || waits;
        der->pool->work++;
    }
    return need(der, depth, list) || waits;
}

uint32_t pt_ere_derive(struct ere_deriver *der, pt_ere ere)
{
    size_t depth = 0;
    PT_PUSH(der->stack, depth, der->stack_cap, ere);
    while (depth > 0 && !exhausted(der)) {
        cover_memo(der);
        pt_ere top = der->stack[depth - 1];
        if (der->memo[top] == PT_NONE) {
            if (need_operands(der, &depth, top))
                continue;
            der->memo[top] = derive_node(der, top);
        }
        depth--;
    }
    return exhausted(der) ? 0 : der->memo[ere];
}

pt_bdd pt_ere_label(struct ere_deriver *der, uint32_t root, uint32_t target)
{
    if (root == target)
        return PT_BDD_TRUE;
    if (is_leaf(der, root))
        return PT_BDD_FALSE;
    uint64_t key = (uint64_t)root << 32 | target;
    uint32_t known = pt_map64_get(&der->labels, key);
    if (known != PT_NONE)
        return known;
    struct ere_decision node = der->nodes[root];
    pt_bdd lo = pt_ere_label(der, node.lo, target);
    pt_bdd hi = pt_ere_label(der, node.hi, target);
    pt_bdd label = pt_bdd_ite(der->bdds, pt_bdd_var(der->bdds, node.var), hi, lo);
    if (label == PT_BDD_OVERFLOW)
        der->bdd_overflow = true;
    else
        keep(&der->labels, key, label);
    return label;
}
