/*
 * Which instructions of a function touch memory that another thread may touch, too.
 *
 * Left out: stack memory whose address has not left the function (private.c), constants, loads that cannot change
 * (!invariant.load, and entries of C++ vtables), and other address spaces (%fs- and %gs-relative memory on x86, which
 * hooks cannot name). Linear in the function, times the depth of address computations.
 */
#include "instrument/module.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ADDRESS_STEPS 64 /* longer chains of GEPs and casts count as unknown */

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

const char *pt_callee_name(LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (!callee || !LLVMIsAFunction(callee))
        return "";
    size_t len;
    return LLVMGetValueName2(callee, &len);
}

/* The opcode of an instruction or constant expression; 0 for anything else. */
static unsigned opcode_of(LLVMValueRef value)
{
    if (LLVMIsAInstruction(value))
        return LLVMGetInstructionOpcode(value);
    return LLVMIsAConstantExpr(value) ? LLVMGetConstOpcode(value) : 0;
}

/* Adds a GEP to the way. */
static void add_gep(struct pt_module *m, LLVMValueRef gep, struct pt_way *way)
{
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    int operands = LLVMGetNumOperands(gep);
    for (int i = 1; i < operands; i++) {
        LLVMValueRef index = LLVMGetOperand(gep, (unsigned)i);
        bool known = LLVMIsAConstantInt(index) != NULL;
        int64_t at = known ? LLVMConstIntGetSExtValue(index) : 0;
        if (i > 1) {
            LLVMTypeKind kind = LLVMGetTypeKind(type);
            if (kind == LLVMStructTypeKind) {
                way->offset += (int64_t)LLVMOffsetOfElement(m->layout, type, (unsigned)at);
                type = LLVMStructGetTypeAtIndex(type, (unsigned)at);
                continue;
            }
            if (kind != LLVMArrayTypeKind && kind != LLVMVectorTypeKind)
                return; /* vectors of pointers, scalable vectors: nobody names those */
            type = LLVMGetElementType(type);
        }
        uint64_t step = LLVMABISizeOfType(m->layout, type);
        way->offset += at * (int64_t)step;
        if (!known && (way->unknown_max == 0 || step < way->unknown_min))
            way->unknown_min = step;
        if (!known && step > way->unknown_max)
            way->unknown_max = step;
    }
}

/* What tells the optimiser when a local is alive; with typed pointers through a cast of the local. */
static bool is_lifetime(LLVMValueRef user)
{
    if (LLVMIsACallInst(user))
        return starts_with(pt_callee_name(user), "llvm.lifetime.");
    LLVMUseRef use = LLVMIsABitCastInst(user) ? LLVMGetFirstUse(user) : NULL;
    bool only = use != NULL;
    for (; use && only; use = LLVMGetNextUse(use))
        only = LLVMIsACallInst(LLVMGetUser(use)) && starts_with(pt_callee_name(LLVMGetUser(use)), "llvm.lifetime.");
    return only;
}

/* What is in memory that holds one value all the time: an argument of a function that was inlined without optimisation.
 * NULL: not known. */
static LLVMValueRef only_value(struct pt_module *m, LLVMValueRef slot)
{
    LLVMValueRef value = NULL;
    if (!LLVMIsAAllocaInst(slot) || pt_map64_get(&m->local_variables, pt_key(slot)) != PT_NONE)
        return NULL;
    for (LLVMUseRef use = LLVMGetFirstUse(slot); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        bool store = LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == slot && !value;
        if (store)
            value = LLVMGetOperand(user, 0);
        else if (!LLVMIsALoadInst(user) && !is_lifetime(user))
            return NULL;
    }
    return value;
}

LLVMValueRef pt_base_of(struct pt_module *m, LLVMValueRef pointer, struct pt_way *ret_way)
{
    struct pt_way way = {0};
    for (unsigned steps = 0; steps < MAX_ADDRESS_STEPS; steps++) {
        if (ret_way && pt_map64_get(&m->local_variables, pt_key(pointer)) != PT_NONE)
            break;
        unsigned opcode = opcode_of(pointer);
        LLVMValueRef held = ret_way && opcode == LLVMLoad ? only_value(m, LLVMGetOperand(pointer, 0)) : NULL;
        if (held) {
            pointer = held;
            continue;
        }
        if (opcode == LLVMGetElementPtr && ret_way)
            add_gep(m, pointer, &way);
        if (opcode != LLVMGetElementPtr && opcode != LLVMBitCast && opcode != LLVMAddrSpaceCast)
            break;
        pointer = LLVMGetOperand(pointer, 0);
    }
    if (ret_way)
        *ret_way = way;
    return pointer;
}

/* The one index of a GEP that is no constant, of 64 bits; NULL: there are none, or it is not so simple. */
static LLVMValueRef only_index(struct pt_module *m, LLVMValueRef gep)
{
    LLVMValueRef found = NULL;
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        if (LLVMIsAConstantInt(index))
            continue;
        if (found || LLVMTypeOf(index) != m->i64)
            return NULL;
        found = index;
    }
    return found;
}

struct pt_address pt_address_of(struct pt_module *m, LLVMValueRef pointer)
{
    struct pt_address address = {.base = pointer};
    for (unsigned steps = 0; steps < MAX_ADDRESS_STEPS; steps++) {
        struct pt_way way = {.offset = address.offset};
        LLVMValueRef index = NULL;
        unsigned opcode = opcode_of(address.base);
        if (opcode == LLVMGetElementPtr) {
            add_gep(m, address.base, &way);
            index = way.unknown_max ? only_index(m, address.base) : NULL;
            if (way.unknown_max && (!index || address.index || way.unknown_max > UINT32_MAX))
                break;
        } else if (opcode != LLVMBitCast) {
            break;
        }
        if (way.offset != (int32_t)way.offset)
            break;
        address.offset = (int32_t)way.offset;
        if (index) {
            address.index = index;
            address.scale = (uint32_t)way.unknown_max;
        }
        address.base = LLVMGetOperand(address.base, 0);
    }
    return address;
}

static bool is_constant(LLVMValueRef base)
{
    return (LLVMIsAGlobalVariable(base) && LLVMIsGlobalConstant(base)) || LLVMIsAFunction(base);
}

/* Clang tags loads of an object's vtable pointer; what is read through such a pointer is an entry of a constant table.
 */
static bool is_vtable_entry(struct pt_module *m, LLVMValueRef base)
{
    if (!LLVMIsALoadInst(base))
        return false;
    LLVMValueRef tag = LLVMGetMetadata(base, m->kind_tbaa), operands[8], type[8];
    if (!tag || LLVMGetMDNodeNumOperands(tag) < 3 || LLVMGetMDNodeNumOperands(tag) > 8)
        return false;
    LLVMGetMDNodeOperands(tag, operands);
    if (!operands[1] || !LLVMIsAMDNode(operands[1]))
        return false;
    unsigned count = LLVMGetMDNodeNumOperands(operands[1]);
    if (count < 1 || count > 8)
        return false;
    LLVMGetMDNodeOperands(operands[1], type);
    unsigned len = 0;
    const char *name = type[0] && LLVMIsAMDString(type[0]) ? LLVMGetMDString(type[0], &len) : NULL;
    return name && len == 14 && memcmp(name, "vtable pointer", 14) == 0;
}

bool pt_may_be_shared(struct pt_module *m, LLVMValueRef address, LLVMValueRef inst)
{
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(address)) != 0)
        return false;
    LLVMValueRef base = pt_base_of(m, address, NULL);
    if (LLVMIsAGlobalVariable(base)) {
        size_t len;
        if (starts_with(LLVMGetValueName2(base, &len), "llvm."))
            return false;
    }
    return !pt_is_private(m, base, inst);
}

/* Calls that hooks replace or bracket are found before the optimiser, which would put something else in their place.
 * Those it has made itself are found after it. */
static bool is_for_phase(struct pt_module *m, const struct pt_hooked_access *access)
{
    bool intrinsic = LLVMIsACallInst(access->inst) && strncmp(pt_callee_name(access->inst), "llvm.", 5) == 0;
    switch (access->kind) {
    case PT_ACCESS_COPY:
    case PT_ACCESS_FILL:
    case PT_ACCESS_STRING:
        if (m->phase == PT_PHASE_AFTER) /* fortified calls are left to check sizes (hooks.c) */
            return intrinsic || access->row->room == 0;
        return m->phase == PT_PHASE_ONLY || !intrinsic;
    case PT_ACCESS_FORMAT:
    case PT_ACCESS_LIBRARY_STORE:
    case PT_ACCESS_LIBRARY_LOAD:
    case PT_ACCESS_LIBRARY_ATOMIC:
        return m->phase != PT_PHASE_AFTER;
    default:
        return m->phase != PT_PHASE_BEFORE;
    }
}

static void add_access(struct pt_module *m, struct pt_hooked_access access)
{
    if (!is_for_phase(m, &access))
        return;
    PT_PUSH(m->accesses, m->access_count, m->access_cap, access);
}

static bool is_zero(LLVMValueRef value)
{
    return LLVMIsAConstantInt(value) && LLVMIsNull(value);
}

static bool is_pointer(LLVMValueRef value)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind;
}

/* A function that copies into a buffer from other memory, or fills it. */
static void add_copy(struct pt_module *m, LLVMValueRef call, const struct pt_sync_row *row, enum pt_access_kind kind)
{
    unsigned buffer = pt_operand(row->buffer), source = pt_operand(row->source);
    LLVMValueRef to = LLVMGetOperand(call, buffer), from = LLVMGetOperand(call, source);
    bool copies = kind != PT_ACCESS_FILL;
    if (!is_pointer(to) || LLVMGetPointerAddressSpace(LLVMTypeOf(to)) != 0 ||
        (copies && (!is_pointer(from) || LLVMGetPointerAddressSpace(LLVMTypeOf(from)) != 0)))
        return;
    if (kind != PT_ACCESS_STRING && is_zero(LLVMGetOperand(call, pt_operand(row->size))))
        return;
    bool reads_shared = copies && pt_may_be_shared(m, from, call) && !is_constant(pt_base_of(m, from, NULL));
    bool writes_shared = pt_may_be_shared(m, to, call);
    if (reads_shared || writes_shared)
        add_access(m, (struct pt_hooked_access){.inst = call,
                                                .kind = kind,
                                                .address = writes_shared ? buffer : source,
                                                .size = kind == PT_ACCESS_STRING ? PT_NONE : pt_operand(row->size),
                                                .row = row});
}

static void add_if_shared(struct pt_module *m, struct pt_hooked_access access)
{
    LLVMValueRef pointer = LLVMGetOperand(access.inst, access.address);
    if (is_pointer(pointer) && pt_may_be_shared(m, pointer, access.inst))
        add_access(m, access);
}

/* A program may have functions of these names with other parameters; what the hook cannot be told is left alone. */
static bool can_announce(LLVMValueRef call, const struct pt_sync_row *row)
{
    unsigned arguments = LLVMGetNumArgOperands(call);
    if (row->object == 0)
        return true;
    if (row->object > arguments || row->mutex > arguments)
        return false;
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(call, pt_operand(row->object)));
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return LLVMGetPointerAddressSpace(type) == 0;
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && !row->joins;
}

/* The same of functions that fill memory: as many arguments as the row speaks of; formats have more behind them, and
 * intrinsics a flag. None of these throws, so clang does not invoke them. */
static bool can_replace(LLVMValueRef call, const struct pt_sync_row *row, enum pt_access_kind kind)
{
    const unsigned named[] = {row->buffer, row->source, row->size, row->room};
    unsigned most = 0, arguments = LLVMGetNumArgOperands(call);
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        most = named[i] > most ? named[i] : most;
    bool more = kind == PT_ACCESS_FORMAT || LLVMGetIntrinsicID(LLVMGetCalledValue(call)) != 0;
    return (arguments == most || (more && arguments > most)) && LLVMGetInstructionOpcode(call) == LLVMCall;
}

static void find_library_call(struct pt_module *m, LLVMValueRef call, const struct pt_sync_row *row,
                              enum pt_access_kind kind)
{
    unsigned buffer = pt_operand(row->buffer), size = pt_operand(row->size);
    if (kind == PT_ACCESS_CALL) {
        if (can_announce(call, row))
            add_access(
                m, (struct pt_hooked_access){
                       .inst = call, .kind = kind, .address = pt_operand(row->object), .size = PT_NONE, .row = row});
        return;
    }
    if (kind == PT_ACCESS_ALLOCATION) { /* of one that is invoked, nobody is told */
        if (LLVMGetInstructionOpcode(call) == LLVMCall && row->size <= LLVMGetNumArgOperands(call) &&
            row->count <= LLVMGetNumArgOperands(call))
            add_access(m, (struct pt_hooked_access){
                              .inst = call, .kind = kind, .address = PT_NONE, .size = PT_NONE, .row = row});
        return;
    }
    if (!can_replace(call, row, kind))
        return;
    if (kind == PT_ACCESS_LIBRARY_STORE || kind == PT_ACCESS_LIBRARY_LOAD)
        add_if_shared(m, (struct pt_hooked_access){
                             .inst = call, .kind = kind, .address = buffer, .size = size, .bytes = row->type});
    else if (kind != PT_ACCESS_FORMAT)
        add_copy(m, call, row, kind);
    else if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, size))) == LLVMIntegerTypeKind)
        add_if_shared(
            m, (struct pt_hooked_access){.inst = call, .kind = kind, .address = buffer, .size = size, .row = row});
}

static void find_call(struct pt_module *m, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    if (!callee || !LLVMIsAFunction(callee) || !LLVMIsDeclaration(callee))
        return;
    enum pt_access_kind kind;
    const struct pt_sync_row *row = pt_library_function(callee, &kind);
    struct pt_hooked_access access, reads[2];
    for (unsigned left = pt_find_reads(call, reads); left > 0; left--)
        if (!is_constant(pt_base_of(m, LLVMGetOperand(call, reads[left - 1].address), NULL)))
            add_if_shared(m, reads[left - 1]);
    if (row)
        find_library_call(m, call, row, kind);
    else if (pt_find_libatomic(call, &access))
        add_if_shared(m, access);
}

static void find_in_instruction(struct pt_module *m, LLVMValueRef inst)
{
    static const struct {
        unsigned opcode, operand;
        enum pt_access_kind kind;
    } plain[] = {{LLVMLoad, 0, PT_ACCESS_LOAD},
                 {LLVMStore, 1, PT_ACCESS_STORE},
                 {LLVMAtomicRMW, 0, PT_ACCESS_RMW},
                 {LLVMAtomicCmpXchg, 0, PT_ACCESS_CAS}};
    unsigned opcode = LLVMGetInstructionOpcode(inst);
    if (opcode == LLVMCall || opcode == LLVMInvoke) {
        find_call(m, inst);
    } else if (opcode == LLVMFence) {
        if (!LLVMIsAtomicSingleThread(inst)) /* atomic_signal_fence is for the compiler only */
            add_access(m, (struct pt_hooked_access){
                              .inst = inst, .kind = PT_ACCESS_FENCE, .address = PT_NONE, .size = PT_NONE});
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (opcode != plain[i].opcode)
            continue;
        LLVMValueRef address = LLVMGetOperand(inst, plain[i].operand), base = pt_base_of(m, address, NULL);
        if (!pt_may_be_shared(m, address, inst))
            continue;
        if (opcode == LLVMLoad &&
            (is_constant(base) || LLVMGetMetadata(inst, m->kind_invariant) || is_vtable_entry(m, base)))
            continue;
        add_access(m, (struct pt_hooked_access){
                          .inst = inst, .kind = plain[i].kind, .address = plain[i].operand, .size = PT_NONE});
    }
}

void pt_find_accesses(struct pt_module *m, LLVMValueRef function)
{
    pt_forget_private(m);
    if (m->phase != PT_PHASE_AFTER) {
        pt_separate_libatomic(m, function);
        pt_forget_private(m);
    }
    m->access_count = 0;
    m->has_locals = false;
    for (unsigned i = 0; i < LLVMCountParams(function); i++)
        m->has_locals |= pt_is_by_value(function, i);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst)) {
            m->has_locals |= LLVMIsAAllocaInst(inst) != NULL;
            if (!LLVMIsADbgInfoIntrinsic(inst) && !pt_is_opted_out(m, inst))
                find_in_instruction(m, inst);
        }
}
