/*
 * From an expression of bad prefixes to the minimal deterministic safety automaton of the words that avoid them.
 * States are derivatives, found breadth first; an edge whose derivative matches the empty word completes a bad prefix
 * and is left out, so what would come after a match is never built. The start is exempt: only non-empty prefixes
 * count. Since the first match ends everything, states that differ only in later matches are not told apart to begin
 * with where that is easy to see. All states from which no match can be reached fall into one block with a loop under
 * `true`.
 *
 * Exact; ends with PT_ELIMIT at the given number of states or at the fixed bounds on memory in ere/node.h.
 */
#include "logic/ere/node.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

struct explorer {
    struct ere_deriver der;
    struct pt_map64 numbers; /* expression to state */
    pt_ere *states;
    uint32_t count;
    size_t states_cap;
    uint32_t *first;
    size_t first_cap;
    struct pt_edge *edges;
    uint32_t edge_count;
    size_t edges_cap;
    uint32_t *seen; /* per decision node: the state that was last to visit it, plus 1 */
    size_t seen_cap;
    uint32_t limit;
};

/* The same expression with letters that mean the same made one, letters that mean false gone, and [true]* recognised
 * as all words. Operands have smaller ids than what they stand in, so one pass in ascending order rebuilds it. */
static pt_ere specialise(struct pt_ere_pool *pool, pt_ere ere, const pt_bdd *meaning, uint32_t letter_count)
{
    struct pt_map64 letters;
    pt_map64_init(&letters);
    for (uint32_t i = letter_count; i-- > 0;)
        *pt_map64_at(&letters, meaning[i]) = i;
    bool *needed = pt_xcalloc((size_t)ere + 1, sizeof *needed);
    pt_ere *to = pt_xcalloc((size_t)ere + 1, sizeof *to);
    needed[ere] = true;
    for (pt_ere id = ere + 1; id-- > 0;) {
        uint32_t arity = needed[id] ? ere_arity(&pool->nodes[id]) : 0;
        if (arity >= 1)
            needed[pool->nodes[id].a] = true;
        if (arity == 2)
            needed[pool->nodes[id].b] = true;
    }
    for (pt_ere id = 0; id <= ere; id++) {
        struct ere_node node = pool->nodes[id];
        if (!needed[id])
            continue;
        switch ((enum ere_op)node.op) {
        case ERE_EMPTY:
        case ERE_EPSILON:
            to[id] = id;
            break;
        case ERE_LETTER:
            assert(node.a < letter_count);
            to[id] = meaning[node.a] == PT_BDD_FALSE ? (pt_ere)ERE_ID_EMPTY
                                                     : pt_ere_letter(pool, pt_map64_get(&letters, meaning[node.a]));
            break;
        case ERE_OR:
            to[id] = pt_ere_or(pool, to[node.a], to[node.b]);
            break;
        case ERE_AND:
            to[id] = pt_ere_and(pool, to[node.a], to[node.b]);
            break;
        case ERE_CONCAT:
            to[id] = pt_ere_concat(pool, to[node.a], to[node.b]);
            break;
        case ERE_NOT:
            to[id] = pt_ere_not(pool, to[node.a]);
            break;
        case ERE_STAR: {
            const struct ere_node *body = &pool->nodes[to[node.a]];
            bool all = body->op == ERE_LETTER && meaning[body->a] == PT_BDD_TRUE;
            to[id] = all ? (pt_ere)ERE_ID_ALL : pt_ere_star(pool, to[node.a]);
            break;
        }
        case ERE_POWER:
            to[id] = pt_ere_repeat(pool, to[node.a], node.b, node.b);
            break;
        case ERE_UPTO:
            to[id] = pt_ere_repeat(pool, to[node.a], 0, node.b);
            break;
        }
    }
    pt_ere result = to[ere];
    free(to);
    free(needed);
    pt_map64_release(&letters);
    return result;
}

/* How an expression begins: `count` times `base`, then perhaps something else. */
struct beginning {
    pt_ere base;
    uint32_t count;
    bool whole; /* nothing else */
};

static struct beginning beginning_of(const struct pt_ere_pool *pool, pt_ere ere)
{
    const struct ere_node *node = &pool->nodes[ere];
    bool whole = node->op != ERE_CONCAT;
    pt_ere factor = whole ? ere : node->a;
    node = &pool->nodes[factor];
    if (node->op == ERE_POWER)
        return (struct beginning){.base = node->a, .count = node->b, .whole = whole};
    return (struct beginning){.base = factor, .count = 1, .whole = whole};
}

/*
 * Only the first match counts, so an operand of a union may go when another one matches a prefix of whatever it
 * matches: x{m} makes x{n} superfluous for m < n, and x{n}r for m <= n. Without this, [true]* [a] [b]{n} would have 2^n
 * derivatives; with it n. Operands that match the empty word are no help, since the empty prefix does not count.
 */
static pt_ere drop_superfluous(struct explorer *ex, pt_ere ere)
{
    struct pt_ere_pool *pool = ex->der.pool;
    if (pool->nodes[ere].op != ERE_OR)
        return ere;
    struct pt_map64 least; /* base to the smallest whole count */
    pt_map64_init(&least);
    pt_ere *operands = NULL;
    uint32_t count = 0;
    size_t cap = 0;
    for (pt_ere list = ere; list != PT_NONE; list = pool->nodes[list].op == ERE_OR ? pool->nodes[list].b : PT_NONE) {
        pt_ere operand = pool->nodes[list].op == ERE_OR ? pool->nodes[list].a : list;
        struct beginning begin = beginning_of(pool, operand);
        uint32_t *known = pt_map64_at(&least, begin.base);
        if (begin.whole && !pool->nodes[operand].nullable && begin.count < *known)
            *known = begin.count;
        PT_PUSH(operands, count, cap, operand);
    }
    pool->work += count;
    pt_ere result = ERE_ID_EMPTY;
    for (uint32_t i = count; i-- > 0;) {
        struct beginning begin = beginning_of(pool, operands[i]);
        uint32_t known = pt_map64_get(&least, begin.base);
        if (begin.whole ? begin.count <= known : begin.count < known)
            result = pt_ere_or(pool, operands[i], result);
    }
    free(operands);
    pt_map64_release(&least);
    return result;
}

static uint32_t state_of(struct explorer *ex, pt_ere ere)
{
    uint32_t number = pt_map64_get(&ex->numbers, ere);
    if (number != PT_NONE)
        return number;
    pt_ere kept = drop_superfluous(ex, ere);
    number = pt_map64_get(&ex->numbers, kept);
    if (number == PT_NONE) {
        number = ex->count;
        PT_PUSH(ex->states, ex->count, ex->states_cap, kept);
        *pt_map64_at(&ex->numbers, kept) = number;
    }
    *pt_map64_at(&ex->numbers, ere) = number;
    return number;
}

/* Adds an edge for each leaf below `node` that does not complete a match. As deep as there are propositions. */
static void add_edges(struct explorer *ex, uint32_t state, uint32_t root, uint32_t node)
{
    if (ex->seen[node] == state + 1)
        return;
    ex->seen[node] = state + 1;
    struct ere_decision decision = ex->der.nodes[node];
    if (decision.var != PT_NONE) {
        add_edges(ex, state, root, decision.lo);
        add_edges(ex, state, root, decision.hi);
        return;
    }
    if (ex->der.pool->nodes[decision.lo].nullable)
        return;
    struct pt_edge edge = {.dst = state_of(ex, decision.lo), .label = pt_ere_label(&ex->der, root, node)};
    PT_PUSH(ex->edges, ex->edge_count, ex->edges_cap, edge);
}

static enum pt_status limit_reached(const struct explorer *ex, struct pt_err *err)
{
    if (ex->count > ex->limit)
        return pt_err_set(err, PT_ELIMIT, "the expression needs more than %u automaton states (--automaton-limit)",
                          ex->limit);
    if (ex->der.pool->overflow || ex->der.overflow)
        return pt_err_set(err, PT_ELIMIT, "the expression is too large: its automaton was given up after %u states",
                          ex->count);
    if (ex->der.bdd_overflow)
        return pt_err_set(err, PT_ELIMIT, "the letters of the expression are too complex to tell apart");
    return PT_OK;
}

static enum pt_status explore(struct explorer *ex, pt_ere start, struct pt_err *err)
{
    state_of(ex, start);
    enum pt_status status = limit_reached(ex, err);
    uint32_t state = 0;
    for (; state < ex->count && status == PT_OK; state++) {
        PT_GROW(ex->first, ex->first_cap, state + 2);
        ex->first[state] = ex->edge_count;
        uint32_t root = pt_ere_derive(&ex->der, ex->states[state]);
        status = limit_reached(ex, err);
        if (status != PT_OK)
            break;
        size_t old = ex->seen_cap;
        PT_GROW(ex->seen, ex->seen_cap, ex->der.count);
        for (; old < ex->seen_cap; old++)
            ex->seen[old] = 0;
        add_edges(ex, state, root, root);
        status = limit_reached(ex, err);
    }
    if (status == PT_OK)
        ex->first[state] = ex->edge_count;
    return status;
}

/* Adds the edge to those of the state being written, which begin at `from`; false on BDD overflow. */
static bool merge_edge(struct pt_automaton *aut, uint32_t from, uint32_t *count, uint32_t dst, pt_bdd label)
{
    for (uint32_t e = from; e < *count; e++)
        if (aut->edges[e].dst == dst) {
            aut->edges[e].label = pt_bdd_or(aut->bdds, aut->edges[e].label, label);
            return aut->edges[e].label != PT_BDD_OVERFLOW;
        }
    aut->edges[(*count)++] = (struct pt_edge){.dst = dst, .label = label};
    return true;
}

/* One state per block, numbered breadth first from the start; false on BDD overflow. */
static bool quotient(const struct explorer *ex, const uint32_t *block_of, uint32_t blocks, struct pt_automaton *aut)
{
    uint32_t *number = pt_xmalloc(blocks * sizeof *number), *member = pt_xmalloc(blocks * sizeof *member);
    for (uint32_t b = 0; b < blocks; b++)
        number[b] = PT_NONE;
    aut->state_count = blocks;
    aut->first = pt_xcalloc((size_t)blocks + 1, sizeof *aut->first);
    aut->edges = pt_xmalloc(((size_t)ex->edge_count + 1) * sizeof *aut->edges);
    aut->accepting = pt_xmalloc(blocks * sizeof *aut->accepting);
    uint32_t found = 0, edges = 0;
    bool fits = true;
    number[block_of[0]] = found;
    member[found++] = 0;
    for (uint32_t n = 0; n < found; n++) { /* every state was reached, so every block is found */
        aut->first[n] = edges;
        aut->accepting[n] = true;
        for (uint32_t e = ex->first[member[n]]; e < ex->first[member[n] + 1]; e++) {
            uint32_t dst = ex->edges[e].dst, *to = &number[block_of[dst]];
            if (*to == PT_NONE) {
                *to = found;
                member[found++] = dst;
            }
            fits = fits && merge_edge(aut, aut->first[n], &edges, *to, ex->edges[e].label);
        }
    }
    aut->first[blocks] = edges;
    free(number);
    free(member);
    return fits;
}

static char **copy_names(const char *const *props, uint32_t count)
{
    char **names = pt_xmalloc(((size_t)count + 1) * sizeof *names);
    for (uint32_t i = 0; i < count; i++)
        names[i] = pt_xstrdup(props[i]);
    return names;
}

static enum pt_status minimise(struct explorer *ex, const char *const *props, uint32_t prop_count,
                               struct pt_automaton **ret_aut, struct pt_err *err)
{
    uint32_t *block_of = pt_xmalloc(ex->count * sizeof *block_of);
    uint32_t blocks = pt_ere_partition(ex->der.bdds, ex->count, ex->first, ex->edges, block_of);
    struct pt_automaton *aut = pt_xcalloc(1, sizeof *aut);
    aut->bdds = ex->der.bdds;
    bool fits = blocks > 0 && quotient(ex, block_of, blocks, aut);
    free(block_of);
    if (!fits) {
        aut->bdds = NULL; /* the caller frees them */
        pt_automaton_free(aut);
        ex->der.bdd_overflow = true;
        return limit_reached(ex, err);
    }
    aut->props = copy_names(props, prop_count);
    aut->prop_count = prop_count;
    *ret_aut = aut;
    return PT_OK;
}

enum pt_status pt_ere_automaton(struct pt_ere_pool *pool, pt_ere bad, const pt_bdd *letter_meaning,
                                uint32_t letter_count, struct pt_bdds *bdds, const char *const *props,
                                uint32_t prop_count, uint32_t state_limit, struct pt_automaton **ret_aut,
                                struct pt_err *err)
{
    struct explorer ex = {.limit = state_limit};
    pool->work = 0;
    pt_ere_deriver_init(&ex.der, pool, bdds, letter_meaning);
    for (uint32_t i = 0; i < letter_count; i++)
        ex.der.bdd_overflow = ex.der.bdd_overflow || letter_meaning[i] == PT_BDD_OVERFLOW;
    pt_map64_init(&ex.numbers);
    enum pt_status status = limit_reached(&ex, err);
    if (status == PT_OK)
        status = explore(&ex, specialise(pool, bad, letter_meaning, letter_count), err);
    if (status == PT_OK)
        status = minimise(&ex, props, prop_count, ret_aut, err);
    pt_map64_release(&ex.numbers);
    pt_ere_deriver_release(&ex.der);
    free(ex.states);
    free(ex.first);
    free(ex.edges);
    free(ex.seen);
    if (status != PT_OK)
        pt_bdds_free(bdds);
    return status;
}

enum pt_status pt_ere_bad_prefixes(struct pt_automaton *aut, struct pt_dfa **ret_dfa, struct pt_err *err)
{
    struct pt_dfa *dfa = pt_xcalloc(1, sizeof *dfa);
    dfa->state_count = aut->state_count;
    dfa->initial = aut->initial;
    dfa->first = pt_xcalloc((size_t)aut->state_count + 1, sizeof *dfa->first);
    dfa->edges = pt_xmalloc(((size_t)aut->first[aut->state_count] + aut->state_count) * sizeof *dfa->edges);
    uint32_t count = 0;
    for (uint32_t s = 0; s < aut->state_count; s++) {
        pt_bdd good = PT_BDD_FALSE;
        for (uint32_t e = aut->first[s]; e < aut->first[s + 1]; e++) {
            dfa->edges[count++] = aut->edges[e];
            good = pt_bdd_or(aut->bdds, good, aut->edges[e].label);
        }
        pt_bdd match = pt_bdd_not(aut->bdds, good);
        if (match == PT_BDD_OVERFLOW) {
            pt_dfa_free(dfa);
            return pt_err_set(err, PT_ELIMIT, "the letters of the expression are too complex to tell apart");
        }
        if (match != PT_BDD_FALSE)
            dfa->edges[count++] = (struct pt_edge){.dst = PT_NONE, .label = match};
        dfa->first[s + 1] = count;
    }
    *ret_dfa = dfa;
    return PT_OK;
}
