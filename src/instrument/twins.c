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
 * events in the body alone; what is only reached to tell them is not copied, and blocks that they cut in two are one.
 * Plain accesses are told by stretches (looks.c).
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
#include "instrument/looks.h"

/* From the body to its twin. */
struct copy {
    struct pt_map64 at; /* instructions and blocks, to indices of `twins` */
    LLVMValueRef *twins;
    size_t count, cap;
    struct pt_map64 ways;      /* blocks that the twin reaches, to the number of ways into them */
    LLVMBasicBlockRef *blocks; /* these, in the order of the function */
    size_t block_count, block_cap;
    struct pt_map64 joined;       /* those of them that the block before goes on with */
    struct pt_map64 ends;         /* blocks, to indices of the last one of those that they have become, in `twins` */
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

/* The state of a function whose calls may be events (functions.c). */
static bool is_state(LLVMValueRef value)
{
    LLVMValueRef at = LLVMIsALoadInst(value) ? LLVMGetOperand(value, 0) : NULL;
    while (at && LLVMIsAConstantExpr(at))
        at = LLVMGetOperand(at, 0);
    return at && LLVMIsAGlobalVariable(at) && pt_is_function_record(at);
}

/* Nobody wants to hear of calls where the twin runs: the test is decided. NULL: it is something else. */
static LLVMValueRef decided(struct pt_module *m, LLVMValueRef inst)
{
    if (!LLVMIsAICmpInst(inst) || !is_state(LLVMGetOperand(inst, 0)) || !LLVMIsConstant(LLVMGetOperand(inst, 1)) ||
        !LLVMIsNull(LLVMGetOperand(inst, 1)))
        return NULL;
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(inst);
    bool is = predicate == LLVMIntEQ;
    return is || predicate == LLVMIntNE ? LLVMConstInt(LLVMInt1TypeInContext(m->context), is, false) : NULL;
}

/* The block that comes next whatever happens; NULL: there are several. */
static LLVMBasicBlockRef only_way(struct pt_module *m, LLVMBasicBlockRef block)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    if (!LLVMIsABranchInst(end))
        return NULL;
    if (!LLVMIsConditional(end))
        return LLVMGetSuccessor(end, 0);
    LLVMValueRef known = decided(m, LLVMGetCondition(end));
    return known ? LLVMGetSuccessor(end, LLVMIsNull(known) ? 1 : 0) : NULL;
}

struct work {
    LLVMBasicBlockRef *blocks;
    size_t count, cap;
};

static void reach(struct copy *copy, LLVMBasicBlockRef block, struct work *work)
{
    uint32_t *ways = pt_map64_at(&copy->ways, pt_key(LLVMBasicBlockAsValue(block)));
    if (*ways == PT_NONE) {
        *ways = 0;
        PT_PUSH(work->blocks, work->count, work->cap, block);
    }
    ++*ways;
}

static void find_blocks(struct pt_module *m, struct copy *copy, LLVMBasicBlockRef first)
{
    struct work work = {0};
    reach(copy, first, &work);
    while (work.count > 0) {
        LLVMBasicBlockRef block = work.blocks[--work.count], only = only_way(m, block);
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        if (only)
            reach(copy, only, &work);
        for (unsigned i = 0; !only && i < LLVMGetNumSuccessors(end); i++)
            reach(copy, LLVMGetSuccessor(end, i), &work);
    }
    free(work.blocks);
    for (LLVMBasicBlockRef block = first; block; block = LLVMGetNextBasicBlock(block))
        if (pt_map64_get(&copy->ways, pt_key(LLVMBasicBlockAsValue(block))) != PT_NONE)
            PT_PUSH(copy->blocks, copy->block_count, copy->block_cap, block);
}

/* The block that is only reached from this one; NULL: there is none. */
static LLVMBasicBlockRef goes_on_with(struct pt_module *m, const struct copy *copy, LLVMBasicBlockRef block)
{
    LLVMBasicBlockRef next = only_way(m, block);
    bool joins = next && next != copy->blocks[0] && !LLVMIsAPHINode(LLVMGetFirstInstruction(next)) &&
                 pt_map64_get(&copy->ways, pt_key(LLVMBasicBlockAsValue(next))) == 1;
    return joins ? next : NULL;
}

/* NULL: it is not in the twin. */
static LLVMValueRef copy_instruction(struct pt_module *m, struct copy *copy, LLVMValueRef inst)
{
    LLVMValueRef known = is_state(inst) ? LLVMConstInt(m->i8, PT_FUNCTION_QUIET, false) : decided(m, inst);
    if (known)
        note_twin(copy, inst, known);
    if (known || LLVMIsADbgVariableIntrinsic(inst))
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

/* A block, all but the instruction that ends it. */
static void copy_inside(struct pt_module *m, struct copy *copy, LLVMBasicBlockRef block, struct pt_stretch *stretch)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != end; inst = LLVMGetNextInstruction(inst)) {
        LLVMValueRef made = copy_instruction(m, copy, inst);
        if (made && pt_ends_stretch(inst))
            end_stretch(copy, stretch, made);
        add_accesses(m, copy, inst, stretch);
    }
}

/* A block, and those that it goes on with. */
static void copy_block(struct pt_module *m, struct copy *copy, LLVMBasicBlockRef block)
{
    struct pt_stretch stretch = {.entry_count = 0};
    LLVMPositionBuilderAtEnd(m->builder, twin_block(copy, block));
    LLVMSetCurrentDebugLocation2(m->builder, NULL); /* what is inserted has its own */
    copy_inside(m, copy, block, &stretch);
    for (LLVMBasicBlockRef next; (next = goes_on_with(m, copy, block)); block = next)
        copy_inside(m, copy, next, &stretch);
    *pt_map64_at(&copy->ends, pt_key(LLVMBasicBlockAsValue(block))) = (uint32_t)copy->count;
    PT_PUSH(copy->twins, copy->count, copy->cap, LLVMBasicBlockAsValue(LLVMGetInsertBlock(m->builder)));
    LLVMBasicBlockRef only = only_way(m, block);
    end_stretch(copy, &stretch,
                only ? LLVMBuildBr(m->builder, twin_block(copy, only))
                     : copy_instruction(m, copy, LLVMGetBasicBlockTerminator(block)));
}

static void connect_phi(const struct copy *copy, LLVMValueRef phi, LLVMValueRef made)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef value = twin_of(copy, LLVMGetIncomingValue(phi, i));
        uint32_t from = pt_map64_get(&copy->ends, pt_key(LLVMBasicBlockAsValue(LLVMGetIncomingBlock(phi, i))));
        if (from == PT_NONE)
            continue; /* the twin does not come that way */
        LLVMBasicBlockRef block = LLVMValueAsBasicBlock(copy->twins[from]);
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

static void choose(struct pt_module *m, LLVMValueRef function, LLVMBasicBlockRef entry, LLVMBasicBlockRef body,
                   LLVMBasicBlockRef twin)
{
    LLVMValueRef flag = LLVMGetNamedGlobal(m->module, "__portent_plain");
    flag = flag ? flag : LLVMAddGlobal(m->module, m->i8, "__portent_plain");
    LLVMPositionBuilderAtEnd(m->builder, entry);
    LLVMSetCurrentDebugLocation2(m->builder, pt_place_before_body(m, function));
    LLVMValueRef wanted = LLVMBuildLoad2(m->builder, m->i8, flag, "");
    LLVMValueRef zero = LLVMConstInt(m->i8, 0, false);
    LLVMBuildCondBr(m->builder, LLVMBuildICmp(m->builder, LLVMIntEQ, wanted, zero, ""), body, twin);
}

/* The blocks from the first one on, to the end of the function. */
static void copy_body(struct pt_module *m, struct copy *copy, LLVMValueRef function, LLVMBasicBlockRef first)
{
    find_blocks(m, copy, first);
    for (size_t i = m->access_count; i-- > 0;)
        *pt_map64_at(&copy->accesses, pt_key(m->accesses[i].inst)) = (uint32_t)i;
    for (size_t i = 0; i < copy->block_count; i++) {
        LLVMBasicBlockRef next = goes_on_with(m, copy, copy->blocks[i]);
        if (next)
            *pt_map64_at(&copy->joined, pt_key(LLVMBasicBlockAsValue(next))) = 1;
    }
    for (size_t i = 0; i < copy->block_count; i++) {
        LLVMValueRef block = LLVMBasicBlockAsValue(copy->blocks[i]);
        if (pt_map64_get(&copy->joined, pt_key(block)) == PT_NONE)
            note_twin(copy, block, LLVMBasicBlockAsValue(LLVMAppendBasicBlockInContext(m->context, function, "")));
    }
    for (size_t i = 0; i < copy->block_count; i++)
        if (pt_map64_get(&copy->joined, pt_key(LLVMBasicBlockAsValue(copy->blocks[i]))) == PT_NONE)
            copy_block(m, copy, copy->blocks[i]);
    for (size_t i = 0; i < copy->block_count; i++)
        connect(copy, copy->blocks[i]);
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
    pt_map64_release(&copy->ways);
    pt_map64_release(&copy->joined);
    pt_map64_release(&copy->ends);
    pt_map64_release(&copy->accesses);
    free(copy->twins);
    free(copy->blocks);
    free(copy->stretches);
}

void pt_add_twin(struct pt_module *m, LLVMValueRef function)
{
    if (!has_plain_access(m) || !can_be_copied(function))
        return;
    LLVMBasicBlockRef entry = put_entry(m, function), body = LLVMGetNextBasicBlock(entry);
    struct copy copy = {0};
    pt_map64_init(&copy.at);
    pt_map64_init(&copy.ways);
    pt_map64_init(&copy.joined);
    pt_map64_init(&copy.ends);
    pt_map64_init(&copy.accesses);
    copy_body(m, &copy, function, body);
    ask(m, &copy);
    m->twin = twin_block(&copy, body);
    choose(m, function, entry, body, m->twin);
    for (size_t i = 0; i < m->access_count; i++) {
        struct pt_hooked_access access = m->accesses[i];
        access.inst = twin_of(&copy, access.inst);
        if (!pt_is_plain(&access) && access.inst != m->accesses[i].inst)
            pt_replace_access(m, &access);
    }
    release(&copy);
}
