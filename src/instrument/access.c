/*
 * Which instructions of a function touch memory that another thread may touch, too.
 *
 * Left out: stack memory whose address stays in the function (a flow-insensitive check of all uses of its address;
 * sound, since any use it does not know counts as an escape), constants, loads that cannot change (!invariant.load, and
 * entries of C++ vtables), and other address spaces (%fs- and %gs-relative memory on x86, which hooks cannot name).
 * Linear in the function, times the depth of address computations.
 */
#include "instrument/module.h"

#include <stdlib.h>
#include <string.h>

#include "core/hooks.h"

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

static bool is_harmless_call(LLVMValueRef call)
{
    static const char *const prefixes[] = {"llvm.lifetime.",  "llvm.dbg.",        "llvm.memcpy.", "llvm.memmove.",
                                           "llvm.memset.",    "llvm.va_start",    "llvm.va_end",  "llvm.va_copy",
                                           "llvm.invariant.", "llvm.objectsize.", "llvm.assume",  "__atomic_"};
    const char *name = pt_callee_name(call);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (starts_with(name, prefixes[i]))
            return true;
    return false;
}

/* Does this use let the address out of sight? *ret_derived: the user is again an address into the object. */
static bool use_escapes(LLVMValueRef user, LLVMValueRef address, bool *ret_derived)
{
    *ret_derived = false;
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMLoad:
    case LLVMICmp:
        return false;
    case LLVMStore:
        return LLVMGetOperand(user, 0) == address;
    case LLVMAtomicRMW:
        return LLVMGetOperand(user, 1) == address;
    case LLVMAtomicCmpXchg:
        return LLVMGetOperand(user, 1) == address || LLVMGetOperand(user, 2) == address;
    case LLVMGetElementPtr:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
        *ret_derived = true;
        return false;
    case LLVMCall:
        return !is_harmless_call(user);
    default:
        return true;
    }
}

static bool stays_inside(LLVMValueRef object)
{
    LLVMValueRef *work = NULL;
    size_t count = 0, cap = 0;
    bool inside = true;
    PT_PUSH(work, count, cap, object);
    while (inside && count > 0) {
        LLVMValueRef address = work[--count];
        for (LLVMUseRef use = LLVMGetFirstUse(address); use && inside; use = LLVMGetNextUse(use)) {
            LLVMValueRef user = LLVMGetUser(use);
            bool derived = false;
            inside = LLVMIsAInstruction(user) && !use_escapes(user, address, &derived);
            if (inside && derived)
                PT_PUSH(work, count, cap, user);
        }
    }
    free(work);
    return inside;
}

/* Memory that belongs to this call alone: a local or an argument passed by value whose address stays inside. */
static bool is_private(struct pt_module *m, LLVMValueRef base)
{
    bool local = LLVMIsAAllocaInst(base) != NULL;
    if (LLVMIsAArgument(base)) {
        LLVMValueRef function = LLVMGetParamParent(base);
        unsigned index = 1;
        while (LLVMGetParam(function, index - 1) != base)
            index++;
        local = LLVMGetEnumAttributeAtIndex(function, index, LLVMGetEnumAttributeKindForName("byval", 5)) != NULL;
    }
    if (!local)
        return false;
    uint32_t *known = pt_map64_at(&m->private_memory, pt_key(base));
    if (*known == PT_NONE)
        *known = stays_inside(base);
    return *known;
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

static bool may_be_shared(struct pt_module *m, LLVMValueRef address)
{
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(address)) != 0)
        return false;
    LLVMValueRef base = pt_base_of(m, address, NULL);
    if (LLVMIsAGlobalVariable(base)) {
        size_t len;
        if (starts_with(LLVMGetValueName2(base, &len), "llvm."))
            return false;
    }
    return !is_private(m, base);
}

static void add_access(struct pt_module *m, struct pt_access access)
{
    PT_PUSH(m->accesses, m->access_count, m->access_cap, access);
}

static bool is_zero(LLVMValueRef value)
{
    return LLVMIsAConstantInt(value) && LLVMIsNull(value);
}

/* memcpy and friends: operands are to, from or byte, size. */
static void add_block(struct pt_module *m, LLVMValueRef call, enum pt_access_kind kind, bool moves)
{
    LLVMValueRef to = LLVMGetOperand(call, 0), second = LLVMGetOperand(call, 1), size = LLVMGetOperand(call, 2);
    bool copies = kind == PT_ACCESS_COPY || kind == PT_ACCESS_COPY_CHECKED;
    if (LLVMGetPointerAddressSpace(LLVMTypeOf(to)) != 0 ||
        (copies && LLVMGetPointerAddressSpace(LLVMTypeOf(second)) != 0) || is_zero(size))
        return;
    bool reads_shared = copies && may_be_shared(m, second) && !is_constant(pt_base_of(m, second, NULL));
    bool writes_shared = may_be_shared(m, to);
    if (reads_shared || writes_shared)
        add_access(m, (struct pt_access){
                          .inst = call, .kind = kind, .address = writes_shared ? 0 : 1, .size = 2, .moves = moves});
}

const struct pt_string_function *pt_string_function(const char *name, unsigned arguments)
{
    static const struct pt_string_function functions[] = {
        {"strcpy", 2, PT_NONE, PT_NONE, PT_STRING_COPY, false},
        {"__strcpy_chk", 3, PT_NONE, 2, PT_STRING_COPY, false},
        {"stpcpy", 2, PT_NONE, PT_NONE, PT_STRING_COPY, true},
        {"__stpcpy_chk", 3, PT_NONE, 2, PT_STRING_COPY, true},
        {"strncpy", 3, 2, PT_NONE, PT_STRING_PAD, false},
        {"__strncpy_chk", 4, 2, 3, PT_STRING_PAD, false},
        {"stpncpy", 3, 2, PT_NONE, PT_STRING_PAD, true},
        {"__stpncpy_chk", 4, 2, 3, PT_STRING_PAD, true},
        {"strcat", 2, PT_NONE, PT_NONE, PT_STRING_APPEND, false},
        {"__strcat_chk", 3, PT_NONE, 2, PT_STRING_APPEND, false},
        {"strncat", 3, 2, PT_NONE, PT_STRING_APPEND, false},
        {"__strncat_chk", 4, 2, 3, PT_STRING_APPEND, false},
    };
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(name, functions[i].name) == 0 && arguments == functions[i].arguments)
            return &functions[i];
    return NULL;
}

static void add_string(struct pt_module *m, LLVMValueRef call)
{
    LLVMValueRef to = LLVMGetOperand(call, 0), from = LLVMGetOperand(call, 1);
    if (LLVMGetTypeKind(LLVMTypeOf(to)) != LLVMPointerTypeKind ||
        LLVMGetTypeKind(LLVMTypeOf(from)) != LLVMPointerTypeKind)
        return;
    bool reads_shared = may_be_shared(m, from) && !is_constant(pt_base_of(m, from, NULL));
    bool writes_shared = may_be_shared(m, to);
    if (reads_shared || writes_shared)
        add_access(m, (struct pt_access){
                          .inst = call, .kind = PT_ACCESS_STRING, .address = writes_shared ? 0 : 1, .size = PT_NONE});
}

/* Functions that format into (to, size, ...). */
static void find_format(struct pt_module *m, LLVMValueRef call, const char *name, unsigned arguments)
{
    static const char *const names[] = {"snprintf", "vsnprintf", "__snprintf_chk", "__vsnprintf_chk"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0 && arguments >= 3 &&
            LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, 1))) == LLVMIntegerTypeKind &&
            may_be_shared(m, LLVMGetOperand(call, 0)))
            add_access(m, (struct pt_access){.inst = call, .kind = PT_ACCESS_FORMAT, .address = 0, .size = 1});
}

/* `size` is the operand with the size, or PT_NONE when it is `bytes`. */
static void add_library_call(struct pt_module *m, LLVMValueRef call, unsigned address, unsigned size, unsigned bytes,
                             bool reads)
{
    LLVMValueRef pointer = LLVMGetOperand(call, address);
    if (LLVMGetTypeKind(LLVMTypeOf(pointer)) == LLVMPointerTypeKind && may_be_shared(m, pointer))
        add_access(m, (struct pt_access){.inst = call,
                                         .kind = reads ? PT_ACCESS_LIBRARY_READ : PT_ACCESS_LIBRARY_WRITE,
                                         .address = address,
                                         .size = size,
                                         .bytes = bytes});
}

/* Atomic operations clang leaves to libatomic: __atomic_load(size, address, ...) and __atomic_load_16(address, ...). */
static void find_libatomic(struct pt_module *m, LLVMValueRef call, const char *name, unsigned arguments)
{
    bool reads = starts_with(name, "__atomic_load");
    const char *digits = strrchr(name, '_') + 1;
    unsigned long size = strtoul(digits, NULL, 10);
    bool sized = *digits >= '1' && *digits <= '9' && size <= 16;
    if (arguments < (sized ? 2u : 3u) || starts_with(name, "__atomic_is_lock_free"))
        return;
    if (sized)
        add_library_call(m, call, 0, PT_NONE, (unsigned)size, reads);
    else if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(call, 0))) == LLVMIntegerTypeKind)
        add_library_call(m, call, 1, 0, 0, reads);
}

/* A program may have functions of these names with other parameters; what the hook cannot be told is left alone. */
static bool can_announce(LLVMValueRef call, const struct pt_sync_call *sync)
{
    unsigned arguments = LLVMGetNumArgOperands(call);
    if (sync->object == PT_NONE)
        return true;
    if (sync->object >= arguments || (sync->mutex != PT_NONE && sync->mutex >= arguments))
        return false;
    LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(call, sync->object));
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return LLVMGetPointerAddressSpace(type) == 0;
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && !sync->joins;
}

static void find_sync(struct pt_module *m, LLVMValueRef call)
{
    LLVMValueRef callee = LLVMGetCalledValue(call);
    const struct pt_sync_call *sync = callee && LLVMIsAFunction(callee) ? pt_sync_function(callee) : NULL;
    if (sync && can_announce(call, sync))
        add_access(m,
                   (struct pt_access){
                       .inst = call, .kind = PT_ACCESS_CALL, .address = sync->object, .size = PT_NONE, .sync = sync});
}

static void find_call(struct pt_module *m, LLVMValueRef call)
{
    static const struct {
        const char *name;
        unsigned arguments;
        enum pt_access_kind kind;
        bool moves;
    } blocks[] = {
        {"memcpy", 3, PT_ACCESS_COPY, false},
        {"memmove", 3, PT_ACCESS_COPY, true},
        {"memset", 3, PT_ACCESS_FILL, false},
        {"__memcpy_chk", 4, PT_ACCESS_COPY_CHECKED, false},
        {"__memmove_chk", 4, PT_ACCESS_COPY_CHECKED, true},
        {"__memset_chk", 4, PT_ACCESS_FILL_CHECKED, false},
    };
    const char *name = pt_callee_name(call);
    unsigned arguments = LLVMGetNumArgOperands(call);
    if (starts_with(name, "llvm.memcpy."))
        add_block(m, call, PT_ACCESS_COPY, false);
    else if (starts_with(name, "llvm.memmove."))
        add_block(m, call, PT_ACCESS_COPY, true);
    else if (starts_with(name, "llvm.memset."))
        add_block(m, call, PT_ACCESS_FILL, false);
    find_sync(m, call);
    if (name[0] == '\0' || !LLVMIsDeclaration(LLVMGetCalledValue(call)) || LLVMGetInstructionOpcode(call) != LLVMCall)
        return; /* none of the functions below throws, so clang does not invoke them */
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (strcmp(name, blocks[i].name) == 0 && arguments == blocks[i].arguments)
            add_block(m, call, blocks[i].kind, blocks[i].moves);
    if (pt_string_function(name, arguments))
        add_string(m, call);
    find_format(m, call, name, arguments);
    if (starts_with(name, "__atomic_"))
        find_libatomic(m, call, name, arguments);
    /* Its counterpart, the check of a function static's guard, is an ordinary acquire load of the guard's first byte.
     */
    if (strcmp(name, "__cxa_guard_release") == 0 && arguments == 1)
        add_library_call(m, call, 0, PT_NONE, 1, false);
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
            add_access(m,
                       (struct pt_access){.inst = inst, .kind = PT_ACCESS_FENCE, .address = PT_NONE, .size = PT_NONE});
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (opcode != plain[i].opcode)
            continue;
        LLVMValueRef address = LLVMGetOperand(inst, plain[i].operand), base = pt_base_of(m, address, NULL);
        if (!may_be_shared(m, address))
            continue;
        if (opcode == LLVMLoad &&
            (is_constant(base) || LLVMGetMetadata(inst, m->kind_invariant) || is_vtable_entry(m, base)))
            continue;
        add_access(
            m, (struct pt_access){.inst = inst, .kind = plain[i].kind, .address = plain[i].operand, .size = PT_NONE});
    }
}

void pt_find_accesses(struct pt_module *m, LLVMValueRef function)
{
    pt_map64_release(&m->private_memory);
    pt_map64_init(&m->private_memory);
    m->access_count = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst))
            find_in_instruction(m, inst);
}
