/*
 * Byte code of expressions: what a property's atom computes from the values of its variables. The tool compiles it,
 * the monitored process only runs it; there is no parser on this side. A stack machine, postfix.
 */
#ifndef PT_CORE_CODE_H
#define PT_CORE_CODE_H

#include "core/value.h"

enum pt_code_op {
    PT_CODE_CONST, /* push constants[arg] */
    PT_CODE_VAR,   /* push values[arg] */
    PT_CODE_NEG,
    PT_CODE_ADD,
    PT_CODE_SUB,
    PT_CODE_MUL,
    PT_CODE_DIV,
    PT_CODE_MOD,
    PT_CODE_MIN,
    PT_CODE_MAX,
    PT_CODE_EQ,
    PT_CODE_NE,
    PT_CODE_LT,
    PT_CODE_LE,
    PT_CODE_GT,
    PT_CODE_GE,
    PT_CODE_TRUTH, /* x != 0, of a number */
};

struct pt_insn {
    uint32_t op;
    uint32_t arg;
};

struct pt_code {
    const struct pt_insn *insns;
    const struct pt_value *constants;
    uint32_t count;
    uint32_t depth; /* stack slots it needs, at most PT_CODE_MAX_DEPTH */
};

enum { PT_CODE_MAX_DEPTH = 64 };

enum pt_code_result {
    PT_CODE_OK = 0,
    PT_CODE_UNKNOWN_VALUE, /* *ret_detail: the variable's index */
    PT_CODE_DIVISION_BY_ZERO,
    PT_CODE_OVERFLOW,
    PT_CODE_TYPE, /* a string where a number is needed, or compared with one */
};

/*
 * Runs `code` over `values` (indexed by PT_CODE_VAR's arg). Integers are 64 bit: an operation on two signed values
 * must fit int64_t, one with an operand above INT64_MAX must fit [INT64_MIN, UINT64_MAX]; else overflow. Division
 * truncates as in C, and % of floating point is C's fmod; by zero is an error, for floating point too; a floating-point
 * result that is not finite though its operands were is overflow. Comparisons between integers and floating point are
 * exact. Strings compare bytewise.
 */
enum pt_code_result pt_code_run(const struct pt_code *code, const struct pt_value *values, struct pt_value *ret_value,
                                uint32_t *ret_detail);
/* "division by zero" and so on, for messages. */
const char *pt_code_result_text(enum pt_code_result result);

#endif
