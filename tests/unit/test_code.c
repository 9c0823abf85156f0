/*
 * The evaluator of byte code, against a reference that reasons in 128-bit integers and in long double (whose mantissa
 * holds every 64-bit integer and every double, so its comparisons are exact).
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/code.h"

_Static_assert(LDBL_MANT_DIG >= 64, "the reference needs exact 64-bit integers in long double");

static enum pt_code_result run1(uint32_t op, struct pt_value a, struct pt_value *ret)
{
    struct pt_insn insns[] = {{PT_CODE_VAR, 0}, {op, 0}};
    struct pt_code code = {.insns = insns, .count = 2, .depth = 1};
    uint32_t detail = 0;
    return pt_code_run(&code, &a, ret, &detail);
}

static enum pt_code_result run2(uint32_t op, struct pt_value a, struct pt_value b, struct pt_value *ret)
{
    struct pt_insn insns[] = {{PT_CODE_VAR, 1}, {PT_CODE_CONST, 0}, {op, 0}};
    struct pt_code code = {.insns = insns, .constants = &b, .count = 3, .depth = 2};
    struct pt_value values[] = {{0}, a};
    uint32_t detail = 0;
    return pt_code_run(&code, values, ret, &detail);
}

static bool is_integer(struct pt_value v)
{
    return v.kind != PT_VALUE_FLOAT;
}

/* --- reference --- */

static enum pt_code_result fit(bool negative, unsigned __int128 magnitude, bool high, struct pt_value *ret)
{
    if (negative && magnitude > (unsigned __int128)1 << 63)
        return PT_CODE_OVERFLOW;
    if (!negative && magnitude > (high ? UINT64_MAX : (uint64_t)INT64_MAX))
        return PT_CODE_OVERFLOW;
    *ret = negative ? pt_value_int((int64_t)(0 - (uint64_t)magnitude)) : pt_value_uint((uint64_t)magnitude);
    return PT_CODE_OK;
}

static enum pt_code_result fit_wide(__int128 x, bool high, struct pt_value *ret)
{
    return fit(x < 0, (unsigned __int128)(x < 0 ? -x : x), high, ret);
}

static enum pt_code_result expect_integers(uint32_t op, struct pt_value a, struct pt_value b, struct pt_value *ret)
{
    bool high = a.kind == PT_VALUE_UINT || b.kind == PT_VALUE_UINT;
    __int128 x = a.kind == PT_VALUE_UINT ? (__int128)a.u : a.i, y = b.kind == PT_VALUE_UINT ? (__int128)b.u : b.i;
    switch (op) {
    case PT_CODE_ADD:
        return fit_wide(x + y, high, ret);
    case PT_CODE_SUB:
        return fit_wide(x - y, high, ret);
    case PT_CODE_MUL: {
        unsigned __int128 product = (unsigned __int128)(x < 0 ? -x : x) * (unsigned __int128)(y < 0 ? -y : y);
        return fit((x < 0) != (y < 0) && product, product, high, ret);
    }
    case PT_CODE_DIV:
        return y == 0 ? PT_CODE_DIVISION_BY_ZERO : fit_wide(x / y, high, ret);
    default:
        return y == 0 ? PT_CODE_DIVISION_BY_ZERO : fit_wide(x % y, high, ret);
    }
}

static double as_double(struct pt_value v)
{
    return v.kind == PT_VALUE_FLOAT ? v.d : v.kind == PT_VALUE_UINT ? (double)v.u : (double)v.i;
}

static long double as_long_double(struct pt_value v)
{
    return v.kind == PT_VALUE_FLOAT ? (long double)v.d : v.kind == PT_VALUE_UINT ? (long double)v.u : (long double)v.i;
}

static enum pt_code_result expect_floats(uint32_t op, double x, double y, struct pt_value *ret)
{
    if (op >= PT_CODE_DIV && y == 0)
        return PT_CODE_DIVISION_BY_ZERO;
    double z = op == PT_CODE_MOD   ? fmod(x, y)
               : op == PT_CODE_ADD ? x + y
               : op == PT_CODE_SUB ? x - y
               : op == PT_CODE_MUL ? x * y
                                   : x / y;
    if (!isfinite(z) && isfinite(x) && isfinite(y))
        return PT_CODE_OVERFLOW;
    *ret = pt_value_float(z);
    return PT_CODE_OK;
}

static enum pt_code_result expect(uint32_t op, struct pt_value a, struct pt_value b, struct pt_value *ret)
{
    if (op >= PT_CODE_EQ) {
        long double x = as_long_double(a), y = as_long_double(b);
        bool truths[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};
        *ret = pt_value_bool(truths[op - PT_CODE_EQ]);
        return PT_CODE_OK;
    }
    if (op == PT_CODE_MIN || op == PT_CODE_MAX) {
        long double x = as_long_double(a), y = as_long_double(b);
        bool second = x != x ? false : y != y || (op == PT_CODE_MIN ? y < x : y > x);
        *ret = second ? b : a;
        return PT_CODE_OK;
    }
    if (is_integer(a) && is_integer(b))
        return expect_integers(op, a, b, ret);
    return expect_floats(op, as_double(a), as_double(b), ret);
}

/* --- values that matter, and random ones near them --- */

static uint64_t seed = 0x9e3779b97f4a7c15ULL;

static uint64_t random64(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static struct pt_value random_value(void)
{
    static const double odd[] = {0.0,
                                 -0.0,
                                 0.5,
                                 -0.5,
                                 1e308,
                                 -1e308,
                                 0x1p63,
                                 -0x1p63,
                                 0x1p64,
                                 0x1p53,
                                 5e-324,
                                 0x1p62,
                                 INFINITY,
                                 -INFINITY,
                                 NAN,
                                 0x1.fffffffffffffp63,
                                 -0x1.0000000000001p63};
    uint64_t r = random64(), near = random64() % 5 - 2;
    switch (r % 8) {
    case 0:
        return pt_value_int((int64_t)random64());
    case 1:
        return pt_value_uint(random64());
    case 2:
        return pt_value_int((int64_t)near);
    case 3: /* around a power of two, of either sign */
        return pt_value_int((int64_t)(((uint64_t)1 << (random64() % 64)) + near));
    case 4:
        return pt_value_uint(((uint64_t)1 << (random64() % 64)) + near);
    case 5:
        return pt_value_bool(r >> 32 & 1);
    case 6:
        return pt_value_float(odd[random64() % (sizeof odd / sizeof *odd)]);
    default:
        return pt_value_float(ldexp((double)(int64_t)random64(), (int)(random64() % 140) - 70));
    }
}

static bool same(struct pt_value a, struct pt_value b)
{
    if (a.kind == PT_VALUE_FLOAT && b.kind == PT_VALUE_FLOAT && isnan(a.d) && isnan(b.d))
        return true;
    return pt_value_same(a, b);
}

static void test_random(void **state)
{
    (void)state;
    unsigned long seen[8] = {0};
    for (int i = 0; i < 1000000; i++) {
        struct pt_value a = random_value(), b = random_value(), got = {0}, want = {0};
        uint32_t op = PT_CODE_ADD + (uint32_t)(random64() % (PT_CODE_GE - PT_CODE_ADD + 1));
        enum pt_code_result r = run2(op, a, b, &got), w = expect(op, a, b, &want);
        if (r != w || (r == PT_CODE_OK && !same(got, want)))
            fail_msg("op %u on %u:%016lx %u:%016lx gives %d %u:%016lx, not %d %u:%016lx", op, a.kind,
                     (unsigned long)a.u, b.kind, (unsigned long)b.u, r, got.kind, (unsigned long)got.u, w, want.kind,
                     (unsigned long)want.u);
        seen[r]++;
    }
    assert_true(seen[PT_CODE_OK] && seen[PT_CODE_OVERFLOW] && seen[PT_CODE_DIVISION_BY_ZERO]);
}

static void test_truth_and_sign(void **state)
{
    (void)state;
    for (int i = 0; i < 100000; i++) {
        struct pt_value a = random_value(), got = {0}, want = {0};
        assert_int_equal(run1(PT_CODE_TRUTH, a, &got), PT_CODE_OK);
        assert_true(got.kind == PT_VALUE_BOOL && got.i == (as_long_double(a) != 0));
        enum pt_code_result r = run1(PT_CODE_NEG, a, &got), w = PT_CODE_OK;
        if (is_integer(a))
            w = fit_wide(-(a.kind == PT_VALUE_UINT ? (__int128)a.u : (__int128)a.i), false, &want);
        else
            want = pt_value_float(-a.d);
        assert_int_equal(r, w);
        assert_true(r != PT_CODE_OK || same(got, want));
    }
}

/* The rules of code.h by example: written down here once more, not computed. */
static void test_rules(void **state)
{
    (void)state;
    const struct pt_value low = pt_value_int(INT64_MIN), top = pt_value_int(INT64_MAX), one = pt_value_int(1),
                          minus = pt_value_int(-1), big = pt_value_uint(UINT64_MAX),
                          half = pt_value_uint((uint64_t)1 << 63);
    static const struct pt_value none;
    const struct {
        uint32_t op;
        struct pt_value a, b;
        enum pt_code_result result;
        struct pt_value value;
    } rules[] = {
        {PT_CODE_ADD, top, one, PT_CODE_OVERFLOW, none}, /* two signed values must fit int64_t */
        {PT_CODE_ADD, half, one, PT_CODE_OK, pt_value_uint(((uint64_t)1 << 63) + 1)},
        {PT_CODE_ADD, big, one, PT_CODE_OVERFLOW, none},
        {PT_CODE_ADD, big, minus, PT_CODE_OK, pt_value_uint(UINT64_MAX - 1)},
        {PT_CODE_SUB, half, one, PT_CODE_OK, top}, /* falls back into the signed range */
        {PT_CODE_SUB, low, one, PT_CODE_OVERFLOW, none},
        {PT_CODE_SUB, one, big, PT_CODE_OVERFLOW, none},
        {PT_CODE_SUB, pt_value_int(0), half, PT_CODE_OK, low},
        {PT_CODE_MUL, half, minus, PT_CODE_OK, low},
        {PT_CODE_MUL, low, minus, PT_CODE_OVERFLOW, none},
        {PT_CODE_MUL, big, big, PT_CODE_OVERFLOW, none},
        {PT_CODE_DIV, low, minus, PT_CODE_OVERFLOW, none},
        {PT_CODE_MOD, low, minus, PT_CODE_OK, pt_value_int(0)},
        {PT_CODE_DIV, pt_value_int(-7), pt_value_int(2), PT_CODE_OK, pt_value_int(-3)},
        {PT_CODE_MOD, pt_value_int(-7), pt_value_int(2), PT_CODE_OK, minus},
        {PT_CODE_MOD, pt_value_int(7), pt_value_int(-2), PT_CODE_OK, one},
        {PT_CODE_DIV, one, pt_value_int(0), PT_CODE_DIVISION_BY_ZERO, none},
        {PT_CODE_MOD, one, pt_value_bool(false), PT_CODE_DIVISION_BY_ZERO, none},
        {PT_CODE_DIV, pt_value_float(1), pt_value_float(-0.0), PT_CODE_DIVISION_BY_ZERO, none},
        {PT_CODE_MOD, pt_value_float(3.5), pt_value_int(-2), PT_CODE_OK, pt_value_float(1.5)},
        {PT_CODE_MOD, pt_value_float(3), pt_value_float(0), PT_CODE_DIVISION_BY_ZERO, none},
        {PT_CODE_MUL, pt_value_float(1e300), pt_value_float(1e300), PT_CODE_OVERFLOW, none},
        {PT_CODE_ADD, pt_value_float(INFINITY), one, PT_CODE_OK, pt_value_float(INFINITY)},
        {PT_CODE_ADD, pt_value_bool(true), pt_value_bool(true), PT_CODE_OK, pt_value_int(2)},
        /* 2^53 + 1 is no double: a comparison by conversion would call them equal */
        {PT_CODE_EQ, pt_value_int(9007199254740993), pt_value_float(9007199254740992.0), PT_CODE_OK,
         pt_value_bool(false)},
        {PT_CODE_GT, pt_value_int(9007199254740993), pt_value_float(9007199254740992.0), PT_CODE_OK,
         pt_value_bool(true)},
        {PT_CODE_LT, big, pt_value_float(0x1p64), PT_CODE_OK, pt_value_bool(true)},
        {PT_CODE_EQ, half, pt_value_float(0x1p63), PT_CODE_OK, pt_value_bool(true)},
        {PT_CODE_EQ, pt_value_bool(true), pt_value_float(1.0), PT_CODE_OK, pt_value_bool(true)},
        {PT_CODE_GT, big, low, PT_CODE_OK, pt_value_bool(true)},
        {PT_CODE_NE, pt_value_float(NAN), pt_value_float(NAN), PT_CODE_OK, pt_value_bool(true)},
        {PT_CODE_LE, one, pt_value_float(NAN), PT_CODE_OK, pt_value_bool(false)},
        /* strings */
        {PT_CODE_EQ, pt_value_string("ab", 2), pt_value_string("abc", 2), PT_CODE_OK, pt_value_bool(true)},
        {PT_CODE_LT, pt_value_string("ab", 2), pt_value_string("abc", 3), PT_CODE_OK, pt_value_bool(true)},
        {PT_CODE_GT, pt_value_string("\xff", 1), pt_value_string("a", 1), PT_CODE_OK, pt_value_bool(true)},
        {PT_CODE_NE, pt_value_string("a\0b", 3), pt_value_string("a\0c", 3), PT_CODE_OK, pt_value_bool(true)},
        {PT_CODE_EQ, pt_value_string("1", 1), one, PT_CODE_TYPE, none},
        {PT_CODE_ADD, pt_value_string("1", 1), one, PT_CODE_TYPE, none},
        {PT_CODE_ADD, one, pt_value_string("1", 1), PT_CODE_TYPE, none},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        struct pt_value got = {0};
        enum pt_code_result r = run2(rules[i].op, rules[i].a, rules[i].b, &got);
        if (r != rules[i].result || (r == PT_CODE_OK && !pt_value_same(got, rules[i].value)))
            fail_msg("rule %zu gives %d %u:%016lx", i, r, got.kind, (unsigned long)got.u);
    }
    struct pt_value got;
    assert_int_equal(run1(PT_CODE_NEG, low, &got), PT_CODE_OVERFLOW);
    assert_int_equal(run1(PT_CODE_NEG, half, &got), PT_CODE_OK);
    assert_true(pt_value_same(got, low));
    assert_int_equal(run1(PT_CODE_NEG, big, &got), PT_CODE_OVERFLOW);
    assert_int_equal(run1(PT_CODE_TRUTH, pt_value_string("x", 1), &got), PT_CODE_TYPE);
    assert_int_equal(run1(PT_CODE_NEG, pt_value_string("x", 1), &got), PT_CODE_TYPE);
}

/* (x + 2) * y > x, in postfix; and the variable that has no value is named */
static void test_program(void **state)
{
    (void)state;
    const struct pt_value two = pt_value_int(2);
    const struct pt_insn insns[] = {{PT_CODE_VAR, 0}, {PT_CODE_CONST, 0}, {PT_CODE_ADD, 0}, {PT_CODE_VAR, 1},
                                    {PT_CODE_MUL, 0}, {PT_CODE_VAR, 0},   {PT_CODE_GT, 0}};
    const struct pt_code code = {insns, &two, 7, 2};
    struct pt_value values[] = {pt_value_int(3), pt_value_int(1)}, got;
    uint32_t detail = 77;
    assert_int_equal(pt_code_run(&code, values, &got, &detail), PT_CODE_OK);
    assert_true(pt_value_same(got, pt_value_bool(true)));
    values[1] = pt_value_int(-1);
    assert_int_equal(pt_code_run(&code, values, &got, &detail), PT_CODE_OK);
    assert_true(pt_value_same(got, pt_value_bool(false)));
    assert_int_equal(detail, 77);
    values[1] = (struct pt_value){0};
    assert_int_equal(pt_code_run(&code, values, &got, &detail), PT_CODE_UNKNOWN_VALUE);
    assert_int_equal(detail, 1);
    for (int r = PT_CODE_OK; r <= PT_CODE_TYPE; r++)
        assert_true(strlen(pt_code_result_text((enum pt_code_result)r)) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_truth_and_sign),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_program),
    };
    print_message("seed %016lx\n", (unsigned long)seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
