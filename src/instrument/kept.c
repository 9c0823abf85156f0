/*
 * Which arguments the functions of the module keep to themselves: an address that is given to such a function has not
 * left its caller when that one goes on, so a local stays private though it was passed (private.c).
 *
 * LLVM finds that out as well (`nocapture`), but not where stores are volatile meanwhile (stores.c), nor where an
 * event of the function compares the argument with null (functions.c); both give nothing away.
 *
 * An argument is kept if no use of it, or of an address derived of it, is an escape; returning it is one. Of functions
 * that call each other in a circle nothing is known. Where another definition may take the place of this one at link
 * time, neither. Cost: linear in the uses of all arguments.
 */
#include "instrument/module.h"

#include <stdlib.h>

enum { LOST, KEPT };     /* values of kept_arguments */
enum { MAX_DEPTH = 32 }; /* of calls */

/* Is this body the one that is called? */
static bool is_exact(struct pt_module *m, LLVMValueRef function)
{
    static const char flag[] = "SemanticInterposition";
    LLVMLinkage linkage = LLVMGetLinkage(function);
    if (LLVMIsDeclaration(function))
        return false;
    return linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage ||
           (linkage == LLVMExternalLinkage && !LLVMGetModuleFlag(m->module, flag, sizeof flag - 1));
}

static bool is_kept(struct pt_module *m, LLVMValueRef argument, unsigned depth);

/* Of a call whose callee has been asked for: what it does with the address. */
static void ask_callee(struct pt_module *m, LLVMValueRef call, LLVMValueRef address, unsigned depth)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (!LLVMIsAFunction(callee) || !is_exact(m, callee))
        return;
    for (unsigned i = 0; i < LLVMGetNumArgOperands(call) && i < LLVMCountParams(callee); i++)
        if (LLVMGetOperand(call, i) == address)
            is_kept(m, LLVMGetParam(callee, i), depth + 1);
}

static bool has_no_escape(struct pt_module *m, LLVMValueRef argument, unsigned depth)
{
    LLVMValueRef *work = NULL;
    size_t count = 0, cap = 0;
    bool kept = true;
    struct pt_map64 seen; /* a pointer that goes around a loop is derived of itself */
    pt_map64_init(&seen);
    PT_PUSH(work, count, cap, argument);
    while (kept && count > 0) {
        LLVMValueRef address = work[--count];
        for (LLVMUseRef use = LLVMGetFirstUse(address); use && kept; use = LLVMGetNextUse(use)) {
            LLVMValueRef user = LLVMGetUser(use);
            bool derived = false;
            if (LLVMIsACallInst(user) || LLVMIsAInvokeInst(user))
                ask_callee(m, user, address, depth);
            kept = LLVMIsAInstruction(user) && !pt_use_escapes(m, user, address, &derived);
            uint32_t *old = kept && derived ? pt_map64_at(&seen, pt_key(user)) : NULL;
            if (old && *old == PT_NONE) {
                *old = 1;
                PT_PUSH(work, count, cap, user);
            }
        }
    }
    pt_map64_release(&seen);
    free(work);
    return kept;
}

static bool is_kept(struct pt_module *m, LLVMValueRef argument, unsigned depth)
{
    uint32_t answer = pt_map64_get(&m->kept_arguments, pt_key(argument));
    if (answer != PT_NONE || depth > MAX_DEPTH)
        return answer == KEPT;
    *pt_map64_at(&m->kept_arguments, pt_key(argument)) = LOST; /* while that is being found out */
    bool kept = has_no_escape(m, argument, depth);
    if (kept)
        *pt_map64_at(&m->kept_arguments, pt_key(argument)) = KEPT;
    return kept;
}

void pt_find_kept(struct pt_module *m)
{
    pt_map64_release(&m->kept_arguments);
    pt_map64_init(&m->kept_arguments);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        for (unsigned i = 0; is_exact(m, f) && i < LLVMCountParams(f); i++)
            if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(f, i))) == LLVMPointerTypeKind)
                is_kept(m, LLVMGetParam(f, i), 0);
}

bool pt_is_kept(struct pt_module *m, LLVMValueRef function, unsigned parameter)
{
    return parameter < LLVMCountParams(function) &&
           pt_map64_get(&m->kept_arguments, pt_key(LLVMGetParam(function, parameter))) == KEPT;
}
