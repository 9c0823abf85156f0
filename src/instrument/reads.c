/*
 * Calls of library functions that read memory of the program's and write none: what they read becomes a hook behind the
 * call, which finds out how much it was (core/hooks.h). Functions that the runtime stands in front of say themselves
 * what they read (runtime/wrap).
 *
 * Guarantee: a function of another kind that has one of these names is left alone, as far as its parameters show it.
 * Cost: where nobody looks for races or lifetimes and nothing is recorded in full, a call and a test of a flag.
 */
#include <string.h>

#include "core/hooks.h"
#include "instrument/module.h"

/* Arguments are counted from 1, 0: none. `other`: a second text or memory, or the byte that is looked for. */
static const struct row {
    const char *name;
    uint8_t op, first, other, size;
} rows[] = {
    {"bcmp", PT_READ_COMPARE, 1, 2, 3},
    {"index", PT_READ_FIND_TEXT, 1, 2, 0},
    {"memchr", PT_READ_FIND, 1, 2, 3},
    {"memcmp", PT_READ_COMPARE, 1, 2, 3},
    {"perror", PT_READ_TEXT, 1, 0, 0},
    {"puts", PT_READ_TEXT, 1, 0, 0},
    {"pwrite", PT_READ_SIZED, 2, 0, 3},
    {"pwrite64", PT_READ_SIZED, 2, 0, 3},
    {"rawmemchr", PT_READ_FIND, 1, 2, 0},
    {"rindex", PT_READ_TEXT, 1, 0, 0},
    {"strcasecmp", PT_READ_COMPARE_CASE, 1, 2, 0},
    {"strchr", PT_READ_FIND_TEXT, 1, 2, 0},
    {"strchrnul", PT_READ_FIND_TEXT, 1, 2, 0},
    {"strcmp", PT_READ_COMPARE_TEXT, 1, 2, 0},
    {"strcspn", PT_READ_UNTIL, 1, 2, 0},
    {"strdup", PT_READ_TEXT, 1, 0, 0},
    {"strlen", PT_READ_TEXT, 1, 0, 0},
    {"strncasecmp", PT_READ_COMPARE_CASE, 1, 2, 3},
    {"strncmp", PT_READ_COMPARE_TEXT, 1, 2, 3},
    {"strndup", PT_READ_TEXT, 1, 0, 2},
    {"strnlen", PT_READ_TEXT, 1, 0, 2},
    {"strpbrk", PT_READ_UNTIL, 1, 2, 0},
    {"strrchr", PT_READ_TEXT, 1, 0, 0},
    {"strspn", PT_READ_WHILE, 1, 2, 0},
    {"strstr", PT_READ_SEARCH, 1, 2, 0},
};

static const struct row *row_of(LLVMValueRef call)
{
    const char *name = LLVMGetInstructionOpcode(call) == LLVMCall ? pt_callee_name(call) : "";
    size_t low = 0, high = sizeof rows / sizeof *rows;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = strcmp(name, rows[middle].name);
        if (order == 0)
            return &rows[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static LLVMTypeKind kind_at(LLVMValueRef call, unsigned argument)
{
    return argument > LLVMGetNumArgOperands(call)
               ? LLVMVoidTypeKind
               : LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, pt_operand(argument))));
}

static bool is_byte(const struct row *row)
{
    return row->op == PT_READ_FIND || row->op == PT_READ_FIND_TEXT;
}

static bool has_parameters(LLVMValueRef call, const struct row *row)
{
    return kind_at(call, row->first) == LLVMPointerTypeKind &&
           (!row->other || kind_at(call, row->other) == (is_byte(row) ? LLVMIntegerTypeKind : LLVMPointerTypeKind)) &&
           (!row->size || kind_at(call, row->size) == LLVMIntegerTypeKind);
}

/* What becomes of the second text: those that are compared end together, others are read to their ends. */
static unsigned op_of_other(const struct row *row)
{
    bool compares = row->op == PT_READ_COMPARE || row->op == PT_READ_COMPARE_TEXT || row->op == PT_READ_COMPARE_CASE;
    return compares ? row->op : PT_READ_TEXT;
}

unsigned pt_find_reads(LLVMValueRef call, struct pt_hooked_access ret_accesses[2])
{
    const struct row *row = row_of(call);
    if (!row || !has_parameters(call, row))
        return 0;
    struct pt_hooked_access first = {.inst = call,
                                     .kind = PT_ACCESS_LIBRARY_READ,
                                     .address = pt_operand(row->first),
                                     .size = pt_operand(row->size),
                                     .bytes = row->op,
                                     .other = pt_operand(row->other)};
    ret_accesses[0] = first;
    if (!row->other || is_byte(row))
        return 1;
    ret_accesses[1] = first;
    ret_accesses[1].address = first.other;
    ret_accesses[1].other = first.address;
    ret_accesses[1].bytes = op_of_other(row);
    return 2;
}
