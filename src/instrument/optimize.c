/*
 * The optimiser, between what must be hooked before it and what is better hooked after it.
 *
 * After the pipeline of the user's -O level, registers, dead code and loads of what is known already are gone, and what
 * is left to hook is what the program would do without hooks. Hooked before it are calls of library functions that it
 * knows and would replace. Stores to memory that may be shared are volatile meanwhile (stores.c), so that each is there
 * afterwards: a property may speak of every value of a variable.
 *
 * No access is made up: the functions to be instrumented carry sanitize_thread meanwhile, for which LLVM's passes
 * neither execute a load that the program would not, nor widen one. No access moves to where another one stands: passes
 * that would put one instruction in place of the same one on two paths are told not to, since it would have no line.
 * Loops are not vectorised, for there is no hook for many values at once.
 *
 * Statics have external linkage meanwhile: what nobody seems to write would be taken for a constant and be gone, with
 * the name that a property has for it.
 *
 * Before all that, functions are inlined, so that what they do to a local of their caller is private. Names are noted
 * first, in the metadata of each access: the shape in which debug information can be read is lost later.
 *
 * Guarantee: each store, copy and atomic operation on memory that may be shared is there afterwards on each path on
 * which it was; each access that is there afterwards is one of the program, at its place. Cost: the passes, which the
 * back half of the compilation does not run again.
 */
#include "instrument/module.h"

#include <stdio.h>
#include <stdlib.h>

#include <llvm-c/Support.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#define CHOSEN "sanitize_thread"

static enum pt_status run(LLVMModuleRef module, const char *passes, LLVMTargetMachineRef machine,
                          LLVMPassBuilderOptionsRef options, struct pt_err *err)
{
    LLVMErrorRef failure = LLVMRunPasses(module, passes, machine, options);
    if (!failure)
        return PT_OK;
    char *message = LLVMGetErrorMessage(failure);
    enum pt_status status = pt_err_set(err, PT_EINPUT, "LLVM refuses its own passes: %.300s", message);
    LLVMDisposeErrorMessage(message);
    return status;
}

enum pt_status pt_run_passes(LLVMModuleRef module, const char *passes, struct pt_err *err)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    enum pt_status status = run(module, passes, NULL, options, err);
    LLVMDisposePassBuilderOptions(options);
    return status;
}

bool pt_is_chosen(LLVMValueRef function)
{
    return !LLVMIsDeclaration(function) && pt_has_attribute(function, CHOSEN);
}

/* Marks the functions that are to be instrumented. LLVM inlines no others into them but those that must be, and these
 * are known by their debug information. */
static void choose(struct pt_module *m, const struct pt_strtab *opt_outs)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(CHOSEN, sizeof CHOSEN - 1);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f)) {
        size_t len;
        const char *name = LLVMGetValueName2(f, &len);
        if (LLVMIsDeclaration(f))
            continue;
        if (pt_strtab_find(opt_outs, name, len) == PT_NONE) {
            LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(m->context, kind, 0));
        } else {
            LLVMRemoveEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind);
            if (LLVMGetSubprogram(f))
                *pt_map64_at(&m->opted_out, (uint64_t)(uintptr_t)LLVMGetSubprogram(f)) = 1;
        }
    }
}

/* Notes names, and replaces the calls that the optimiser would. */
static void rewrite_before(struct pt_module *m)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f)) {
        if (!pt_is_chosen(f))
            continue;
        m->phase = PT_PHASE_AFTER;
        pt_note_names(m, f);
        for (size_t i = 0; i < m->access_count; i++)
            if (m->accesses[i].kind == PT_ACCESS_CALL && m->accesses[i].row->buffer)
                pt_keep_function(m, m->accesses[i].inst);
        m->phase = PT_PHASE_BEFORE;
        pt_rewrite_function(m, f);
    }
}

/* What a variable is at a moment does not change the name of anything but arguments. */
static bool is_of_argument(LLVMValueRef intrinsic)
{
    LLVMValueRef place = LLVMGetOperand(intrinsic, 0), value = NULL;
    if (LLVMGetMetadataKind(LLVMValueAsMetadata(place)) != LLVMLocalAsMetadataMetadataKind)
        return false;
    LLVMGetMDNodeOperands(place, &value);
    return LLVMIsAArgument(value) || LLVMIsAAllocaInst(value);
}

/* What a variable is at each moment, for a debugger: not where nobody has asked for debug information, for it takes
 * each pass time to keep that true. Names of accesses have been made of it by now, but for those of a few loads that
 * passes put elsewhere: for them locals in memory and arguments are kept until the end, which cost little. */
static void forget_values(LLVMModuleRef module)
{
    LLVMValueRef next;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = next) {
                next = LLVMGetNextInstruction(inst);
                if (LLVMIsADbgVariableIntrinsic(inst) && !is_of_argument(inst))
                    LLVMInstructionEraseFromParent(inst);
            }
}

struct exposed {
    LLVMValueRef *values;
    size_t count, cap;
};

static bool must_tail_call(LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst))
            if (pt_is_musttail(inst))
                return true;
    return false;
}

static void expose_one(LLVMValueRef value, struct exposed *exposed)
{
    if (LLVMGetLinkage(value) != LLVMInternalLinkage)
        return;
    LLVMSetLinkage(value, LLVMExternalLinkage);
    PT_PUSH(exposed->values, exposed->count, exposed->cap, value);
}

/* Statics, and functions whose result LLVM 14 would take away though they return it by a musttail. */
static void expose(struct pt_module *m, struct exposed *exposed)
{
    for (LLVMValueRef g = LLVMGetFirstGlobal(m->module); g; g = LLVMGetNextGlobal(g))
        if (!LLVMIsGlobalConstant(g))
            expose_one(g, exposed);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        if (must_tail_call(f))
            expose_one(f, exposed);
}

static void hide(struct exposed *exposed)
{
    for (size_t i = 0; i < exposed->count; i++)
        LLVMSetLinkage(exposed->values[i], LLVMInternalLinkage);
    free(exposed->values);
}

/* Costs of instructions; without it passes take all machines for alike. */
static LLVMTargetMachineRef machine_of(LLVMModuleRef module)
{
    LLVMTargetRef target = NULL;
    char *message = NULL;
    LLVMTargetMachineRef machine = NULL;
    if (LLVMInitializeNativeTarget() == 0 && !LLVMGetTargetFromTriple(LLVMGetTarget(module), &target, &message))
        machine = LLVMCreateTargetMachine(target, LLVMGetTarget(module), "", "", LLVMCodeGenLevelDefault, LLVMRelocPIC,
                                          LLVMCodeModelDefault);
    LLVMDisposeMessage(message);
    return machine;
}

/* What all passes go by. A function brings its events along, and those of what was inlined into it, which LLVM takes
 * for 90 each time: the source's inline functions are to be inlined as they are without them. Others are inlined
 * somewhat less than usual, for what is inlined is compiled twice (twins.c). Of vectors of straight code LLVM 14 asks
 * this option alone. The last one is for the code generator: without locals in debug information it need not follow all
 * registers to know where they are. */
static void tell_passes(bool locals)
{
    static const char *const arguments[] = {"portent",
                                            "-simplifycfg-hoist-common=false",
                                            "-simplifycfg-sink-common=false",
                                            "-inline-threshold=195",
                                            "-inlinehint-threshold=650",
                                            "-vectorize-slp=false",
                                            "-experimental-debug-variable-locations=false"};
    static bool told;
    if (!told)
        LLVMParseCommandLineOptions(sizeof arguments / sizeof *arguments - locals, arguments, NULL);
    told = true;
}

static enum pt_status run_pipeline(struct pt_module *m, const char *level, struct pt_err *err)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMPassBuilderOptionsSetLoopVectorization(options, false);
    LLVMPassBuilderOptionsSetSLPVectorization(options, false);
    LLVMTargetMachineRef machine = machine_of(m->module);
    char passes[32];
    snprintf(passes, sizeof passes, "default<%s>", level);
    enum pt_status status = run(m->module, passes, machine, options, err);
    LLVMDisposePassBuilderOptions(options);
    if (machine)
        LLVMDisposeTargetMachine(machine);
    return status;
}

enum pt_status pt_optimize(struct pt_module *m, const struct pt_orders *how, const struct pt_strtab *opt_outs,
                           struct pt_err *err)
{
    struct exposed exposed = {0};
    enum pt_status status = pt_run_passes(m->module, "function(sroa)", err);
    if (status != PT_OK)
        return status;
#if LLVM_VERSION_MAJOR == 19
    LLVMSetIsNewDbgInfoFormat(m->module, false); /* names.c reads the intrinsics that debug records came to replace */
#endif
    choose(m, opt_outs);
    rewrite_before(m);
    if (!how->locals)
        forget_values(m->module);
    expose(m, &exposed);
    tell_passes(how->locals);
    status = pt_run_passes(m->module, "cgscc(inline),function(sroa)", err);
    if (status == PT_OK) {
        pt_find_kept(m);
        pt_protect_stores(m, false);
        status = run_pipeline(m, how->level, err);
        pt_unprotect_stores(m);
        pt_find_kept(m); /* functions are not what they were */
    }
    hide(&exposed);
    m->phase = PT_PHASE_AFTER;
    return status;
}
