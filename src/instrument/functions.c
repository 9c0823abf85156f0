/*
 * Calls and returns of functions as events (core/functions.h): where a function of the program begins, and before each
 * of its returns, stands a test of its record, and behind it, where nobody comes unless a property names the function,
 * the call of a hook.
 *
 *     entry:   allocas; if (volatile record.state) __portent_called(record, a, b, ...);  body
 *     return:  if (volatile record.state) __portent_returned(record);  ret
 *
 * This is done before anything is optimised, so that what is inlined brings its events along, as often as it is
 * executed. The load is volatile: no pass takes the state for a constant, or moves it out of a loop. To passes the
 * hooks touch memory that nothing else does (inaccessiblememonly), which is so: what was loaded before them is still
 * known behind them.
 *
 * Not: functions of the C++ library's headers, those that were opted out, naked ones, coroutines while they are whole,
 * and those without debug information, which have no name that a property could know. A function that is left by an
 * exception, by longjmp or by ending its thread does not return. Before a musttail call stands the event of the return,
 * since nothing may stand behind it. A pointer is passed on as whether it is null: its value would let the address of a
 * local escape.
 *
 * Cost: a load and a branch for each call, and for each return. Linear in the module.
 */
#include "instrument/module.h"

#include <stdlib.h>
#include <string.h>

#include "core/functions.h"

#define RECORD ".portent.function"

bool pt_is_function_record(LLVMValueRef global)
{
    size_t len;
    const char *name = LLVMGetValueName2(global, &len);
    return strncmp(name, RECORD, sizeof RECORD - 1) == 0;
}

static LLVMTypeRef record_type(struct pt_module *m)
{
    LLVMTypeRef members[] = {m->byte_pointer, m->byte_pointer, m->i8, m->i8};
    return LLVMStructTypeInContext(m->context, members, 4, false);
}

static LLVMValueRef add_record(struct pt_module *m, LLVMValueRef function, const char *kinds)
{
    LLVMValueRef fields[] = {pt_site_of_function(m, function), pt_text_constant(m, kinds, strlen(kinds)),
                             LLVMConstInt(m->i8, PT_FUNCTION_NEW, false), LLVMConstInt(m->i8, 0, false)};
    LLVMValueRef record = LLVMAddGlobal(m->module, record_type(m), RECORD);
    LLVMSetInitializer(record, LLVMConstStructInContext(m->context, fields, 4, false));
    LLVMSetLinkage(record, LLVMInternalLinkage);
    return record;
}

static void add_attribute(struct pt_module *m, LLVMValueRef hook, const char *name, uint64_t value)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    if (kind)
        LLVMAddAttributeAtIndex(hook, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(m->context, kind, value));
}

static void call(struct pt_module *m, const char *name, LLVMValueRef *arguments, unsigned count)
{
    bool new = !LLVMGetNamedFunction(m->module, name);
    bool has_locals = m->has_locals;
    m->has_locals = true; /* not known yet: no tail call */
    LLVMValueRef made = pt_call_hook(m, name, LLVMVoidTypeInContext(m->context), arguments, count);
    m->has_locals = has_locals;
    if (!new)
        return;
    LLVMValueRef hook = LLVMGetCalledValue(made);
    add_attribute(m, hook, "cold", 0);
    add_attribute(m, hook, "willreturn", 0);
#if LLVM_VERSION_MAJOR >= 16
    add_attribute(m, hook, "memory", 3 << 2); /* reads and writes what is inaccessible, the second of three places */
#else
    add_attribute(m, hook, "inaccessiblememonly", 0);
#endif
}

static LLVMValueRef build_test(struct pt_module *m, LLVMValueRef record)
{
    LLVMValueRef at = LLVMBuildStructGEP2(m->builder, record_type(m), record, 2, "");
    LLVMValueRef state = LLVMBuildLoad2(m->builder, m->i8, at, "");
    LLVMSetVolatile(state, true);
    return LLVMBuildICmp(m->builder, LLVMIntNE, state, LLVMConstInt(m->i8, PT_FUNCTION_QUIET, false), "");
}

/* The argument as 64 bits. */
static LLVMValueRef carry(struct pt_module *m, LLVMValueRef value, char kind)
{
    if (kind == 'p')
        return LLVMBuildZExt(m->builder, LLVMBuildIsNotNull(m->builder, value, ""), m->i64, "");
    return kind == 'i' ? LLVMBuildSExt(m->builder, value, m->i64, "") : LLVMBuildZExt(m->builder, value, m->i64, "");
}

static void build_called(struct pt_module *m, LLVMValueRef function, LLVMValueRef record, const char *kinds,
                         unsigned first)
{
    LLVMValueRef arguments[1 + PT_FUNCTION_ARGUMENTS] = {LLVMBuildBitCast(m->builder, record, m->byte_pointer, "")};
    for (unsigned i = 0; i < PT_FUNCTION_ARGUMENTS; i++)
        arguments[1 + i] = i < strlen(kinds) && kinds[i] != '-' ? carry(m, LLVMGetParam(function, first + i), kinds[i])
                                                                : LLVMConstInt(m->i64, 0, false);
    call(m, "__portent_called", arguments, 1 + PT_FUNCTION_ARGUMENTS);
}

/* A new first block, which has the allocas, tests, and goes on to what was the first one. */
static void add_entry(struct pt_module *m, LLVMValueRef function, LLVMValueRef record, const char *kinds,
                      unsigned first, LLVMMetadataRef place)
{
    LLVMBasicBlockRef body = LLVMGetEntryBasicBlock(function);
    LLVMBasicBlockRef hook = LLVMInsertBasicBlockInContext(m->context, body, "");
    LLVMBasicBlockRef entry = LLVMInsertBasicBlockInContext(m->context, hook, "");
    LLVMValueRef next;
    LLVMPositionBuilderAtEnd(m->builder, entry);
    for (LLVMValueRef inst = LLVMGetFirstInstruction(body); inst; inst = next) {
        next = LLVMGetNextInstruction(inst);
        if (!LLVMIsAAllocaInst(inst) || !LLVMIsConstant(LLVMGetOperand(inst, 0)))
            continue;
        LLVMSetCurrentDebugLocation2(m->builder, LLVMInstructionGetDebugLoc(inst));
        LLVMInstructionRemoveFromParent(inst);
        LLVMInsertIntoBuilder(m->builder, inst);
    }
    LLVMSetCurrentDebugLocation2(m->builder, place);
    LLVMBuildCondBr(m->builder, build_test(m, record), hook, body);
    LLVMPositionBuilderAtEnd(m->builder, hook);
    build_called(m, function, record, kinds, first);
    LLVMBuildBr(m->builder, body);
}

/* The instruction before which a return is told: the return, or the call that must stand right before it. */
static LLVMValueRef end_of(LLVMBasicBlockRef block)
{
    LLVMValueRef last = LLVMGetBasicBlockTerminator(block), before = last ? LLVMGetPreviousInstruction(last) : NULL;
    if (!last || !LLVMIsAReturnInst(last))
        return NULL;
    if (before && LLVMIsABitCastInst(before))
        before = LLVMGetPreviousInstruction(before);
    return before && pt_is_musttail(before) ? before : last;
}

static void add_return(struct pt_module *m, LLVMValueRef function, LLVMValueRef record, LLVMBasicBlockRef block,
                       LLVMValueRef end)
{
    LLVMMetadataRef place = LLVMInstructionGetDebugLoc(end);
    LLVMBasicBlockRef hook = LLVMAppendBasicBlockInContext(m->context, function, "");
    LLVMBasicBlockRef rest = LLVMAppendBasicBlockInContext(m->context, function, "");
    LLVMValueRef next;
    LLVMPositionBuilderAtEnd(m->builder, rest);
    for (LLVMValueRef inst = end; inst; inst = next) {
        next = LLVMGetNextInstruction(inst);
        LLVMSetCurrentDebugLocation2(m->builder, LLVMInstructionGetDebugLoc(inst));
        LLVMInstructionRemoveFromParent(inst);
        LLVMInsertIntoBuilder(m->builder, inst);
    }
    LLVMPositionBuilderAtEnd(m->builder, block);
    LLVMSetCurrentDebugLocation2(m->builder, place);
    LLVMBuildCondBr(m->builder, build_test(m, record), hook, rest);
    LLVMPositionBuilderAtEnd(m->builder, hook);
    LLVMValueRef arguments[] = {LLVMBuildBitCast(m->builder, record, m->byte_pointer, "")};
    call(m, "__portent_returned", arguments, 1);
    LLVMBuildBr(m->builder, rest);
}

static void add_returns(struct pt_module *m, LLVMValueRef function, LLVMValueRef record)
{
    LLVMBasicBlockRef *blocks = NULL;
    size_t count = 0, cap = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        if (end_of(block))
            PT_PUSH(blocks, count, cap, block);
    for (size_t i = 0; i < count; i++)
        add_return(m, function, record, blocks[i], end_of(blocks[i]));
    free(blocks);
}

/* The functions of portent.h are annotations, not the program's. */
static bool is_annotation(LLVMMetadataRef subprogram)
{
    static const char header[] = "portent.h";
    unsigned len = 0;
    LLVMMetadataRef file = LLVMDIScopeGetFile(subprogram);
    const char *name = file ? LLVMDIFileGetFilename(file, &len) : NULL;
    size_t own = sizeof header - 1;
    return name && len >= own && memcmp(name + len - own, header, own) == 0 &&
           (len == own || name[len - own - 1] == '/');
}

static bool is_eligible(LLVMValueRef function, const struct pt_strtab *opt_outs)
{
    size_t len;
    const char *name = LLVMGetValueName2(function, &len);
    LLVMMetadataRef subprogram = LLVMGetSubprogram(function);
    return !LLVMIsDeclaration(function) && subprogram && !pt_is_library_scope(subprogram) &&
           !is_annotation(subprogram) && LLVMDISubprogramGetLine(subprogram) && !pt_has_attribute(function, "naked") &&
           !pt_is_coroutine(function) && pt_strtab_find(opt_outs, name, len) == PT_NONE;
}

void pt_add_function_events(struct pt_module *m, const struct pt_strtab *opt_outs)
{
    char kinds[PT_FUNCTION_ARGUMENTS + 1];
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f)) {
        if (!is_eligible(f, opt_outs))
            continue;
        LLVMMetadataRef place = pt_place_before_body(m, f);
        unsigned first = pt_parameter_kinds(m, f, kinds, PT_FUNCTION_ARGUMENTS);
        LLVMValueRef record = add_record(m, f, kinds);
        add_returns(m, f, record);
        add_entry(m, f, record, kinds, first, place);
    }
}
