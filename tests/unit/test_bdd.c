/* BDDs against truth tables: random functions of a few variables are 2^n bits, and every operation is one on bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "logic/formula/bdd.h"

enum { VARS = 6 }; /* so a truth table is 64 bits */

static uint64_t random_state;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* The table of variable v: bit i is bit v of i. */
static uint64_t table_of_var(uint32_t v)
{
    uint64_t table = 0;
    for (uint32_t i = 0; i < 64; i++)
        table |= (uint64_t)(i >> v & 1) << i;
    return table;
}

static uint64_t table_of(const struct pt_bdds *bdds, pt_bdd f)
{
    uint64_t table = 0;
    for (uint32_t i = 0; i < 64; i++)
        table |= (uint64_t)pt_bdd_eval(bdds, f, i) << i;
    return table;
}

/* A function made of random operations, with its table. */
static pt_bdd random_function(struct pt_bdds *bdds, uint32_t depth, uint64_t *ret_table)
{
    if (depth == 0) {
        uint32_t v = (uint32_t)(random_bits() % VARS);
        *ret_table = table_of_var(v);
        return pt_bdd_var(bdds, v);
    }
    uint64_t a, b, c;
    pt_bdd f = random_function(bdds, depth - 1, &a), g = random_function(bdds, depth - 1, &b);
    switch (random_bits() % 4) {
    case 0:
        *ret_table = a & b;
        return pt_bdd_and(bdds, f, g);
    case 1:
        *ret_table = a | b;
        return pt_bdd_or(bdds, f, g);
    case 2:
        *ret_table = ~a;
        return pt_bdd_not(bdds, f);
    default: {
        pt_bdd h = random_function(bdds, depth - 1, &c);
        *ret_table = (a & b) | (~a & c);
        return pt_bdd_ite(bdds, f, g, h);
    }
    }
}

static void test_operations(void **state)
{
    (void)state;
    random_state = 42;
    struct pt_bdds *bdds = pt_bdds_new(1 << 20);
    for (uint32_t round = 0; round < 2000; round++) {
        uint64_t a, b;
        pt_bdd f = random_function(bdds, round % 6, &a), g = random_function(bdds, round % 5, &b);
        assert_int_equal(table_of(bdds, f), a);
        assert_int_equal(f == g, a == b); /* canonical */
        assert_int_equal(pt_bdd_implies(bdds, f, g), (a & ~b) == 0);
        assert_int_equal(pt_bdd_not(bdds, pt_bdd_not(bdds, f)), f);
    }
    pt_bdds_free(bdds);
}

static void test_support(void **state)
{
    (void)state;
    random_state = 43;
    struct pt_bdds *bdds = pt_bdds_new(1 << 20);
    for (uint32_t round = 0; round < 1000; round++) {
        uint64_t a;
        pt_bdd f = random_function(bdds, round % 6, &a);
        uint64_t support = 0;
        for (uint32_t v = 0; v < VARS; v++) {
            uint64_t t = table_of_var(v), high = a & t, low = a & ~t;
            uint32_t shift = 1u << v;
            if ((high >> shift) != low)
                support |= (uint64_t)1 << v;
        }
        assert_int_equal(pt_bdd_support(bdds, f), support);
    }
    pt_bdds_free(bdds);
}

static bool covers(struct pt_cube cube, uint32_t letter)
{
    return (letter & cube.pos) == cube.pos && !(letter & cube.neg);
}

/* The cubes are the function, and none of them can be left out. */
static void test_cubes(void **state)
{
    (void)state;
    random_state = 44;
    struct pt_bdds *bdds = pt_bdds_new(1 << 20);
    for (uint32_t round = 0; round < 1000; round++) {
        uint64_t a, joined = 0;
        pt_bdd f = random_function(bdds, round % 6, &a), back = PT_BDD_FALSE;
        struct pt_cube *cubes;
        uint32_t count = pt_bdd_cubes(bdds, f, &cubes);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t alone = 0;
            back = pt_bdd_or(bdds, back, pt_bdd_cube(bdds, cubes[i]));
            for (uint32_t letter = 0; letter < 64; letter++) {
                bool others = false;
                for (uint32_t j = 0; j < count; j++)
                    others |= j != i && covers(cubes[j], letter);
                if (covers(cubes[i], letter)) {
                    joined |= (uint64_t)1 << letter;
                    alone |= others ? 0 : (uint64_t)1 << letter;
                }
            }
            assert_true(alone != 0);
        }
        assert_int_equal(joined, a);
        assert_int_equal(back, f);
        free(cubes);
    }
    pt_bdds_free(bdds);
}

static void test_overflow(void **state)
{
    (void)state;
    struct pt_bdds *bdds = pt_bdds_new(100);
    pt_bdd f = PT_BDD_FALSE; /* x0 x32 + x1 x33 + ... is exponential in this order */
    for (uint32_t v = 0; v < 32 && f != PT_BDD_OVERFLOW; v++)
        f = pt_bdd_or(bdds, f, pt_bdd_and(bdds, pt_bdd_var(bdds, v), pt_bdd_var(bdds, v + 32)));
    assert_int_equal(f, PT_BDD_OVERFLOW);
    assert_int_equal(pt_bdd_and(bdds, f, PT_BDD_FALSE), PT_BDD_OVERFLOW);
    assert_int_equal(pt_bdd_not(bdds, f), PT_BDD_OVERFLOW);
    assert_false(pt_bdd_implies(bdds, f, PT_BDD_TRUE));
    pt_bdds_free(bdds);
}

/* In a full manager the cubes are still right. */
static void test_cubes_when_full(void **state)
{
    (void)state;
    for (uint32_t limit = 8; limit < 200; limit++) {
        random_state = limit;
        struct pt_bdds *bdds = pt_bdds_new(limit);
        uint64_t a, joined = 0;
        pt_bdd f = random_function(bdds, 4, &a);
        struct pt_cube *cubes;
        uint32_t count = pt_bdd_cubes(bdds, f, &cubes);
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t letter = 0; letter < 64; letter++)
                joined |= (uint64_t)covers(cubes[i], letter) << letter;
        if (f != PT_BDD_OVERFLOW)
            assert_int_equal(joined, a);
        free(cubes);
        pt_bdds_free(bdds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operations), cmocka_unit_test(test_support),         cmocka_unit_test(test_cubes),
        cmocka_unit_test(test_overflow),   cmocka_unit_test(test_cubes_when_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
