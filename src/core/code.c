/*
 * The evaluator of expression byte code. Integers are the mathematical ones within [INT64_MIN, UINT64_MAX], so an
 * operation is carried out in sign and magnitude or in 128 bits and then checked against the range that its operands
 * allow. Freestanding: no allocation, no library but memcmp, and no 128-bit multiplication or division, which would
 * need helpers of the compiler's runtime.
 */
#include "core/code.h"

#include <string.h>

typedef __int128 wide;

static bool is_integer(struct pt_value v)
{
    return v.kind == PT_VALUE_INT || v.kind == PT_VALUE_UINT || v.kind == PT_VALUE_BOOL;
}

static wide integer_of(struct pt_value v)
{
    return v.kind == PT_VALUE_UINT ? (wide)v.u : (wide)v.i;
}

static double float_of(struct pt_value v)
{
    return v.kind == PT_VALUE_FLOAT ? v.d : v.kind == PT_VALUE_UINT ? (double)v.u : (double)v.i;
}

static bool is_finite(double d)
{
    return d - d == 0;
}

/* An integer result; `high`: an operand was above INT64_MAX. */
static enum pt_code_result give_integer(wide x, bool high, struct pt_value *ret)
{
    if (x < INT64_MIN || x > (high ? (wide)UINT64_MAX : (wide)INT64_MAX))
        return PT_CODE_OVERFLOW;
    *ret = x < 0 ? pt_value_int((int64_t)x) : pt_value_uint((uint64_t)x);
    return PT_CODE_OK;
}

static uint64_t magnitude(wide x)
{
    return (uint64_t)(x < 0 ? -x : x);
}

static enum pt_code_result integer_operation(uint32_t op, struct pt_value a, struct pt_value b, struct pt_value *ret)
{
    wide x = integer_of(a), y = integer_of(b);
    bool high = a.kind == PT_VALUE_UINT || b.kind == PT_VALUE_UINT;
    bool negative = (x < 0) != (y < 0);
    uint64_t product;
    switch (op) {
    case PT_CODE_ADD:
        return give_integer(x + y, high, ret);
    case PT_CODE_SUB:
        return give_integer(x - y, high, ret);
    case PT_CODE_MUL:
        if (__builtin_mul_overflow(magnitude(x), magnitude(y), &product))
            return PT_CODE_OVERFLOW;
        return give_integer(negative ? -(wide)product : (wide)product, high, ret);
    default:
        break;
    }
    if (y == 0)
        return PT_CODE_DIVISION_BY_ZERO;
    if (op == PT_CODE_DIV) {
        wide quotient = (wide)(magnitude(x) / magnitude(y));
        return give_integer(negative ? -quotient : quotient, high, ret);
    }
    wide rest = (wide)(magnitude(x) % magnitude(y)); /* of the dividend's sign, as in C */
    return give_integer(x < 0 ? -rest : rest, high, ret);
}

/*
 * C's fmod, exact, without libm (the monitored process links none): subtract y * 2^k from x for falling k. Doubling and
 * halving are exact, and so is each subtraction, since t <= x < 2t. At most some 2100 rounds of each loop.
 */
static double float_rest(double x, double y)
{
    double rest = x < 0 ? -x : x, least = y < 0 ? -y : y, t = least;
    if (x != x || y != y || !is_finite(x))
        return __builtin_nan("");
    if (!is_finite(y))
        return x;
    while (t <= rest / 2)
        t *= 2;
    for (;;) {
        if (rest >= t)
            rest -= t;
        if (t == least)
            break;
        t /= 2;
    }
    return x < 0 ? -rest : rest;
}

static enum pt_code_result float_operation(uint32_t op, double x, double y, struct pt_value *ret)
{
    double z;
    switch (op) {
    case PT_CODE_ADD:
        z = x + y;
        break;
    case PT_CODE_SUB:
        z = x - y;
        break;
    case PT_CODE_MUL:
        z = x * y;
        break;
    case PT_CODE_DIV:
        if (y == 0)
            return PT_CODE_DIVISION_BY_ZERO;
        z = x / y;
        break;
    default:
        if (y == 0)
            return PT_CODE_DIVISION_BY_ZERO;
        z = float_rest(x, y);
        break;
    }
    if (!is_finite(z) && is_finite(x) && is_finite(y))
        return PT_CODE_OVERFLOW;
    *ret = pt_value_float(z);
    return PT_CODE_OK;
}

static enum pt_code_result arithmetic(uint32_t op, struct pt_value a, struct pt_value b, struct pt_value *ret)
{
    if (a.kind == PT_VALUE_STRING || b.kind == PT_VALUE_STRING)
        return PT_CODE_TYPE;
    if (is_integer(a) && is_integer(b))
        return integer_operation(op, a, b, ret);
    return float_operation(op, float_of(a), float_of(b), ret);
}

static enum pt_code_result negate(struct pt_value a, struct pt_value *ret)
{
    if (a.kind == PT_VALUE_STRING)
        return PT_CODE_TYPE;
    if (is_integer(a))
        return give_integer(-integer_of(a), false, ret);
    *ret = pt_value_float(-a.d);
    return PT_CODE_OK;
}

enum order { LESS = -1, EQUAL = 0, GREATER = 1, UNORDERED = 2 };

static enum order order_integers(wide x, wide y)
{
    return x < y ? LESS : x > y ? GREATER : EQUAL;
}

static enum order order_floats(double x, double y)
{
    return x < y ? LESS : x > y ? GREATER : x == y ? EQUAL : UNORDERED;
}

/* Exact: the float's integral part is compared as an integer, its fraction decides a tie. */
static enum order order_mixed(wide x, double y)
{
    if (y != y)
        return UNORDERED;
    if (y >= 0x1p64)
        return LESS;
    if (y < -0x1p63)
        return GREATER;
    wide whole = y >= 0x1p63 ? (wide)(uint64_t)y : (wide)(int64_t)y;
    if (x != whole)
        return order_integers(x, whole);
    double back = y >= 0x1p63 ? (double)(uint64_t)y : (double)(int64_t)y;
    return order_floats(back, y);
}

static enum order order_strings(struct pt_value a, struct pt_value b)
{
    uint32_t n = a.len < b.len ? a.len : b.len;
    int c = n ? memcmp(a.s, b.s, n) : 0;
    return c ? (c < 0 ? LESS : GREATER) : order_integers(a.len, b.len);
}

static enum pt_code_result order_values(struct pt_value a, struct pt_value b, enum order *ret)
{
    if ((a.kind == PT_VALUE_STRING) != (b.kind == PT_VALUE_STRING))
        return PT_CODE_TYPE;
    if (a.kind == PT_VALUE_STRING) {
        *ret = order_strings(a, b);
    } else if (is_integer(a) && is_integer(b)) {
        *ret = order_integers(integer_of(a), integer_of(b));
    } else if (is_integer(a)) {
        *ret = order_mixed(integer_of(a), b.d);
    } else if (is_integer(b)) {
        enum order o = order_mixed(integer_of(b), a.d);
        *ret = o == UNORDERED ? UNORDERED : (enum order) - o;
    } else {
        *ret = order_floats(a.d, b.d);
    }
    return PT_CODE_OK;
}

/* The smaller or the greater of two numbers; of equal ones the first, and of what has no order that one. */
static enum pt_code_result choose(uint32_t op, struct pt_value a, struct pt_value b, struct pt_value *ret)
{
    enum order o = EQUAL;
    if (a.kind == PT_VALUE_STRING || b.kind == PT_VALUE_STRING)
        return PT_CODE_TYPE;
    (void)order_values(a, b, &o);
    bool second = o == UNORDERED ? a.kind != PT_VALUE_FLOAT || a.d == a.d : o == (op == PT_CODE_MIN ? GREATER : LESS);
    *ret = second ? b : a;
    return PT_CODE_OK;
}

static enum pt_code_result compare(uint32_t op, struct pt_value a, struct pt_value b, struct pt_value *ret)
{
    enum order o = EQUAL;
    enum pt_code_result result = order_values(a, b, &o);
    if (result != PT_CODE_OK)
        return result;
    bool truth = op == PT_CODE_EQ   ? o == EQUAL
                 : op == PT_CODE_NE ? o != EQUAL
                 : op == PT_CODE_LT ? o == LESS
                 : op == PT_CODE_LE ? o == LESS || o == EQUAL
                 : op == PT_CODE_GT ? o == GREATER
                                    : o == GREATER || o == EQUAL;
    *ret = pt_value_bool(truth);
    return PT_CODE_OK;
}

enum pt_code_result pt_code_run(const struct pt_code *code, const struct pt_value *values, struct pt_value *ret_value,
                                uint32_t *ret_detail)
{
    struct pt_value stack[PT_CODE_MAX_DEPTH];
    uint32_t top = 0; /* slots in use */
    for (uint32_t i = 0; i < code->count; i++) {
        struct pt_insn insn = code->insns[i];
        enum pt_code_result result = PT_CODE_OK;
        switch (insn.op) {
        case PT_CODE_CONST:
            stack[top++] = code->constants[insn.arg];
            break;
        case PT_CODE_VAR:
            if (values[insn.arg].kind == PT_VALUE_UNKNOWN) {
                *ret_detail = insn.arg;
                return PT_CODE_UNKNOWN_VALUE;
            }
            stack[top++] = values[insn.arg];
            break;
        case PT_CODE_NEG:
            result = negate(stack[top - 1], &stack[top - 1]);
            break;
        case PT_CODE_TRUTH:
            result = compare(PT_CODE_NE, stack[top - 1], pt_value_int(0), &stack[top - 1]);
            break;
        default:
            top--;
            if (insn.op == PT_CODE_MIN || insn.op == PT_CODE_MAX)
                result = choose(insn.op, stack[top - 1], stack[top], &stack[top - 1]);
            else if (insn.op <= PT_CODE_MOD)
                result = arithmetic(insn.op, stack[top - 1], stack[top], &stack[top - 1]);
            else
                result = compare(insn.op, stack[top - 1], stack[top], &stack[top - 1]);
        }
        if (result != PT_CODE_OK)
            return result;
    }
    *ret_value = stack[0];
    return PT_CODE_OK;
}

const char *pt_code_result_text(enum pt_code_result result)
{
    switch (result) {
    case PT_CODE_OK:
        return "no error";
    case PT_CODE_UNKNOWN_VALUE:
        return "a value that the trace does not give";
    case PT_CODE_DIVISION_BY_ZERO:
        return "division by zero";
    case PT_CODE_OVERFLOW:
        return "overflow";
    case PT_CODE_TYPE:
        return "a string compared or computed with a number";
    }
    return "unknown error";
}
