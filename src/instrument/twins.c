/*
 * The twin of a function: a second copy of its body without the hooks of plain accesses, in the same function, and at
 * its entry the choice between the two (core/plain.h):
 *
 *     entry:  locals; if (__portent_plain) goto twin; goto body
 *
 * It is made last, of what the optimiser and frames.c have left: so it costs nothing but its code, and both do the same
 * at the same places. It is in the same function, until apart.c makes two of it, where it can: all returns are doubled,
 * and what the one needs the other need not save. The twin has the lines of the source, but no locals to show in a
 * debugger: to find out where they are takes a tenth of the time of compiling.
 *
 * An atomic operation of the twin stands there twice, with its hook and as it is, for where nobody asks for anything:
 * `if (__portent_plain == PT_PLAIN_ALL)`. Atomic operations are few, so these may be blocks of LLVM's.
 *
 * What was replaced before the optimiser ran, calls of strcpy and its kin, has its hook in both. Calls and returns are
 * events in the body alone (functions.c). Plain accesses are told by stretches (looks.c).
 *
 * Both bodies have their locals in common, so these stay in the entry; what is allocated as a function runs is not. A
 * twin is not made of a function that takes the address of a label (computed goto), nor of a coroutine.
 *
 * Guarantee: a function does the same in both, but for the hooks of plain accesses. Cost: linear in the function; at
 * its entry and at each atomic operation a load and a branch.
 */
#include "instrument/module.h"

#include <stdlib.h>

#include "core/plain.h"
#include "instrument/looks.h"

/* From the body to its twin. */
struct copy {
    struct pt_map64 at; /* instructions and blocks, to indices of `twins` */
    LLVMValueRef *twins;
    size_t count, cap;
    struct pt_map64 accesses;     /* instructions, to the first of their accesses */
    struct pt_stretch *stretches; /* of plain accesses, by values of the body but for what ends them */
    size_t stretch_count, stretch_cap;
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

/* NULL: it is not in the twin. */
static LLVMValueRef copy_instruction(struct pt_module *m, struct copy *copy, LLVMValueRef inst)
{
    if (LLVMIsADbgInfoIntrinsic(inst) || pt_is_event(inst) || pt_is_for_event(inst))
        return NULL;
    LLVMValueRef made = LLVMIsAPHINode(inst) ? copy_phi(m, inst) : LLVMInstructionClone(inst);
    if (!LLVMIsAPHINode(inst))
        LLVMInsertIntoBuilder(m->builder, made);
    note_twin(copy, inst, made);
    return made;
}

static void end_stretch(struct copy *copy, struct pt_stretch *stretch, LLVMValueRef before)
{
    if (stretch->entry_count > 0) {
        stretch->before = before;
        PT_PUSH(copy->stretches, copy->stretch_count, copy->stretch_cap, *stretch);
    }
    stretch->entry_count = stretch->argument_count = 0;
}

static void add_accesses(struct pt_module *m, struct copy *copy, LLVMValueRef inst, struct pt_stretch *stretch)
{
    size_t at = pt_map64_get(&copy->accesses, pt_key(inst));
    for (; at < m->access_count && m->accesses[at].inst == inst; at++) {
        if (!pt_is_plain(&m->accesses[at]) || pt_add_to_stretch(m, stretch, &m->accesses[at]))
            continue;
        end_stretch(copy, stretch, twin_of(copy, inst));
        pt_add_to_stretch(m, stretch, &m->accesses[at]); /* for one there is room */
    }
}

static void copy_block(struct pt_module *m, struct copy *copy, LLVMBasicBlockRef block)
{
    struct pt_stretch stretch = {.entry_count = 0};
    LLVMPositionBuilderAtEnd(m->builder, twin_block(copy, block));
    LLVMSetCurrentDebugLocation2(m->builder, NULL); /* what is inserted has its own */
    for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst)) {
        LLVMValueRef made = copy_instruction(m, copy, inst);
        if (made && pt_ends_stretch(inst))
            end_stretch(copy, &stretch, made);
        add_accesses(m, copy, inst, &stretch);
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
        if (made == inst)
            continue;
        for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(inst); i++) {
            LLVMValueRef operand = LLVMGetOperand(inst, i);
            LLVMValueRef twin = twin_of(copy, operand);
            if (twin != operand)
                LLVMSetOperand(made, i, twin);
        }
    }
}

static bool has_plain_access(const struct pt_module *m)
{
    for (size_t i = 0; i < m->access_count; i++)
        if (pt_is_plain(&m->accesses[i]))
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

static LLVMValueRef load_flag(struct pt_module *m)
{
    LLVMValueRef flag = LLVMGetNamedGlobal(m->module, "__portent_plain");
    flag = flag ? flag : LLVMAddGlobal(m->module, m->i8, "__portent_plain");
    return LLVMBuildLoad2(m->builder, m->i8, flag, "");
}

static void choose(struct pt_module *m, LLVMValueRef function, LLVMBasicBlockRef entry, LLVMBasicBlockRef body,
                   LLVMBasicBlockRef twin)
{
    LLVMPositionBuilderAtEnd(m->builder, entry);
    LLVMSetCurrentDebugLocation2(m->builder, pt_place_before_body(m, function));
    LLVMValueRef wanted = load_flag(m), hooks = LLVMConstInt(m->i8, PT_PLAIN_NOT, false);
    LLVMBuildCondBr(m->builder, LLVMBuildICmp(m->builder, LLVMIntEQ, wanted, hooks, ""), body, twin);
}

/* The blocks from the first one on, to the end of the function. */
static void copy_body(struct pt_module *m, struct copy *copy, LLVMValueRef function, LLVMBasicBlockRef first)
{
    LLVMBasicBlockRef end = NULL; /* of the body: the first block of the twin */
    for (size_t i = m->access_count; i-- > 0;)
        *pt_map64_at(&copy->accesses, pt_key(m->accesses[i].inst)) = (uint32_t)i;
    for (LLVMBasicBlockRef block = first, last = LLVMGetLastBasicBlock(function), twin; block != end;
         block = block == last ? end : LLVMGetNextBasicBlock(block)) {
        twin = LLVMAppendBasicBlockInContext(m->context, function, "");
        end = end ? end : twin;
        note_twin(copy, LLVMBasicBlockAsValue(block), LLVMBasicBlockAsValue(twin));
    }
    for (LLVMBasicBlockRef block = first; block != end; block = LLVMGetNextBasicBlock(block))
        copy_block(m, copy, block);
    for (LLVMBasicBlockRef block = first; block != end; block = LLVMGetNextBasicBlock(block))
        connect(copy, block);
}

static void ask(struct pt_module *m, struct copy *copy)
{
    for (size_t i = 0; i < copy->stretch_count; i++) {
        struct pt_stretch *stretch = &copy->stretches[i];
        for (unsigned k = 0; k < stretch->argument_count; k++)
            stretch->arguments[k] = twin_of(copy, stretch->arguments[k]);
        LLVMPositionBuilderBefore(m->builder, stretch->before);
        LLVMSetCurrentDebugLocation2(m->builder, LLVMInstructionGetDebugLoc(stretch->before));
        pt_ask(m, stretch);
    }
}

static void release(struct copy *copy)
{
    pt_map64_release(&copy->at);
    pt_map64_release(&copy->accesses);
    free(copy->twins);
    free(copy->stretches);
}

/* Who goes to the one block goes to the other. (To replace all uses would change phis behind it as well.) */
static void lead_to(LLVMBasicBlockRef block, LLVMBasicBlockRef other)
{
    LLVMValueRef *users = NULL;
    size_t count = 0, cap = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use; use = LLVMGetNextUse(use))
        PT_PUSH(users, count, cap, LLVMGetUser(use));
    for (size_t i = 0; i < count; i++) {
        if (LLVMIsABlockAddress(users[i]))
            LLVMReplaceAllUsesWith(users[i], LLVMBlockAddress(LLVMGetBasicBlockParent(block), other));
        for (unsigned k = 0; LLVMIsAInstruction(users[i]) && k < LLVMGetNumSuccessors(users[i]); k++)
            if (LLVMGetSuccessor(users[i], k) == block)
                LLVMSetSuccessor(users[i], k, other);
    }
    free(users);
}

LLVMBasicBlockRef pt_split_before(struct pt_module *m, LLVMValueRef inst)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(inst);
    LLVMBasicBlockRef head = LLVMInsertBasicBlockInContext(m->context, block, "");
    lead_to(block, head);
    LLVMPositionBuilderAtEnd(m->builder, head);
    LLVMSetCurrentDebugLocation2(m->builder, NULL); /* what is inserted has its own */
    for (LLVMValueRef at = LLVMGetFirstInstruction(block); at != inst; at = LLVMGetFirstInstruction(block)) {
        LLVMInstructionRemoveFromParent(at);
        LLVMInsertIntoBuilder(m->builder, at);
    }
    return head;
}

static bool is_atomic_instruction(const struct pt_hooked_access *access)
{
    return access->kind == PT_ACCESS_LOAD || access->kind == PT_ACCESS_STORE || access->kind == PT_ACCESS_RMW ||
           access->kind == PT_ACCESS_CAS;
}

/* An atomic operation of the twin: in place where nobody asks for anything, else with its hook. */
static void put_atomic(struct pt_module *m, const struct pt_hooked_access *access)
{
    LLVMValueRef inst = access->inst, copy = LLVMInstructionClone(inst);
    LLVMMetadataRef place = LLVMInstructionGetDebugLoc(inst);
    LLVMBasicBlockRef rest = LLVMGetInstructionParent(inst), head = pt_split_before(m, inst);
    LLVMBasicBlockRef alone = LLVMInsertBasicBlockInContext(m->context, rest, "");
    LLVMBasicBlockRef hooked = LLVMInsertBasicBlockInContext(m->context, rest, "");
    bool has_value = LLVMGetTypeKind(LLVMTypeOf(inst)) != LLVMVoidTypeKind;
    if (has_value) {
        LLVMPositionBuilderBefore(m->builder, inst);
        LLVMValueRef phi = LLVMBuildPhi(m->builder, LLVMTypeOf(inst), ""), values[] = {copy, inst};
        LLVMBasicBlockRef blocks[] = {alone, hooked};
        LLVMReplaceAllUsesWith(inst, phi);
        LLVMAddIncoming(phi, values, blocks, 2);
    }
    LLVMInstructionRemoveFromParent(inst);
    LLVMPositionBuilderAtEnd(m->builder, alone);
    LLVMInsertIntoBuilder(m->builder, copy);
    LLVMPositionBuilderAtEnd(m->builder, hooked);
    LLVMInsertIntoBuilder(m->builder, inst);
    LLVMSetCurrentDebugLocation2(m->builder, place);
    LLVMBuildBr(m->builder, rest);
    LLVMPositionBuilderAtEnd(m->builder, alone);
    LLVMBuildBr(m->builder, rest);
    LLVMPositionBuilderAtEnd(m->builder, head);
    LLVMValueRef wanted = load_flag(m), none = LLVMConstInt(m->i8, PT_PLAIN_ALL, false);
    LLVMBuildCondBr(m->builder, LLVMBuildICmp(m->builder, LLVMIntEQ, wanted, none, ""), alone, hooked);
    pt_replace_access(m, access);
}

void pt_add_twin(struct pt_module *m, LLVMValueRef function)
{
    if (!has_plain_access(m) || !can_be_copied(function))
        return;
    LLVMBasicBlockRef entry = put_entry(m, function), body = LLVMGetNextBasicBlock(entry);
    struct copy copy = {0};
    pt_map64_init(&copy.at);
    pt_map64_init(&copy.accesses);
    copy_body(m, &copy, function, body);
    ask(m, &copy);
    m->twin = twin_block(&copy, body);
    choose(m, function, entry, body, m->twin);
    for (size_t i = 0; i < m->access_count; i++) {
        struct pt_hooked_access access = m->accesses[i];
        access.inst = twin_of(&copy, access.inst);
        if (pt_is_plain(&access) || access.inst == m->accesses[i].inst)
            continue;
        if (is_atomic_instruction(&access))
            put_atomic(m, &access);
        else if (!pt_announce_in_place(m, &access))
            pt_replace_access(m, &access);
    }
    m->twin = LLVMGetSuccessor(LLVMGetBasicBlockTerminator(entry), 1); /* it may begin with an atomic operation */
    release(&copy);
}
