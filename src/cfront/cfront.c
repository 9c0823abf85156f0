/*
 * One program, from bitcode to threads of steps. Only locals whose address is not taken are promoted to registers first
 * ("function(sroa)"): every access of anything that could be shared stays as the source has it.
 */
#include "cfront/cfront.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "cfront/graph.h"

enum { DIAGNOSTIC_SIZE = 320 };

struct pt_source_place pt_cf_place(struct pt_cf *cf, LLVMValueRef inst)
{
    struct pt_source_place place = {0};
    unsigned len = 0;
    if (!inst || !LLVMIsAInstruction(inst))
        return place;
    for (LLVMValueRef at = inst; at; at = LLVMGetNextInstruction(at)) { /* the next one that knows */
        place.line = LLVMGetDebugLocLine(at);
        if (place.line == 0)
            continue;
        const char *file = LLVMGetDebugLocFilename(at, &len);
        place.column = LLVMGetDebugLocColumn(at);
        place.file = file ? pt_arena_strndup(&cf->program->arena, file, len) : NULL;
        return place;
    }
    LLVMMetadataRef function = LLVMGetSubprogram(LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst)));
    if (!function)
        return place;
    const char *file = LLVMDIFileGetFilename(LLVMDIScopeGetFile(function), &len);
    place.file = file ? pt_arena_strndup(&cf->program->arena, file, len) : NULL;
    place.line = LLVMDISubprogramGetLine(function);
    return place;
}

void pt_cf_fail(struct pt_cf *cf, LLVMValueRef inst, const char *fmt, ...)
{
    if (cf->failed)
        return;
    char message[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    struct pt_source_place place = pt_cf_place(cf, inst);
    cf->failed = true;
    if (place.file)
        (void)pt_err_at(&cf->err, PT_EINPUT, place.file, place.line, place.column, "%s", message);
    else
        (void)pt_err_set(&cf->err, PT_EINPUT, "%s", message);
}

void pt_cf_note(struct pt_cf *cf, LLVMValueRef inst, const char *fmt, ...)
{
    char text[600];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    struct pt_source_place place = pt_cf_place(cf, inst);
    char key[1024];
    int len = snprintf(key, sizeof key, "%s:%u:%s", place.file ? place.file : "", place.line, text);
    uint32_t before = cf->note_keys.count;
    if (pt_strtab_intern(&cf->note_keys, key, len < (int)sizeof key ? (size_t)len : sizeof key - 1) == before)
        pt_program_add_note(cf->program, text, place);
}

/* Without a handler LLVM would print and exit. */
static void take_diagnostic(LLVMDiagnosticInfoRef info, void *to)
{
    char *text = LLVMGetDiagInfoDescription(info);
    if (LLVMGetDiagInfoSeverity(info) == LLVMDSError)
        snprintf(to, DIAGNOSTIC_SIZE, "%s", text);
    LLVMDisposeMessage(text);
}

static enum pt_status link_file(LLVMContextRef context, const char *path, LLVMModuleRef *module, struct pt_err *err)
{
    LLVMMemoryBufferRef buffer;
    char diagnostic[DIAGNOSTIC_SIZE] = "";
    LLVMContextSetDiagnosticHandler(context, take_diagnostic, diagnostic);
    LLVMModuleRef read;
    char *message = NULL;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message) ||
        LLVMParseIRInContext(context, buffer, &read, &message)) { /* takes the buffer */
        enum pt_status status =
            pt_err_set(err, PT_EINPUT, "cannot read %.200s: %.250s", path, message ? message : "unknown error");
        LLVMDisposeMessage(message);
        return status;
    }
    if (!*module) {
        *module = read;
        return PT_OK;
    }
    if (LLVMLinkModules2(*module, read)) /* disposes of `read` */
        return pt_err_set(err, PT_EINPUT, "the files do not fit together: %.300s", diagnostic);
    return PT_OK;
}

static enum pt_status promote_locals(LLVMModuleRef module, struct pt_err *err)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failure = LLVMRunPasses(module, "function(sroa)", NULL, options);
    LLVMDisposePassBuilderOptions(options);
    if (!failure)
        return PT_OK;
    char *message = LLVMGetErrorMessage(failure);
    enum pt_status status = pt_err_set(err, PT_EINPUT, "LLVM refuses its own passes: %.300s", message);
    LLVMDisposeErrorMessage(message);
    return status;
}

static void init(struct pt_cf *cf, LLVMContextRef context, LLVMModuleRef module)
{
    cf->module = module;
    cf->names.context = context;
    cf->names.module = module;
    cf->names.layout = LLVMGetModuleDataLayout(module);
    cf->names.kind_dbg = LLVMGetMDKindIDInContext(context, "dbg", 3);
    pt_map64_init(&cf->names.local_variables);
    pt_strtab_init(&cf->sets);
    pt_strtab_intern(&cf->sets, "", 0); /* the empty set is number 0 */
    pt_strtab_init(&cf->object_keys);
    pt_strtab_init(&cf->context_keys);
    pt_strtab_init(&cf->reached_keys);
    pt_strtab_init(&cf->note_keys);
    pt_map64_init(&cf->unions);
    pt_map64_init(&cf->value_ids);
    pt_map64_init(&cf->vals);
    pt_map64_init(&cf->function_ids);
    pt_map64_init(&cf->managing);
    pt_cf_object(cf, PT_CF_DATA, NULL, PT_NONE); /* PT_CF_ANYTHING */
}

static void release(struct pt_cf *cf)
{
    for (size_t i = 0; i < cf->object_count; i++)
        free(cf->objects[i].cells);
    for (size_t i = 0; i < cf->function_count; i++) {
        pt_map64_release(&cf->functions[i].loop_of);
        pt_map64_release(&cf->functions[i].in_cycle);
    }
    pt_map64_release(&cf->names.local_variables);
    free(cf->names.debug_variables);
    pt_strtab_release(&cf->sets);
    pt_strtab_release(&cf->object_keys);
    pt_strtab_release(&cf->context_keys);
    pt_strtab_release(&cf->reached_keys);
    pt_strtab_release(&cf->note_keys);
    pt_map64_release(&cf->unions);
    pt_map64_release(&cf->value_ids);
    pt_map64_release(&cf->vals);
    pt_map64_release(&cf->function_ids);
    pt_map64_release(&cf->managing);
    free(cf->objects);
    free(cf->contexts);
    free(cf->threads);
    free(cf->val_list);
    free(cf->functions);
    free(cf->loops);
    free(cf->reached);
}

/* From contexts to the program's threads. */
static void build(struct pt_cf *cf)
{
    struct pt_cf_graph g = {.cf = cf};
    pt_strtab_init(&g.lock_keys);
    pt_strtab_init(&g.sets);
    pt_cf_graph_build(&g);
    if (!cf->failed)
        pt_cf_reduce(&g);
    for (size_t i = 0; g.threads && i < cf->thread_count; i++)
        free(g.threads[i].edges);
    free(g.threads);
    free(g.accesses);
    free(g.locks);
    free(g.blocks);
    free(g.user);
    free(g.shared);
    free(g.vague_lock);
    free(g.handed_out);
    pt_strtab_release(&g.lock_keys);
    pt_strtab_release(&g.sets);
}

/* What another file could name. */
static void escape_globals(struct pt_cf *cf)
{
    for (LLVMValueRef global = LLVMGetFirstGlobal(cf->module); global; global = LLVMGetNextGlobal(global)) {
        LLVMLinkage linkage = LLVMGetLinkage(global);
        if (linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage && !LLVMIsGlobalConstant(global))
            pt_cf_escape(cf, pt_cf_eval(cf, 0, global));
    }
}

static enum pt_status model(LLVMContextRef context, LLVMModuleRef module, const struct pt_cfront_input *input,
                            struct pt_program *program, struct pt_err *err)
{
    LLVMValueRef main_function = LLVMGetNamedFunction(module, "main");
    if (!main_function || LLVMIsDeclaration(main_function))
        return pt_err_set(err, PT_EINPUT, "the program has no function 'main'");
    if (promote_locals(module, err) != PT_OK)
        return err->status;
    struct pt_cf cf = {.unroll = input->unroll, .wary = input->wary, .program = program};
    init(&cf, context, module);
    if (cf.wary)
        escape_globals(&cf);
    pt_cf_prepare(&cf, main_function);
    if (!cf.failed)
        pt_cf_solve(&cf, main_function);
    if (!cf.failed)
        pt_cf_outside(&cf);
    if (!cf.failed)
        build(&cf);
    if (!cf.failed)
        pt_cf_unseen(&cf);
    if (cf.failed)
        *err = cf.err;
    enum pt_status status = cf.failed ? cf.err.status : PT_OK;
    release(&cf);
    return status;
}

enum pt_status pt_cfront_model(const struct pt_cfront_input *input, struct pt_program *program, struct pt_err *err)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = NULL;
    enum pt_status status = PT_OK;
    for (size_t i = 0; i < input->count && status == PT_OK; i++)
        status = link_file(context, input->bitcode[i], &module, err);
#if LLVM_VERSION_MAJOR == 19
    if (module)
        LLVMSetIsNewDbgInfoFormat(module, false);
#endif
    if (status == PT_OK)
        status = model(context, module, input, program, err);
    if (module)
        LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return status;
}
