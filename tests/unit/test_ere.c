/*
 * EREs against their definition: random expressions, all words up to length 5 over two propositions; the automaton's
 * first missing edge must be the first matched non-empty prefix, and no two states may be equivalent.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/table.h"
#include "logic/ere/ere.h"

enum { PROPS = 2, LETTERS = 6, VALUATIONS = 4, LEN = 5, MAX_TREE = 40 };

/* The letters of the tests: which valuations (bit v of the mask) they hold in. */
static const unsigned letter_mask[LETTERS] = {0xa, 0xc, 0x8, 0x5, 0xf, 0x0}; /* a, b, a&&b, !a, true, false */

static void letter_bdds(struct pt_bdds *bdds, pt_bdd out[LETTERS])
{
    for (unsigned l = 0; l < LETTERS; l++) {
        out[l] = PT_BDD_FALSE;
        for (uint64_t v = 0; v < VALUATIONS; v++)
            if (letter_mask[l] >> v & 1)
                out[l] = pt_bdd_or(bdds, out[l], pt_bdd_cube(bdds, (struct pt_cube){.pos = v, .neg = 3 & ~v}));
    }
}

/* ---- The definition ---- */

enum kind { EMPTY, EPSILON, LETTER, OR, AND, CONCAT, NOT, STAR, REPEAT };

struct tree {
    enum kind kind;
    unsigned a, b; /* operands, by index below this one's own; LETTER: a */
    uint32_t min, max;
};

struct expression {
    struct tree nodes[MAX_TREE];
    pt_ere ids[MAX_TREE];
    unsigned count;
};

/* spans[i][j]: the expression matches letters i .. j-1 of the word. */
typedef bool spans[LEN + 1][LEN + 1];

static void match_concat(const spans x, const spans y, unsigned len, spans out)
{
    for (unsigned i = 0; i <= len; i++)
        for (unsigned j = i; j <= len; j++) {
            out[i][j] = false;
            for (unsigned k = i; k <= j; k++)
                out[i][j] = out[i][j] || (x[i][k] && y[k][j]);
        }
}

/* The union of x^min .. x^max; words this short need no more than min + len factors. */
static void match_repeat(const spans x, uint32_t min, uint32_t max, unsigned len, spans out)
{
    spans powers = {{0}}, next;
    for (unsigned i = 0; i <= len; i++)
        powers[i][i] = true;
    memset(out, 0, sizeof(spans));
    for (uint32_t n = 0; n <= max && n <= min + len; n++) {
        for (unsigned i = 0; i <= len && n >= min; i++)
            for (unsigned j = i; j <= len; j++)
                out[i][j] = out[i][j] || powers[i][j];
        match_concat(powers, x, len, next);
        memcpy(powers, next, sizeof powers);
    }
}

static void match_node(const struct tree *t, spans *all, const unsigned *word, unsigned len, spans out)
{
    if (t->kind == CONCAT)
        match_concat(all[t->a], all[t->b], len, out);
    if (t->kind == STAR)
        match_repeat(all[t->a], 0, PT_NONE, len, out);
    if (t->kind == REPEAT)
        match_repeat(all[t->a], t->min, t->max, len, out);
    for (unsigned i = 0; i <= len; i++)
        for (unsigned j = i; j <= len; j++)
            switch (t->kind) {
            case EMPTY:
                out[i][j] = false;
                break;
            case EPSILON:
                out[i][j] = i == j;
                break;
            case LETTER:
                out[i][j] = j == i + 1 && (letter_mask[t->a] >> word[i] & 1);
                break;
            case OR:
                out[i][j] = all[t->a][i][j] || all[t->b][i][j];
                break;
            case AND:
                out[i][j] = all[t->a][i][j] && all[t->b][i][j];
                break;
            case NOT:
                out[i][j] = !all[t->a][i][j];
                break;
            default:
                break;
            }
}

/* The length of the shortest matched non-empty prefix, or 0. */
static unsigned first_match(const struct expression *ex, const unsigned *word, unsigned len)
{
    static spans all[MAX_TREE];
    for (unsigned n = 0; n < ex->count; n++)
        match_node(&ex->nodes[n], all, word, len, all[n]);
    for (unsigned j = 1; j <= len; j++)
        if (all[ex->count - 1][0][j])
            return j;
    return 0;
}

/* ---- Random expressions ---- */

static uint64_t random_state;

static unsigned pick(unsigned below)
{
    random_state += 0x9e3779b97f4a7c15ULL;
    return (unsigned)(pt_mix64(random_state) % below);
}

static pt_ere make(struct pt_ere_pool *pool, const struct expression *ex, const struct tree *t)
{
    pt_ere a = t->kind >= OR ? ex->ids[t->a] : 0, b = t->kind >= OR && t->kind <= CONCAT ? ex->ids[t->b] : 0;
    switch (t->kind) {
    case EMPTY:
        return pt_ere_empty(pool);
    case EPSILON:
        return pt_ere_epsilon(pool);
    case LETTER:
        return pt_ere_letter(pool, t->a);
    case OR:
        return pt_ere_or(pool, a, b);
    case AND:
        return pt_ere_and(pool, a, b);
    case CONCAT:
        return pt_ere_concat(pool, a, b);
    case NOT:
        return pt_ere_not(pool, a);
    case STAR:
        return pt_ere_star(pool, a);
    default:
        return pt_ere_repeat(pool, a, t->min, t->max);
    }
}

static unsigned grow(struct pt_ere_pool *pool, struct expression *ex, unsigned size)
{
    static const enum kind inner[] = {OR, AND, CONCAT, CONCAT, CONCAT, NOT, STAR, REPEAT};
    struct tree t = {.kind = LETTER, .a = pick(LETTERS)};
    if (size <= 1) {
        unsigned odd = pick(12);
        if (odd < 2)
            t.kind = odd == 0 ? EMPTY : EPSILON;
    } else {
        t.kind = inner[pick(sizeof inner / sizeof *inner)];
        bool binary = t.kind <= CONCAT;
        unsigned left = binary ? 1 + pick(size - 1) : size - 1;
        t.a = grow(pool, ex, left);
        if (binary)
            t.b = grow(pool, ex, size - left > 1 ? size - left - 1 : 1);
        t.min = pick(4);
        t.max = pick(4) == 0 ? PT_NONE : t.min + pick(3);
    }
    ex->ids[ex->count] = make(pool, ex, &t);
    ex->nodes[ex->count] = t;
    return ex->count++;
}

/* ---- The automaton ---- */

static uint32_t step(const struct pt_automaton *aut, uint32_t state, uint64_t letter)
{
    uint32_t dst = PT_NONE;
    for (uint32_t e = aut->first[state]; e < aut->first[state + 1]; e++)
        if (pt_bdd_eval(aut->bdds, aut->edges[e].label, letter)) {
            assert_int_equal(dst, PT_NONE); /* deterministic */
            dst = aut->edges[e].dst;
        }
    return dst;
}

static unsigned first_violation(const struct pt_automaton *aut, const unsigned *word, unsigned len)
{
    uint32_t state = aut->initial;
    for (unsigned i = 0; i < len; i++) {
        state = step(aut, state, word[i]);
        if (state == PT_NONE)
            return i + 1;
    }
    return 0;
}

/* Moore's algorithm over the four valuations, by repeated pairwise comparison. */
static void check_minimal(const struct pt_automaton *aut)
{
    uint32_t n = aut->state_count;
    bool *differ = pt_xcalloc((size_t)n * n, sizeof *differ), *reached = pt_xcalloc(n, sizeof *reached);
    reached[aut->initial] = true;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t s = 0; s < n; s++)
            for (uint64_t v = 0; v < VALUATIONS; v++) {
                uint32_t sd = step(aut, s, v);
                if (reached[s] && sd != PT_NONE && !reached[sd])
                    changed = reached[sd] = true;
                for (uint32_t t = 0; t < s; t++) {
                    uint32_t td = step(aut, t, v);
                    bool now = (sd == PT_NONE) != (td == PT_NONE) ||
                               (sd != PT_NONE && differ[(size_t)(sd > td ? sd : td) * n + (sd > td ? td : sd)]);
                    if (now && !differ[(size_t)s * n + t])
                        changed = differ[(size_t)s * n + t] = true;
                }
            }
    }
    for (uint32_t s = 0; s < n; s++) {
        assert_true(reached[s]);
        assert_true(aut->accepting[s]);
        for (uint32_t t = 0; t < s; t++)
            assert_true(differ[(size_t)s * n + t]);
    }
    free(differ);
    free(reached);
}

static const char *const names[PROPS] = {"a", "b"};

static enum pt_status automaton_of(struct pt_ere_pool *pool, pt_ere ere, uint32_t limit, struct pt_automaton **ret_aut,
                                   struct pt_err *err)
{
    struct pt_bdds *bdds = pt_bdds_new(1 << 16);
    pt_bdd meaning[LETTERS];
    letter_bdds(bdds, meaning);
    return pt_ere_automaton(pool, ere, meaning, LETTERS, bdds, names, PROPS, limit, ret_aut, err);
}

static void check_random(uint64_t seed, unsigned len)
{
    struct expression ex = {.count = 0};
    struct pt_ere_pool *pool = pt_ere_pool_new();
    random_state = seed * 1000003;
    unsigned root = grow(pool, &ex, 1 + pick(10));
    struct pt_automaton *aut;
    struct pt_err err;
    assert_int_equal(automaton_of(pool, ex.ids[root], 100000, &aut, &err), PT_OK);
    for (unsigned code = 0; code < 1u << (2 * len); code++) {
        unsigned word[LEN];
        for (unsigned i = 0; i < len; i++)
            word[i] = code >> (2 * i) & 3;
        unsigned want = first_match(&ex, word, len), got = first_violation(aut, word, len);
        if (want != got)
            fail_msg("seed %llu, word %#x of length %u: matched after %u, violated after %u", (unsigned long long)seed,
                     code, len, want, got);
    }
    if (aut->state_count < 60)
        check_minimal(aut);
    pt_automaton_free(aut);
    pt_ere_pool_free(pool);
}

static void random_expressions(void **state)
{
    (void)state;
    const char *given = getenv("PORTENT_TEST_SEED");
    uint64_t base = given ? strtoull(given, NULL, 10) : 1;
    printf("seeds %llu to %llu (PORTENT_TEST_SEED sets the first)\n", (unsigned long long)base,
           (unsigned long long)base + 3999);
    for (uint64_t i = 0; i < 4000; i++)
        check_random(base + i, i % 8 == 0 ? LEN : LEN - 2);
}

/* ---- Known sizes, laws, limits ---- */

enum { A, B, AB, NOT_A, TRUE_, FALSE_ };

static pt_ere all(struct pt_ere_pool *pool)
{
    return pt_ere_star(pool, pt_ere_letter(pool, TRUE_));
}

static void expect_states(struct pt_ere_pool *pool, pt_ere ere, uint32_t want)
{
    struct pt_automaton *aut;
    struct pt_err err;
    assert_int_equal(automaton_of(pool, ere, 100000, &aut, &err), PT_OK);
    assert_int_equal(aut->state_count, want);
    pt_automaton_free(aut);
}

static void known_sizes(void **state)
{
    (void)state;
    struct pt_ere_pool *pool = pt_ere_pool_new();
    pt_ere a = pt_ere_letter(pool, A), b = pt_ere_letter(pool, B);
    expect_states(pool, pt_ere_empty(pool), 1);
    expect_states(pool, pt_ere_epsilon(pool), 1);
    expect_states(pool, pt_ere_letter(pool, TRUE_), 1); /* no edge: every first letter is bad */
    expect_states(pool, a, 2);
    expect_states(pool, all(pool), 1);
    expect_states(pool, pt_ere_concat(pool, all(pool), a), 1);
    expect_states(pool, pt_ere_concat(pool, all(pool), pt_ere_concat(pool, a, b)), 2);
    expect_states(pool, pt_ere_repeat(pool, a, 50, 50), 51);
    expect_states(pool, pt_ere_repeat(pool, a, 20000, 20000), 20001);
    expect_states(pool, pt_ere_concat(pool, all(pool), pt_ere_repeat(pool, a, 500, 500)), 500);
    /* (a{0,20}){20} b: only whether the last letter was a run of at most 400 a's matters */
    pt_ere runs = pt_ere_repeat(pool, pt_ere_repeat(pool, a, 0, 20), 20, 20);
    expect_states(pool, pt_ere_concat(pool, runs, b), 402);
    /* all a true{3}, first match only: the distance to the first a */
    pt_ere late =
        pt_ere_concat(pool, pt_ere_concat(pool, all(pool), a), pt_ere_repeat(pool, pt_ere_letter(pool, TRUE_), 3, 3));
    expect_states(pool, late, 4);
    /* the same with many: derivatives that differ only in later matches are not told apart */
    for (uint32_t n = 40; n <= 4000; n *= 10) {
        pt_ere tail = pt_ere_repeat(pool, pt_ere_letter(pool, TRUE_), n, n);
        expect_states(pool, pt_ere_concat(pool, pt_ere_concat(pool, all(pool), a), tail), n + 1);
        tail = pt_ere_repeat(pool, pt_ere_letter(pool, NOT_A), n, n);
        expect_states(pool, pt_ere_concat(pool, pt_ere_concat(pool, all(pool), b), tail), n + 1);
    }
    /* an even number of a's, two at least, and a multiple of three letters */
    pt_ere other = pt_ere_star(pool, pt_ere_letter(pool, NOT_A));
    pt_ere pair = pt_ere_concat(pool, a, pt_ere_concat(pool, other, pt_ere_concat(pool, a, other)));
    pt_ere even = pt_ere_concat(pool, other, pt_ere_repeat(pool, pair, 1, PT_NONE));
    pt_ere three = pt_ere_star(pool, pt_ere_repeat(pool, pt_ere_letter(pool, TRUE_), 3, 3));
    expect_states(pool, pt_ere_and(pool, even, three), 8);
    pt_ere_pool_free(pool);
}

static void laws(void **state)
{
    (void)state;
    struct pt_ere_pool *pool = pt_ere_pool_new();
    pt_ere a = pt_ere_letter(pool, A), b = pt_ere_letter(pool, B), c = pt_ere_letter(pool, AB);
    pt_ere none = pt_ere_empty(pool), eps = pt_ere_epsilon(pool), every = pt_ere_not(pool, none);
    assert_int_equal(pt_ere_or(pool, pt_ere_or(pool, a, b), c), pt_ere_or(pool, c, pt_ere_or(pool, b, a)));
    assert_int_equal(pt_ere_or(pool, pt_ere_or(pool, a, b), pt_ere_or(pool, b, c)),
                     pt_ere_or(pool, a, pt_ere_or(pool, b, c)));
    assert_int_equal(pt_ere_and(pool, pt_ere_and(pool, a, b), a), pt_ere_and(pool, b, a));
    assert_int_equal(pt_ere_or(pool, a, none), a);
    assert_int_equal(pt_ere_or(pool, a, every), every);
    assert_int_equal(pt_ere_and(pool, a, none), none);
    assert_int_equal(pt_ere_and(pool, a, every), a);
    assert_int_equal(pt_ere_and(pool, pt_ere_star(pool, a), eps), eps);
    assert_int_equal(pt_ere_and(pool, a, eps), none);
    assert_int_equal(pt_ere_concat(pool, pt_ere_concat(pool, a, b), c),
                     pt_ere_concat(pool, a, pt_ere_concat(pool, b, c)));
    assert_int_equal(pt_ere_concat(pool, a, none), none);
    assert_int_equal(pt_ere_concat(pool, eps, a), a);
    assert_int_equal(pt_ere_not(pool, pt_ere_not(pool, a)), a);
    assert_int_equal(pt_ere_star(pool, pt_ere_star(pool, a)), pt_ere_star(pool, a));
    assert_int_equal(pt_ere_star(pool, none), eps);
    assert_int_equal(pt_ere_repeat(pool, a, 1, 1), a);
    assert_int_equal(pt_ere_repeat(pool, a, 0, 0), eps);
    assert_int_equal(pt_ere_repeat(pool, a, 3, 2), none);
    assert_int_equal(pt_ere_repeat(pool, a, 0, PT_NONE), pt_ere_star(pool, a));
    assert_int_equal(pt_ere_repeat(pool, pt_ere_star(pool, a), 7, 9), pt_ere_star(pool, a));
    pt_ere_pool_free(pool);
}

static void expect_limit(struct pt_ere_pool *pool, pt_ere ere, uint32_t limit, const char *part)
{
    struct pt_automaton *aut;
    struct pt_err err;
    assert_int_equal(automaton_of(pool, ere, limit, &aut, &err), PT_ELIMIT);
    assert_non_null(strstr(err.message, part));
}

static void limits(void **state)
{
    (void)state;
    struct pt_ere_pool *pool = pt_ere_pool_new();
    pt_ere a = pt_ere_letter(pool, A), r = a;
    for (int i = 0; i < 3; i++)
        r = pt_ere_repeat(pool, r, 1000, 1000);
    expect_limit(pool, r, 100000, "more than 100000 automaton states (--automaton-limit)");
    expect_states(pool, pt_ere_repeat(pool, a, 10, 10), 11); /* the pool is still good */
    expect_limit(pool, pt_ere_repeat(pool, a, 10, 10), 10, "more than 10 automaton states");
    pt_ere huge = pt_ere_repeat(pool, a, PT_NONE - 1, PT_NONE - 1);
    expect_limit(pool, huge, 1000, "more than 1000 automaton states");
    pt_ere pairs = a;
    for (int i = 0; i < 3; i++)
        pairs = pt_ere_repeat(pool, pairs, 0, 1000);
    expect_limit(pool, pt_ere_concat(pool, pairs, pt_ere_letter(pool, B)), 100000, "too large");
    pt_ere_pool_free(pool);
}

/* A chain as long as the pool allows must end in the pool's limit, not in a crash. */
static void pool_limit(void **state)
{
    (void)state;
    struct pt_ere_pool *pool = pt_ere_pool_new();
    pt_ere r = pt_ere_letter(pool, A), b = pt_ere_letter(pool, B);
    for (int i = 0; i < 4000; i++)
        r = pt_ere_concat(pool, r, pt_ere_not(pool, i % 2 ? b : r));
    expect_limit(pool, r, 100000, "too large");
    pt_ere_pool_free(pool);

    /* Nesting a million deep: nothing may recurse on it. */
    pool = pt_ere_pool_new();
    r = pt_ere_letter(pool, A);
    for (int i = 0; i < 500000; i++)
        r = pt_ere_star(pool, pt_ere_not(pool, r));
    struct pt_automaton *aut;
    struct pt_err err;
    if (automaton_of(pool, r, 1000, &aut, &err) == PT_OK)
        pt_automaton_free(aut);
    pt_ere_pool_free(pool);
}

/* Bad as soon as matched, even where the match can no longer be avoided. */
static void bad_prefixes(void **state)
{
    (void)state;
    struct pt_ere_pool *pool = pt_ere_pool_new();
    pt_ere any = pt_ere_letter(pool, TRUE_);
    struct pt_automaton *aut;
    struct pt_dfa *dfa;
    struct pt_err err;
    assert_int_equal(automaton_of(pool, pt_ere_concat(pool, any, any), 10, &aut, &err), PT_OK);
    assert_int_equal(pt_ere_bad_prefixes(aut, &dfa, &err), PT_OK);
    assert_int_equal(dfa->state_count, 2);
    assert_int_equal(dfa->initial, 0);
    assert_int_equal(dfa->edges[dfa->first[0]].dst, 1);
    assert_int_equal(dfa->edges[dfa->first[1]].dst, PT_NONE);
    assert_int_equal(dfa->edges[dfa->first[1]].label, PT_BDD_TRUE);
    pt_dfa_free(dfa);
    pt_automaton_free(aut);
    pt_ere_pool_free(pool);
}

/* 64 propositions: the letters are never enumerated. */
static void many_propositions(void **state)
{
    (void)state;
    struct pt_ere_pool *pool = pt_ere_pool_new();
    struct pt_bdds *bdds = pt_bdds_new(1 << 20);
    const char *props[64];
    pt_bdd meaning[64];
    pt_ere chain = pt_ere_epsilon(pool), every = pt_ere_not(pool, pt_ere_empty(pool));
    for (uint32_t i = 0; i < 64; i++) {
        props[i] = "p";
        meaning[i] = pt_bdd_var(bdds, i);
        chain = pt_ere_concat(pool, pt_ere_letter(pool, 63 - i), chain);
    }
    struct pt_automaton *aut;
    struct pt_err err;
    pt_ere bad = pt_ere_and(pool, chain, every);
    assert_int_equal(pt_ere_automaton(pool, bad, meaning, 64, bdds, props, 64, 1000, &aut, &err), PT_OK);
    assert_int_equal(aut->state_count, 65);
    pt_automaton_free(aut);
    pt_ere_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(laws),
        cmocka_unit_test(known_sizes),
        cmocka_unit_test(limits),
        cmocka_unit_test(pool_limit),
        cmocka_unit_test(bad_prefixes),
        cmocka_unit_test(many_propositions),
        cmocka_unit_test(random_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
