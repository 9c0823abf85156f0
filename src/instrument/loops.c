/*
 * Where a function goes on in its other body before it ends: at the loops in which a thread may stay for long.
 *
 * Such a loop is entered, and repeated, through one block for both bodies, which chooses again (twins.c), so a thread
 * whose work is one loop is in the body that is wanted once round it. They are the outermost loops that call
 * something, or have a loop in them: one more load in each turn is nothing there. In all other code the choice is made
 * when a function is entered.
 *
 * What such a loop gets from before it may then come from either body, and so may what is used behind it. Each such
 * value has a place in memory, which LLVM makes into a register again (mem2reg). Values of the loop itself do not: who
 * leaves it in one body has been through it there.
 *
 * Left out: loops with several entries, and functions where what a loop gets is the result of a call that may throw.
 * Cost: linear in the function, for each of its outermost loops.
 */
#include "instrument/loops.h"

#include <stdlib.h>

enum { LOOPS = 32, BLOCKS = 4096 }; /* in functions with more, nobody changes the body */

static uint32_t index_of(const struct pt_loops *loops, LLVMBasicBlockRef block)
{
    return pt_map64_get(&loops->at, pt_key(LLVMBasicBlockAsValue(block)));
}

static uint32_t successor(const struct pt_loops *loops, uint32_t block, unsigned i)
{
    return index_of(loops, LLVMGetSuccessor(LLVMGetBasicBlockTerminator(loops->blocks[block]), i));
}

static unsigned successors(const struct pt_loops *loops, uint32_t block)
{
    return LLVMGetNumSuccessors(LLVMGetBasicBlockTerminator(loops->blocks[block]));
}

/* ---- strongly connected components (Tarjan) ---- */

struct search {
    struct pt_loops *loops;
    uint32_t *number, *low, *stack;
    uint32_t next, depth;
    bool *waits;
};

static void visit(struct search *s, uint32_t block)
{
    s->number[block] = s->low[block] = ++s->next;
    s->stack[s->depth++] = block;
    s->waits[block] = true;
    for (unsigned i = 0; i < successors(s->loops, block); i++) {
        uint32_t to = successor(s->loops, block, i);
        if (!s->number[to])
            visit(s, to);
        if (s->waits[to] && s->low[to] < s->low[block])
            s->low[block] = s->low[to];
    }
    if (s->low[block] != s->number[block])
        return;
    uint32_t member;
    do {
        member = s->stack[--s->depth];
        s->waits[member] = false;
        s->loops->component[member] = s->number[block];
    } while (member != block);
}

static void find_components(struct pt_loops *loops)
{
    struct search s = {.loops = loops};
    s.number = calloc(loops->block_count, sizeof *s.number);
    s.low = calloc(loops->block_count, sizeof *s.low);
    s.stack = calloc(loops->block_count, sizeof *s.stack);
    s.waits = calloc(loops->block_count, sizeof *s.waits);
    loops->component = calloc(loops->block_count, sizeof *loops->component);
    visit(&s, 0);
    free(s.number);
    free(s.low);
    free(s.stack);
    free(s.waits);
}

/* ---- which loops ---- */

static bool calls_something(const struct pt_loops *loops, uint32_t block)
{
    for (LLVMValueRef inst = LLVMGetFirstInstruction(loops->blocks[block]); inst; inst = LLVMGetNextInstruction(inst)) {
        LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
        LLVMValueRef callee = opcode == LLVMCall || opcode == LLVMInvoke ? LLVMGetCalledValue(inst) : NULL;
        if (opcode == LLVMAtomicRMW || opcode == LLVMAtomicCmpXchg ||
            (callee && !LLVMIsAInlineAsm(callee) && !(LLVMIsAFunction(callee) && LLVMGetIntrinsicID(callee))))
            return true;
    }
    return false;
}

/* Blocks that can be reached from one, without the members of a component if it is not 0, and not by their header. */
static void reach(const struct pt_loops *loops, uint32_t from, bool *reached)
{
    if (reached[from])
        return;
    reached[from] = true;
    for (unsigned i = 0; i < successors(loops, from); i++)
        reach(loops, successor(loops, from, i), reached);
}

/* Does a path lead from a member of a loop to itself that its header is not on? */
static bool has_inner_loop(const struct pt_loops *loops, uint32_t header)
{
    bool *gone = calloc(loops->block_count, sizeof *gone), found = false, changed = true;
    gone[header] = true;
    while (changed) { /* takes away whoever leads nowhere */
        changed = false;
        found = false;
        for (uint32_t b = 0; b < loops->block_count; b++) {
            bool leads = false;
            if (gone[b] || loops->component[b] != loops->component[header])
                continue;
            for (unsigned i = 0; i < successors(loops, b) && !leads; i++) {
                uint32_t to = successor(loops, b, i);
                leads = !gone[to] && loops->component[to] == loops->component[header];
            }
            gone[b] = !leads;
            changed |= !leads;
            found |= leads;
        }
    }
    free(gone);
    return found;
}

/* The one block by which a component is entered, if it is a loop; PT_NONE: it is not one, or has several. */
static uint32_t header_of(const struct pt_loops *loops, uint32_t component)
{
    uint32_t header = PT_NONE;
    bool repeats = false;
    for (uint32_t b = 0; b < loops->block_count; b++)
        for (unsigned i = 0; loops->component[b] && i < successors(loops, b); i++) {
            uint32_t to = successor(loops, b, i);
            if (loops->component[to] != component)
                continue;
            repeats |= loops->component[b] == component;
            if (loops->component[b] != component && header != PT_NONE && header != to)
                return PT_NONE;
            header = loops->component[b] != component ? to : header;
        }
    return repeats ? header : PT_NONE;
}

static bool is_worth_it(const struct pt_loops *loops, uint32_t header)
{
    if (LLVMIsALandingPadInst(LLVMGetFirstInstruction(loops->blocks[header])))
        return false;
    for (uint32_t b = 0; b < loops->block_count; b++)
        if (loops->component[b] == loops->component[header] && calls_something(loops, b))
            return true;
    return has_inner_loop(loops, header);
}

static void add_loop(struct pt_loops *loops, uint32_t header)
{
    struct pt_loop *loop = &loops->loops[loops->count++];
    *loop = (struct pt_loop){.header = loops->blocks[header], .component = loops->component[header]};
    loop->from = calloc(loops->block_count, sizeof *loop->from);
    reach(loops, header, loop->from);
}

/* ---- what comes from before a loop ---- */

static LLVMBasicBlockRef place_of_use(LLVMValueRef user, unsigned operand)
{
    return LLVMIsAPHINode(user) ? LLVMGetIncomingBlock(user, operand) : LLVMGetInstructionParent(user);
}

/* By one of the loops: is it from before it, and used in it or behind it? */
static bool is_carried(const struct pt_loops *loops, const struct pt_loop *loop, LLVMValueRef value)
{
    if (loop->from[index_of(loops, LLVMGetInstructionParent(value))])
        return false;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(user); i++)
            if (LLVMGetOperand(user, i) == value && loop->from[index_of(loops, place_of_use(user, i))])
                return true;
    }
    return false;
}

static bool is_of_header(const struct pt_loops *loops, LLVMValueRef value)
{
    for (size_t i = 0; LLVMIsAPHINode(value) && i < loops->count; i++)
        if (loops->loops[i].header == LLVMGetInstructionParent(value))
            return true;
    return false;
}

static bool is_local(LLVMValueRef value)
{
    return LLVMIsAAllocaInst(value) && LLVMIsConstant(LLVMGetOperand(value, 0)) &&
           LLVMGetInstructionParent(value) ==
               LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(LLVMGetInstructionParent(value)));
}

/* False: one of them cannot be kept in memory. */
static bool find_carried(struct pt_loops *loops)
{
    for (uint32_t b = 0; b < loops->block_count; b++)
        for (LLVMValueRef inst = LLVMGetFirstInstruction(loops->blocks[b]); inst; inst = LLVMGetNextInstruction(inst)) {
            bool carried = false;
            for (size_t i = 0; i < loops->count && loops->component[b] && !is_local(inst) && !is_of_header(loops, inst);
                 i++)
                carried |= is_carried(loops, &loops->loops[i], inst);
            if (carried && (LLVMIsAInvokeInst(inst) || LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMTokenTypeKind))
                return false;
            if (carried)
                PT_PUSH(loops->carried, loops->carried_count, loops->carried_cap, inst);
        }
    return true;
}

void pt_find_loops(LLVMValueRef function, struct pt_loops *ret_loops)
{
    struct pt_loops *loops = ret_loops;
    *loops = (struct pt_loops){0};
    pt_map64_init(&loops->at);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        *pt_map64_at(&loops->at, pt_key(LLVMBasicBlockAsValue(block))) = (uint32_t)loops->block_count;
        PT_PUSH(loops->blocks, loops->block_count, loops->block_cap, block);
    }
    loops->loops = calloc(LOOPS, sizeof *loops->loops);
    if (loops->block_count > BLOCKS)
        return;
    find_components(loops);
    for (uint32_t b = 0; b < loops->block_count && loops->count < LOOPS; b++) {
        uint32_t header = loops->component[b] ? header_of(loops, loops->component[b]) : PT_NONE;
        if (header == b && is_worth_it(loops, b))
            add_loop(loops, b);
    }
    if (!find_carried(loops))
        loops->count = loops->carried_count = 0;
}

void pt_release_loops(struct pt_loops *loops)
{
    for (size_t i = 0; i < LOOPS; i++)
        free(loops->loops[i].from);
    free(loops->loops);
    free(loops->blocks);
    free(loops->component);
    free(loops->carried);
    pt_map64_release(&loops->at);
}

/* ---- carrying ---- */

static void keep(struct pt_module *m, LLVMValueRef slot, LLVMValueRef value)
{
    LLVMValueRef after = LLVMGetNextInstruction(value);
    while (LLVMIsAPHINode(after) || LLVMIsALandingPadInst(after))
        after = LLVMGetNextInstruction(after);
    LLVMPositionBuilderBefore(m->builder, after);
    LLVMSetCurrentDebugLocation2(m->builder, NULL);
    LLVMBuildStore(m->builder, value, slot);
}

static void take(struct pt_module *m, LLVMValueRef slot, LLVMValueRef value)
{
    LLVMValueRef *users = NULL;
    size_t count = 0, cap = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use))
        PT_PUSH(users, count, cap, LLVMGetUser(use));
    for (size_t u = 0; u < count; u++)
        for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(users[u]); i++) {
            if (LLVMGetOperand(users[u], i) != value || place_of_use(users[u], i) == LLVMGetInstructionParent(value))
                continue;
            LLVMValueRef before =
                LLVMIsAPHINode(users[u]) ? LLVMGetBasicBlockTerminator(LLVMGetIncomingBlock(users[u], i)) : users[u];
            LLVMPositionBuilderBefore(m->builder, before);
            LLVMSetCurrentDebugLocation2(m->builder, NULL);
            LLVMSetOperand(users[u], i, LLVMBuildLoad2(m->builder, LLVMTypeOf(value), slot, ""));
        }
    free(users);
}

void pt_carry(struct pt_module *m, LLVMBasicBlockRef entry, LLVMValueRef value, LLVMValueRef twin)
{
    LLVMPositionBuilderBefore(m->builder, LLVMGetBasicBlockTerminator(entry));
    LLVMSetCurrentDebugLocation2(m->builder, NULL);
    LLVMValueRef slot = LLVMBuildAlloca(m->builder, LLVMTypeOf(value), "");
    take(m, slot, value);
    take(m, slot, twin);
    keep(m, slot, value);
    keep(m, slot, twin);
}

/* ---- one header for both ---- */

static void go_instead(LLVMBasicBlockRef from, LLVMBasicBlockRef to, LLVMBasicBlockRef instead)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
    for (unsigned i = 0; i < LLVMGetNumSuccessors(end); i++)
        if (LLVMGetSuccessor(end, i) == to)
            LLVMSetSuccessor(end, i, instead);
}

/* Those who go to a header; each of them once. */
static void go_all_instead(LLVMBasicBlockRef header, LLVMBasicBlockRef instead)
{
    LLVMValueRef *ends = NULL;
    size_t count = 0, cap = 0;
    for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(header)); use; use = LLVMGetNextUse(use))
        PT_PUSH(ends, count, cap, LLVMGetUser(use));
    for (size_t i = 0; i < count; i++)
        go_instead(LLVMGetInstructionParent(ends[i]), header, instead);
    free(ends);
}

static void join(LLVMValueRef joined, LLVMValueRef phi)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef value = LLVMGetIncomingValue(phi, i);
        LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, i);
        LLVMAddIncoming(joined, &value, &block, 1);
    }
}

LLVMBasicBlockRef pt_join_headers(struct pt_module *m, LLVMBasicBlockRef header, LLVMBasicBlockRef twin)
{
    LLVMBasicBlockRef both = LLVMInsertBasicBlockInContext(m->context, header, "");
    LLVMPositionBuilderAtEnd(m->builder, both);
    LLVMSetCurrentDebugLocation2(m->builder, NULL);
    go_all_instead(header, both);
    go_all_instead(twin, both);
    for (LLVMValueRef a = LLVMGetFirstInstruction(header), b = LLVMGetFirstInstruction(twin); LLVMIsAPHINode(a);) {
        LLVMValueRef joined = LLVMBuildPhi(m->builder, LLVMTypeOf(a), ""), phis[] = {a, b};
        join(joined, a);
        join(joined, b);
        a = LLVMGetNextInstruction(a);
        b = LLVMGetNextInstruction(b);
        for (size_t i = 0; i < 2; i++) {
            LLVMReplaceAllUsesWith(phis[i], joined);
            LLVMInstructionEraseFromParent(phis[i]);
        }
    }
    return both;
}
