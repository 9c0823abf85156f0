/*
 * The twin of a function: a second copy of its body without the hooks of plain accesses, in the same function, and at
 * its entry the choice between the two (core/plain.h):
 *
 *     entry:  locals; if (__portent_plain) goto twin; goto body
 *
 * It is made last, of what the optimiser and frames.c have left: so it costs nothing but its code, and both do the same
 * at the same places. It is in the same function, since debug information then has one function as well, a breakpoint
 * on it stops in both, and a body that needs fewer registers than the other need not save them: all returns are
 * doubled. The twin has the lines of the source, but no locals to show in a debugger: to find out where they are takes
 * a tenth of the time of compiling.
 *
 * What was replaced before the optimiser ran, calls of strcpy and its kin, has its hook in both. Calls and returns are
 * events in the body alone.
 *
 * Both bodies have their locals in common, so these stay in the entry; what is allocated as a function runs is not. A
 * twin is not made of a function that takes the address of a label (computed goto), nor of a coroutine.
 *
 * Guarantee: a function does the same in both, but for the hooks of plain accesses. Cost: linear in the function; at
 * its entry a load and a branch.
 */
#include "instrument/module.h"

#include <stdlib.h>

#include "core/functions.h"

/* From the body to its twin. */
struct copy {
    struct pt_map64 at; /* instructions and blocks, to indices of `twins` */
    LLVMValueRef *twins;
    size_t count, cap;
};

static void note_twin(struct copy *copy, LLVMValueRef value, LLVMValueRef twin)
{
    *pt_map64_at(&copy->at, pt_key(value)) = (uint32_t)copy->count;
    PT_PUSH(copy->twins, copy->count, copy->cap, twin);
}

/* What is not copied is its own twin: arguments, constants, locals. */
static LLVMValueRef twin_of(const struct copy *copy, LLVMValueRef value)
{
    uint32_t at = pt_map64_get(&copy->at, pt_key(value));
    return at == PT_NONE ? value : copy->twins[at];
}

static LLVMBasicBlockRef twin_block(const struct copy *copy, LLVMBasicBlockRef block)
{
    return LLVMValueAsBasicBlock(twin_of(copy, LLVMBasicBlockAsValue(block)));
}

static LLVMValueRef copy_phi(struct pt_module *m, LLVMValueRef phi)
{
    LLVMValueRef made = LLVMBuildPhi(m->builder, LLVMTypeOf(phi), "");
    LLVMInstructionSetDebugLoc(made, LLVMInstructionGetDebugLoc(phi));
    return made;
}

/* The state of a function whose calls may be events (functions.c). */
static bool is_state(LLVMValueRef value)
{
    LLVMValueRef at = LLVMIsALoadInst(value) ? LLVMGetOperand(value, 0) : NULL;
    while (at && LLVMIsAConstantExpr(at))
        at = LLVMGetOperand(at, 0);
    return at && LLVMIsAGlobalVariable(at) && pt_is_function_record(at);
}

/* Nobody wants to hear of calls where the twin runs: the test is decided, and the code generator drops what comes of
 * it. NULL: it is something else. */
static LLVMValueRef decided(struct pt_module *m, LLVMValueRef inst)
{
    if (!LLVMIsAICmpInst(inst) || !is_state(LLVMGetOperand(inst, 0)) || !LLVMIsConstant(LLVMGetOperand(inst, 1)) ||
        !LLVMIsNull(LLVMGetOperand(inst, 1)))
        return NULL;
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(inst);
    bool is = predicate == LLVMIntEQ;
    return is || predicate == LLVMIntNE ? LLVMConstInt(LLVMInt1TypeInContext(m->context), is, false) : NULL;
}

static void copy_block(struct pt_module *m, struct copy *copy, LLVMBasicBlockRef block)
{
    LLVMPositionBuilderAtEnd(m->builder, twin_block(copy, block));
    LLVMSetCurrentDebugLocation2(m->builder, NULL); /* what is inserted has its own */
    for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst)) {
        LLVMValueRef known = is_state(inst) ? LLVMConstInt(m->i8, PT_FUNCTION_QUIET, false) : decided(m, inst);
        if (known)
            note_twin(copy, inst, known);
        if (known || LLVMIsADbgVariableIntrinsic(inst))
            continue;
        LLVMValueRef made = LLVMIsAPHINode(inst) ? copy_phi(m, inst) : LLVMInstructionClone(inst);
        if (!LLVMIsAPHINode(inst))
            LLVMInsertIntoBuilder(m->builder, made);
        note_twin(copy, inst, made);
    }
}

static void connect_phi(const struct copy *copy, LLVMValueRef phi, LLVMValueRef made)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef value = twin_of(copy, LLVMGetIncomingValue(phi, i));
        LLVMBasicBlockRef block = twin_block(copy, LLVMGetIncomingBlock(phi, i));
        LLVMAddIncoming(made, &value, &block, 1);
    }
}

static void connect(const struct copy *copy, LLVMBasicBlockRef block)
{
    for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst)) {
        LLVMValueRef made = twin_of(copy, inst);
        if (LLVMIsAPHINode(inst)) {
            connect_phi(copy, inst, made);
            continue;
        }
        if (made == inst || LLVMIsConstant(made))
            continue;
        for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(inst); i++) {
            LLVMValueRef operand = LLVMGetOperand(inst, i);
            LLVMValueRef twin = twin_of(copy, operand);
            if (twin != operand)
                LLVMSetOperand(made, i, twin);
        }
    }
}

/* Is it looked at for itself alone? Others order what threads do, or say where memory comes from. */
static bool is_plain(const struct pt_hooked_access *access)
{
    switch (access->kind) {
    case PT_ACCESS_LOAD:
    case PT_ACCESS_STORE:
        return LLVMGetOrdering(access->inst) == LLVMAtomicOrderingNotAtomic;
    case PT_ACCESS_COPY:
    case PT_ACCESS_FILL:
    case PT_ACCESS_STRING:
    case PT_ACCESS_FORMAT:
    case PT_ACCESS_LIBRARY_READ:
        return true;
    default:
        return false;
    }
}

static bool has_plain_access(const struct pt_module *m)
{
    for (size_t i = 0; i < m->access_count; i++)
        if (is_plain(&m->accesses[i]))
            return true;
    return false;
}

static bool can_be_copied(LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use; use = LLVMGetNextUse(use))
            if (LLVMIsABlockAddress(LLVMGetUser(use)))
                return false;
        LLVMOpcode end = LLVMGetInstructionOpcode(LLVMGetBasicBlockTerminator(block));
        if (end == LLVMIndirectBr || end == LLVMCallBr)
            return false;
    }
    return !pt_is_coroutine(function);
}

/* A block before the first one, with the locals that it had. */
static LLVMBasicBlockRef put_entry(struct pt_module *m, LLVMValueRef function)
{
    LLVMBasicBlockRef first = LLVMGetEntryBasicBlock(function);
    LLVMBasicBlockRef entry = LLVMInsertBasicBlockInContext(m->context, first, "");
    LLVMPositionBuilderAtEnd(m->builder, entry);
    LLVMSetCurrentDebugLocation2(m->builder, NULL);
    for (LLVMValueRef inst = LLVMGetFirstInstruction(first), next; inst; inst = next) {
        next = LLVMGetNextInstruction(inst);
        if (!LLVMIsAAllocaInst(inst) || !LLVMIsConstant(LLVMGetOperand(inst, 0)))
            continue;
        LLVMInstructionRemoveFromParent(inst);
        LLVMInsertIntoBuilder(m->builder, inst);
    }
    return entry;
}

static void choose(struct pt_module *m, LLVMValueRef function, LLVMBasicBlockRef entry, LLVMBasicBlockRef body,
                   LLVMBasicBlockRef twin)
{
    LLVMValueRef flag = LLVMGetNamedGlobal(m->module, "__portent_plain");
    flag = flag ? flag : LLVMAddGlobal(m->module, m->i8, "__portent_plain");
    LLVMPositionBuilderAtEnd(m->builder, entry);
    LLVMSetCurrentDebugLocation2(m->builder, pt_place_of_entry(m, function));
    LLVMValueRef wanted = LLVMBuildLoad2(m->builder, m->i8, flag, "");
    LLVMValueRef zero = LLVMConstInt(m->i8, 0, false);
    LLVMBuildCondBr(m->builder, LLVMBuildICmp(m->builder, LLVMIntEQ, wanted, zero, ""), body, twin);
}

/* The blocks from the first one on, to the end of the function. */
static void copy_body(struct pt_module *m, struct copy *copy, LLVMValueRef function, LLVMBasicBlockRef first)
{
    LLVMBasicBlockRef *blocks = NULL;
    size_t count = 0, cap = 0;
    for (LLVMBasicBlockRef block = first; block; block = LLVMGetNextBasicBlock(block))
        PT_PUSH(blocks, count, cap, block);
    for (size_t i = 0; i < count; i++) {
        LLVMBasicBlockRef made = LLVMAppendBasicBlockInContext(m->context, function, "");
        note_twin(copy, LLVMBasicBlockAsValue(blocks[i]), LLVMBasicBlockAsValue(made));
    }
    for (size_t i = 0; i < count; i++)
        copy_block(m, copy, blocks[i]);
    for (size_t i = 0; i < count; i++)
        connect(copy, blocks[i]);
    free(blocks);
}

void pt_add_twin(struct pt_module *m, LLVMValueRef function)
{
    if (!has_plain_access(m) || !can_be_copied(function))
        return;
    LLVMBasicBlockRef entry = put_entry(m, function), body = LLVMGetNextBasicBlock(entry);
    struct copy copy = {0};
    pt_map64_init(&copy.at);
    copy_body(m, &copy, function, body);
    choose(m, function, entry, body, twin_block(&copy, body));
    for (size_t i = 0; i < m->access_count; i++) {
        struct pt_hooked_access access = m->accesses[i];
        access.inst = twin_of(&copy, access.inst);
        if (!is_plain(&access))
            pt_replace_access(m, &access);
    }
    pt_map64_release(&copy.at);
    free(copy.twins);
}
