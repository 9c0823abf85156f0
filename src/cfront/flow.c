/*
 * Contexts, cycles, and loops that start or join threads.
 *
 * A loop that manages threads is unrolled by giving each of its rounds a context of its own, so that `t[i]` is another
 * place in every round; all other loops stay loops. Loops are found by taking strongly connected components, removing
 * the header (the first block of the component in the function's layout) and taking them again inside: linear in the
 * function times the depth of nesting, and without recursion, since functions may be long.
 *
 * A loop with a known bound is unrolled to the end, or refused when it has more than --unroll rounds. Of a loop with an
 * unknown bound the first UNKNOWN_ROUNDS rounds are kept, with a note: the answer then is about so many threads.
 */
#include <stdlib.h>
#include <string.h>

#include "cfront/abstract.h"

enum { UNKNOWN_ROUNDS = 2, MAX_CONTEXTS = 200000 };

uint32_t pt_cf_context(struct pt_cf *cf, struct pt_cf_context wanted, bool make)
{
    struct {
        uint64_t function, call;
        uint32_t parent, loop, round, unused;
    } key = {pt_key(wanted.function), pt_key(wanted.call), wanted.parent, wanted.loop, wanted.round, 0};
    if (!make)
        return pt_strtab_find(&cf->context_keys, (const char *)&key, sizeof key);
    uint32_t before = cf->context_keys.count, id = pt_strtab_intern(&cf->context_keys, (const char *)&key, sizeof key);
    if (id < before)
        return id;
    if (cf->context_count >= MAX_CONTEXTS)
        pt_cf_fail(cf, wanted.call, "the program is too large: more than %d calls after inlining", MAX_CONTEXTS);
    PT_PUSH(cf->contexts, cf->context_count, cf->context_cap, wanted);
    cf->changed = true;
    return id;
}

uint32_t pt_cf_frame(const struct pt_cf *cf, uint32_t context)
{
    while (cf->contexts[context].loop != PT_NONE)
        context = cf->contexts[context].parent;
    return context;
}

/* ---- strongly connected components of a part of a function (Tarjan, with an explicit stack) */

struct part {
    uint32_t *blocks;
    size_t count;
    uint32_t loop; /* around it */
};

struct tarjan {
    LLVMBasicBlockRef *blocks;
    struct pt_map64 index_of;              /* block to its number in `blocks` */
    uint32_t *order, *low, *stack, *owner; /* owner: number of the part a block is in */
    bool *stacked;
    uint32_t block_count, next, height, part;
    struct part *work;
    size_t work_count, work_cap;
};

struct visit {
    uint32_t block;
    unsigned successor;
};

static uint32_t successor(struct tarjan *t, uint32_t block, unsigned number)
{
    return pt_map64_get(&t->index_of, pt_key((LLVMValueRef)(void *)LLVMGetSuccessor(
                                          LLVMGetBasicBlockTerminator(t->blocks[block]), number)));
}

static unsigned successor_count(struct tarjan *t, uint32_t block)
{
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(t->blocks[block]);
    return terminator ? LLVMGetNumSuccessors(terminator) : 0;
}

static bool block_manages(struct pt_cf *cf, LLVMBasicBlockRef block)
{
    for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst; inst = LLVMGetNextInstruction(inst)) {
        if (!LLVMIsACallInst(inst))
            continue;
        LLVMValueRef callee = LLVMGetCalledValue(inst);
        struct pt_cf_call call = pt_cf_classify(inst);
        if (call.kind == PT_CF_CALL_SPAWN || call.kind == PT_CF_CALL_JOIN ||
            (call.kind == PT_CF_CALL_INLINE && LLVMIsAFunction(callee) && pt_cf_manages_threads(cf, callee)))
            return true;
    }
    return false;
}

/* One component that is a cycle: a loop of its own if it manages threads. */
static void take_component(struct pt_cf *cf, struct pt_cf_function *f, struct tarjan *t, uint32_t *members,
                           size_t count, uint32_t around)
{
    bool manages = false;
    uint32_t header = members[0];
    for (size_t i = 0; i < count; i++) {
        manages |= block_manages(cf, t->blocks[members[i]]);
        header = members[i] < header ? members[i] : header;
    }
    if (!manages) {
        for (size_t i = 0; i < count; i++)
            *pt_map64_at(&f->in_cycle, pt_key((LLVMValueRef)(void *)t->blocks[members[i]])) = 1;
        return;
    }
    struct pt_cf_loop loop = {.header = t->blocks[header], .parent = around, .depth = 1};
    if (around != PT_NONE)
        loop.depth = cf->loops[around].depth + 1;
    uint32_t id = (uint32_t)cf->loop_count;
    PT_PUSH(cf->loops, cf->loop_count, cf->loop_cap, loop);
    struct part inside = {.blocks = pt_xmalloc(count * sizeof *members), .loop = id};
    for (size_t i = 0; i < count; i++) {
        *pt_map64_at(&f->loop_of, pt_key((LLVMValueRef)(void *)t->blocks[members[i]])) = id;
        if (members[i] != header)
            inside.blocks[inside.count++] = members[i];
    }
    PT_PUSH(t->work, t->work_count, t->work_cap, inside);
}

static void close_component(struct pt_cf *cf, struct pt_cf_function *f, struct tarjan *t, uint32_t block,
                            uint32_t around)
{
    uint32_t bottom = t->height;
    do
        t->stacked[t->stack[--bottom]] = false;
    while (t->stack[bottom] != block);
    size_t count = t->height - bottom;
    t->height = bottom;
    bool cycle = count > 1;
    for (unsigned i = 0; i < successor_count(t, block) && !cycle; i++)
        cycle = successor(t, block, i) == block && t->owner[block] == t->part;
    if (cycle)
        take_component(cf, f, t, t->stack + bottom, count, around);
}

static void search(struct pt_cf *cf, struct pt_cf_function *f, struct tarjan *t, uint32_t start, uint32_t around)
{
    struct visit *path = pt_xcalloc(t->block_count, sizeof *path); /* every block is on it at most once */
    size_t depth = 0;
    path[depth++] = (struct visit){start, 0};
    t->order[start] = t->low[start] = t->next++;
    t->stack[t->height++] = start;
    t->stacked[start] = true;
    while (depth > 0) {
        struct visit *top = &path[depth - 1];
        uint32_t block = top->block;
        if (top->successor == successor_count(t, block)) {
            if (t->low[block] == t->order[block])
                close_component(cf, f, t, block, around);
            depth--;
            if (depth > 0 && t->low[block] < t->low[path[depth - 1].block])
                t->low[path[depth - 1].block] = t->low[block];
            continue;
        }
        uint32_t to = successor(t, block, top->successor++);
        if (t->owner[to] != t->part)
            continue;
        if (t->order[to] == PT_NONE) {
            t->order[to] = t->low[to] = t->next++;
            t->stack[t->height++] = to;
            t->stacked[to] = true;
            path[depth++] = (struct visit){to, 0};
        } else if (t->stacked[to] && t->order[to] < t->low[block]) {
            t->low[block] = t->order[to];
        }
    }
    free(path);
}

static void find_loops(struct pt_cf *cf, struct pt_cf_function *f)
{
    struct tarjan t = {.block_count = LLVMCountBasicBlocks(f->function)};
    size_t n = t.block_count;
    t.blocks = pt_xcalloc(n + 1, sizeof(LLVMBasicBlockRef));
    t.order = pt_xcalloc(n + 1, sizeof *t.order);
    t.low = pt_xcalloc(n + 1, sizeof *t.low);
    t.stack = pt_xcalloc(n + 1, sizeof *t.stack);
    t.owner = pt_xcalloc(n + 1, sizeof *t.owner);
    t.stacked = pt_xcalloc(n + 1, sizeof *t.stacked);
    pt_map64_init(&t.index_of);
    LLVMGetBasicBlocks(f->function, t.blocks);
    struct part all = {.blocks = pt_xmalloc((n + 1) * sizeof *all.blocks), .count = n, .loop = PT_NONE};
    for (uint32_t i = 0; i < n; i++) {
        *pt_map64_at(&t.index_of, pt_key((LLVMValueRef)(void *)t.blocks[i])) = i;
        all.blocks[i] = i;
    }
    PT_PUSH(t.work, t.work_count, t.work_cap, all);
    while (t.work_count > 0) {
        struct part part = t.work[--t.work_count];
        t.part++;
        for (size_t i = 0; i < part.count; i++) {
            t.owner[part.blocks[i]] = t.part;
            t.order[part.blocks[i]] = PT_NONE;
        }
        for (size_t i = 0; i < part.count; i++)
            if (t.order[part.blocks[i]] == PT_NONE)
                search(cf, f, &t, part.blocks[i], part.loop);
        free(part.blocks);
    }
    pt_map64_release(&t.index_of);
    free(t.work);
    free(t.blocks);
    free(t.order);
    free(t.low);
    free(t.stack);
    free(t.owner);
    free(t.stacked);
}

const struct pt_cf_function *pt_cf_flow(struct pt_cf *cf, LLVMValueRef function)
{
    uint32_t id = pt_map64_get(&cf->function_ids, pt_key(function));
    if (id != PT_NONE)
        return &cf->functions[id];
    struct pt_cf_function f = {.function = function};
    pt_map64_init(&f.loop_of);
    pt_map64_init(&f.in_cycle);
    find_loops(cf, &f);
    *pt_map64_at(&cf->function_ids, pt_key(function)) = (uint32_t)cf->function_count;
    PT_PUSH(cf->functions, cf->function_count, cf->function_cap, f);
    return &cf->functions[cf->function_count - 1];
}

/* ---- rounds */

static uint32_t loop_of(struct pt_cf *cf, LLVMBasicBlockRef block)
{
    const struct pt_cf_function *f = pt_cf_flow(cf, LLVMGetBasicBlockParent(block));
    return pt_map64_get(&f->loop_of, pt_key((LLVMValueRef)(void *)block));
}

static bool is_inside(struct pt_cf *cf, LLVMBasicBlockRef block, uint32_t loop)
{
    for (uint32_t at = loop_of(cf, block); at != PT_NONE; at = cf->loops[at].parent)
        if (at == loop)
            return true;
    return false;
}

/* Does every branch that may leave the loop know where it goes in this round, and is there one? */
static bool bound_is_known(struct pt_cf *cf, uint32_t context, uint32_t loop)
{
    bool exits = false;
    LLVMValueRef function = LLVMGetBasicBlockParent(cf->loops[loop].header);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block);
        if (loop_of(cf, block) != loop || !terminator)
            continue;
        unsigned count = LLVMGetNumSuccessors(terminator);
        bool leaves = false;
        for (unsigned i = 0; i < count; i++)
            leaves |= !is_inside(cf, LLVMGetSuccessor(terminator, i), loop);
        LLVMBasicBlockRef *next = pt_xcalloc(count + 1, sizeof(LLVMBasicBlockRef));
        if (leaves && pt_cf_successors(cf, context, terminator, next) > 1)
            count = PT_NONE;
        free(next);
        if (count == PT_NONE)
            return false;
        exits |= leaves;
    }
    return exits;
}

static uint32_t next_round(struct pt_cf *cf, uint32_t context)
{
    struct pt_cf_context wanted = cf->contexts[context];
    LLVMValueRef place = LLVMGetBasicBlockTerminator(cf->loops[wanted.loop].header);
    wanted.round++;
    if (wanted.round >= UNKNOWN_ROUNDS && !bound_is_known(cf, context, wanted.loop)) {
        pt_cf_note(
            cf, place,
            "threads are started or joined in a loop whose bound is unknown: only its first %d rounds are modelled",
            UNKNOWN_ROUNDS);
        return PT_NONE;
    }
    if (wanted.round > cf->unroll) {
        pt_cf_fail(cf, place, "the loop that starts or joins threads has more than %u rounds (see --unroll)",
                   cf->unroll);
        return PT_NONE;
    }
    wanted.result = (struct pt_cf_val){0};
    return pt_cf_context(cf, wanted, true);
}

/* Enters the loops around `block` that the context is not yet in, outermost first. */
static uint32_t enter_loops(struct pt_cf *cf, uint32_t context, LLVMBasicBlockRef block)
{
    uint32_t innermost = loop_of(cf, block);
    for (;;) {
        uint32_t have = cf->contexts[context].loop, next = innermost;
        if (next == have)
            return context;
        while (cf->loops[next].parent != have)
            next = cf->loops[next].parent;
        struct pt_cf_context wanted = cf->contexts[context];
        wanted.parent = context;
        wanted.call = NULL;
        wanted.loop = next;
        wanted.round = 0;
        wanted.result = (struct pt_cf_val){0};
        context = pt_cf_context(cf, wanted, true);
    }
}

uint32_t pt_cf_follow(struct pt_cf *cf, uint32_t context, LLVMBasicBlockRef from, LLVMBasicBlockRef to)
{
    while (cf->contexts[context].loop != PT_NONE && !is_inside(cf, to, cf->contexts[context].loop))
        context = cf->contexts[context].parent;
    uint32_t loop = cf->contexts[context].loop;
    if (loop != PT_NONE && from && cf->loops[loop].header == to) {
        context = next_round(cf, context);
        return context == PT_NONE ? PT_NONE : enter_loops(cf, context, to);
    }
    return enter_loops(cf, context, to);
}
