/*
 * The stretches of a twin (core/look.h): its plain accesses between two calls or atomic operations of a block, told at
 * the end of them if somebody wants to know.
 *
 *     ...accesses...; if (asked[k] != __portent_asks) goto tell; rest: the call, or the end of the block
 *     tell: arguments[0] = base; ...; __portent_look(&look, arguments); goto rest
 *
 * Addresses are told as a base and a constant distance; a base that is an element of an array is computed once more
 * where it is told, so that nothing is kept in a register for that.
 *
 * That an access is told after it was made is as good as before it, for a thread neither learns nor publishes anything
 * in between. What is lost is who has read a value that was stored, but not told yet: sampling does not promise that
 * (runtime/race/choose.c).
 *
 * Cost: two blocks for each stretch. Linear in the function.
 */
#include "instrument/module.h"

#include <stdlib.h>

#include "core/look.h"

enum {
    PRESERVE_MOST = 14, /* LLVM's number of that calling convention */
    /* Of one access: two memories and their size. */
    ENTRIES_MAX = 2 * (PT_LOOK_MAX + 1),
    ARGUMENTS_MAX = 3 * (PT_LOOK_MAX + 1)
};

struct arguments {
    LLVMValueRef values[ARGUMENTS_MAX];
    unsigned count;
};

bool pt_is_plain(const struct pt_hooked_access *access)
{
    switch (access->kind) {
    case PT_ACCESS_LOAD:
    case PT_ACCESS_STORE:
        return LLVMGetOrdering(access->inst) == LLVMAtomicOrderingNotAtomic;
    case PT_ACCESS_COPY:
    case PT_ACCESS_FILL:
    case PT_ACCESS_LIBRARY_READ:
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

static LLVMValueRef asks(struct pt_module *m)
{
    LLVMValueRef global = LLVMGetNamedGlobal(m->module, "__portent_asks");
    return global ? global : LLVMAddGlobal(m->module, m->i32, "__portent_asks");
}

/* Hardly ever. */
static void set_weights(struct pt_module *m, LLVMValueRef branch)
{
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(m->context, "branch_weights", 14),
                               LLVMValueAsMetadata(LLVMConstInt(m->i32, 1, false)),
                               LLVMValueAsMetadata(LLVMConstInt(m->i32, 2000, false))};
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(m->context, "prof", 4),
                    LLVMMetadataAsValue(m->context, LLVMMDNodeInContext2(m->context, parts, 3)));
}

void pt_ask(struct pt_module *m, LLVMValueRef asked, LLVMBasicBlockRef tell, LLVMBasicBlockRef rest)
{
    LLVMValueRef now = LLVMBuildLoad2(m->builder, m->i32, asks(m), "");
    LLVMValueRef known = LLVMBuildLoad2(m->builder, m->i32, asked, "");
    LLVMValueRef differs = LLVMBuildICmp(m->builder, LLVMIntNE, now, known, "");
    set_weights(m, LLVMBuildCondBr(m->builder, differs, tell, rest));
}

static unsigned argument_of(struct arguments *arguments, LLVMValueRef value)
{
    for (unsigned i = 0; i < arguments->count; i++)
        if (arguments->values[i] == value)
            return i;
    arguments->values[arguments->count] = value;
    return arguments->count++;
}

static LLVMValueRef constant_entry(struct pt_module *m, LLVMValueRef site, int64_t offset, uint64_t size, unsigned kind,
                                   unsigned base)
{
    LLVMTypeRef i16 = LLVMInt16TypeInContext(m->context);
    LLVMValueRef fields[] = {site, LLVMConstInt(m->i32, (unsigned long long)offset, true),
                             LLVMConstInt(i16, size, false), LLVMConstInt(m->i8, kind, false),
                             LLVMConstInt(m->i8, base, false)};
    return LLVMConstStructInContext(m->context, fields, sizeof fields / sizeof *fields, false);
}

/* A pointer as a base and a distance that fits. */
static LLVMValueRef base_of(struct pt_module *m, LLVMValueRef pointer, int64_t *ret_offset)
{
    struct pt_way way;
    LLVMValueRef base = pt_fixed_base_of(m, pointer, &way);
    bool fits = way.offset == (int32_t)way.offset;
    *ret_offset = fits ? way.offset : 0;
    return fits ? base : pointer;
}

static LLVMValueRef entry_of(struct pt_module *m, struct arguments *arguments, LLVMValueRef pointer, LLVMValueRef size,
                             uint64_t bytes, unsigned kind, LLVMValueRef site)
{
    int64_t offset;
    LLVMValueRef base = base_of(m, pointer, &offset);
    unsigned at = argument_of(arguments, base);
    if (!size && bytes > UINT16_MAX)
        size = LLVMConstInt(m->i64, bytes, false);
    if (!size)
        return constant_entry(m, site, offset, bytes, kind, at);
    return constant_entry(m, site, offset, argument_of(arguments, size), kind | PT_LOOKED_SIZED, at);
}

/* How many entries it makes. */
static unsigned add_entries(struct pt_module *m, struct arguments *arguments, const struct pt_hooked_access *access,
                            LLVMValueRef *entries)
{
    LLVMValueRef inst = access->inst;
    LLVMTypeRef type = access->kind == PT_ACCESS_LOAD    ? LLVMTypeOf(inst)
                       : access->kind == PT_ACCESS_STORE ? LLVMTypeOf(LLVMGetOperand(inst, 0))
                                                         : NULL;
    if (type) {
        entries[0] =
            entry_of(m, arguments, LLVMGetOperand(inst, access->address), NULL, LLVMStoreSizeOfType(m->layout, type),
                     access->kind == PT_ACCESS_LOAD ? PT_LOOKED_READ : PT_LOOKED_WRITE, access->site);
        return 1;
    }
    LLVMValueRef size = LLVMGetOperand(inst, access->size);
    entries[0] = entry_of(m, arguments, LLVMGetOperand(inst, pt_operand(access->row->buffer)), size, 0, PT_LOOKED_WRITE,
                          access->site);
    if (access->kind == PT_ACCESS_FILL)
        return 1;
    entries[1] = entry_of(m, arguments, LLVMGetOperand(inst, pt_operand(access->row->source)), size, 0, PT_LOOKED_READ,
                          access->other_site);
    return 2;
}

/* An element of an array is computed here rather than kept. */
static LLVMValueRef as_number(struct pt_module *m, LLVMValueRef value)
{
    if (LLVMIsAGetElementPtrInst(value)) {
        LLVMValueRef again = LLVMInstructionClone(value);
        LLVMInsertIntoBuilder(m->builder, again);
        value = again;
    }
    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind)
        return LLVMBuildPtrToInt(m->builder, value, m->i64, "");
    return LLVMBuildIntCast2(m->builder, value, m->i64, false, "");
}

static LLVMValueRef constant_look(struct pt_module *m, LLVMValueRef asked, LLVMValueRef *entries, unsigned count)
{
    LLVMValueRef fields[] = {asked, LLVMConstInt(m->i32, count, false),
                             LLVMConstArray(LLVMTypeOf(entries[0]), entries, count)};
    LLVMValueRef value = LLVMConstStructInContext(m->context, fields, 3, false);
    LLVMValueRef look = LLVMAddGlobal(m->module, LLVMTypeOf(value), ".portent.look");
    LLVMSetInitializer(look, value);
    LLVMSetGlobalConstant(look, true);
    LLVMSetLinkage(look, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(look, LLVMGlobalUnnamedAddr);
    return LLVMConstBitCast(look, m->byte_pointer);
}

static void call_look(struct pt_module *m, LLVMValueRef look, LLVMValueRef room)
{
    LLVMTypeRef numbers = LLVMPointerType(m->i64, 0), parameters[] = {m->byte_pointer, numbers};
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(m->context), parameters, 2, false);
    LLVMValueRef hook = LLVMGetNamedFunction(m->module, "__portent_look");
    if (!hook) {
        /* bound at once: who binds it when it is called first does not keep all registers */
        static const char *const attributes[] = {"nounwind", "nonlazybind"};
        hook = LLVMAddFunction(m->module, "__portent_look", type);
        LLVMSetFunctionCallConv(hook, PRESERVE_MOST);
        for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
            pt_set_attribute(m->context, hook, attributes[i]);
    }
    LLVMValueRef arguments[] = {look, room};
    LLVMValueRef call = LLVMBuildCall2(m->builder, type, hook, arguments, 2, "");
    LLVMSetInstructionCallConv(call, PRESERVE_MOST);
}

unsigned pt_tell_stretch(struct pt_module *m, const struct pt_hooked_access *accesses, size_t count, LLVMValueRef asked,
                         LLVMValueRef room)
{
    LLVMValueRef entries[ENTRIES_MAX];
    struct arguments arguments = {.count = 0};
    unsigned entry_count = 0;
    for (size_t i = 0; i < count; i++) {
        if (accesses[i].kind == PT_ACCESS_LIBRARY_READ) { /* told by itself; only its place is known to the look */
            pt_tell_read(m, &accesses[i]);
            entries[entry_count++] = constant_entry(m, accesses[i].site, 0, 0, 0, 0);
        } else {
            entry_count += add_entries(m, &arguments, &accesses[i], &entries[entry_count]);
        }
    }
    for (unsigned i = 0; i < arguments.count; i++) {
        LLVMValueRef at = LLVMConstInt(m->i64, i, false);
        LLVMValueRef place = LLVMBuildGEP2(m->builder, m->i64, room, &at, 1, "");
        LLVMBuildStore(m->builder, as_number(m, arguments.values[i]), place);
    }
    call_look(m, constant_look(m, asked, entries, entry_count), room);
    return arguments.count;
}
