/*
 * The stretches of a twin (core/look.h): its plain accesses between two calls or atomic operations of a block, told at
 * the end of them if somebody wants to know. That is one piece of assembly:
 *
 *         cmpb $0, quiet(%rip); je tell
 *     rest: ...
 *     tell: arguments on the stack; call __portent_look; testl $stretch, asked(%rip); jmp rest  (behind the function)
 *
 * Each costs LLVM the start of its assembler and a good deal for each operand and each line, so there is one symbol in
 * it, and what the module tells of all its stretches is in one table; what is always the same are numbers, not names of
 * instructions; and the call is of a jump that the module has once.
 *
 * As branches and calls of LLVM's each is two blocks and a dozen instructions, and one here: mdb.c, which has 1700
 * stretches, compiled in 2.8 times plain's time with those, and 1.9 times without any. It is told with the registers
 * that the accesses have had: an address is a base, a distance and perhaps an index (x86's own form), so nothing is
 * computed for it; and no register is needed for the question. What is said of each stretch is two bytes of the module
 * (struct pt_asked), of which the runtime learns by the first that is told, and by a destructor that they are gone.
 *
 * That an access is told after it was made is as good as before it, for a thread neither learns nor publishes anything
 * in between. What is lost is who has read a value that was stored, but not told yet: sampling does not promise that
 * (runtime/race/choose.c).
 *
 * Limit: what tells is behind the function, where no unwinding table has it: an asynchronous cancellation that finds
 * its thread there runs no cleanup handlers.
 *
 * Cost: linear in the accesses.
 */
#include "instrument/module.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "instrument/looks.h"

#define ASKED ".portent.asked"
#define LOOK  ".Lportent.look"

bool pt_is_plain(const struct pt_hooked_access *access)
{
    switch (access->kind) {
    case PT_ACCESS_LOAD:
    case PT_ACCESS_STORE:
        return LLVMGetOrdering(access->inst) == LLVMAtomicOrderingNotAtomic;
    case PT_ACCESS_COPY:
    case PT_ACCESS_FILL:
        return true;
    default:
        return false;
    }
}

bool pt_ends_stretch(LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMCall:
        return LLVMGetIntrinsicID(LLVMGetCalledValue(inst)) == 0;
    case LLVMLoad:
    case LLVMStore:
        return LLVMGetOrdering(inst) != LLVMAtomicOrderingNotAtomic;
    case LLVMFence:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return true;
    default:
        return LLVMIsATerminatorInst(inst) != NULL;
    }
}

/* ---- what is told of an access ---- */

static unsigned argument_of(struct pt_stretch *stretch, LLVMValueRef value)
{
    for (unsigned i = 0; i < stretch->argument_count; i++)
        if (stretch->arguments[i] == value)
            return i;
    if (stretch->argument_count < PT_LOOK_ARGUMENTS)
        stretch->arguments[stretch->argument_count] = value;
    return stretch->argument_count++;
}

/* False: there is no room for it. */
static bool add_entry(struct pt_module *m, struct pt_stretch *stretch, LLVMValueRef pointer, LLVMValueRef size,
                      uint64_t bytes, unsigned kind, LLVMValueRef site)
{
    struct pt_address address = pt_address_of(m, pointer);
    if (!size && bytes > UINT16_MAX)
        size = LLVMConstInt(m->i64, bytes, false);
    if (size && LLVMIsAConstantInt(size) && LLVMConstIntGetZExtValue(size) <= UINT16_MAX) {
        bytes = LLVMConstIntGetZExtValue(size);
        size = NULL;
    }
    LLVMTypeRef i16 = LLVMInt16TypeInContext(m->context);
    bool fixed = LLVMIsAGlobalVariable(address.base) && !LLVMIsThreadLocal(address.base);
    unsigned base = fixed ? 0 : argument_of(stretch, address.base);
    unsigned index = address.index ? argument_of(stretch, address.index) : PT_LOOKED_NO_INDEX;
    LLVMValueRef fields[] = {site,
                             fixed ? LLVMConstBitCast(address.base, m->byte_pointer) : LLVMConstNull(m->byte_pointer),
                             LLVMConstInt(m->i32, (unsigned long long)address.offset, true),
                             LLVMConstInt(m->i32, address.scale, false),
                             LLVMConstInt(i16, size ? argument_of(stretch, size) : bytes, false),
                             LLVMConstInt(m->i8, kind | (size ? PT_LOOKED_SIZED : 0), false),
                             LLVMConstInt(m->i8, base, false),
                             LLVMConstInt(m->i8, index, false)};
    if (stretch->argument_count > PT_LOOK_ARGUMENTS || stretch->entry_count == PT_LOOK_MAX)
        return false;
    stretch->entries[stretch->entry_count++] =
        LLVMConstStructInContext(m->context, fields, sizeof fields / sizeof *fields, false);
    return true;
}

static bool add_access(struct pt_module *m, struct pt_stretch *stretch, const struct pt_hooked_access *access)
{
    LLVMValueRef inst = access->inst;
    if (access->kind == PT_ACCESS_LOAD || access->kind == PT_ACCESS_STORE) {
        bool load = access->kind == PT_ACCESS_LOAD;
        LLVMTypeRef type = LLVMTypeOf(load ? inst : LLVMGetOperand(inst, 0));
        return add_entry(m, stretch, LLVMGetOperand(inst, access->address), NULL, LLVMStoreSizeOfType(m->layout, type),
                         load ? PT_LOOKED_READ : PT_LOOKED_WRITE, access->site);
    }
    LLVMValueRef size = LLVMGetOperand(inst, access->size);
    if (!add_entry(m, stretch, LLVMGetOperand(inst, pt_operand(access->row->buffer)), size, 0, PT_LOOKED_WRITE,
                   access->site))
        return false;
    return access->kind == PT_ACCESS_FILL ||
           add_entry(m, stretch, LLVMGetOperand(inst, pt_operand(access->row->source)), size, 0, PT_LOOKED_READ,
                     access->other_site);
}

bool pt_add_to_stretch(struct pt_module *m, struct pt_stretch *stretch, const struct pt_hooked_access *access)
{
    unsigned entries = stretch->entry_count, arguments = stretch->argument_count;
    bool added = add_access(m, stretch, access);
    if (!added) {
        stretch->entry_count = entries;
        stretch->argument_count = arguments;
    }
    return added;
}

/* ---- the question ---- */

/* Where the next stretch's accesses begin. */
static void put_first(struct pt_module *m, struct pt_looks *looks)
{
    PT_PUSH(looks->first, looks->count, looks->cap, LLVMConstInt(m->i32, looks->access_count, false));
}

/* Returns its number. */
static unsigned put_stretch(struct pt_module *m, const struct pt_stretch *stretch)
{
    struct pt_looks *looks = m->looks;
    put_first(m, looks);
    for (unsigned i = 0; i < stretch->entry_count; i++)
        PT_PUSH(looks->accesses, looks->access_count, looks->access_cap, stretch->entries[i]);
    return (unsigned)looks->count - 1;
}

/* Of jumps it is said how long they are, so that the assembler need not find out. The stack below may be in use without
 * a frame (the red zone), so it is left alone: the first number is `addq $-128, %rsp`, the second `leaq N(%rsp), %rsp`,
 * where N is a byte. */
static void write_text(char *text, size_t size, unsigned count, unsigned stretch)
{
    size_t at = (size_t)snprintf(text, size,
                                 "cmpb $$0, ${%u:c}+%zu(%%rip)\n{disp32} je 771f\n772:\n.subsection 1\n771:\n"
                                 ".long 0x80c48348\n",
                                 count, offsetof(struct pt_asked, quiet) + stretch);
    for (unsigned i = count; i > 0; i--)
        at += (size_t)snprintf(text + at, size - at, "pushq $%u\n", i - 1);
    _Static_assert(128 + 8 * PT_LOOK_ARGUMENTS < 256, "a byte");
    snprintf(text + at, size - at,
             "call " LOOK "\ntestl $$%u, ${%u:c}(%%rip)\n"
             ".quad 0x%x24a48d48\n{disp32} jmp 772b\n.previous",
             stretch, count, 128 + 8 * count);
}

static LLVMValueRef as_argument(struct pt_module *m, LLVMValueRef value)
{
    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind)
        return value;
    return LLVMBuildIntCast2(m->builder, value, m->i64, false, "");
}

/* Bound at once, not when it is called first: who does that does not keep all registers. */
static void put_call(struct pt_module *m)
{
    static const char text[] = ".text\n" LOOK ":\njmp *__portent_look@GOTPCREL(%rip)\n";
    LLVMAppendModuleInlineAsm(m->module, text, sizeof text - 1);
}

/* The table is a module's, and how long it is is known when that is done: until then something stands for it. */
static void need_table(struct pt_module *m)
{
    if (m->asked)
        return;
    m->asked = LLVMAddGlobal(m->module, m->i8, ".portent.asking");
    LLVMSetLinkage(m->asked, LLVMExternalLinkage);
    put_call(m);
    m->looks = pt_xcalloc(1, sizeof *m->looks);
}

void pt_ask(struct pt_module *m, const struct pt_stretch *stretch)
{
    enum { MOST = PT_LOOK_ARGUMENTS + 1 };
    LLVMValueRef operands[MOST];
    LLVMTypeRef types[MOST];
    char text[1024], constraints[128] = "";
    unsigned count = 0;
    need_table(m);
    for (; count < stretch->argument_count; count++) {
        operands[count] = as_argument(m, stretch->arguments[count]);
        strcat(constraints, "r,");
    }
    operands[count] = m->asked;
    strcat(constraints, "i,~{flags}"); /* by name LLVM searches registers for 10 us each */
    for (unsigned i = 0; i <= count; i++)
        types[i] = LLVMTypeOf(operands[i]);
    write_text(text, sizeof text, count, put_stretch(m, stretch));
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(m->context), types, count + 1, false);
    LLVMValueRef code = LLVMGetInlineAsm(type, text, strlen(text), constraints, strlen(constraints), true, false,
                                         LLVMInlineAsmDialectATT, false);
    LLVMValueRef call = LLVMBuildCall2(m->builder, type, code, operands, count + 1, "");
    pt_set_call_attribute(m->context, call, "nounwind");
}

/* ---- the module ---- */

/* By name it is a destructor, as good as those of the source, which need not be looked for and added to. */
void pt_leave_stretches(struct pt_module *m)
{
    LLVMValueRef asked = LLVMGetNamedGlobal(m->module, ASKED);
    if (!asked)
        return;
    asked = LLVMConstBitCast(asked, m->byte_pointer);
    LLVMTypeRef none = LLVMVoidTypeInContext(m->context), type = LLVMFunctionType(none, NULL, 0, false);
    LLVMValueRef function = LLVMAddFunction(m->module, ".portent.leave", type);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    LLVMPositionBuilderAtEnd(m->builder, LLVMAppendBasicBlockInContext(m->context, function, ""));
    LLVMSetCurrentDebugLocation2(m->builder, NULL);
    LLVMTypeRef hook_type = LLVMFunctionType(none, &m->byte_pointer, 1, false);
    LLVMValueRef hook = pt_find_hook(m, "__portent_leave", hook_type);
    hook = hook ? hook : LLVMAddFunction(m->module, "__portent_leave", hook_type);
    LLVMBuildCall2(m->builder, hook_type, hook, &asked, 1, "");
    LLVMBuildRetVoid(m->builder);
    LLVMValueRef entry = LLVMAddGlobal(m->module, LLVMTypeOf(function), ".portent.leaves");
    LLVMSetInitializer(entry, function);
    LLVMSetLinkage(entry, LLVMPrivateLinkage);
    LLVMSetSection(entry, ".fini_array");
}

/* Returns its address. */
static LLVMValueRef constant_array(struct pt_module *m, LLVMValueRef *values, size_t count, const char *name)
{
    LLVMValueRef value = LLVMConstArray(LLVMTypeOf(values[0]), values, (unsigned)count);
    LLVMValueRef array = LLVMAddGlobal(m->module, LLVMTypeOf(value), name);
    LLVMSetInitializer(array, value);
    LLVMSetGlobalConstant(array, true);
    LLVMSetLinkage(array, LLVMPrivateLinkage);
    return LLVMConstBitCast(array, m->byte_pointer);
}

void pt_end_stretches(struct pt_module *m)
{
    struct pt_looks *looks = m->looks;
    if (!m->asked)
        return;
    unsigned count = (unsigned)looks->count;
    put_first(m, looks);
    LLVMValueRef fields[] = {LLVMConstNull(m->byte_pointer),
                             constant_array(m, looks->accesses, looks->access_count, ".portent.looked"),
                             constant_array(m, looks->first, looks->count, ".portent.first"),
                             LLVMConstInt(m->i32, count, false),
                             LLVMConstInt(m->i32, PT_ASKED_NEW, false),
                             LLVMConstNull(LLVMArrayType(m->i8, 2 * count))};
    LLVMValueRef value = LLVMConstStructInContext(m->context, fields, sizeof fields / sizeof *fields, false);
    LLVMValueRef all = LLVMAddGlobal(m->module, LLVMTypeOf(value), ASKED);
    LLVMSetInitializer(all, value);
    LLVMSetLinkage(all, LLVMInternalLinkage);
    LLVMReplaceAllUsesWith(m->asked, LLVMConstBitCast(all, m->byte_pointer));
    LLVMDeleteGlobal(m->asked);
    m->asked = NULL;
    free(looks->accesses);
    free(looks->first);
    free(looks);
    m->looks = NULL;
}
