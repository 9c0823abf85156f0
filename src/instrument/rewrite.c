/*
 * One module.
 *
 * With optimisation on, the optimiser runs inside the rewriting (optimize.c), and most accesses are replaced after it.
 * Where only clang knows how to run it (jobs.h), locals are first promoted to registers (sroa) and what was computed or
 * loaded before is used again (early-cse): what is left are accesses of real memory, and clang optimises what has
 * become of them. No store is lost on either way (stores.c). The C++ library's own wrappers of atomic operations and of
 * synchronisation, and the C library's of fortified functions, are inlined before, so that an access stands where the
 * program has it. Then, function by function, all accesses are found and named before the first is replaced (a replaced
 * load could no longer lend its name to what is read through it). Last, promises that the hooks would break (readonly,
 * nosync, ...) are taken back, or the optimiser would delete calls of functions with hooks in them.
 *
 * Not rewritten: functions the user opted out (opt_outs.c), naked functions, and ifunc resolvers, which run before
 * the program is relocated. Bodies that exist for inlining only (available_externally) are rewritten like all others:
 * once inlined they are part of this program. With hooks in them they are often too large to be inlined, and would be
 * dropped; so with optimisation on they become functions of their module (keep_inline_bodies).
 *
 * Guarantee: the rewritten module is valid, and links wherever clang's own would. LLVM checks the first if it is asked
 * to, which takes a quarter of the time here; tools/run-tests does. Cost: linear in the module, but for the passes.
 */
#include "instrument/rewrite.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/IRReader.h>

#include "instrument/module.h"
#include "instrument/opt_outs.h"

#define MARK "portent.rewritten" /* named metadata of modules that were rewritten */

static void module_init(struct pt_module *m, LLVMContextRef context, LLVMModuleRef module)
{
    *m = (struct pt_module){.context = context, .module = module};
    m->layout = LLVMGetModuleDataLayout(module);
    m->builder = LLVMCreateBuilderInContext(context);
    m->i8 = LLVMInt8TypeInContext(context);
    m->i32 = LLVMInt32TypeInContext(context);
    m->i64 = LLVMInt64TypeInContext(context);
    m->byte_pointer = LLVMPointerType(m->i8, 0);
    m->kind_dbg = LLVMGetMDKindIDInContext(context, "dbg", 3);
    m->kind_tbaa = LLVMGetMDKindIDInContext(context, "tbaa", 4);
    m->kind_invariant = LLVMGetMDKindIDInContext(context, "invariant.load", 14);
    m->kind_name = LLVMGetMDKindIDInContext(context, "portent.name", 12);
    m->kind_other_name = LLVMGetMDKindIDInContext(context, "portent.other", 13);
    pt_strtab_init(&m->strings);
    pt_strtab_init(&m->sites);
    pt_map64_init(&m->private_memory);
    pt_map64_init(&m->kept_arguments);
    pt_map64_init(&m->positions);
    pt_map64_init(&m->local_variables);
    pt_map64_init(&m->opted_out);
    pt_map64_init(&m->mentioned);
}

static void module_release(struct pt_module *m)
{
    LLVMDisposeBuilder(m->builder);
    pt_strtab_release(&m->strings);
    pt_strtab_release(&m->sites);
    pt_forget_private(m);
    pt_map64_release(&m->private_memory);
    pt_map64_release(&m->kept_arguments);
    pt_map64_release(&m->positions);
    free(m->escapes);
    pt_map64_release(&m->local_variables);
    pt_map64_release(&m->opted_out);
    pt_map64_release(&m->mentioned);
    free(m->string_values);
    free(m->site_values);
    free(m->debug_variables);
    free(m->accesses);
}

bool pt_has_attribute(LLVMValueRef function, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return kind != 0 && LLVMGetEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind) != NULL;
}

static bool has_string_attribute(LLVMValueRef function, const char *name)
{
    return LLVMGetStringAttributeAtIndex(function, LLVMAttributeFunctionIndex, name, (unsigned)strlen(name)) != NULL;
}

static enum pt_status read_module(const char *path, LLVMContextRef context, LLVMModuleRef *ret_module,
                                  struct pt_err *err)
{
    LLVMMemoryBufferRef buffer;
    char *message = NULL;
    enum pt_status status = PT_OK;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message) ||
        LLVMParseIRInContext(context, buffer, ret_module, &message)) /* takes the buffer */
        status = pt_err_set(err, PT_EINPUT, "cannot read %.200s: %.250s", path, message ? message : "unknown error");
    LLVMDisposeMessage(message);
    return status;
}

static void note_functions(struct pt_strtab *names, LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        size_t len;
        const char *name = LLVMGetValueName2(f, &len);
        if (!LLVMIsDeclaration(f) && !pt_has_attribute(f, "sanitize_thread"))
            pt_strtab_intern(names, name, len);
    }
}

static const char *text_of(struct pt_buf *buf, const char *text, size_t len)
{
    pt_buf_init(buf);
    pt_buf_add(buf, text ? text : "", text ? len : 0);
    return buf->text;
}

/* Has the command line said that a function is to be left alone? */
static bool is_left_alone(struct pt_module *m, const struct pt_choice *choice, LLVMValueRef function)
{
    LLVMMetadataRef subprogram = LLVMGetSubprogram(function), file = NULL;
    unsigned file_len = 0, folder_len = 0;
    size_t unit_len, symbol_len;
    const char *unit = LLVMGetSourceFileName(m->module, &unit_len), *symbol = LLVMGetValueName2(function, &symbol_len);
    file = subprogram ? LLVMDIScopeGetFile(subprogram) : NULL;
    const char *path = file ? LLVMDIFileGetFilename(file, &file_len) : unit;
    const char *folder = file ? LLVMDIFileGetDirectory(file, &folder_len) : "";
    struct pt_buf name, copies[4];
    pt_buf_init(&name);
    pt_name_function(m, function, &name);
    struct pt_chosen chosen = {.name = name.text,
                               .symbol = text_of(&copies[0], symbol, symbol_len),
                               .file = text_of(&copies[1], path, file ? file_len : unit_len),
                               .folder = text_of(&copies[2], folder, folder_len),
                               .unit = text_of(&copies[3], unit, unit_len)};
    bool alone = pt_choice_leaves_alone(choice, &chosen);
    pt_buf_release(&name);
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++)
        pt_buf_release(&copies[i]);
    return alone;
}

/* The names of the functions that are to be left alone. */
static enum pt_status find_opt_outs(struct pt_module *m, const struct pt_orders *how, struct pt_strtab *names,
                                    struct pt_err *err)
{
    const char *tsan_bitcode = pt_opt_outs(how);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f)) {
        size_t len;
        const char *name = LLVMGetValueName2(f, &len);
        if (pt_has_attribute(f, "naked") || pt_has_attribute(f, "disable_sanitizer_instrumentation") ||
            has_string_attribute(f, "disable_sanitizer_instrumentation") || strncmp(name, "__portent_", 10) == 0 ||
            (!LLVMIsDeclaration(f) && is_left_alone(m, &how->choice, f)))
            pt_strtab_intern(names, name, len);
    }
    for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(m->module); i; i = LLVMGetNextGlobalIFunc(i)) {
        size_t len;
        LLVMValueRef resolver = pt_base_of(m, LLVMGetGlobalIFuncResolver(i), NULL);
        if (LLVMIsAFunction(resolver)) {
            const char *name = LLVMGetValueName2(resolver, &len);
            pt_strtab_intern(names, name, len);
        }
    }
    if (!tsan_bitcode)
        return PT_OK;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = NULL;
    enum pt_status status = read_module(tsan_bitcode, context, &module, err);
    if (status == PT_OK) {
        note_functions(names, module);
        LLVMDisposeModule(module);
    }
    LLVMContextDispose(context);
    return status;
}

static bool is_direct_call(LLVMValueRef user, LLVMValueRef callee)
{
    return (LLVMIsACallInst(user) || LLVMIsAInvokeInst(user)) && LLVMGetCalledValue(user) == callee;
}

static const char *const broken_promises[] = {
    "readnone", "readonly", "writeonly", "argmemonly",   "inaccessiblememonly", "inaccessiblemem_or_argmemonly",
    "memory",   "nosync",   "nofree",    "speculatable", "willreturn"};

static void take_back_promises(LLVMValueRef function)
{
    for (size_t i = 0; i < sizeof broken_promises / sizeof *broken_promises; i++) {
        unsigned kind = LLVMGetEnumAttributeKindForName(broken_promises[i], strlen(broken_promises[i]));
        if (kind == 0)
            continue; /* not in this version of LLVM */
        LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
        for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use)) {
            LLVMValueRef user = LLVMGetUser(use);
            if (is_direct_call(user, function))
                LLVMRemoveCallSiteEnumAttribute(user, LLVMAttributeFunctionIndex, kind);
        }
    }
}

/* The name that was noted before the optimiser ran is the better one. */
static LLVMValueRef site_of(struct pt_module *m, const struct pt_hooked_access *access, const char *function,
                            bool other)
{
    struct pt_buf variable;
    pt_buf_init(&variable);
    if (!pt_noted_name(access->inst, pt_kind_of_name(m, access, other), &variable) || variable.len == 0)
        (other ? pt_name_other : pt_name_access)(m, access, &variable);
    LLVMValueRef site = pt_site_of(m, access->inst, function, variable.text);
    pt_buf_release(&variable);
    return site;
}

/* Does nothing between the two touch memory that is hooked, or lead out of the function? */
static bool are_next(LLVMValueRef load, LLVMValueRef store)
{
    LLVMValueRef inst = LLVMGetNextInstruction(load);
    while (inst && inst != store &&
           (LLVMIsADbgInfoIntrinsic(inst) || !(LLVMIsACallInst(inst) || LLVMIsAFenceInst(inst))))
        inst = LLVMGetNextInstruction(inst);
    return inst == store;
}

/* The load of `x += 1`: who looks for races needs the store alone (runtime/race/fast.h). */
static bool is_peek(const struct pt_hooked_access *load, const struct pt_hooked_access *store)
{
    return load->kind == PT_ACCESS_LOAD && store->kind == PT_ACCESS_STORE && load->site == store->site &&
           LLVMGetOrdering(load->inst) == LLVMAtomicOrderingNotAtomic &&
           LLVMGetOrdering(store->inst) == LLVMAtomicOrderingNotAtomic &&
           LLVMGetOperand(load->inst, load->address) == LLVMGetOperand(store->inst, store->address) &&
           LLVMTypeOf(load->inst) == LLVMTypeOf(LLVMGetOperand(store->inst, 0)) && are_next(load->inst, store->inst);
}

void pt_rewrite_function(struct pt_module *m, LLVMValueRef function)
{
    pt_find_accesses(m, function);
    pt_find_locals(m, function);
    struct pt_buf name;
    pt_buf_init(&name);
    pt_name_function(m, function, &name);
    for (size_t i = 0; i < m->access_count; i++) {
        struct pt_hooked_access *access = &m->accesses[i];
        access->site = site_of(m, access, name.text, false);
        if (pt_has_other(access))
            access->other_site = site_of(m, access, name.text, true);
    }
    for (size_t i = 0; i + 1 < m->access_count; i++)
        m->accesses[i].is_peek = is_peek(&m->accesses[i], &m->accesses[i + 1]);
    bool calls = m->phase != PT_PHASE_BEFORE && !m->left_alone && pt_add_frames(m, function, name.text);
    pt_buf_release(&name);
    m->twin = NULL;
    if (m->phase == PT_PHASE_AFTER && !m->left_alone)
        pt_add_twin(m, function);
    for (size_t i = 0; i < m->access_count; i++)
        pt_replace_access(m, &m->accesses[i]);
    if (calls || m->access_count > 0)
        take_back_promises(function);
}

/* A member of std::atomic, its bases or its kin, by its mangled name: libstdc++'s, or libc++'s in their own namespace.
 */
static bool is_atomic_wrapper(const char *name)
{
    static const char *const classes[] = {
        "6atomicI",          "13__atomic_baseI", "11atomic_flag",   "18__atomic_flag_base",
        "14__atomic_floatI", "10atomic_refI",    "12__atomic_refI", "13__atomic_impl"};
    if (strncmp(name, "_ZN", 3) != 0)
        return false;
    name += 3 + strspn(name + 3, "rVK"); /* restrict, volatile, const */
    if (strncmp(name, "St", 2) != 0)
        return false;
    name += strncmp(name, "St3__1", 6) == 0 ? 6 : 2;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strncmp(name, classes[i], strlen(classes[i])) == 0)
            return true;
    return false;
}

static void set_attribute(LLVMContextRef context, LLVMValueRef function, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(context, kind, 0));
}

void pt_set_call_attribute(LLVMContextRef context, LLVMValueRef call, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(context, kind, 0));
}

static void remove_attribute(LLVMValueRef function, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
}

/* What clang calls the always-inline definition of a function that it also knows as a builtin: `strcpy.inline`. */
static bool is_fortified_wrapper(const char *name, size_t len)
{
    static const char ending[] = ".inline";
    return len > sizeof ending - 1 && strcmp(name + len - (sizeof ending - 1), ending) == 0;
}

static void mark_for_inlining(LLVMContextRef context, LLVMValueRef function)
{
    remove_attribute(function, "noinline"); /* what -O0 gives every function */
    remove_attribute(function, "optnone");
    set_attribute(context, function, "alwaysinline");
}

/* The functions of the C++ library that synchronise (std::mutex::lock), and those through which it calls them
 * (std::lock_guard, std::async): from the functions of the C library back to their callers. */
static bool mark_sync_wrappers(struct pt_module *m)
{
    struct pt_map64 marked;
    LLVMValueRef *work = NULL;
    size_t count = 0, cap = 0;
    bool any = false;
    pt_map64_init(&marked);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        if (pt_synchronises(f))
            PT_PUSH(work, count, cap, f);
    while (count > 0) {
        LLVMValueRef callee = work[--count];
        for (LLVMUseRef use = LLVMGetFirstUse(callee); use; use = LLVMGetNextUse(use)) {
            LLVMValueRef call = LLVMGetUser(use);
            if (!is_direct_call(call, callee))
                continue;
            LLVMValueRef caller = LLVMGetBasicBlockParent(LLVMGetInstructionParent(call));
            uint32_t *seen = pt_map64_at(&marked, pt_key(caller));
            if (*seen != PT_NONE || !pt_is_library_scope(LLVMGetSubprogram(caller)))
                continue;
            *seen = 1;
            any = true;
            mark_for_inlining(m->context, caller);
            PT_PUSH(work, count, cap, caller);
        }
    }
    free(work);
    pt_map64_release(&marked);
    return any;
}

/* Marks the library's wrappers for inlining; false when there are none. */
static bool mark_wrappers(struct pt_module *m)
{
    bool any = mark_sync_wrappers(m);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f)) {
        size_t len;
        const char *name = LLVMGetValueName2(f, &len);
        if (LLVMIsDeclaration(f))
            continue;
        if (is_atomic_wrapper(name)) {
            mark_for_inlining(m->context, f);
            any = true;
        }
        any |= is_fortified_wrapper(name, len) && pt_has_attribute(f, "alwaysinline");
    }
    return any;
}

/* Inlines wrappers. The pass would inline all functions that ask for it; in one that was opted out the callers would
 * then be instrumented, so it waits. */
static enum pt_status inline_wrappers(struct pt_module *m, const struct pt_strtab *opt_outs, struct pt_err *err)
{
    static const char waits[] = "portent-waits";
    if (!mark_wrappers(m))
        return PT_OK;
    LLVMAttributeRef mark = LLVMCreateStringAttribute(m->context, waits, sizeof waits - 1, "", 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f)) {
        size_t len;
        const char *name = LLVMGetValueName2(f, &len);
        if (pt_has_attribute(f, "alwaysinline") && pt_strtab_find(opt_outs, name, len) != PT_NONE) {
            remove_attribute(f, "alwaysinline");
            LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, mark);
        }
    }
    enum pt_status status = pt_run_passes(m->module, "always-inline", err);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f)) {
        if (!has_string_attribute(f, waits))
            continue;
        LLVMRemoveStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, waits, sizeof waits - 1);
        set_attribute(m->context, f, "alwaysinline");
    }
    return status;
}

/* C99's inline functions (and GNU's extern inline ones) may have no definition anywhere but this body, and a program
 * still links when the optimiser inlines all calls. Code of the C++ library does have one, in its shared object. */
static bool may_lack_definition(LLVMValueRef function)
{
    if (LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage || LLVMIsDeclaration(function) ||
        pt_has_attribute(function, "noinline") || pt_is_library_scope(LLVMGetSubprogram(function)))
        return false;
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use))
        if (LLVMIsABlockAddress(LLVMGetUser(use)))
            return false; /* the body names itself and cannot change its name */
    return true;
}

/* Makes the body a function of this module, for its calls to go to; whoever takes the address still gets the one that
 * all modules share, wherever it is defined. */
static void keep_inline_body(struct pt_module *m, LLVMValueRef function)
{
    LLVMValueRef *calls = NULL;
    size_t count = 0, cap = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(function); use; use = LLVMGetNextUse(use))
        if (is_direct_call(LLVMGetUser(use), function))
            PT_PUSH(calls, count, cap, LLVMGetUser(use));
    struct pt_buf name;
    size_t len;
    pt_buf_init(&name);
    const char *old = LLVMGetValueName2(function, &len);
    pt_buf_printf(&name, "%.*s.portent", (int)len, old);
    LLVMSetValueName2(function, name.text, name.len);
    name.text[len] = '\0';
    LLVMValueRef shared = LLVMAddFunction(m->module, name.text, LLVMGlobalGetValueType(function));
    LLVMSetVisibility(shared, LLVMGetVisibility(function));
    LLVMSetFunctionCallConv(shared, LLVMGetFunctionCallConv(function));
    LLVMReplaceAllUsesWith(function, shared);
    for (size_t i = 0; i < count; i++) /* the callee is a call's last operand */
        LLVMSetOperand(calls[i], (unsigned)LLVMGetNumOperands(calls[i]) - 1, function);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    if (!LLVMGetFirstUse(shared)) { /* the usual case: the body has the name for itself */
        LLVMDeleteFunction(shared);
        LLVMSetValueName2(function, name.text, len);
    }
    pt_buf_release(&name);
    free(calls);
}

static void keep_inline_bodies(struct pt_module *m)
{
    LLVMValueRef last = LLVMGetLastFunction(m->module), next;
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = next) {
        next = f == last ? NULL : LLVMGetNextFunction(f); /* declarations are added at the end */
        if (may_lack_definition(f))
            keep_inline_body(m, f);
    }
}

/* After sroa the stores that are left are those of memory; early-cse would take the first of two adjacent ones for
 * dead.
 */
static enum pt_status promote_locals(struct pt_module *m, struct pt_err *err)
{
    enum pt_status status = pt_run_passes(m->module, "function(sroa)", err);
    if (status != PT_OK)
        return status;
    pt_protect_stores(m, true);
    status = pt_run_passes(m->module, "function(early-cse)", err);
    pt_unprotect_stores(m);
    return status;
}

/* All functions that are to be, at once; then the bodies that exist for inlining only. */
static enum pt_status rewrite_at_once(struct pt_module *m, bool optimize, const struct pt_strtab *opt_outs,
                                      struct pt_err *err)
{
    enum pt_status status = optimize ? promote_locals(m, err) : PT_OK;
    if (status != PT_OK)
        return status;
#if LLVM_VERSION_MAJOR == 19
    LLVMSetIsNewDbgInfoFormat(m->module, false); /* names.c reads the intrinsics that debug records came to replace */
#endif
    /* Hooks are declared on the way, at the end of the list; they have no body. */
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f)) {
        size_t len;
        const char *name = LLVMGetValueName2(f, &len);
        if (!LLVMIsDeclaration(f) && pt_strtab_find(opt_outs, name, len) == PT_NONE)
            pt_rewrite_function(m, f);
    }
    if (optimize)
        keep_inline_bodies(m);
    return PT_OK;
}

/* Where locals are at each moment, for a debugger: not where nobody has asked for debug information, for to find that
 * out takes the code generator a tenth of its time. Names of accesses have been made of it by now. */
static void forget_locals(LLVMValueRef function)
{
    LLVMValueRef next;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = next) {
            next = LLVMGetNextInstruction(inst);
            if (LLVMIsADbgVariableIntrinsic(inst))
                LLVMInstructionEraseFromParent(inst);
        }
}

/* The same around the optimiser. What nobody uses is deleted last: statics have been kept (optimize.c). */
static enum pt_status rewrite_around(struct pt_module *m, const struct pt_orders *how, const struct pt_strtab *opt_outs,
                                     struct pt_err *err)
{
    keep_inline_bodies(m);
    enum pt_status status = pt_optimize(m, how, opt_outs, err);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f && status == PT_OK; f = LLVMGetNextFunction(f)) {
        LLVMMetadataRef subprogram = LLVMGetSubprogram(f);
        m->left_alone = !pt_is_chosen(f);
        if (m->left_alone && (LLVMIsDeclaration(f) || !subprogram ||
                              pt_map64_get(&m->opted_out, (uint64_t)(uintptr_t)subprogram) == PT_NONE))
            continue;
        pt_rewrite_function(m, f);
        remove_attribute(f, "sanitize_thread");
        if (!pt_put_body_apart(m, f, how->locals) && !how->locals)
            forget_locals(f);
    }
    pt_end_stretches(m);
    if (status == PT_OK)
        status = pt_run_passes(m->module, "globaldce", err);
    if (status == PT_OK)
        pt_leave_stretches(m);
    return status;
}

/* By this symbol the runtime knows that the program has objects that were rewritten (runtime/start.c): they may also be
 * linked without any. */
static void add_mark(struct pt_module *m)
{
    static const char name[] = "__portent_built";
    LLVMTypeRef byte = LLVMInt8TypeInContext(m->context);
    if (LLVMGetNamedGlobal(m->module, name))
        return;
    LLVMValueRef mark = LLVMAddGlobal(m->module, byte, name);
    LLVMSetInitializer(mark, LLVMConstInt(byte, 1, false));
    LLVMSetGlobalConstant(mark, true);
    LLVMSetLinkage(mark, LLVMWeakODRLinkage);
}

static enum pt_status rewrite_chosen(struct pt_module *m, const struct pt_orders *how, struct pt_err *err)
{
    struct pt_strtab opt_outs;
    pt_strtab_init(&opt_outs);
    enum pt_status status = find_opt_outs(m, how, &opt_outs, err);
    if (status == PT_OK)
        status = inline_wrappers(m, &opt_outs, err);
    if (status == PT_OK)
        pt_add_function_events(m, &opt_outs);
    if (status == PT_OK)
        status =
            how->level ? rewrite_around(m, how, &opt_outs, err) : rewrite_at_once(m, how->optimize, &opt_outs, err);
    pt_test_function_events(m);
    pt_strtab_release(&opt_outs);
    LLVMGetOrInsertNamedMetadata(m->module, MARK, sizeof MARK - 1);
    add_mark(m);
    char *message = NULL;
    if (status == PT_OK && how->verify && LLVMVerifyModule(m->module, LLVMReturnStatusAction, &message))
        status = pt_err_set(err, PT_EINPUT, "the rewritten module is not valid: %.400s", message);
    LLVMDisposeMessage(message);
    return status;
}

/* What the passes have to say about the source (a loop that was to be vectorised and is not) is not said: with hooks,
 * it is different anyway. */
static void hear(LLVMDiagnosticInfoRef info, void *arg)
{
    struct pt_err *err = arg;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || err->message[0])
        return;
    char *text = LLVMGetDiagInfoDescription(info);
    (void)pt_err_set(err, PT_EINPUT, "%.400s", text);
    LLVMDisposeMessage(text);
}

enum pt_status pt_rewrite_module(LLVMModuleRef module, const struct pt_orders *how, struct pt_err *err)
{
    if (LLVMGetNamedMetadata(module, MARK, sizeof MARK - 1))
        return PT_OK;
    LLVMContextRef context = LLVMGetModuleContext(module);
    struct pt_module m;
    struct pt_err heard = {0};
    LLVMContextSetDiagnosticHandler(context, hear, &heard);
    enum pt_status status = pt_link_containers(context, module, err);
    if (status == PT_OK) {
        module_init(&m, context, module);
        status = rewrite_chosen(&m, how, err);
        module_release(&m);
    }
    LLVMContextSetDiagnosticHandler(context, NULL, NULL);
    if (status == PT_OK && heard.message[0])
        status = pt_err_set(err, PT_EINPUT, "%.400s", heard.message);
    return status;
}

enum pt_status pt_rewrite_file(const char *input, const char *output, const struct pt_orders *how, struct pt_err *err)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = NULL;
    enum pt_status status = read_module(input, context, &module, err);
    if (status == PT_OK) {
        status = pt_rewrite_module(module, how, err);
        if (status == PT_OK && LLVMWriteBitcodeToFile(module, output))
            status = pt_err_set(err, PT_EIO, "cannot write %.300s", output);
        LLVMDisposeModule(module);
    }
    LLVMContextDispose(context);
    return status;
}
