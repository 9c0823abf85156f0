/*
 * Extended regular expressions, hash-consed. The constructors keep a normal form: | and & are associative,
 * commutative and idempotent (their operands are a list that descends by id, so that a list shares its tail with the
 * lists it grew from), concatenation leans to the right, units and zeros vanish. Brzozowski (1964) proved that modulo
 * the ACI laws of | alone an expression has finitely many derivatives; the other laws only make them fewer.
 *
 * Bounded repetition is a node of its own rather than n copies, so that the size of an expression is the size of its
 * text and a huge count costs nothing before the automaton is built.
 *
 * Nothing here recurses. Past ERE_MAX_NODES or ERE_MAX_WORK the pool is marked and constructors return a dummy;
 * pt_ere_automaton turns the mark into PT_ELIMIT, so callers need not check every constructor.
 */
#include "logic/ere/node.h"

#include <stdlib.h>

#include "base/mem.h"

enum { FIRST_SLOTS = 64 };

static pt_ere intern(struct pt_ere_pool *pool, enum ere_op op, uint32_t a, uint32_t b, bool nullable)
{
    uint32_t hash = pt_unique_hash(a, b, op);
    for (uint32_t at = hash, id; (id = pt_unique_next(&pool->unique, hash, &at)) != PT_NONE;) {
        const struct ere_node *node = &pool->nodes[id];
        if (node->op == op && node->a == a && node->b == b)
            return id;
    }
    if (pool->count >= ERE_MAX_NODES) {
        pool->overflow = true;
        return ERE_ID_EMPTY;
    }
    struct ere_node node = {.a = a, .b = b, .op = (uint8_t)op, .nullable = nullable};
    pt_unique_add(&pool->unique, hash, pool->count);
    PT_PUSH(pool->nodes, pool->count, pool->cap, node);
    return pool->count - 1;
}

struct pt_ere_pool *pt_ere_pool_new(void)
{
    struct pt_ere_pool *pool = pt_xcalloc(1, sizeof *pool);
    pt_unique_init(&pool->unique, FIRST_SLOTS);
    intern(pool, ERE_EMPTY, 0, 0, false);
    intern(pool, ERE_EPSILON, 0, 0, true);
    intern(pool, ERE_NOT, ERE_ID_EMPTY, 0, true);
    return pool;
}

void pt_ere_pool_free(struct pt_ere_pool *pool)
{
    if (!pool)
        return;
    free(pool->nodes);
    pt_unique_release(&pool->unique);
    free(pool->scratch);
    free(pool);
}

pt_ere pt_ere_empty(struct pt_ere_pool *pool)
{
    (void)pool;
    return ERE_ID_EMPTY;
}

pt_ere pt_ere_epsilon(struct pt_ere_pool *pool)
{
    (void)pool;
    return ERE_ID_EPSILON;
}

pt_ere pt_ere_letter(struct pt_ere_pool *pool, uint32_t prop)
{
    return intern(pool, ERE_LETTER, prop, 0, false);
}

static bool nullable(const struct pt_ere_pool *pool, pt_ere a)
{
    return pool->nodes[a].nullable;
}

static pt_ere list_head(const struct pt_ere_pool *pool, enum ere_op op, pt_ere list)
{
    return pool->nodes[list].op == op ? pool->nodes[list].a : list;
}

static pt_ere list_tail(const struct pt_ere_pool *pool, enum ere_op op, pt_ere list)
{
    return pool->nodes[list].op == op ? pool->nodes[list].b : PT_NONE;
}

/* Lists may be long although they share all their nodes, so time needs a bound of its own. */
static void spend(struct pt_ere_pool *pool, size_t links)
{
    pool->work += links + 1;
    if (pool->work > ERE_MAX_WORK)
        pool->overflow = true;
}

/* The union of two descending lists; as soon as one is used up, or both go on alike, the rest is shared. */
static pt_ere join(struct pt_ere_pool *pool, enum ere_op op, pt_ere a, pt_ere b)
{
    size_t heads = 0;
    while (a != PT_NONE && b != PT_NONE && a != b) {
        pt_ere x = list_head(pool, op, a), y = list_head(pool, op, b);
        PT_PUSH(pool->scratch, heads, pool->scratch_cap, x > y ? x : y);
        if (x >= y)
            a = list_tail(pool, op, a);
        if (y >= x)
            b = list_tail(pool, op, b);
    }
    spend(pool, heads);
    pt_ere list = a != PT_NONE ? a : b;
    while (heads > 0) {
        pt_ere x = pool->scratch[--heads];
        if (list == PT_NONE) {
            list = x;
            continue;
        }
        bool null =
            op == ERE_OR ? nullable(pool, x) || nullable(pool, list) : nullable(pool, x) && nullable(pool, list);
        list = intern(pool, op, x, list, null);
    }
    return list;
}

pt_ere pt_ere_or(struct pt_ere_pool *pool, pt_ere a, pt_ere b)
{
    if (a == ERE_ID_EMPTY || b == ERE_ID_ALL)
        return b;
    if (b == ERE_ID_EMPTY || a == ERE_ID_ALL)
        return a;
    return join(pool, ERE_OR, a, b);
}

pt_ere pt_ere_and(struct pt_ere_pool *pool, pt_ere a, pt_ere b)
{
    if (a == ERE_ID_EMPTY || b == ERE_ID_ALL)
        return a;
    if (b == ERE_ID_EMPTY || a == ERE_ID_ALL)
        return b;
    if (a == ERE_ID_EPSILON)
        return nullable(pool, b) ? ERE_ID_EPSILON : ERE_ID_EMPTY;
    if (b == ERE_ID_EPSILON)
        return nullable(pool, a) ? ERE_ID_EPSILON : ERE_ID_EMPTY;
    return join(pool, ERE_AND, a, b);
}

/* a.b where a is no concatenation and neither is empty or epsilon. */
static pt_ere prepend(struct pt_ere_pool *pool, pt_ere a, pt_ere b)
{
    pt_ere next = pool->nodes[b].op == ERE_CONCAT ? pool->nodes[b].a : b;
    if (a == next && (pool->nodes[a].op == ERE_STAR || a == ERE_ID_ALL))
        return b; /* r* r* = r*; all all = all */
    if ((a == ERE_ID_ALL && nullable(pool, b)) || (b == ERE_ID_ALL && nullable(pool, a)))
        return ERE_ID_ALL;
    return intern(pool, ERE_CONCAT, a, b, nullable(pool, a) && nullable(pool, b));
}

pt_ere pt_ere_concat(struct pt_ere_pool *pool, pt_ere a, pt_ere b)
{
    if (a == ERE_ID_EMPTY || b == ERE_ID_EMPTY)
        return ERE_ID_EMPTY;
    if (a == ERE_ID_EPSILON)
        return b;
    if (b == ERE_ID_EPSILON)
        return a;
    size_t links = 0;
    for (; pool->nodes[a].op == ERE_CONCAT; a = pool->nodes[a].b)
        PT_PUSH(pool->scratch, links, pool->scratch_cap, pool->nodes[a].a);
    spend(pool, links);
    pt_ere chain = prepend(pool, a, b);
    while (links > 0)
        chain = prepend(pool, pool->scratch[--links], chain);
    return chain;
}

pt_ere pt_ere_not(struct pt_ere_pool *pool, pt_ere a)
{
    if (pool->nodes[a].op == ERE_NOT)
        return pool->nodes[a].a;
    return intern(pool, ERE_NOT, a, 0, !nullable(pool, a));
}

pt_ere pt_ere_star(struct pt_ere_pool *pool, pt_ere a)
{
    while (pool->nodes[a].op == ERE_UPTO) /* (r{0,n})* = r* */
        a = pool->nodes[a].a;
    if (a == ERE_ID_EMPTY || a == ERE_ID_EPSILON)
        return ERE_ID_EPSILON;
    if (a == ERE_ID_ALL || pool->nodes[a].op == ERE_STAR)
        return a;
    return intern(pool, ERE_STAR, a, 0, true);
}

/* a{0,max} */
static pt_ere up_to(struct pt_ere_pool *pool, pt_ere a, uint32_t max)
{
    if (max == 0 || a == ERE_ID_EMPTY || a == ERE_ID_EPSILON)
        return ERE_ID_EPSILON;
    if (a == ERE_ID_ALL || pool->nodes[a].op == ERE_STAR)
        return a;
    if (max == 1)
        return nullable(pool, a) ? a : pt_ere_or(pool, a, ERE_ID_EPSILON);
    return intern(pool, ERE_UPTO, a, max, true);
}

/* a{count,count} of an expression that does not match the empty word */
static pt_ere power(struct pt_ere_pool *pool, pt_ere a, uint32_t count)
{
    if (count == 0)
        return ERE_ID_EPSILON;
    if (count == 1 || a == ERE_ID_EMPTY)
        return a;
    return intern(pool, ERE_POWER, a, count, false);
}

pt_ere pt_ere_repeat(struct pt_ere_pool *pool, pt_ere a, uint32_t min, uint32_t max)
{
    if (max < min)
        return ERE_ID_EMPTY;
    if (nullable(pool, a))
        min = 0;
    pt_ere rest = max == PT_NONE ? pt_ere_star(pool, a) : up_to(pool, a, max - min);
    return pt_ere_concat(pool, power(pool, a, min), rest);
}
