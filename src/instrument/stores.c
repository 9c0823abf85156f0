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
 * its argument, and both may be given a global. Stores to private memory become ordinary again with the others, and the
 * optimiser has its way with them later. So do stores that hooks only bracket.
 *
 * A mark in the metadata tells whose volatility it is: what the source calls volatile stays so.
 *
 * Atomic stores need no protection: no pass removes one that is stronger than unordered, and C has none weaker. Copies
 * and fills are not touched by the passes in question.
 *
 * Guarantee: each store instruction there was at pt_protect_stores is there at pt_unprotect_stores, on every path on
 * which it was, and with its debug location. Cost: linear in the module.
 */
#include "instrument/module.h"

#define MARK "portent.protected"

static void each_store(struct pt_module *m, void (*visit)(struct pt_module *m, LLVMValueRef store, unsigned kind))
{
    unsigned kind = LLVMGetMDKindIDInContext(m->context, MARK, sizeof MARK - 1);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst))
                if (LLVMIsAStoreInst(inst))
                    visit(m, inst, kind);
}

static void protect(struct pt_module *m, LLVMValueRef store, unsigned kind)
{
    if (LLVMGetVolatile(store) || LLVMGetOrdering(store) != LLVMAtomicOrderingNotAtomic)
        return;
    LLVMSetVolatile(store, true);
    LLVMSetMetadata(store, kind, LLVMMetadataAsValue(m->context, LLVMMDNodeInContext2(m->context, NULL, 0)));
}

static void unprotect(struct pt_module *m, LLVMValueRef store, unsigned kind)
{
    (void)m;
    if (!LLVMGetMetadata(store, kind))
        return;
    LLVMSetVolatile(store, false);
    LLVMSetMetadata(store, kind, NULL);
}

void pt_protect_stores(struct pt_module *m)
{
    each_store(m, protect);
}

void pt_unprotect_stores(struct pt_module *m)
{
    each_store(m, unprotect);
}
