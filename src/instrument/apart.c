/*
 * The body with hooks as a function of its own, where a function has a twin (twins.c):
 *
 *     f:        if (!__portent_plain) return f.hooks(arguments); twin
 *     f.hooks:  body                                                     (optnone: selected fast, allocated with care)
 *
 * A call of a hook is dear to LLVM's usual instruction selection, and there is nothing to select well: the address, the
 * site and a call. Its fast one takes half the time for such a body, and the rest of the code generator has two smaller
 * functions in place of one. It is a tail call, so that the stack is as deep as before, unless the result or an
 * argument is in memory: then LLVM makes none, or the argument, of which the body gets the address, would be gone.
 *
 * The fast selection gives a block up, from its end to where it meets something that it cannot do. The stack of calls
 * is that, being the thread's own (frames.c): so its address is a value in the body, found once, where it is entered.
 *
 * Not for functions whose call could not be passed on as it is (arguments without a name), or that ask where they were
 * called from; nor from LLVM 20 on, whose records of locals are no instructions that could be
 * taken out.
 *
 * Where nobody wants to debug the program, lines and locals are left out of both, and each instruction of f is where f
 * begins, since LLVM wants a place of each call. What was inlined into f would then be gone from debug information, and
 * no property could name it. So the first function that has code of it loads a byte in its place, before the body with
 * hooks is called.
 *
 * With -g the body takes f's debug information along, with lines and locals, and the twin has a copy of what says which
 * function that is, and its own lines in it: to a debugger both are f, and who stops at f stops in the one that runs.
 *
 * Guarantee: f does what it did, and debug information has the functions that it had. Cost: linear in the function.
 */
#include "instrument/module.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/Comdat.h>

#include "instrument/subprogram.h"

struct apart {
    LLVMValueRef from, to;
    LLVMMetadataRef *inlined; /* functions that nobody has mentioned yet */
    size_t inlined_count, inlined_cap;
    struct pt_map64 at; /* arguments, locals and the stack of calls, to indices of `theirs` */
    LLVMValueRef *theirs;
    size_t count, cap;
    bool has_places; /* debug information of lines and locals is wanted */
};

static bool asks_for_its_caller(LLVMValueRef call)
{
    static const char *const names[] = {"llvm.returnaddress", "llvm.frameaddress", "llvm.addressofreturnaddress",
                                        "llvm.localescape", "llvm.eh.sjlj"};
    const char *name = pt_callee_name(call);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

/* By value in memory that the caller has laid out itself (Windows). */
static bool is_laid_out(LLVMValueRef function, unsigned parameter)
{
    static const char *const names[] = {"inalloca", "preallocated"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (LLVMGetEnumAttributeAtIndex(function, parameter + 1,
                                        LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]))))
            return true;
    return false;
}

static bool can_be_apart(LLVMValueRef function)
{
    if (LLVMIsFunctionVarArg(LLVMGlobalGetValueType(function)) || pt_has_attribute(function, "returns_twice"))
        return false;
    bool by_value = false;
    for (unsigned i = 0; i < LLVMCountParams(function); i++) {
        by_value |= pt_is_by_value(function, i);
        if (is_laid_out(function, i))
            return false;
    }
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst))
            if (LLVMIsACallInst(inst) && (asks_for_its_caller(inst) || (by_value && pt_is_musttail(inst))))
                return false; /* such a tail call wants the same arguments in its caller */
    return true;
}

/* ---- debug information that is left out ---- */

static void note_inlined(struct pt_module *m, struct apart *apart, LLVMMetadataRef place)
{
    for (LLVMMetadataRef at; place && (at = LLVMDILocationGetInlinedAt(place)); place = at) {
        LLVMMetadataRef scope = LLVMDILocationGetScope(place);
        uint32_t *known = pt_map64_at(&m->mentioned, (uint64_t)(uintptr_t)scope);
        if (*known != PT_NONE)
            continue;
        *known = 1;
        LLVMMetadataRef function = pt_function_scope(m, scope);
        known = pt_map64_at(&m->mentioned, (uint64_t)(uintptr_t)function);
        if (!function || (*known != PT_NONE && function != scope))
            continue;
        *known = 1;
        PT_PUSH(apart->inlined, apart->inlined_count, apart->inlined_cap, function);
    }
}

static void forget_places(struct pt_module *m, struct apart *apart)
{
    LLVMMetadataRef entry = pt_place_of_entry(m, apart->from);
    LLVMValueRef next;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(apart->from); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = next) {
            next = LLVMGetNextInstruction(inst);
            if (LLVMIsADbgInfoIntrinsic(inst)) {
                LLVMInstructionEraseFromParent(inst);
                continue;
            }
            note_inlined(m, apart, LLVMInstructionGetDebugLoc(inst));
            LLVMInstructionSetDebugLoc(inst, entry);
        }
}

/* The builder stands where the body is called. */
static void mention_inlined(struct pt_module *m, const struct apart *apart)
{
    LLVMMetadataRef entry = pt_place_of_entry(m, apart->from);
    for (size_t i = 0; i < apart->inlined_count && entry; i++) {
        LLVMMetadataRef function = apart->inlined[i];
        LLVMSetCurrentDebugLocation2(
            m->builder,
            LLVMDIBuilderCreateDebugLocation(m->context, LLVMDISubprogramGetLine(function), 0, function, entry));
        LLVMValueRef load = LLVMBuildLoad2(m->builder, m->i8, LLVMGetNamedGlobal(m->module, "__portent_plain"), "");
        LLVMSetVolatile(load, true);
    }
}

/* ---- that is divided ---- */

/* The same place in a function that is described by `subprogram`. */
static LLVMMetadataRef place_in(struct pt_module *m, LLVMMetadataRef subprogram, LLVMMetadataRef place)
{
    LLVMMetadataRef outer = LLVMDILocationGetInlinedAt(place), scope = LLVMDILocationGetScope(place);
    LLVMMetadataRef file = LLVMDIScopeGetFile(scope);
    if (outer) {
        outer = place_in(m, subprogram, outer);
    } else if (file == LLVMDIScopeGetFile(subprogram)) {
        scope = subprogram;
    } else {
        LLVMDIBuilderRef builder = LLVMCreateDIBuilder(m->module);
        scope = LLVMDIBuilderCreateLexicalBlockFile(builder, subprogram, file, 0);
        LLVMDisposeDIBuilder(builder);
    }
    return LLVMDIBuilderCreateDebugLocation(m->context, LLVMDILocationGetLine(place), LLVMDILocationGetColumn(place),
                                            scope, outer);
}

/* The body with hooks keeps all there is; the twin, whose variables nobody can see, has lines in a function of the same
 * name. */
static void divide_places(struct pt_module *m, struct apart *apart)
{
    LLVMMetadataRef subprogram = LLVMGetSubprogram(apart->from), copy = pt_copy_subprogram(subprogram);
    unsigned loop = LLVMGetMDKindIDInContext(m->context, "llvm.loop", 9); /* has places, which nobody needs any more */
    LLVMSetSubprogram(apart->to, subprogram);
    LLVMSetSubprogram(apart->from, copy);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(apart->from); block; block = LLVMGetNextBasicBlock(block)) {
        LLVMMetadataRef known = NULL, same = NULL;
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst)) {
            LLVMMetadataRef place = LLVMInstructionGetDebugLoc(inst);
            if (place && place != known)
                same = place_in(m, copy, place);
            known = place ? place : known;
            if (place)
                LLVMInstructionSetDebugLoc(inst, same);
        }
        LLVMSetMetadata(LLVMGetBasicBlockTerminator(block), loop, NULL);
    }
}

/* ---- the function ---- */

static void copy_attributes(LLVMValueRef from, LLVMValueRef to, unsigned index,
                            void (*add)(LLVMValueRef to, LLVMAttributeIndex index, LLVMAttributeRef attribute))
{
    unsigned count = LLVMGetAttributeCountAtIndex(from, index);
    LLVMAttributeRef *all = pt_xcalloc(count + 1, sizeof *all);
    LLVMGetAttributesAtIndex(from, index, all);
    for (unsigned i = 0; i < count; i++)
        add(to, index, all[i]);
    free(all);
}

static void set_attribute(struct pt_module *m, LLVMValueRef function, const char *name, bool set)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
    if (set)
        LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(m->context, kind, 0));
}

static LLVMValueRef add_function(struct pt_module *m, LLVMValueRef from)
{
    struct pt_buf name;
    size_t len;
    const char *text = LLVMGetValueName2(from, &len);
    pt_buf_init(&name);
    pt_buf_printf(&name, "%.*s.hooks", (int)len, text);
    LLVMValueRef to = LLVMAddFunction(m->module, name.text, LLVMGlobalGetValueType(from));
    pt_buf_release(&name);
    LLVMSetLinkage(to, LLVMInternalLinkage);
    LLVMSetFunctionCallConv(to, LLVMGetFunctionCallConv(from));
    copy_attributes(from, to, (unsigned)LLVMAttributeFunctionIndex, LLVMAddAttributeAtIndex);
    for (unsigned i = 0; i <= LLVMCountParams(from); i++)
        copy_attributes(from, to, i, LLVMAddAttributeAtIndex);
    for (unsigned i = 0; i < LLVMCountParams(from); i++) /* the body has the address of what f was given */
        if (pt_is_by_value(from, i))
            LLVMRemoveEnumAttributeAtIndex(to, i + 1, LLVMGetEnumAttributeKindForName("byval", 5));
    static const char *const others[] = {"alwaysinline", "inlinehint", "minsize", "optsize"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        set_attribute(m, to, others[i], false);
    set_attribute(m, to, "noinline", true);
    set_attribute(m, to, "optnone", true);
    if (LLVMHasPersonalityFn(from))
        LLVMSetPersonalityFn(to, LLVMGetPersonalityFn(from));
    if (LLVMGetGC(from))
        LLVMSetGC(to, LLVMGetGC(from));
    if (LLVMGetSection(from))
        LLVMSetSection(to, LLVMGetSection(from));
    if (LLVMGetComdat(from))
        LLVMSetComdat(to, LLVMGetComdat(from));
    return to;
}

/* ---- its body ---- */

static void note(struct apart *apart, LLVMValueRef ours, LLVMValueRef theirs)
{
    *pt_map64_at(&apart->at, pt_key(ours)) = (uint32_t)apart->count;
    PT_PUSH(apart->theirs, apart->count, apart->cap, theirs);
}

/* Both have the locals; of those that the twin does not use nothing is left. */
static void copy_locals(struct pt_module *m, struct apart *apart, LLVMBasicBlockRef entry)
{
    for (LLVMValueRef inst = LLVMGetFirstInstruction(entry); inst; inst = LLVMGetNextInstruction(inst)) {
        if (!LLVMIsAAllocaInst(inst))
            continue;
        LLVMValueRef copy = LLVMInstructionClone(inst);
        LLVMInsertIntoBuilder(m->builder, copy);
        note(apart, inst, copy);
    }
}

/* No constants: those are folded into their uses, each with what it takes to find the thread's own memory. */
static void copy_calls(struct pt_module *m, struct apart *apart)
{
    LLVMValueRef depth_at, calls = pt_stack_of_calls(m, &depth_at);
    if (!calls)
        return;
    LLVMValueRef copy = LLVMBuildFreeze(m->builder, calls, "");
    note(apart, calls, copy);
    note(apart, depth_at, LLVMBuildBitCast(m->builder, copy, LLVMTypeOf(depth_at), ""));
}

static void remove_unused(LLVMBasicBlockRef entry)
{
    LLVMValueRef before;
    for (LLVMValueRef inst = LLVMGetLastInstruction(entry); inst; inst = before) {
        before = LLVMGetPreviousInstruction(inst);
        if ((LLVMIsAAllocaInst(inst) || LLVMIsAFreezeInst(inst) || LLVMIsABitCastInst(inst)) && !LLVMGetFirstUse(inst))
            LLVMInstructionEraseFromParent(inst);
    }
}

static LLVMValueRef theirs(const void *arg, LLVMValueRef ours)
{
    const struct apart *apart = arg;
    uint32_t at = pt_map64_get(&apart->at, pt_key(ours));
    return at == PT_NONE ? ours : apart->theirs[at];
}

static void use_theirs(const struct apart *apart, LLVMBasicBlockRef block)
{
    for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst)) {
        if (!apart->has_places)
            LLVMInstructionSetDebugLoc(inst, NULL);
        if (LLVMIsADbgVariableIntrinsic(inst)) {
            pt_replace_places(inst, theirs, apart);
            continue;
        }
        for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(inst); i++) {
            LLVMValueRef ours = LLVMGetOperand(inst, i), other = theirs(apart, ours);
            if (other != ours)
                LLVMSetOperand(inst, i, other);
        }
    }
}

/* The blocks from `first` on, up to the twin. */
static void move_blocks(struct pt_module *m, struct apart *apart, LLVMBasicBlockRef first, LLVMBasicBlockRef twin)
{
    LLVMBasicBlockRef last = LLVMAppendBasicBlockInContext(m->context, apart->to, ""), next;
    for (unsigned i = 0; i < LLVMCountParams(apart->from); i++)
        note(apart, LLVMGetParam(apart->from, i), LLVMGetParam(apart->to, i));
    LLVMPositionBuilderAtEnd(m->builder, last);
    LLVMSetCurrentDebugLocation2(m->builder, NULL);
    copy_locals(m, apart, LLVMGetEntryBasicBlock(apart->from));
    copy_calls(m, apart);
    LLVMBuildBr(m->builder, first);
    for (LLVMBasicBlockRef block = first; block != twin; block = next) {
        next = LLVMGetNextBasicBlock(block);
        LLVMMoveBasicBlockAfter(block, last);
        use_theirs(apart, block);
        last = block;
    }
    remove_unused(LLVMGetEntryBasicBlock(apart->to));
}

/* ---- the call ---- */

static LLVMBasicBlockRef build_call(struct pt_module *m, const struct apart *apart, LLVMBasicBlockRef twin)
{
    unsigned count = LLVMCountParams(apart->from);
    LLVMValueRef *arguments = pt_xcalloc(count + 1, sizeof *arguments);
    LLVMGetParams(apart->from, arguments);
    LLVMTypeRef type = LLVMGlobalGetValueType(apart->from), returns = LLVMGetReturnType(type);
    LLVMBasicBlockRef block = LLVMInsertBasicBlockInContext(m->context, twin, "");
    LLVMPositionBuilderAtEnd(m->builder, block);
    mention_inlined(m, apart);
    LLVMSetCurrentDebugLocation2(m->builder, apart->has_places ? pt_place_before_body(m, apart->from)
                                                               : pt_place_of_entry(m, apart->from));
    LLVMValueRef call = LLVMBuildCall2(m->builder, type, apart->to, arguments, count, "");
    LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(apart->from));
    bool in_memory = false;
    for (unsigned i = 0; i <= count; i++)
        copy_attributes(apart->from, call, i, LLVMAddCallSiteAttribute);
    for (unsigned i = 0; i < count; i++)
        if (pt_is_by_value(apart->from, i)) {
            LLVMRemoveCallSiteEnumAttribute(call, i + 1, LLVMGetEnumAttributeKindForName("byval", 5));
            in_memory = true;
        }
    LLVMSetTailCall(call, !in_memory);
    if (LLVMGetTypeKind(returns) == LLVMVoidTypeKind)
        LLVMBuildRetVoid(m->builder);
    else
        LLVMBuildRet(m->builder, call);
    free(arguments);
    return block;
}

bool pt_put_body_apart(struct pt_module *m, LLVMValueRef function, bool with_places)
{
    LLVMBasicBlockRef twin = m->twin;
    m->twin = NULL;
    if (!twin || LLVM_VERSION_MAJOR > 19 || !can_be_apart(function))
        return false;
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(function), first = LLVMGetNextBasicBlock(entry);
    struct apart apart = {.from = function, .to = add_function(m, function), .has_places = with_places};
    pt_map64_init(&apart.at);
    if (!with_places)
        forget_places(m, &apart);
    move_blocks(m, &apart, first, twin);
    if (with_places && LLVMGetSubprogram(function))
        divide_places(m, &apart);
    LLVMBasicBlockRef call = build_call(m, &apart, twin);
    LLVMSetSuccessor(LLVMGetBasicBlockTerminator(entry), 0, call);
    remove_unused(entry);
    pt_map64_release(&apart.at);
    free(apart.theirs);
    free(apart.inlined);
    return true;
}
