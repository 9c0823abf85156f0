/*
 * Keeps every store of the source until it is a hook, though passes run before.
 *
 * To an optimiser the first of two adjacent stores is dead, and a store of what was just loaded from there does
 * nothing. Both are writes of the program: a property may speak of the first value, and another thread may race with
 * the second. So while passes run, stores are volatile. That is the one promise which all of LLVM's passes keep: a
 * volatile access is neither deleted nor made up, not promoted to a register in a loop, not turned into a memset, and a
 * variable with one is not optimised away; it keeps its order among the volatile ones, hence among the stores, and its
 * place in the source. Between stores and synchronisation nothing changes, for no pass here moves either. What is worth
 * having stays: early-cse lets a load have the value that a volatile store has put there, and treats loads and
 * arithmetic as ever. A call instead of the store would not do, for passes believe that a call may change all memory.
 *
 * All stores are treated so, not only those to globals by name: a constructor stores through `this`, a function through
 * its argument, and both may be given a global. Before the optimiser runs over the whole (optimize.c), only those to
 * memory that may be shared: what is private is the optimiser's.
 *
 * A mark in the metadata tells whose volatility it is: what the source calls volatile stays so.
 *
 * Atomic operations that write, and copies and fills, are treated likewise: `x |= 0` of an atomic x is a write, and to
 * an optimiser a load.
 *
 * Guarantee: each store instruction there was at pt_protect_stores is there at pt_unprotect_stores, on every path on
 * which it was, and with its debug location. Cost: linear in the module.
 */
#include "instrument/module.h"

#include <string.h>

#define MARK "portent.protected"

/* The operand that says whether a copy or fill is volatile; PT_NONE: it is something else. */
static unsigned volatile_operand(LLVMValueRef inst)
{
    const char *name = LLVMIsACallInst(inst) ? pt_callee_name(inst) : "";
    bool block = strncmp(name, "llvm.memcpy.p", 13) == 0 || strncmp(name, "llvm.memmove.", 13) == 0 ||
                 strncmp(name, "llvm.memset.p", 13) == 0;
    return block ? 3 : PT_NONE;
}

static LLVMValueRef written_address(LLVMValueRef inst)
{
    if (LLVMIsAStoreInst(inst))
        return LLVMGetOperand(inst, 1);
    bool writes = LLVMIsAAtomicRMWInst(inst) || LLVMIsAAtomicCmpXchgInst(inst) || volatile_operand(inst) != PT_NONE;
    return writes ? LLVMGetOperand(inst, 0) : NULL;
}

static bool is_volatile(LLVMValueRef inst)
{
    unsigned operand = volatile_operand(inst);
    return operand == PT_NONE ? LLVMGetVolatile(inst) : !LLVMIsNull(LLVMGetOperand(inst, operand));
}

static void set_volatile(LLVMValueRef inst, bool on)
{
    unsigned operand = volatile_operand(inst);
    if (operand == PT_NONE)
        LLVMSetVolatile(inst, on);
    else
        LLVMSetOperand(inst, operand, LLVMConstInt(LLVMTypeOf(LLVMGetOperand(inst, operand)), on, false));
}

static void each_write(struct pt_module *m, bool all,
                       void (*visit)(struct pt_module *m, LLVMValueRef inst, unsigned kind, bool all))
{
    unsigned kind = LLVMGetMDKindIDInContext(m->context, MARK, sizeof MARK - 1);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f)) {
        pt_forget_private(m);
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst))
                if (written_address(inst))
                    visit(m, inst, kind, all);
    }
}

static void protect(struct pt_module *m, LLVMValueRef inst, unsigned kind, bool all)
{
    if (is_volatile(inst) || (!all && !pt_may_be_shared(m, written_address(inst), inst)))
        return;
    set_volatile(inst, true);
    LLVMSetMetadata(inst, kind, LLVMMetadataAsValue(m->context, LLVMMDNodeInContext2(m->context, NULL, 0)));
}

static void unprotect(struct pt_module *m, LLVMValueRef inst, unsigned kind, bool all)
{
    (void)m, (void)all;
    if (!LLVMGetMetadata(inst, kind))
        return;
    set_volatile(inst, false);
    LLVMSetMetadata(inst, kind, NULL);
}

void pt_protect_stores(struct pt_module *m, bool all)
{
    each_write(m, all, protect);
}

void pt_unprotect_stores(struct pt_module *m)
{
    each_write(m, true, unprotect);
}
