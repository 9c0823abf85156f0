/* Past-time formulas: the machine against the definition, its symbolic step, and past put into automata. */
#include <stdio.h>

#include "logic/monitor/monitor.h"
#include "logic/monitor/past.h"
#include "logic/monitor/product.h"
#include "trace_util.h"

enum { PROPS = 3, LETTERS = 1 << PROPS };

static pt_formula random_formula(struct pt_fpool *pool, uint64_t *seed, uint32_t depth)
{
    static const enum pt_fop unary[] = {PT_F_NOT, PT_F_PREVIOUSLY, PT_F_ONCE, PT_F_HISTORICALLY, PT_F_START, PT_F_END};
    static const enum pt_fop binary[] = {PT_F_AND,   PT_F_OR,       PT_F_IMPLIES,      PT_F_IFF,
                                         PT_F_SINCE, PT_F_INTERVAL, PT_F_INTERVAL_WEAK};
    uint32_t kind = below(seed, 20);
    if (depth == 0 || kind < 3)
        return kind == 0 ? below(seed, 2) : pt_formula_prop(pool, below(seed, PROPS));
    if (kind < 10)
        return pt_formula_unary(pool, unary[below(seed, 6)], random_formula(pool, seed, depth - 1));
    pt_formula a = random_formula(pool, seed, depth - 1), b = random_formula(pool, seed, depth - 1);
    return pt_formula_binary(pool, binary[below(seed, 7)], a, b);
}

/* Contract section 2, over the word so far; i is the present. Deliberately without any memory. */
static bool holds(const struct pt_fpool *pool, pt_formula f, const uint8_t *word, uint32_t i)
{
    const struct pt_fnode *n = &pool->nodes[f];
    switch ((enum pt_fop)n->op) {
    case PT_F_FALSE:
        return false;
    case PT_F_TRUE:
        return true;
    case PT_F_PROP:
        return word[i] >> n->a & 1;
    case PT_F_NOT:
        return !holds(pool, n->a, word, i);
    case PT_F_AND:
        return holds(pool, n->a, word, i) && holds(pool, n->b, word, i);
    case PT_F_OR:
        return holds(pool, n->a, word, i) || holds(pool, n->b, word, i);
    case PT_F_IMPLIES:
        return !holds(pool, n->a, word, i) || holds(pool, n->b, word, i);
    case PT_F_IFF:
        return holds(pool, n->a, word, i) == holds(pool, n->b, word, i);
    case PT_F_PREVIOUSLY:
        return holds(pool, n->a, word, i ? i - 1 : 0);
    case PT_F_START:
        return i && holds(pool, n->a, word, i) && !holds(pool, n->a, word, i - 1);
    case PT_F_END:
        return i && !holds(pool, n->a, word, i) && holds(pool, n->a, word, i - 1);
    case PT_F_ONCE:
        for (uint32_t k = 0; k <= i; k++)
            if (holds(pool, n->a, word, k))
                return true;
        return false;
    case PT_F_HISTORICALLY:
        for (uint32_t k = 0; k <= i; k++)
            if (!holds(pool, n->a, word, k))
                return false;
        return true;
    case PT_F_SINCE: /* b at some k, and a ever since, the present included */
        for (uint32_t k = i + 1; k-- > 0;) {
            if (holds(pool, n->b, word, k))
                return true;
            if (!holds(pool, n->a, word, k))
                return false;
        }
        return false;
    case PT_F_INTERVAL: /* !b since (a && !b) */
    case PT_F_INTERVAL_WEAK:
        for (uint32_t k = i + 1; k-- > 0;) {
            if (holds(pool, n->b, word, k))
                return false;
            if (holds(pool, n->a, word, k))
                return true;
        }
        return n->op == PT_F_INTERVAL_WEAK; /* historically !b */
    default:
        fail();
        return false;
    }
}

static void test_machine_is_the_definition(void **state)
{
    (void)state;
    uint64_t seed = 21;
    struct pt_err err;
    for (uint32_t round = 0; round < 600; round++) {
        struct pt_fpool pool;
        struct pt_past past;
        uint8_t word[9];
        pt_fpool_init(&pool);
        pt_formula roots[2] = {random_formula(&pool, &seed, 3), random_formula(&pool, &seed, 2)};
        assert_int_equal(pt_past_init(&past, &pool, roots, 2, &err), PT_OK);
        bool *values = pt_xcalloc(past.node_count, sizeof *values);
        struct pt_past_memory memory = pt_past_start(&past);
        for (uint32_t i = 0; i < 9; i++) {
            word[i] = (uint8_t)below(&seed, LETTERS);
            memory = pt_past_step(&past, memory, word[i], values);
            for (uint32_t k = 0; k < past.node_count; k++) /* every subformula, not only the roots */
                assert_int_equal(values[k], holds(&pool, past.nodes[k], word, i));
        }
        free(values);
        pt_past_release(&past);
        pt_fpool_release(&pool);
    }
}

static void test_symbolic_step_agrees(void **state)
{
    (void)state;
    uint64_t seed = 22;
    struct pt_err err;
    for (uint32_t round = 0; round < 300; round++) {
        struct pt_fpool pool;
        struct pt_past past;
        pt_fpool_init(&pool);
        pt_formula root = random_formula(&pool, &seed, 4);
        assert_int_equal(pt_past_init(&past, &pool, &root, 1, &err), PT_OK);
        struct pt_bdds *bdds = pt_bdds_new(1 << 16);
        bool *values = pt_xcalloc(past.node_count, sizeof *values);
        pt_bdd *symbolic = pt_xcalloc(past.node_count, sizeof *symbolic), next[64];
        struct pt_past_memory memory = pt_past_start(&past);
        for (uint32_t i = 0; i < 5; i++) {
            pt_past_step_symbolic(&past, memory, bdds, symbolic, next);
            struct pt_past_memory after = memory;
            for (uint64_t letter = 0; letter < LETTERS; letter++) {
                after = pt_past_step(&past, memory, letter, values);
                for (uint32_t k = 0; k < past.node_count; k++)
                    assert_int_equal(pt_bdd_eval(bdds, symbolic[k], letter), values[k]);
                for (uint32_t b = 0; b < past.memory_bits; b++)
                    assert_int_equal(pt_bdd_eval(bdds, next[b], letter), after.bits >> b & 1);
            }
            memory = pt_past_step(&past, memory, below(&seed, LETTERS), values);
        }
        free(values);
        free(symbolic);
        pt_bdds_free(bdds);
        pt_past_release(&past);
        pt_fpool_release(&pool);
    }
}

static void test_memory_is_bounded(void **state)
{
    (void)state;
    struct pt_fpool pool;
    struct pt_past past;
    struct pt_err err;
    pt_fpool_init(&pool);
    pt_formula f = pt_formula_prop(&pool, 0);
    for (uint32_t i = 0; i < 64; i++)
        f = pt_formula_unary(&pool, i % 2 ? PT_F_ONCE : PT_F_PREVIOUSLY, f);
    assert_int_equal(pt_past_init(&past, &pool, &f, 1, &err), PT_OK);
    assert_int_equal(past.memory_bits, 64);
    pt_past_release(&past);
    f = pt_formula_unary(&pool, PT_F_PREVIOUSLY, f);
    assert_int_equal(pt_past_init(&past, &pool, &f, 1, &err), PT_ELIMIT);
    assert_non_null(strstr(err.message, "65"));
    pt_fpool_release(&pool);
}

/* ---- past inside automata ---- */

/* Does the deterministic-by-search automaton still have a run after the word? */
static bool survives(const struct pt_automaton *aut, const uint8_t *word, uint32_t len)
{
    bool *now = pt_xcalloc(aut->state_count, sizeof *now), *next = pt_xcalloc(aut->state_count, sizeof *next);
    now[aut->initial] = true;
    bool any = true;
    for (uint32_t i = 0; i < len && any; i++) {
        any = false;
        memset(next, 0, aut->state_count);
        for (uint32_t s = 0; s < aut->state_count; s++)
            for (uint32_t e = aut->first[s]; now[s] && e < aut->first[s + 1]; e++)
                if (pt_bdd_eval(aut->bdds, aut->edges[e].label, word[i]))
                    any = next[aut->edges[e].dst] = true;
        bool *swap = now;
        now = next;
        next = swap;
    }
    free(now);
    free(next);
    return any;
}

/* Büchi acceptance of stem . loop^omega: an accepting state on a cycle of the product with the loop. */
static bool accepts(const struct pt_automaton *aut, const uint8_t *word, uint32_t stem, uint32_t loop)
{
    uint32_t n = aut->state_count, len = stem + loop, total = n * len;
    bool *reach = pt_xcalloc((size_t)total * total, sizeof *reach), result = false;
    for (uint32_t s = 0; s < n; s++)
        for (uint32_t i = 0; i < len; i++)
            for (uint32_t e = aut->first[s]; e < aut->first[s + 1]; e++)
                if (pt_bdd_eval(aut->bdds, aut->edges[e].label, word[i]))
                    reach[(size_t)(s * len + i) * total + aut->edges[e].dst * len + (i + 1 < len ? i + 1 : stem)] =
                        true;
    for (uint32_t k = 0; k < total; k++)
        for (uint32_t a = 0; a < total; a++)
            for (uint32_t b = 0; reach[(size_t)a * total + k] && b < total; b++)
                reach[(size_t)a * total + b] |= reach[(size_t)k * total + b];
    uint32_t start = aut->initial * len;
    for (uint32_t a = 0; a < total && !result; a++)
        result =
            aut->accepting[a / len] && reach[(size_t)a * total + a] && (a == start || reach[(size_t)start * total + a]);
    free(reach);
    return result;
}

static const char *const names[] = {"a", "b", "c"};

static struct pt_automaton *looping(enum pt_fop op)
{
    struct pt_fpool pool;
    struct pt_automaton *aut;
    struct pt_err err;
    const char *const prop[] = {"q"};
    pt_fpool_init(&pool);
    pt_formula f = pt_formula_unary(&pool, op, pt_formula_prop(&pool, 0));
    if (op == PT_F_EVENTUALLY)
        f = pt_formula_unary(&pool, PT_F_ALWAYS, f);
    assert_int_equal(pt_automaton_of_formula(&pool, f, prop, 1, 100, &aut, &err), PT_OK);
    pt_fpool_release(&pool);
    return aut;
}

/* `always P` is broken by a word exactly when P is false somewhere, or always will be whatever comes. */
static void check_always(const struct pt_fpool *pool, pt_formula f, struct pt_automaton *aut, uint64_t *seed)
{
    uint8_t word[7];
    for (uint32_t round = 0; round < 20; round++) {
        bool held = true;
        for (uint32_t i = 0; i < 7; i++) {
            word[i] = (uint8_t)below(seed, LETTERS);
            held = held && holds(pool, f, word, i);
            if (!held)
                assert_false(survives(aut, word, i + 1));
        }
        if (survives(aut, word, 7))
            assert_true(held);
    }
}

/* On a lasso, a formula of nesting depth d is periodic from the d-th repetition of the loop on. */
static void check_lassos(const struct pt_fpool *pool, pt_formula f, struct pt_automaton *always,
                         struct pt_automaton *often, uint64_t *seed)
{
    for (uint32_t round = 0; round < 4; round++) {
        uint8_t word[40];
        uint32_t stem = below(seed, 3), loop = 1 + below(seed, 2), len = stem + 8 * loop;
        for (uint32_t i = 0; i < len; i++)
            word[i] = i < stem + loop ? (uint8_t)below(seed, LETTERS) : word[i - loop];
        bool all = true, last = false;
        for (uint32_t i = 0; i < len; i++) {
            bool value = holds(pool, f, word, i);
            all = all && value;
            last = last || (value && i >= len - loop);
        }
        if (always->state_count * (stem + loop) <= 150)
            assert_int_equal(accepts(always, word, stem, loop), all);
        if (often->state_count * (stem + loop) <= 150)
            assert_int_equal(accepts(often, word, stem, loop), last);
    }
}

static void test_past_put_into_automata(void **state)
{
    (void)state;
    uint64_t seed = 23;
    struct pt_err err;
    struct pt_automaton *always = looping(PT_F_ALWAYS), *often = looping(PT_F_EVENTUALLY);
    for (uint32_t round = 0; round < 60; round++) {
        struct pt_fpool pool;
        struct pt_automaton *every, *infinitely;
        pt_fpool_init(&pool);
        pt_formula f = random_formula(&pool, &seed, 3);
        assert_int_equal(pt_automaton_substitute(always, &pool, &f, names, PROPS, 5000, &every, &err), PT_OK);
        assert_int_equal(pt_automaton_substitute(often, &pool, &f, names, PROPS, 5000, &infinitely, &err), PT_OK);
        assert_int_equal(every->prop_count, PROPS);
        assert_string_equal(every->props[1], "b");
        check_always(&pool, f, every, &seed);
        check_lassos(&pool, f, every, infinitely, &seed);
        pt_automaton_free(every);
        pt_automaton_free(infinitely);
        pt_fpool_release(&pool);
    }
    pt_automaton_free(always);
    pt_automaton_free(often);
}

static void test_product_limit(void **state)
{
    (void)state;
    struct pt_fpool pool;
    struct pt_err err;
    struct pt_automaton *always = looping(PT_F_ALWAYS), *result = NULL;
    pt_fpool_init(&pool);
    pt_formula f = pt_formula_prop(&pool, 0);
    for (uint32_t i = 0; i < 6; i++) /* remembers six letters: 64 memories */
        f = pt_formula_unary(&pool, PT_F_PREVIOUSLY, f);
    f = pt_formula_binary(&pool, PT_F_OR, f, pt_formula_prop(&pool, 1));
    assert_int_equal(pt_automaton_substitute(always, &pool, &f, names, PROPS, 10, &result, &err), PT_ELIMIT);
    assert_null(result);
    assert_int_equal(pt_automaton_substitute(always, &pool, &f, names, PROPS, 100, &result, &err), PT_OK);
    assert_in_range(result->state_count, 64, 65);
    pt_automaton_free(result);
    pt_automaton_free(always);
    pt_fpool_release(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine_is_the_definition),
        cmocka_unit_test(test_symbolic_step_agrees),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_past_put_into_automata),
        cmocka_unit_test(test_product_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
