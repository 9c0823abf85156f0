/*
 * Memory that belongs to one call of the function at hand: locals and arguments passed by value, as long as their
 * address has not left the function.
 *
 * A use of the address that is not known to keep it counts as an escape, from which on the memory is shared, on all
 * ways that lead on from there. What is done to it before is nobody else's business: another thread can have the
 * address only from what this one does at the escape or later, and has then seen that (SHB), so that neither a race nor
 * another order of the two is possible. Where the function may return twice (setjmp), the ways are not known.
 *
 * Cost: linear in the uses of the address; for an object that escapes, in the blocks of the function, of which at most
 * MAX_STEPS are visited for all its objects; what is left then counts as shared.
 */
#include "instrument/module.h"

#include <stdlib.h>
#include <string.h>

#define MAX_CHOICES 64     /* values that one pointer may be; more count as unknown */
#define MAX_STEPS   100000 /* some ms */

enum { SHARED, PRIVATE, FIRST_ESCAPE }; /* values of private_memory; from the last on, indices of escapes */

/* The first escape in each block, by the position of its instruction; 0: it has escaped before the block. */
struct pt_escape {
    struct pt_map64 blocks;
};

static bool is_harmless_call(LLVMValueRef call)
{
    static const char *const prefixes[] = {"llvm.lifetime.",  "llvm.dbg.",        "llvm.memcpy.", "llvm.memmove.",
                                           "llvm.memset.",    "llvm.va_start",    "llvm.va_end",  "llvm.va_copy",
                                           "llvm.invariant.", "llvm.objectsize.", "llvm.assume",  "__atomic_",
                                           "__portent_"};
    const char *name = pt_callee_name(call);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    return false;
}

/* Is the address an argument that the function keeps to itself, or promises to? From LLVM 21 on the promise is
 * `captures`, whose value is then 0. */
static bool is_kept(struct pt_module *m, LLVMValueRef call, LLVMValueRef address)
{
    static const char *const names[] = {"nocapture", "captures"};
    LLVMValueRef callee = LLVMGetCalledValue(call);
    unsigned count = LLVMGetNumArgOperands(call), kind = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names && kind == 0; i++)
        kind = LLVMGetEnumAttributeKindForName(names[i], strlen(names[i]));
    if (callee == address || kind == 0)
        return false;
    for (unsigned i = 0; i < count; i++) {
        if (LLVMGetOperand(call, i) != address || (LLVMIsAFunction(callee) && pt_is_kept(m, callee, i)))
            continue;
        LLVMAttributeRef promise = LLVMGetCallSiteEnumAttribute(call, i + 1, kind);
        if (!promise && LLVMIsAFunction(callee))
            promise = LLVMGetEnumAttributeAtIndex(callee, i + 1, kind);
        if (!promise || LLVMGetEnumAttributeValue(promise) != 0)
            return false;
    }
    return true;
}

/* Does this use let the address out of sight? *ret_derived: the user is again an address into the object. */
static bool use_escapes(struct pt_module *m, LLVMValueRef user, LLVMValueRef address, bool *ret_derived)
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
    case LLVMPHI:
    case LLVMSelect:
        *ret_derived = true;
        return false;
    case LLVMCall:
    case LLVMInvoke:
        return !is_harmless_call(user) && !is_kept(m, user, address);
    default:
        return true;
    }
}

/* Positions of all instructions in their blocks, from 1 on. */
static void number_instructions(struct pt_module *m, LLVMValueRef function)
{
    m->numbered = true;
    m->returns_twice = false;
    unsigned twice = LLVMGetEnumAttributeKindForName("returns_twice", 13);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        uint32_t position = 0;
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst)) {
            *pt_map64_at(&m->positions, pt_key(inst)) = ++position;
            LLVMValueRef callee = LLVMIsACallInst(inst) || LLVMIsAInvokeInst(inst) ? LLVMGetCalledValue(inst) : NULL;
            m->returns_twice |= callee && LLVMIsAFunction(callee) &&
                                LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, twice) != NULL;
        }
    }
}

static void add_escape(struct pt_module *m, struct pt_escape *escape, LLVMValueRef inst)
{
    uint32_t *first = pt_map64_at(&escape->blocks, pt_key(LLVMBasicBlockAsValue(LLVMGetInstructionParent(inst))));
    uint32_t position = pt_map64_get(&m->positions, pt_key(inst));
    if (position < *first) /* PT_NONE is the highest */
        *first = position;
}

bool pt_each_escape(struct pt_module *m, LLVMValueRef object, bool (*visit)(struct pt_module *, LLVMValueRef, void *),
                    void *context)
{
    LLVMValueRef *work = NULL;
    size_t count = 0, cap = 0;
    bool goes_on = true;
    struct pt_map64 seen; /* a pointer that goes around a loop is derived of itself */
    pt_map64_init(&seen);
    PT_PUSH(work, count, cap, object);
    while (goes_on && count > 0) {
        LLVMValueRef address = work[--count];
        for (LLVMUseRef use = LLVMGetFirstUse(address); use && goes_on; use = LLVMGetNextUse(use)) {
            LLVMValueRef user = LLVMGetUser(use);
            bool derived = false;
            goes_on = LLVMIsAInstruction(user) && (!use_escapes(m, user, address, &derived) || visit(m, user, context));
            uint32_t *old = goes_on && derived ? pt_map64_at(&seen, pt_key(user)) : NULL;
            if (old && *old == PT_NONE) {
                *old = 1;
                PT_PUSH(work, count, cap, user);
            }
        }
    }
    pt_map64_release(&seen);
    free(work);
    return goes_on;
}

static bool note_escape(struct pt_module *m, LLVMValueRef inst, void *escape)
{
    add_escape(m, escape, inst);
    return true;
}

/* Marks all blocks to which a way leads from an escape; false: there are too many. */
static bool follow(struct pt_module *m, LLVMValueRef function, struct pt_escape *escape)
{
    LLVMBasicBlockRef *work = NULL;
    size_t count = 0, cap = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        if (pt_map64_get(&escape->blocks, pt_key(LLVMBasicBlockAsValue(block))) != PT_NONE)
            PT_PUSH(work, count, cap, block);
    while (count > 0 && m->private_steps < MAX_STEPS) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(work[--count]);
        for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++) {
            LLVMBasicBlockRef next = LLVMGetSuccessor(end, i);
            uint32_t *first = pt_map64_at(&escape->blocks, pt_key(LLVMBasicBlockAsValue(next)));
            m->private_steps++;
            if (*first != 0)
                PT_PUSH(work, count, cap, next);
            *first = 0;
        }
    }
    free(work);
    return count == 0;
}

static uint32_t judge(struct pt_module *m, LLVMValueRef object, LLVMValueRef function)
{
    struct pt_escape escape;
    if (!m->numbered)
        number_instructions(m, function);
    pt_map64_init(&escape.blocks);
    bool known = pt_each_escape(m, object, note_escape, &escape);
    if (known && escape.blocks.count > 0 && !m->returns_twice && follow(m, function, &escape)) {
        PT_PUSH(m->escapes, m->escape_count, m->escape_cap, escape);
        return FIRST_ESCAPE + (uint32_t)m->escape_count - 1;
    }
    bool inside = known && escape.blocks.count == 0;
    pt_map64_release(&escape.blocks);
    return inside ? PRIVATE : SHARED;
}

bool pt_is_by_value(LLVMValueRef function, unsigned parameter)
{
    return LLVMGetEnumAttributeAtIndex(function, parameter + 1, LLVMGetEnumAttributeKindForName("byval", 5)) != NULL;
}

/* Is this memory a local of the function, or an argument passed by value, and private at the instruction? */
static bool is_private_object(struct pt_module *m, LLVMValueRef base, LLVMValueRef inst)
{
    LLVMBasicBlockRef block = LLVMGetInstructionParent(inst);
    LLVMValueRef function = LLVMGetBasicBlockParent(block);
    bool local = LLVMIsAAllocaInst(base) != NULL;
    if (LLVMIsAArgument(base)) {
        unsigned index = 0;
        while (LLVMGetParam(function, index) != base)
            index++;
        local = pt_is_by_value(function, index);
    }
    if (!local)
        return false;
    uint32_t answer = pt_map64_get(&m->private_memory, pt_key(base));
    if (answer == PT_NONE) {
        answer = judge(m, base, function);
        *pt_map64_at(&m->private_memory, pt_key(base)) = answer;
    }
    if (answer < FIRST_ESCAPE)
        return answer == PRIVATE;
    const struct pt_escape *escape = &m->escapes[answer - FIRST_ESCAPE];
    uint32_t first = pt_map64_get(&escape->blocks, pt_key(LLVMBasicBlockAsValue(block)));
    return first == PT_NONE || pt_map64_get(&m->positions, pt_key(inst)) < first;
}

/* A pointer may be one of several values: all must be. */
bool pt_is_private(struct pt_module *m, LLVMValueRef base, LLVMValueRef inst)
{
    if (!LLVMIsAPHINode(base) && !LLVMIsASelectInst(base))
        return is_private_object(m, base, inst);
    LLVMValueRef work[MAX_CHOICES];
    unsigned count = 1, done = 0;
    bool inside = true;
    work[0] = base;
    for (; done < count && inside; done++) {
        bool phi = LLVMIsAPHINode(work[done]) != NULL;
        if (!phi && !LLVMIsASelectInst(work[done])) {
            inside = is_private_object(m, work[done], inst);
            continue;
        }
        unsigned values = phi ? LLVMCountIncoming(work[done]) : 2;
        for (unsigned i = 0; i < values && inside; i++) {
            LLVMValueRef value = phi ? LLVMGetIncomingValue(work[done], i) : LLVMGetOperand(work[done], i + 1);
            unsigned known = 0;
            value = pt_base_of(m, value, NULL);
            while (known < count && work[known] != value)
                known++;
            inside = known < MAX_CHOICES;
            if (inside && known == count)
                work[count++] = value;
        }
    }
    return inside;
}

void pt_forget_private(struct pt_module *m)
{
    for (size_t i = 0; i < m->escape_count; i++)
        pt_map64_release(&m->escapes[i].blocks);
    m->escape_count = 0;
    m->private_steps = 0;
    m->numbered = false;
    pt_map64_release(&m->private_memory);
    pt_map64_init(&m->private_memory);
    pt_map64_release(&m->positions);
    pt_map64_init(&m->positions);
}
