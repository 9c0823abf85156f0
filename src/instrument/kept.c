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

static bool stop_there(struct pt_module *m, LLVMValueRef inst, void *context)
{
    (void)m, (void)inst, (void)context;
    return false;
}

/* private.c asks for the arguments of calls that it meets, so callees come before their callers. */
bool pt_is_kept(struct pt_module *m, LLVMValueRef function, unsigned parameter)
{
    LLVMValueRef argument = parameter < LLVMCountParams(function) ? LLVMGetParam(function, parameter) : NULL;
    uint32_t answer = argument ? pt_map64_get(&m->kept_arguments, pt_key(argument)) : LOST;
    if (answer != PT_NONE || m->kept_depth == 0 || m->kept_depth > MAX_DEPTH || !is_exact(m, function))
        return answer == KEPT;
    *pt_map64_at(&m->kept_arguments, pt_key(argument)) = LOST; /* while that is being found out */
    m->kept_depth++;
    bool kept = pt_each_escape(m, argument, stop_there, NULL);
    m->kept_depth--;
    if (kept)
        *pt_map64_at(&m->kept_arguments, pt_key(argument)) = KEPT;
    return kept;
}

void pt_find_kept(struct pt_module *m)
{
    pt_map64_release(&m->kept_arguments);
    pt_map64_init(&m->kept_arguments);
    m->kept_depth = 1;
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        for (unsigned i = 0; i < LLVMCountParams(f); i++)
            if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetParam(f, i))) == LLVMPointerTypeKind)
                pt_is_kept(m, f, i);
    m->kept_depth = 0;
}
