/*
 * Atomic operations that clang leaves to libatomic, because no instruction has their size: __atomic_load(size, object,
 * result, order) and its kin, and, of 16 bytes, __atomic_load_16(object, order) and its kin.
 *
 * The call stays, so that code that is not instrumented agrees with it about the object, and stands between
 * __portent_begin_atomic and __portent_end_atomic, which have the object to themselves meanwhile. What else these
 * functions read and write, through pointers to the value, to the result and to what is expected, are ordinary
 * accesses. Where that memory may be shared, the call gets a local instead, and copies before and after it are hooked
 * as such.
 *
 * Guarantee: for other threads the operation and its event are one step; an exchange that did not happen is a read.
 * Cost: linear in the function.
 */
#include "instrument/module.h"

#include <stdlib.h>
#include <string.h>

#include "core/hooks.h"

/* Operands are counted from 0; PT_NONE: there is none. */
struct operation {
    const char *name;   /* begins so behind __atomic_ */
    bool sized;         /* its name ends in the size of the object, which is operand 0; else operand 0 is the size */
    unsigned arguments; /* as many at least */
    unsigned value, result, expected; /* pointers to what is read, written, and, where an exchange fails, both */
    enum pt_atomic_effect effect;
};

/* The first that fits; the last fits fetch_add_16 and its kin. */
static const struct operation operations[] = {
    {"compare_exchange_", true, 5, PT_NONE, PT_NONE, 1, PT_ATOMIC_UPDATE},
    {"compare_exchange", false, 6, 3, PT_NONE, 2, PT_ATOMIC_UPDATE},
    {"exchange_", true, 3, PT_NONE, PT_NONE, PT_NONE, PT_ATOMIC_UPDATE},
    {"exchange", false, 5, 2, 3, PT_NONE, PT_ATOMIC_UPDATE},
    {"load_", true, 2, PT_NONE, PT_NONE, PT_NONE, PT_ATOMIC_READ},
    {"load", false, 4, PT_NONE, 2, PT_NONE, PT_ATOMIC_READ},
    {"store_", true, 3, PT_NONE, PT_NONE, PT_NONE, PT_ATOMIC_WRITE},
    {"store", false, 4, 2, PT_NONE, PT_NONE, PT_ATOMIC_WRITE},
    {"", true, 3, PT_NONE, PT_NONE, PT_NONE, PT_ATOMIC_UPDATE},
};

static bool is_plain_pointer(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMPointerTypeKind && LLVMGetPointerAddressSpace(type) == 0;
}

static bool is_integer(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMIntegerTypeKind;
}

/* The size in a name like load_16; 0: there is none. */
static unsigned size_in(const char *name)
{
    const char *digits = strrchr(name, '_') + 1;
    unsigned long size = *digits >= '1' && *digits <= '9' ? strtoul(digits, NULL, 10) : 0;
    return size <= 16 ? (unsigned)size : 0;
}

/* The operand with the order; where an exchange may fail, that for the failure follows. From the end, because a value
 * of 16 bytes is passed as two operands. */
static unsigned order_of(LLVMValueRef call, const struct operation *operation)
{
    return LLVMGetNumArgOperands(call) - (operation->expected == PT_NONE ? 1 : 2);
}

/* The operation of a call; NULL when it is none, or one with other parameters than libatomic's. */
static const struct operation *operation_of(LLVMValueRef call)
{
    static const char prefix[] = "__atomic_";
    const char *name = LLVMGetInstructionOpcode(call) == LLVMCall ? pt_callee_name(call) : "";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0 || !LLVMIsDeclaration(LLVMGetCalledValue(call)))
        return NULL;
    const struct operation *operation = operations;
    const char *rest = name + sizeof prefix - 1;
    while (strncmp(rest, operation->name, strlen(operation->name)) != 0)
        operation++;
    if (LLVMGetNumArgOperands(call) < operation->arguments ||
        !is_integer(LLVMGetOperand(call, order_of(call, operation))) ||
        !is_plain_pointer(LLVMGetOperand(call, operation->sized ? 0 : 1)) ||
        (operation->sized ? size_in(name) == 0 : !is_integer(LLVMGetOperand(call, 0))) ||
        (operation->expected != PT_NONE && !is_integer(call)))
        return NULL;
    return operation;
}

bool pt_find_libatomic(LLVMValueRef call, struct pt_hooked_access *ret_access)
{
    const struct operation *operation = operation_of(call);
    if (!operation)
        return false;
    *ret_access = (struct pt_hooked_access){.inst = call,
                                            .kind = PT_ACCESS_LIBRARY_ATOMIC,
                                            .address = operation->sized ? 0 : 1,
                                            .size = operation->sized ? PT_NONE : 0,
                                            .bytes = operation->sized ? size_in(pt_callee_name(call)) : 0};
    return true;
}

/* A local of the function. In its first block, or a loop would use up the stack. */
static LLVMValueRef make_local(struct pt_module *m, LLVMValueRef call, unsigned bytes)
{
    LLVMValueRef function = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
    LLVMPositionBuilderBefore(m->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    LLVMValueRef local = LLVMBuildAlloca(m->builder, LLVMArrayType(m->i8, bytes), "");
    LLVMSetAlignment(local, 16);
    return LLVMBuildBitCast(m->builder, local, m->byte_pointer, "");
}

/* Gives the call a local instead of the memory that `operand` points to. */
static void use_local(struct pt_module *m, LLVMValueRef call, unsigned operand, bool reads, bool writes)
{
    LLVMValueRef access_size = LLVMGetOperand(call, 0),
                 memory = operand == PT_NONE ? NULL : LLVMGetOperand(call, operand);
    unsigned bytes = LLVMIsAConstantInt(access_size) ? (unsigned)LLVMConstIntGetZExtValue(access_size)
                                                     : size_in(pt_callee_name(call));
    if (!memory || !is_plain_pointer(memory) || bytes == 0 || !pt_may_be_shared(m, memory, call))
        return;
    LLVMValueRef local = make_local(m, call, bytes), size = LLVMConstInt(m->i64, bytes, false);
    LLVMPositionBuilderBefore(m->builder, call);
    memory = LLVMBuildBitCast(m->builder, memory, m->byte_pointer, "");
    if (reads)
        LLVMBuildMemCpy(m->builder, local, 16, memory, 1, size);
    LLVMSetOperand(call, operand, LLVMBuildBitCast(m->builder, local, LLVMTypeOf(LLVMGetOperand(call, operand)), ""));
    if (!writes)
        return;
    LLVMPositionBuilderBefore(m->builder, LLVMGetNextInstruction(call));
    LLVMSetCurrentDebugLocation2(m->builder, LLVMInstructionGetDebugLoc(call));
    if (reads) { /* what was expected is written where it was not found */
        LLVMValueRef failed = LLVMBuildICmp(m->builder, LLVMIntEQ, call, LLVMConstNull(LLVMTypeOf(call)), "");
        size = LLVMBuildSelect(m->builder, failed, size, LLVMConstNull(m->i64), "");
    }
    LLVMBuildMemCpy(m->builder, memory, 1, local, 16, size);
}

void pt_separate_libatomic(struct pt_module *m, LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst)) {
            const struct operation *operation = LLVMIsACallInst(inst) ? operation_of(inst) : NULL;
            if (!operation)
                continue;
            use_local(m, inst, operation->value, true, false);
            use_local(m, inst, operation->result, false, true);
            use_local(m, inst, operation->expected, true, true);
        }
    }
}

static LLVMValueRef effect_constant(struct pt_module *m, enum pt_atomic_effect effect)
{
    return LLVMConstInt(m->i32, effect, false);
}

void pt_bracket_libatomic(struct pt_module *m, const struct pt_hooked_access *access, LLVMValueRef size)
{
    LLVMValueRef call = access->inst;
    const struct operation *operation = operation_of(call);
    LLVMTypeRef none = LLVMVoidTypeInContext(m->context);
    LLVMValueRef address = LLVMBuildBitCast(m->builder, LLVMGetOperand(call, access->address), m->byte_pointer, "");
    LLVMValueRef effect = effect_constant(m, operation->effect),
                 order = LLVMGetOperand(call, order_of(call, operation));
    LLVMValueRef before[] = {address, size, effect, access->site};
    pt_call_hook(m, "__portent_begin_atomic", none, before, 4);
    LLVMPositionBuilderBefore(m->builder, LLVMGetNextInstruction(call));
    LLVMSetCurrentDebugLocation2(m->builder, LLVMInstructionGetDebugLoc(call));
    if (operation->expected != PT_NONE) {
        LLVMValueRef failed = LLVMBuildICmp(m->builder, LLVMIntEQ, call, LLVMConstNull(LLVMTypeOf(call)), "");
        effect = LLVMBuildSelect(m->builder, failed, effect_constant(m, PT_ATOMIC_READ), effect, "");
        order = LLVMBuildSelect(m->builder, failed, LLVMGetOperand(call, order_of(call, operation) + 1), order, "");
    }
    order = LLVMBuildIntCast2(m->builder, order, m->i32, false, "");
    LLVMValueRef after[] = {address, size, effect, order, access->site};
    pt_call_hook(m, "__portent_end_atomic", none, after, 5);
}
