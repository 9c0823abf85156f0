/*
 * What a program does without a call that says so, made calls before the model is built.
 *
 * Constructors run before main, in the order of their priorities: main calls them first. Destructors run when the
 * program exits, in the thread that does that, while others may still be running: main hands each of them to an unknown
 * function, which may run it at any time. A format with %n makes its function one that writes what it is handed: such a
 * call becomes one of an unknown function.
 *
 * Guarantee: none of these is passed over. Where formats are not constants, each counts as one with %n if some string
 * of the program has that. Cost: one look at each global variable and each call of these functions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/DebugInfo.h>

#include "cfront/abstract.h"

/* ---- constructors and destructors */

struct registered {
    uint64_t priority;
    LLVMValueRef function;
};

struct registry {
    struct registered *list;
    size_t count, cap;
};

/* Those of a list that LLVM keeps (priority, function, data), the smallest priority first. */
static void read_registry(struct pt_cf *cf, const char *name, struct registry *to)
{
    LLVMValueRef global = LLVMGetNamedGlobal(cf->module, name);
    LLVMValueRef array = global ? LLVMGetInitializer(global) : NULL;
    for (int i = 0; array && i < LLVMGetNumOperands(array); i++) {
        LLVMValueRef entry = LLVMGetOperand(array, (unsigned)i);
        LLVMValueRef function = pt_base_of(&cf->names, LLVMGetOperand(entry, 1), NULL);
        struct registered one = {LLVMConstIntGetZExtValue(LLVMGetOperand(entry, 0)), function};
        if (!LLVMIsAFunction(function) || LLVMCountParams(function) != 0) {
            LLVMBasicBlockRef body = LLVMIsAFunction(function) ? LLVMGetFirstBasicBlock(function) : NULL;
            pt_cf_fail(cf, body ? LLVMGetFirstInstruction(body) : NULL,
                       "a constructor or destructor with parameters cannot be modelled");
            return;
        }
        PT_PUSH(to->list, to->count, to->cap, one);
        for (size_t at = to->count - 1; at > 0 && to->list[at - 1].priority > one.priority; at--) {
            to->list[at] = to->list[at - 1];
            to->list[at - 1] = one;
        }
    }
}

/* The call gets the place of the function that it is about: nothing in main stands for it. */
static void add_call(struct pt_cf *cf, LLVMBuilderRef builder, LLVMValueRef callee, LLVMValueRef argument,
                     LLVMValueRef about)
{
    LLVMMetadataRef scope = LLVMGetSubprogram(about);
    LLVMValueRef call =
        LLVMBuildCall2(builder, LLVMGlobalGetValueType(callee), callee, &argument, argument ? 1 : 0, "");
    if (scope)
        LLVMInstructionSetDebugLoc(
            call, LLVMDIBuilderCreateDebugLocation(cf->names.context, LLVMDISubprogramGetLine(scope), 0, scope, NULL));
}

static void add_constructors(struct pt_cf *cf, LLVMBuilderRef builder)
{
    struct registry found = {0};
    read_registry(cf, "llvm.global_ctors", &found);
    for (size_t i = 0; i < found.count && !cf->failed; i++)
        add_call(cf, builder, found.list[i].function, NULL, found.list[i].function);
    free(found.list);
}

static void add_destructors(struct pt_cf *cf, LLVMBuilderRef builder)
{
    struct registry found = {0};
    read_registry(cf, "llvm.global_dtors", &found);
    for (size_t i = 0; i < found.count && !cf->failed; i++) {
        LLVMValueRef function = found.list[i].function;
        LLVMTypeRef type = LLVMTypeOf(function);
        size_t len;
        char name[160];
        snprintf(name, sizeof name, "destructor %.120s", LLVMGetValueName2(function, &len));
        LLVMTypeRef run = LLVMFunctionType(LLVMVoidTypeInContext(cf->names.context), &type, 1, false);
        add_call(cf, builder, LLVMAddFunction(cf->module, name, run), function, function);
    }
    free(found.list);
}

/* Functions may be put into the lists of the linker by hand, too. */
static void refuse_sections(struct pt_cf *cf)
{
    static const char *const sections[] = {".preinit_array", ".init_array", ".fini_array", ".ctors", ".dtors"};
    for (LLVMValueRef global = LLVMGetFirstGlobal(cf->module); global; global = LLVMGetNextGlobal(global)) {
        const char *section = LLVMGetSection(global);
        size_t len;
        for (size_t i = 0; section && i < sizeof sections / sizeof *sections; i++)
            if (strncmp(section, sections[i], strlen(sections[i])) == 0)
                pt_cf_fail(cf, NULL, "'%.100s', in section %s, runs a function outside main: that cannot be modelled",
                           LLVMGetValueName2(global, &len), sections[i]);
    }
}

/* ---- formats */

static const struct {
    const char *name;
    unsigned format; /* operand */
} printers[] = {
    {"printf", 0},        {"fprintf", 1},        {"dprintf", 1},        {"sprintf", 1},         {"snprintf", 2},
    {"vprintf", 0},       {"vfprintf", 1},       {"vdprintf", 1},       {"vsprintf", 1},        {"vsnprintf", 2},
    {"__printf_chk", 1},  {"__fprintf_chk", 2},  {"__dprintf_chk", 2},  {"__sprintf_chk", 3},   {"__snprintf_chk", 4},
    {"__vprintf_chk", 1}, {"__vfprintf_chk", 2}, {"__vsprintf_chk", 3}, {"__vsnprintf_chk", 4}, {"syslog", 1},
    {"err", 1},           {"errx", 1},           {"warn", 0},           {"warnx", 0},
};

/* The text of a constant; NULL: it is none. */
static const char *text_of(LLVMValueRef global, size_t *ret_len)
{
    LLVMValueRef text =
        LLVMIsAGlobalVariable(global) && LLVMIsGlobalConstant(global) ? LLVMGetInitializer(global) : NULL;
    return text && LLVMIsAConstantDataSequential(text) && LLVMIsConstantString(text) ? LLVMGetAsString(text, ret_len)
                                                                                     : NULL;
}

/* %n with whatever may stand in between. "%%n" counts, too: a pointer into the middle makes it one. */
static bool has_count(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '%')
            continue;
        size_t at = i + 1;
        while (at < len && text[at] && strchr("-+ #0123456789'I.*$hlLqjzt", text[at]))
            at++;
        if (at < len && text[at] == 'n')
            return true;
    }
    return false;
}

static bool any_has_count(struct pt_cf *cf)
{
    for (LLVMValueRef global = LLVMGetFirstGlobal(cf->module); global; global = LLVMGetNextGlobal(global)) {
        size_t len;
        const char *text = text_of(global, &len);
        if (text && has_count(text, len))
            return true;
    }
    return false;
}

static bool is_clean(struct pt_cf *cf, LLVMValueRef call, unsigned format)
{
    size_t len;
    const char *text = format < LLVMGetNumArgOperands(call)
                           ? text_of(pt_base_of(&cf->names, LLVMGetOperand(call, format), NULL), &len)
                           : NULL;
    return text && !has_count(text, len);
}

/* Calls that may write become calls of `twin`; once the function's address is taken, all of them. */
static void divert(struct pt_cf *cf, LLVMValueRef function, unsigned format, LLVMValueRef twin)
{
    for (LLVMUseRef use = LLVMGetFirstUse(function), next; use; use = next) {
        LLVMValueRef user = LLVMGetUser(use);
        next = LLVMGetNextUse(use);
        if (!LLVMIsACallInst(user) || LLVMGetCalledValue(user) != function) {
            LLVMReplaceAllUsesWith(function, twin);
            return;
        }
        if (!is_clean(cf, user, format))
            LLVMSetOperand(user, (unsigned)LLVMGetNumOperands(user) - 1, twin);
    }
}

static void divert_formats(struct pt_cf *cf)
{
    if (!any_has_count(cf))
        return;
    for (size_t i = 0; i < sizeof printers / sizeof *printers; i++) {
        LLVMValueRef function = LLVMGetNamedFunction(cf->module, printers[i].name);
        char name[32];
        if (!function || !LLVMIsDeclaration(function))
            continue;
        snprintf(name, sizeof name, "%s with %%n", printers[i].name);
        divert(cf, function, printers[i].format, LLVMAddFunction(cf->module, name, LLVMGlobalGetValueType(function)));
    }
}

void pt_cf_prepare(struct pt_cf *cf, LLVMValueRef main_function)
{
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(cf->names.context);
    LLVMPositionBuilderBefore(builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(main_function)));
    refuse_sections(cf);
    add_constructors(cf, builder);
    add_destructors(cf, builder);
    LLVMDisposeBuilder(builder);
    divert_formats(cf);
}
