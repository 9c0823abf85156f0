/*
 * What shrinks automata (logic/ltl/shrink.c and below) against all short words u v^w: whether one small automaton
 * accepts all words of another, whether it shares one with the negation, and what merging and dropping a state leaves.
 * Automata are random; a word that tells two of this size apart is short.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "logic/automaton/automaton.h"
#include "logic/lang/property.h"
#include "logic/ltl/small.h"

enum { LETTERS = 2, LONGEST = 5, STATE_LIMIT = 1000 }; /* letters; of u and of v */

static uint64_t random_state;

static uint32_t random_below(uint32_t bound)
{
    random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)((random_state >> 33) % bound);
}

static struct pt_small random_small(uint32_t count)
{
    struct pt_small a = {.count = count, .initial = random_below(count), .accepting = random_below(1u << count)};
    for (uint32_t p = 0; p < count; p++)
        for (uint32_t q = 0; q < count; q++)
            pt_small_add(&a, p, q, random_below(5) < 3 ? 0 : random_below(1u << LETTERS));
    return a;
}

/* A word: bit i is letter i. */
struct word {
    uint32_t stem, stem_len, loop, loop_len;
};

static uint64_t step(const struct pt_small *a, uint64_t from, uint32_t letter)
{
    uint64_t to = 0;
    for (uint32_t p = 0; p < a->count; p++)
        for (uint32_t q = 0; q < a->count && from >> p & 1; q++)
            to |= (a->letters[p][q] >> letter & 1) << q;
    return to;
}

/* States, and those met past an accepting state in the upper half, that v leads to. */
static uint64_t read_loop(const struct pt_small *a, const struct word *w, uint32_t from)
{
    uint64_t plain = (uint64_t)1 << from, passed = 0;
    for (uint32_t i = 0; i < w->loop_len; i++) {
        passed |= plain & a->accepting;
        plain = step(a, plain, w->loop >> i & 1);
        passed = step(a, passed, w->loop >> i & 1);
    }
    return plain | passed << 32;
}

static bool accepts(const struct pt_small *a, const struct word *w)
{
    uint64_t at = (uint64_t)1 << a->initial, by[8], reach[8];
    for (uint32_t i = 0; i < w->stem_len; i++)
        at = step(a, at, w->stem >> i & 1);
    for (uint32_t p = 0; p < a->count; p++) {
        by[p] = read_loop(a, w, p);
        reach[p] = (uint64_t)1 << p | (by[p] & UINT32_MAX);
    }
    for (uint32_t round = 0; round < a->count; round++)
        for (uint32_t p = 0; p < a->count; p++)
            for (uint32_t q = 0; q < a->count; q++)
                reach[p] |= reach[p] >> q & 1 ? reach[q] : 0;
    for (uint32_t p = 0; p < a->count; p++)
        for (uint32_t q = 0; q < a->count; q++) /* p lies on a cycle of v that accepts */
            if (by[p] >> 32 >> q & 1 && reach[q] >> p & 1)
                for (uint32_t s = 0; s < a->count; s++)
                    if (at >> s & 1 && reach[s] >> p & 1)
                        return true;
    return false;
}

/* The next short word; false after the last. Begins with {0, 0, 0, 1}. */
static bool next_word(struct word *w)
{
    if (++w->loop < 1u << w->loop_len)
        return true;
    w->loop = 0;
    if (++w->loop_len <= LONGEST)
        return true;
    w->loop_len = 1;
    if (++w->stem < 1u << w->stem_len)
        return true;
    w->stem = 0;
    return ++w->stem_len <= LONGEST;
}

/* Whether some short word is accepted by a and, as `wanted` says, by b. */
static bool some_word(const struct pt_small *a, const struct pt_small *b, bool wanted)
{
    struct word w = {.loop_len = 1};
    do
        if (accepts(a, &w) && accepts(b, &w) == wanted)
            return true;
    while (next_word(&w));
    return false;
}

static struct pt_tgba *written(const struct pt_small *a, struct pt_letters *letters)
{
    struct pt_tgba *tgba = pt_small_write(a, letters);
    assert_non_null(tgba);
    return tgba;
}

static struct pt_letters two_letters(struct pt_bdds *bdds)
{
    struct pt_letters letters = {.bdds = bdds, .count = LETTERS};
    letters.class[0] = pt_bdd_not(bdds, pt_bdd_var(bdds, 0));
    letters.class[1] = pt_bdd_var(bdds, 0);
    return letters;
}

/* As the construction has them: every state is reached and reaches an accepting cycle. */
static void prune(struct pt_small *a, struct pt_letters *letters)
{
    struct pt_tgba *tgba = written(a, letters);
    pt_tgba_prune(tgba);
    pt_small_read(a, letters, tgba);
    pt_tgba_free(tgba);
}

static void test_inclusion(void **state)
{
    (void)state;
    struct pt_bdds *bdds = pt_bdds_new(1 << 16);
    struct pt_letters letters = two_letters(bdds);
    uint32_t included = 0, not_included = 0;
    random_state = 17;
    for (uint32_t round = 0; round < 6000; round++) {
        struct pt_small a = random_small(1 + random_below(3)), b = random_small(1 + random_below(4));
        prune(&a, &letters);
        uint64_t work = 1 << 20;
        bool result = pt_small_includes(&b, &a, LETTERS, &work);
        assert_true(work > 0);
        if (result == some_word(&a, &b, false))
            fail_msg("round %u: included is %d", round, result);
        included += result;
        not_included += !result;
    }
    assert_true(included > 500 && not_included > 500);
    pt_bdds_free(bdds);
}

static void test_common_words(void **state)
{
    (void)state;
    struct pt_bdds *bdds = pt_bdds_new(1 << 16);
    struct pt_letters letters = two_letters(bdds);
    uint32_t apart = 0, common = 0;
    random_state = 18;
    for (uint32_t round = 0; round < 3000; round++) {
        struct pt_small a = random_small(1 + random_below(4)), n = random_small(1 + random_below(3));
        struct pt_tgba *negation = written(&n, &letters);
        struct pt_outside *outside = pt_outside_new(negation, &letters, a.count);
        struct pt_meetings m;
        uint64_t work = 1 << 20;
        bool avoids = pt_outside_avoids(outside, &a, &work);
        if (avoids == some_word(&a, &n, true))
            fail_msg("round %u: without a common word is %d", round, avoids);
        /* A pair is live when both share a word from there on. */
        assert_true(pt_outside_meet(outside, &a, &m, &work));
        assert_true(m.reached[a.initial] >> n.initial & 1);
        struct pt_small from = a, beside = n;
        from.initial = random_below(a.count), beside.initial = random_below(n.count);
        assert_int_equal(m.live[from.initial] >> beside.initial & 1, some_word(&from, &beside, true));
        /* With a letter that is not allowed, it cannot avoid the negation. */
        uint32_t p = random_below(a.count), q = random_below(a.count);
        uint64_t allowed = pt_outside_letters(outside, &m, p, q) & 3, all = a.letters[p][q] | 3;
        from = a;
        pt_small_add(&from, p, q, all & ~allowed);
        if (all & ~allowed)
            assert_false(pt_outside_avoids(outside, &from, &work));
        apart += avoids;
        common += !avoids;
        work = 1;
        assert_false(pt_outside_avoids(outside, &a, &work) && a.next[a.initial] && n.next[n.initial]);
        pt_outside_free(outside);
        pt_tgba_free(negation);
    }
    if (apart < 150 || common < 150)
        fail_msg("%u apart, %u with a common word", apart, common);
    pt_bdds_free(bdds);
}

/* Where state x is after q has gone. */
static uint32_t moved(const struct pt_small *a, uint32_t q, uint32_t x)
{
    return x == a->count - 1 ? q : x;
}

static void test_changes(void **state)
{
    (void)state;
    random_state = 19;
    for (uint32_t round = 0; round < 2000; round++) {
        struct pt_small a = random_small(2 + random_below(4)), b = a, c = a;
        uint32_t q = random_below(a.count), p = (q + 1 + random_below(a.count - 1)) % a.count;
        pt_small_drop(&b, q);
        pt_small_merge(&c, p, q);
        assert_true(b.count == a.count - 1 && c.count == a.count - 1);
        if (a.initial != q)
            assert_int_equal(b.initial, moved(&a, q, a.initial));
        assert_int_equal(c.initial, moved(&a, q, a.initial == q ? p : a.initial));
        for (uint32_t x = 0; x < a.count; x++)
            for (uint32_t y = 0; y < a.count && x != q; y++) {
                uint64_t with_q = a.letters[x][y] | (y == p ? a.letters[x][q] : 0);
                if (x == p)
                    with_q |= a.letters[q][y] | (y == p ? a.letters[q][q] : 0);
                if (y == q)
                    continue;
                uint32_t i = moved(&a, q, x), k = moved(&a, q, y);
                assert_int_equal(b.letters[i][k], a.letters[x][y]);
                assert_int_equal(c.letters[i][k], with_q);
                assert_int_equal(b.next[i] >> k & 1, a.letters[x][y] != 0);
                assert_int_equal(c.next[i] >> k & 1, with_q != 0);
                assert_int_equal(b.accepting >> i & 1, a.accepting >> x & 1);
                uint64_t either = a.accepting >> x | (x == p ? a.accepting >> q : 0);
                assert_int_equal(c.accepting >> i & 1, either & 1);
            }
        assert_true(b.accepting >> b.count == 0 && c.accepting >> c.count == 0);
        for (uint32_t x = 0; x < b.count; x++)
            assert_true(b.next[x] >> b.count == 0 && c.next[x] >> c.count == 0);
    }
}

static uint32_t states_of(const char *text, bool timed)
{
    struct pt_properties *props = pt_properties_new();
    struct pt_err err;
    struct pt_automaton *aut;
    if (pt_properties_add_formula(props, text, &err) != PT_OK)
        fail_msg("%s: %s", text, err.message);
    const struct pt_property *p = &props->items[0];
    const char *names[PT_MAX_ATOMS];
    for (uint32_t i = 0; i < p->atom_count; i++)
        names[i] = p->atoms[i].text;
    enum pt_status status =
        timed ? pt_automaton_of_timed_formula(&p->pool, p->formula, names, p->atom_count, STATE_LIMIT, &aut, &err)
              : pt_automaton_of_formula(&p->pool, p->formula, names, p->atom_count, STATE_LIMIT, &aut, &err);
    assert_int_equal(status, PT_OK);
    uint32_t states = aut->state_count;
    pt_automaton_free(aut);
    pt_properties_free(props);
    return states;
}

/* States that no simulation merges, or that several others stand for; `within` keeps them. */
static void test_formulas(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t states, timed;
    } cases[] = {
        {"[](!p1 U (p2 V p3))", 2, 4}, /* merged */
        {"<>(!(!((!((X (p0)) -> (p1))) V (<>(p0)))))", 4, 6},
        {"[](X (((p0 U ([](X (p0 U p2)))) U (X (p0))) -> (!([](!p3)))))", 4, 20},
        {"(<>[](p0 -> p3)) && ((<>p3) U !p3)", 2, 3}, /* dropped */
        {"(!(p2 && !p3)) U (<>(X (p3 V (X (p0 V p3)))))", 4, 5},
        {"[](p -> <>q)", 2, 2},
        {"([]<>p1 && []<>p2 && []<>p3 && []<>p4) -> [](q -> <>r)", 6, 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t states = states_of(cases[i].text, false), timed = states_of(cases[i].text, true);
        if (states != cases[i].states || timed != cases[i].timed)
            fail_msg("%s: %u and %u states", cases[i].text, states, timed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inclusion),
        cmocka_unit_test(test_common_words),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_formulas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
