/*
 * Calls and returns of functions as events (core/functions.h): where a function of the program begins, and before each
 * of its returns, a hook is called, at first whatever it is that properties name. Last of all each call is put behind a
 * test of the function's record, where nobody comes unless a property names it:
 *
 *     entry:   allocas; if (volatile record.state) __portent_called(record, a, b, ...);  body
 *     return:  if (volatile record.state) __portent_returned(record);  ret
 *
 * The calls are there before anything is optimised, so that what is inlined brings its events along, as often as it is
 * executed. To passes the hooks touch memory that nothing else does (inaccessiblememonly), which is so: what was loaded
 * before them is still known behind them, and none of them is left out, moved or merged. The tests come when all passes
 * are done, and the twin is made (twins.c), which has no events: as branches they would cut the code of small functions
 * into blocks for all passes, which took zstd's huf_compress.c half of plain's time. The load is volatile: clang, which
 * may optimise afterwards, neither takes the state for a constant nor moves it out of a loop.
 *
 * Events with nothing between them but what computes something and cannot fail (one small function after the other, or
 * inside the other) have one test, where the last of them is: nobody can see anything else happen between them.
 *
 * Not: functions of the C++ library's headers, those that were opted out, naked ones, coroutines while they are whole,
 * and those without debug information, which have no name that a property could know. A function that is left by an
 * exception, by longjmp or by ending its thread does not return. Before a musttail call stands the event of the return,
 * since nothing may stand behind it. A pointer is passed on as whether it is null: its value would let the address of a
 * local escape.
 *
 * Guarantee: each event is told once, in the order in which they happen, after all accesses and calls before it and
 * before all behind it. Cost: a load and a branch for each call, and for each return, or less. Linear in the module.
 */
#include "instrument/module.h"

#include <stdlib.h>
#include <string.h>

#include "core/functions.h"

#define RECORD   ".portent.function"
#define CALLED   "__portent_called"
#define RETURNED "__portent_returned"

static LLVMValueRef record_of(LLVMValueRef call)
{
    LLVMValueRef value = LLVMGetOperand(call, 0);
    while (LLVMIsAConstantExpr(value))
        value = LLVMGetOperand(value, 0);
    size_t len;
    return LLVMIsAGlobalVariable(value) && strncmp(LLVMGetValueName2(value, &len), RECORD, sizeof RECORD - 1) == 0
               ? value
               : NULL;
}

bool pt_is_event(LLVMValueRef inst)
{
    const char *name = LLVMIsACallInst(inst) ? pt_callee_name(inst) : "";
    return (strcmp(name, CALLED) == 0 || strcmp(name, RETURNED) == 0) && record_of(inst);
}

bool pt_is_for_event(LLVMValueRef value)
{
    LLVMUseRef use = LLVMIsACastInst(value) || LLVMIsAICmpInst(value) ? LLVMGetFirstUse(value) : NULL;
    return use && !LLVMGetNextUse(use) && (pt_is_event(LLVMGetUser(use)) || pt_is_for_event(LLVMGetUser(use)));
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
    add_attribute(m, hook, "willreturn", 0);
#if LLVM_VERSION_MAJOR >= 16
    add_attribute(m, hook, "memory", 3 << 2); /* reads and writes what is inaccessible, the second of three places */
#else
    add_attribute(m, hook, "inaccessiblememonly", 0);
#endif
}

/* The argument as 64 bits. */
static LLVMValueRef carry(struct pt_module *m, LLVMValueRef value, char kind)
{
    if (kind == 'p')
        return LLVMBuildZExt(m->builder, LLVMBuildIsNotNull(m->builder, value, ""), m->i64, "");
    return kind == 'i' ? LLVMBuildSExt(m->builder, value, m->i64, "") : LLVMBuildZExt(m->builder, value, m->i64, "");
}

/* Behind the allocas. */
static void add_entry(struct pt_module *m, LLVMValueRef function, LLVMValueRef record, const char *kinds,
                      unsigned first, LLVMMetadataRef place)
{
    LLVMValueRef inst = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
    while (LLVMIsAAllocaInst(inst))
        inst = LLVMGetNextInstruction(inst);
    LLVMPositionBuilderBefore(m->builder, inst);
    LLVMSetCurrentDebugLocation2(m->builder, place);
    LLVMValueRef arguments[1 + PT_FUNCTION_ARGUMENTS] = {LLVMBuildBitCast(m->builder, record, m->byte_pointer, "")};
    for (unsigned i = 0; i < PT_FUNCTION_ARGUMENTS; i++)
        arguments[1 + i] = i < strlen(kinds) && kinds[i] != '-' ? carry(m, LLVMGetParam(function, first + i), kinds[i])
                                                                : LLVMConstInt(m->i64, 0, false);
    call(m, CALLED, arguments, 1 + PT_FUNCTION_ARGUMENTS);
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

static void add_returns(struct pt_module *m, LLVMValueRef function, LLVMValueRef record)
{
    LLVMValueRef arguments[] = {LLVMConstBitCast(record, m->byte_pointer)};
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef end = end_of(block);
        if (!end)
            continue;
        LLVMPositionBuilderBefore(m->builder, end);
        LLVMSetCurrentDebugLocation2(m->builder, LLVMInstructionGetDebugLoc(end));
        call(m, RETURNED, arguments, 1);
    }
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

/* ---- the tests ---- */

enum { TOGETHER = 8 }; /* events, at most */

/* Events between which nobody can have seen anything: they have one test. */
struct group {
    LLVMValueRef events[TOGETHER];
    unsigned count;
};

static LLVMValueRef build_test(struct pt_module *m, const struct group *group)
{
    LLVMValueRef all = NULL;
    for (unsigned i = 0; i < group->count; i++) {
        LLVMValueRef at = LLVMBuildStructGEP2(m->builder, record_type(m), record_of(group->events[i]), 2, "");
        LLVMValueRef state = LLVMBuildLoad2(m->builder, m->i8, at, "");
        LLVMSetVolatile(state, true);
        all = all ? LLVMBuildOr(m->builder, all, state, "") : state;
    }
    return LLVMBuildICmp(m->builder, LLVMIntNE, all, LLVMConstInt(m->i8, PT_FUNCTION_QUIET, false), "");
}

/* To where the builder stands, with what is computed for it alone. */
static void move(struct pt_module *m, LLVMValueRef inst, LLVMBasicBlockRef from)
{
    for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(inst); i++) {
        LLVMValueRef operand = LLVMGetOperand(inst, i);
        if (pt_is_for_event(operand) && LLVMGetInstructionParent(operand) == from)
            move(m, operand, from);
    }
    LLVMInstructionRemoveFromParent(inst);
    LLVMInsertIntoBuilder(m->builder, inst);
}

static void put_test(struct pt_module *m, struct group *group)
{
    if (group->count == 0)
        return;
    LLVMValueRef last = group->events[group->count - 1];
    LLVMBasicBlockRef rest = LLVMGetInstructionParent(last);
    LLVMMetadataRef place = LLVMInstructionGetDebugLoc(last);
    LLVMBasicBlockRef head = pt_split_before(m, last);
    LLVMBasicBlockRef hook = LLVMAppendBasicBlockInContext(m->context, LLVMGetBasicBlockParent(rest), "");
    LLVMPositionBuilderAtEnd(m->builder, hook);
    for (unsigned i = 0; i < group->count; i++)
        move(m, group->events[i], head);
    LLVMSetCurrentDebugLocation2(m->builder, place);
    LLVMBuildBr(m->builder, rest);
    LLVMPositionBuilderAtEnd(m->builder, head);
    LLVMBuildCondBr(m->builder, build_test(m, group), hook, rest);
    group->count = 0;
}

/* Computes something, and cannot fail. */
static bool is_silent(LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
        return false;
    case LLVMGetElementPtr:
    case LLVMICmp:
    case LLVMSelect:
    case LLVMFreeze:
        return true;
    default:
        return LLVMIsABinaryOperator(inst) || LLVMIsACastInst(inst) || LLVMIsADbgInfoIntrinsic(inst);
    }
}

static void put_tests(struct pt_module *m, LLVMBasicBlockRef block)
{
    struct group group = {.count = 0};
    LLVMValueRef next;
    for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = next) {
        next = LLVMGetNextInstruction(inst);
        bool is_event = pt_is_event(inst);
        if (group.count == TOGETHER || !(is_event || is_silent(inst)))
            put_test(m, &group);
        if (is_event)
            group.events[group.count++] = inst;
    }
}

void pt_test_function_events(struct pt_module *m)
{
    static const char *const hooks[] = {CALLED, RETURNED};
    for (size_t i = 0; i < sizeof hooks / sizeof *hooks; i++)
        if (LLVMGetNamedFunction(m->module, hooks[i])) /* from here on: before, all around the event would be rare */
            add_attribute(m, LLVMGetNamedFunction(m->module, hooks[i]), "cold", 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f)) {
        LLVMBasicBlockRef last = LLVMGetLastBasicBlock(f), next;
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(f); block; block = block == last ? NULL : next) {
            next = LLVMGetNextBasicBlock(block);
            put_tests(m, block);
        }
    }
}
