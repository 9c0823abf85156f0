/*
 * What a call means: the functions of core/sync.def (threads, locks, allocation, what fills memory), Portent's own
 * annotations, and the commonest of the C library otherwise (library.c). A function with a body is inlined; any other
 * that is in neither table may touch whatever it can reach through its arguments and, in a wary model, what it could
 * reach without them, so a function that is missing here costs precision and a note, not a wrong answer. A call costs a
 * search through both tables.
 */
#include <stdlib.h>
#include <string.h>

#include "cfront/abstract.h"

/* What the functions of core/sync.def mean. */
static const enum pt_cf_call_kind meanings[] = {
#define PT_SYNC(name, wrapper, hook, model, ...) [PT_SYNC_ID_##name] = PT_CF_CALL_##model,
#include "core/sync.def"
};

static bool is_asm_harmless(LLVMValueRef callee)
{
    /* The C API shows the text of inline assembly only as printed IR: asm [sideeffect] "TEXT", "CONSTRAINTS". */
    char *text = LLVMPrintValueToString(callee);
    const char *quote = strchr(text, '"');
    bool harmless = quote && (strncmp(quote, "\"\",", 3) == 0 || strncmp(quote, "\"pause\"", 7) == 0 ||
                              strncmp(quote, "\"rep; nop\"", 10) == 0 || strncmp(quote, "\"nop\"", 5) == 0);
    LLVMDisposeMessage(text);
    return harmless;
}

struct pt_cf_call pt_cf_classify(LLVMValueRef call)
{
    struct pt_cf_call found = {.kind = PT_CF_CALL_INLINE, .name = ""};
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (LLVMIsAInlineAsm(callee)) {
        found.kind = is_asm_harmless(callee) ? PT_CF_CALL_NOTHING : PT_CF_CALL_ERROR;
        found.name = "inline assembly";
        return found;
    }
    /* A function that is declared without parameters is cast to what it is called as. */
    while (LLVMIsAConstantExpr(callee) && LLVMGetConstOpcode(callee) == LLVMBitCast)
        callee = LLVMGetOperand(callee, 0);
    if (LLVMIsAGlobalAlias(callee))
        callee = LLVMAliasGetAliasee(callee);
    return LLVMIsAFunction(callee) ? pt_cf_classify_function(callee) : found;
}

struct pt_cf_call pt_cf_classify_function(LLVMValueRef function)
{
    struct pt_cf_call found = {.kind = PT_CF_CALL_INLINE, .name = ""};
    size_t len;
    found.name = LLVMGetValueName2(function, &len);
    bool body = !LLVMIsDeclaration(function), ours = strncmp(found.name, "portent_", 8) == 0;
    if (body && !ours)
        return found;
    const char *dot = strchr(found.name, '.');
    if (ours && dot) /* a static function of several files was renamed when they were linked */
        len = (size_t)(dot - found.name);
    if (strstr(found.name, "setjmp") || strstr(found.name, "longjmp")) {
        found.kind = PT_CF_CALL_ERROR;
        return found;
    }
    found.row = pt_sync_find(found.name, len);
    if (found.row) {
        found.kind = meanings[pt_sync_id(found.row)];
        found.outside = found.row->kernel;
        return found;
    }
    found.kind = PT_CF_CALL_UNKNOWN;
    found.outside = !pt_cf_library(found.name, len, &found.kind);
    return found;
}

/* ---- which functions manage threads, through whatever they call directly */

static bool calls_managing(struct pt_cf *cf, LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst)) {
            if (!LLVMIsACallInst(inst))
                continue;
            struct pt_cf_call call = pt_cf_classify(inst);
            if (call.kind == PT_CF_CALL_SPAWN || call.kind == PT_CF_CALL_JOIN)
                return true;
            LLVMValueRef callee = LLVMGetCalledValue(inst);
            if (call.kind == PT_CF_CALL_INLINE && LLVMIsAFunction(callee) &&
                pt_map64_get(&cf->managing, pt_key(callee)) == 1)
                return true;
        }
    }
    return false;
}

bool pt_cf_manages_threads(struct pt_cf *cf, LLVMValueRef function)
{
    bool grew = cf->managing.count == 0;
    while (grew) { /* at most as often as the call graph is deep */
        grew = false;
        for (LLVMValueRef f = LLVMGetFirstFunction(cf->module); f; f = LLVMGetNextFunction(f)) {
            uint32_t *known = pt_map64_at(&cf->managing, pt_key(f));
            if (*known == PT_NONE)
                *known = 0;
            if (*known == 0 && calls_managing(cf, f)) {
                *pt_map64_at(&cf->managing, pt_key(f)) = 1;
                grew = true;
            }
        }
    }
    return pt_map64_get(&cf->managing, pt_key(function)) == 1;
}

/* ---- calls through pointers */

static bool has_type(LLVMValueRef function, LLVMTypeRef type)
{
    LLVMTypeRef own = LLVMGlobalGetValueType(function);
    return own == type || (LLVMCountParamTypes(own) == LLVMCountParamTypes(type) && !LLVMIsFunctionVarArg(own));
}

void pt_cf_callees(struct pt_cf *cf, uint32_t context, LLVMValueRef call, uint32_t **ret_functions, uint32_t *ret_count)
{
    uint32_t *found = NULL, count, targets_count;
    size_t n = 0, cap = 0;
    struct pt_cf_val callee = pt_cf_eval(cf, context, LLVMGetCalledValue(call));
    const uint32_t *targets = pt_cf_targets(cf, callee, &targets_count);
    for (uint32_t i = 0; i < targets_count; i++) {
        if (targets[i] != PT_CF_ANYTHING) {
            if (cf->objects[targets[i]].kind == PT_CF_FUNCTION)
                PT_PUSH(found, n, cap, targets[i]);
            continue;
        }
        for (uint32_t o = 1; o < cf->object_count; o++)
            if (cf->objects[o].kind == PT_CF_FUNCTION && cf->objects[o].escaped &&
                has_type(cf->objects[o].value, LLVMGetCalledFunctionType(call)))
                PT_PUSH(found, n, cap, o);
    }
    count = found ? pt_sort_distinct(found, (uint32_t)n) : 0;
    *ret_functions = found;
    *ret_count = count;
}

void pt_cf_bodyless(struct pt_cf *cf, uint32_t context, LLVMValueRef call, uint32_t **ret_functions,
                    uint32_t *ret_count)
{
    uint32_t count = 0, kept = 0;
    *ret_functions = NULL;
    *ret_count = 0;
    if (pt_cf_classify(call).kind != PT_CF_CALL_INLINE || LLVMIsAFunction(LLVMGetCalledValue(call)))
        return;
    pt_cf_callees(cf, context, call, ret_functions, &count);
    for (uint32_t i = 0; i < count; i++)
        if (LLVMIsDeclaration(cf->objects[(*ret_functions)[i]].value))
            (*ret_functions)[kept++] = (*ret_functions)[i];
    *ret_count = kept;
}
