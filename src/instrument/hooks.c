/*
 * One access becomes one call (core/hooks.h) that performs it. Values travel as integers of their size; casts on both
 * sides keep the types. What has no such integer (x86's long double, vectors, aggregates, odd bit widths) and what the
 * hooks have no operation for (atomicrmw fadd) stays in place, between a begin and an end call.
 *
 * Hooks are declared nounwind and with no promise about memory, so that the optimiser neither moves nor merges them.
 */
#include "instrument/module.h"

#include <stdio.h>
#include <string.h>

#include "core/hooks.h"

/* Orders as __ATOMIC_* numbers. LLVM's `unordered` (Java's plain access) is at most relaxed. */
static int order_number(LLVMAtomicOrdering order)
{
    switch (order) {
    case LLVMAtomicOrderingAcquire:
        return __ATOMIC_ACQUIRE;
    case LLVMAtomicOrderingRelease:
        return __ATOMIC_RELEASE;
    case LLVMAtomicOrderingAcquireRelease:
        return __ATOMIC_ACQ_REL;
    case LLVMAtomicOrderingSequentiallyConsistent:
        return __ATOMIC_SEQ_CST;
    default:
        return __ATOMIC_RELAXED;
    }
}

/* The C API of LLVM 14 does not tell a fence's order; its text does. */
static int fence_order(LLVMValueRef fence)
{
    char *text = LLVMPrintValueToString(fence);
    int order = __ATOMIC_SEQ_CST;
    if (strstr(text, " acq_rel"))
        order = __ATOMIC_ACQ_REL;
    else if (strstr(text, " acquire"))
        order = __ATOMIC_ACQUIRE;
    else if (strstr(text, " release"))
        order = __ATOMIC_RELEASE;
    LLVMDisposeMessage(text);
    return order;
}

static LLVMValueRef int_constant(struct pt_module *m, int value)
{
    return LLVMConstInt(m->i32, (unsigned long long)value, false);
}

/* The C ABI on x86-64 and others wants small integers extended by the caller. */
static void extend_small(struct pt_module *m, LLVMValueRef function, LLVMTypeRef type, unsigned index)
{
    if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) < 32) {
        unsigned kind = LLVMGetEnumAttributeKindForName("zeroext", 7);
        LLVMAddAttributeAtIndex(function, index, LLVMCreateEnumAttribute(m->context, kind, 0));
    }
}

/* A source may declare the hook itself, with pointers of its own types, as the runtime's does. */
LLVMValueRef pt_find_hook(struct pt_module *m, const char *name, LLVMTypeRef type)
{
    LLVMValueRef hook = LLVMGetNamedFunction(m->module, name);
    return hook ? LLVMConstBitCast(hook, LLVMPointerType(type, 0)) : NULL;
}

LLVMValueRef pt_call_hook(struct pt_module *m, const char *name, LLVMTypeRef returns, LLVMValueRef *arguments,
                          unsigned count)
{
    LLVMTypeRef parameters[8];
    for (unsigned i = 0; i < count; i++)
        parameters[i] = LLVMTypeOf(arguments[i]);
    LLVMTypeRef type = LLVMFunctionType(returns, parameters, count, false);
    LLVMValueRef hook = pt_find_hook(m, name, type);
    if (!hook) {
        hook = LLVMAddFunction(m->module, name, type);
        unsigned nounwind = LLVMGetEnumAttributeKindForName("nounwind", 8);
        LLVMAddAttributeAtIndex(hook, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(m->context, nounwind, 0));
        extend_small(m, hook, returns, LLVMAttributeReturnIndex);
        for (unsigned i = 0; i < count; i++)
            extend_small(m, hook, parameters[i], i + 1);
    }
    LLVMValueRef call = LLVMBuildCall2(m->builder, type, hook, arguments, count, "");
    LLVMSetTailCall(call, !m->has_locals); /* no pass comes after this that would find out */
    return call;
}

static LLVMValueRef call_sized(struct pt_module *m, const char *stem, unsigned bytes, LLVMTypeRef returns,
                               LLVMValueRef *arguments, unsigned count)
{
    char name[64];
    snprintf(name, sizeof name, "%s%u", stem, bytes);
    return pt_call_hook(m, name, returns, arguments, count);
}

static LLVMValueRef address_of(struct pt_module *m, const struct pt_hooked_access *access)
{
    return LLVMBuildBitCast(m->builder, LLVMGetOperand(access->inst, access->address), m->byte_pointer, "");
}

static LLVMValueRef as_bytes(struct pt_module *m, LLVMValueRef pointer)
{
    return LLVMBuildBitCast(m->builder, pointer, m->byte_pointer, "");
}

/* The integer type that carries `type` through a hook; NULL when none does. */
static LLVMTypeRef carrier_of(struct pt_module *m, LLVMTypeRef type)
{
    unsigned bits = 0;
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind:
        bits = LLVMGetIntTypeWidth(type);
        break;
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind:
    case LLVMFP128TypeKind:
    case LLVMPointerTypeKind:
        bits = (unsigned)LLVMSizeOfTypeInBits(m->layout, type);
        break;
    default:
        break;
    }
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64 && bits != 128)
        return NULL;
    return LLVMIntTypeInContext(m->context, bits);
}

static LLVMValueRef to_carrier(struct pt_module *m, LLVMValueRef value, LLVMTypeRef carrier)
{
    if (LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind)
        return LLVMBuildPtrToInt(m->builder, value, carrier, "");
    return LLVMBuildBitCast(m->builder, value, carrier, "");
}

static LLVMValueRef from_carrier(struct pt_module *m, LLVMValueRef value, LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return LLVMBuildIntToPtr(m->builder, value, type, "");
    return LLVMBuildBitCast(m->builder, value, type, "");
}

static void replace(LLVMValueRef inst, LLVMValueRef value)
{
    if (value)
        LLVMReplaceAllUsesWith(inst, value);
    LLVMInstructionEraseFromParent(inst);
}

/* Keeps the instruction, between begin and end. */
static void bracket(struct pt_module *m, const struct pt_hooked_access *access, LLVMValueRef size, bool reads)
{
    LLVMValueRef arguments[] = {address_of(m, access), size, access->site};
    LLVMTypeRef none = LLVMVoidTypeInContext(m->context);
    pt_call_hook(m, reads ? "__portent_begin_read" : "__portent_begin_write", none, arguments, 3);
    LLVMValueRef after = LLVMGetNextInstruction(access->inst);
    LLVMMetadataRef place = LLVMInstructionGetDebugLoc(access->inst);
    LLVMPositionBuilderBefore(m->builder, after);
    LLVMSetCurrentDebugLocation2(m->builder, place);
    pt_call_hook(m, reads ? "__portent_end_read" : "__portent_end_write", none, arguments, 3);
}

static void bracket_typed(struct pt_module *m, const struct pt_hooked_access *access, LLVMTypeRef type, bool reads)
{
    if (LLVMGetTypeKind(type) == LLVMScalableVectorTypeKind)
        return; /* its size is not known before the program runs on some machine */
    bracket(m, access, LLVMConstInt(m->i64, LLVMStoreSizeOfType(m->layout, type), false), reads);
}

static void replace_load(struct pt_module *m, const struct pt_hooked_access *access)
{
    LLVMValueRef inst = access->inst;
    LLVMTypeRef type = LLVMTypeOf(inst), carrier = carrier_of(m, type);
    if (!carrier) {
        bracket_typed(m, access, type, true);
        return;
    }
    unsigned bytes = LLVMGetIntTypeWidth(carrier) / 8;
    LLVMAtomicOrdering order = LLVMGetOrdering(inst);
    LLVMValueRef result;
    if (order == LLVMAtomicOrderingNotAtomic) {
        LLVMValueRef arguments[] = {address_of(m, access), access->site};
        result = call_sized(m, access->is_peek ? "__portent_peek" : "__portent_load", bytes, carrier, arguments, 2);
    } else {
        LLVMValueRef arguments[] = {address_of(m, access), int_constant(m, order_number(order)), access->site};
        result = call_sized(m, "__portent_atomic_load", bytes, carrier, arguments, 3);
    }
    replace(inst, from_carrier(m, result, type));
}

static void replace_store(struct pt_module *m, const struct pt_hooked_access *access)
{
    LLVMValueRef inst = access->inst, value = LLVMGetOperand(inst, 0);
    LLVMTypeRef carrier = carrier_of(m, LLVMTypeOf(value)), none = LLVMVoidTypeInContext(m->context);
    if (!carrier) {
        bracket_typed(m, access, LLVMTypeOf(value), false);
        return;
    }
    unsigned bytes = LLVMGetIntTypeWidth(carrier) / 8;
    LLVMAtomicOrdering order = LLVMGetOrdering(inst);
    LLVMValueRef address = address_of(m, access), bits = to_carrier(m, value, carrier);
    if (order == LLVMAtomicOrderingNotAtomic) {
        LLVMValueRef arguments[] = {address, bits, access->site};
        call_sized(m, "__portent_store", bytes, none, arguments, 3);
    } else {
        LLVMValueRef arguments[] = {address, bits, int_constant(m, order_number(order)), access->site};
        call_sized(m, "__portent_atomic_store", bytes, none, arguments, 4);
    }
    replace(inst, NULL);
}

static void replace_rmw(struct pt_module *m, const struct pt_hooked_access *access)
{
    _Static_assert((int)LLVMAtomicRMWBinOpXchg == PT_RMW_XCHG && (int)LLVMAtomicRMWBinOpNand == PT_RMW_NAND &&
                       (int)LLVMAtomicRMWBinOpMax == PT_RMW_MAX && (int)LLVMAtomicRMWBinOpUMin == PT_RMW_UMIN,
                   "pt_rmw_op counts as LLVM does");
    LLVMValueRef inst = access->inst;
    LLVMTypeRef type = LLVMTypeOf(inst), carrier = carrier_of(m, type);
    LLVMAtomicRMWBinOp op = LLVMGetAtomicRMWBinOp(inst);
    if (!carrier || op > LLVMAtomicRMWBinOpUMin) {
        bracket_typed(m, access, type, false);
        return;
    }
    LLVMValueRef arguments[] = {address_of(m, access), to_carrier(m, LLVMGetOperand(inst, 1), carrier),
                                int_constant(m, (int)op), int_constant(m, order_number(LLVMGetOrdering(inst))),
                                access->site};
    LLVMValueRef old = call_sized(m, "__portent_atomic_rmw", LLVMGetIntTypeWidth(carrier) / 8, carrier, arguments, 5);
    replace(inst, from_carrier(m, old, type));
}

static void replace_cas(struct pt_module *m, const struct pt_hooked_access *access)
{
    LLVMValueRef inst = access->inst, expected = LLVMGetOperand(inst, 1);
    LLVMTypeRef type = LLVMTypeOf(expected), carrier = carrier_of(m, type);
    if (!carrier) {
        bracket_typed(m, access, type, false);
        return;
    }
    LLVMValueRef wanted = to_carrier(m, expected, carrier);
    LLVMValueRef arguments[] = {address_of(m, access),
                                wanted,
                                to_carrier(m, LLVMGetOperand(inst, 2), carrier),
                                int_constant(m, order_number(LLVMGetCmpXchgSuccessOrdering(inst))),
                                int_constant(m, order_number(LLVMGetCmpXchgFailureOrdering(inst))),
                                access->site};
    LLVMValueRef old = call_sized(m, "__portent_atomic_cas", LLVMGetIntTypeWidth(carrier) / 8, carrier, arguments, 6);
    LLVMValueRef equal = LLVMBuildICmp(m->builder, LLVMIntEQ, old, wanted, "");
    LLVMValueRef pair = LLVMGetUndef(LLVMTypeOf(inst));
    pair = LLVMBuildInsertValue(m->builder, pair, from_carrier(m, old, type), 0, "");
    replace(inst, LLVMBuildInsertValue(m->builder, pair, equal, 1, ""));
}

void pt_keep_function(struct pt_module *m, LLVMValueRef call)
{
    unsigned kind = LLVMGetEnumAttributeKindForName("nobuiltin", 9);
    LLVMAddCallSiteAttribute(call, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(m->context, kind, 0));
}

static LLVMValueRef size_of(struct pt_module *m, const struct pt_hooked_access *access)
{
    if (access->size == PT_NONE)
        return LLVMConstInt(m->i64, access->bytes, false);
    return LLVMBuildIntCast2(m->builder, LLVMGetOperand(access->inst, access->size), m->i64, false, "");
}

/* The fortified forms stop the program when size > room. They keep doing that, and are asked to copy nothing otherwise.
 */
static void check_room(struct pt_module *m, LLVMValueRef call, const struct pt_sync_row *row)
{
    LLVMValueRef size = LLVMGetOperand(call, pt_operand(row->size)), room = LLVMGetOperand(call, pt_operand(row->room));
    if (LLVMIsAConstantInt(room) && LLVMConstIntGetSExtValue(room) == -1)
        return;
    LLVMValueRef too_much = LLVMBuildICmp(m->builder, LLVMIntUGT, size, room, "");
    LLVMValueRef checked = LLVMBuildSelect(m->builder, too_much, size, LLVMConstNull(LLVMTypeOf(size)), "");
    LLVMValueRef arguments[] = {LLVMGetOperand(call, 0), LLVMGetOperand(call, 1), checked, room};
    pt_keep_function(
        m, LLVMBuildCall2(m->builder, LLVMGetCalledFunctionType(call), LLVMGetCalledValue(call), arguments, 4, ""));
}

static void replace_block(struct pt_module *m, const struct pt_hooked_access *access)
{
    const struct pt_sync_row *row = access->row;
    LLVMValueRef call = access->inst, to = LLVMGetOperand(call, pt_operand(row->buffer));
    LLVMValueRef second = LLVMGetOperand(call, pt_operand(row->source));
    if (row->room)
        check_room(m, call, row);
    bool copies = access->kind == PT_ACCESS_COPY;
    const char *name = !copies ? "__portent_memset" : row->moves ? "__portent_memmove" : "__portent_memcpy";
    LLVMValueRef arguments[] = {as_bytes(m, to),
                                copies ? as_bytes(m, second) : LLVMBuildIntCast2(m->builder, second, m->i32, false, ""),
                                size_of(m, access), access->site, access->other_site};
    pt_call_hook(m, name, m->byte_pointer, arguments, copies ? 5 : 4);
    bool has_result = LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMPointerTypeKind;
    replace(call, has_result ? to : NULL);
}

static void replace_string(struct pt_module *m, const struct pt_hooked_access *access)
{
    const struct pt_sync_row *row = access->row;
    LLVMValueRef call = access->inst, to = LLVMGetOperand(call, pt_operand(row->buffer));
    LLVMValueRef unbounded = LLVMConstAllOnes(m->i64);
    LLVMValueRef limit = row->size ? LLVMGetOperand(call, pt_operand(row->size)) : unbounded;
    LLVMValueRef room = row->room ? LLVMGetOperand(call, pt_operand(row->room)) : unbounded;
    LLVMValueRef arguments[] = {as_bytes(m, to),
                                as_bytes(m, LLVMGetOperand(call, pt_operand(row->source))),
                                LLVMBuildIntCast2(m->builder, limit, m->i64, false, ""),
                                LLVMBuildIntCast2(m->builder, room, m->i64, false, ""),
                                int_constant(m, row->string),
                                access->site,
                                access->other_site};
    LLVMValueRef end = pt_call_hook(m, "__portent_string", m->byte_pointer, arguments, 7);
    replace(call, row->returns_end ? end : to);
}

/* What is formatted lies in the first bytes. A size that only means `enough` must not hold half of the memory. */
static void bracket_format(struct pt_module *m, const struct pt_hooked_access *access)
{
    pt_keep_function(m, access->inst);
    LLVMValueRef size = size_of(m, access), most = LLVMConstInt(m->i64, 4096, false);
    LLVMValueRef more = LLVMBuildICmp(m->builder, LLVMIntUGT, size, most, "");
    bracket(m, access, LLVMBuildSelect(m->builder, more, most, size, ""), false);
}

static void go_behind(struct pt_module *m, LLVMValueRef call)
{
    LLVMPositionBuilderBefore(m->builder, LLVMGetNextInstruction(call));
    LLVMSetCurrentDebugLocation2(m->builder, LLVMInstructionGetDebugLoc(call));
}

/* The call is an atomic store. */
static void bracket_release(struct pt_module *m, const struct pt_hooked_access *access)
{
    LLVMTypeRef none = LLVMVoidTypeInContext(m->context);
    LLVMValueRef address = address_of(m, access), size = size_of(m, access), effect = int_constant(m, PT_ATOMIC_WRITE);
    LLVMValueRef before[] = {address, size, effect, access->site};
    LLVMValueRef after[] = {address, size, effect, int_constant(m, __ATOMIC_RELEASE), access->site};
    pt_call_hook(m, "__portent_begin_atomic", none, before, 4);
    go_behind(m, access->inst);
    pt_call_hook(m, "__portent_end_atomic", none, after, 5);
}

/* The call may wait for whoever releases the object, so it is not bracketed: the load comes behind it. */
static void acquire_after(struct pt_module *m, const struct pt_hooked_access *access)
{
    LLVMValueRef arguments[] = {address_of(m, access), int_constant(m, __ATOMIC_ACQUIRE), access->site};
    go_behind(m, access->inst);
    call_sized(m, "__portent_atomic_load", access->bytes, LLVMInt8TypeInContext(m->context), arguments, 3);
}

/* How much it was is found out behind it. */
static void tell_read(struct pt_module *m, const struct pt_hooked_access *access)
{
    LLVMValueRef call = access->inst, other = LLVMConstNull(m->byte_pointer), size = LLVMConstAllOnes(m->i64);
    if (access->other != PT_NONE)
        other = LLVMGetOperand(call, access->other);
    if (LLVMGetTypeKind(LLVMTypeOf(other)) == LLVMIntegerTypeKind)
        other = LLVMBuildIntToPtr(m->builder, other, m->byte_pointer, "");
    if (access->size != PT_NONE)
        size = LLVMBuildIntCast2(m->builder, LLVMGetOperand(call, access->size), m->i64, false, "");
    LLVMValueRef arguments[] = {address_of(m, access), as_bytes(m, other), size, int_constant(m, (int)access->bytes),
                                access->site};
    pt_call_hook(m, "__portent_read", LLVMVoidTypeInContext(m->context), arguments, 5);
}

/* A std::thread's handle is read before it is joined; it is 0 when there is nothing to join. */
static LLVMValueRef object_of(struct pt_module *m, const struct pt_hooked_access *access)
{
    if (access->address == PT_NONE)
        return LLVMConstNull(m->byte_pointer);
    LLVMValueRef object = LLVMGetOperand(access->inst, access->address);
    if (LLVMGetTypeKind(LLVMTypeOf(object)) != LLVMPointerTypeKind)
        return LLVMBuildIntToPtr(m->builder, object, m->byte_pointer, "");
    if (!access->row->joins)
        return as_bytes(m, object);
    object = LLVMBuildBitCast(m->builder, object, LLVMPointerType(m->byte_pointer, 0), "");
    return LLVMBuildLoad2(m->builder, m->byte_pointer, object, "");
}

/* Nothing may come between this and the call. */
static void announce_call(struct pt_module *m, const struct pt_hooked_access *access)
{
    if (access->row->buffer)
        pt_keep_function(m, access->inst);
    LLVMValueRef arguments[] = {object_of(m, access), access->site,
                                access->other_site ? access->other_site : LLVMConstNull(m->byte_pointer)};
    pt_call_hook(m, "__portent_call", LLVMVoidTypeInContext(m->context), arguments, 3);
}

/* In a twin, where selecting instructions is not the fast kind, which gives blocks up for thread-local memory. Who runs
 * one does not want to know where a lock is given up: the place would only be one more whose first executions are in
 * windows, and a window that begins there sees nothing that one at the next place would not. */
bool pt_announce_in_place(struct pt_module *m, const struct pt_hooked_access *access)
{
    const struct pt_sync_row *row = access->row;
    if (access->kind != PT_ACCESS_CALL || access->address == PT_NONE || row->buffer || row->waits || access->other_site)
        return false;
    if (pt_sync_gives_back(row))
        return true;
    LLVMPositionBuilderBefore(m->builder, access->inst);
    pt_store_call(m, object_of(m, access), access->site);
    return true;
}

/* Of a text it is not known before it is there how long it is. */
static void tell_allocation(struct pt_module *m, const struct pt_hooked_access *access)
{
    const struct pt_sync_row *row = access->row;
    LLVMValueRef call = access->inst, size = LLVMConstInt(m->i64, 0, false);
    go_behind(m, call);
    if (row->size)
        size = LLVMBuildIntCast2(m->builder, LLVMGetOperand(call, pt_operand(row->size)), m->i64, false, "");
    if (row->count)
        size = LLVMBuildMul(
            m->builder, size,
            LLVMBuildIntCast2(m->builder, LLVMGetOperand(call, pt_operand(row->count)), m->i64, false, ""), "");
    LLVMValueRef arguments[] = {as_bytes(m, call), size, access->site};
    pt_call_hook(m, "__portent_allocated", LLVMVoidTypeInContext(m->context), arguments, 3);
}

void pt_replace_access(struct pt_module *m, const struct pt_hooked_access *access)
{
    LLVMPositionBuilderBefore(m->builder, access->inst);
    switch (access->kind) {
    case PT_ACCESS_NONE:
        break;
    case PT_ACCESS_LOAD:
        replace_load(m, access);
        break;
    case PT_ACCESS_STORE:
        replace_store(m, access);
        break;
    case PT_ACCESS_RMW:
        replace_rmw(m, access);
        break;
    case PT_ACCESS_CAS:
        replace_cas(m, access);
        break;
    case PT_ACCESS_FENCE: {
        LLVMValueRef arguments[] = {int_constant(m, fence_order(access->inst)), access->site};
        pt_call_hook(m, "__portent_fence", LLVMVoidTypeInContext(m->context), arguments, 2);
        replace(access->inst, NULL);
        break;
    }
    case PT_ACCESS_COPY:
    case PT_ACCESS_FILL:
        replace_block(m, access);
        break;
    case PT_ACCESS_STRING:
        replace_string(m, access);
        break;
    case PT_ACCESS_FORMAT:
        bracket_format(m, access);
        break;
    case PT_ACCESS_LIBRARY_STORE:
        bracket_release(m, access);
        break;
    case PT_ACCESS_LIBRARY_LOAD:
        acquire_after(m, access);
        break;
    case PT_ACCESS_LIBRARY_ATOMIC:
        pt_bracket_libatomic(m, access, size_of(m, access));
        break;
    case PT_ACCESS_LIBRARY_READ:
        go_behind(m, access->inst);
        tell_read(m, access);
        break;
    case PT_ACCESS_CALL:
        announce_call(m, access);
        break;
    case PT_ACCESS_ALLOCATION:
        tell_allocation(m, access);
        break;
    }
}
