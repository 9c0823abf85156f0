/*
 * From contexts to one graph per thread.
 *
 * A node is a place in the inlined code together with what the path there has done: which mutexes it holds, which
 * blocks are open, which threads it has started and not yet joined, and how its last trylock (or tryjoin) ended. So a
 * path on which an unlock has no lock (two tests of one condition that answered differently, since values are not
 * followed) is seen and cut, a trylock's outcome stays with its branch, and what main does while no other thread exists
 * costs nothing.
 *
 * An edge is one effect. Edges without effect are there, too; reduce.c takes them out.
 */
#include <stdlib.h>
#include <string.h>

#include "cfront/builder.h"

/* ---- control */

static void enter(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at, uint32_t function)
{
    uint32_t callee = pt_cf_enter(b->cf, at->context, pt_cf_inst(at), b->cf->objects[function].value);
    if (callee == PT_NONE)
        return;
    struct pt_cf_spot next = *at;
    next.context = callee;
    next.phase = 0;
    next.inst = pt_key(LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(b->cf->objects[function].value)));
    next.try_context = PT_NONE;
    next.try_inst = 0;
    next.try_result = 0;
    pt_cf_add_edge(b, node, pt_cf_node_at(b, &next), PT_STEP_PLAIN, PT_NONE, pt_cf_inst(at));
}

static void do_call(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at)
{
    uint32_t *functions, count;
    pt_cf_callees(b->cf, at->context, pt_cf_inst(at), &functions, &count);
    if (count == 0)
        pt_cf_fail(b->cf, pt_cf_inst(at), "cannot tell which function is called through this pointer");
    if (count > 1)
        pt_cf_note(b->cf, pt_cf_inst(at), "a call through a pointer: taken to call any of %u functions", count);
    bool bodyless = false;
    for (uint32_t i = 0; i < count && !b->cf->failed; i++) {
        if (LLVMIsDeclaration(b->cf->objects[functions[i]].value))
            bodyless = true;
        else
            enter(b, node, at, functions[i]);
    }
    free(functions);
    if (bodyless) { /* one step that does what any of them may do */
        struct pt_cf_spot next = pt_cf_after(at);
        pt_cf_effects(b->cf, at->context, pt_cf_inst(at), &b->effects);
        pt_cf_add_effects(b, node, at, pt_cf_node_at(b, &next));
    }
}

/* Functions handed to one without a body may be called, any number of times: they return to the call itself. */
static void do_callbacks(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at)
{
    for (unsigned i = 0; i < LLVMGetNumArgOperands(pt_cf_inst(at)); i++) {
        uint32_t count;
        const uint32_t *targets =
            pt_cf_targets(b->cf, pt_cf_eval(b->cf, at->context, LLVMGetOperand(pt_cf_inst(at), i)), &count);
        for (uint32_t t = 0; t < count; t++)
            if (targets[t] != PT_CF_ANYTHING && b->cf->objects[targets[t]].kind == PT_CF_FUNCTION &&
                !LLVMIsDeclaration(b->cf->objects[targets[t]].value))
                enter(b, node, at, targets[t]);
    }
}

static void do_return(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at)
{
    uint32_t frame = pt_cf_frame(b->cf, at->context);
    const struct pt_cf_context *c = &b->cf->contexts[frame];
    if (c->parent == PT_NONE) {
        pt_cf_add_edge(b, node, PT_CF_NODE_STOP, PT_STEP_PLAIN, PT_NONE, pt_cf_inst(at));
        return;
    }
    struct pt_cf_spot call = *at;
    call.context = c->parent;
    call.inst = pt_key(c->call);
    call.phase = 0;
    call.try_context = PT_NONE;
    call.try_inst = 0;
    call.try_result = 0;
    enum pt_cf_call_kind kind = pt_cf_classify(c->call).kind;
    bool callback = kind == PT_CF_CALL_UNKNOWN || kind == PT_CF_CALL_ONCE;
    struct pt_cf_spot next = callback ? call : pt_cf_after(&call);
    pt_cf_add_edge(b, node, pt_cf_node_at(b, &next), PT_STEP_PLAIN, PT_NONE, pt_cf_inst(at));
}

/* A condition, knowing how the last trylock ended. */
static struct pt_cf_val tried_value(struct pt_cf_builder *b, const struct pt_cf_spot *at, LLVMValueRef value,
                                    unsigned depth)
{
    if (pt_key(value) == at->try_inst && at->try_context == at->context)
        return pt_cf_int(at->try_result);
    if (depth < 8 && LLVMIsAICmpInst(value))
        return pt_cf_compare(LLVMGetICmpPredicate(value), tried_value(b, at, LLVMGetOperand(value, 0), depth + 1),
                             tried_value(b, at, LLVMGetOperand(value, 1), depth + 1), 64);
    if (depth < 8 && LLVMIsAInstruction(value) && LLVMGetInstructionOpcode(value) == LLVMXor) {
        struct pt_cf_val x = tried_value(b, at, LLVMGetOperand(value, 0), depth + 1);
        struct pt_cf_val y = tried_value(b, at, LLVMGetOperand(value, 1), depth + 1);
        return x.kind == PT_CF_INT && y.kind == PT_CF_INT ? pt_cf_int(x.number ^ y.number) : pt_cf_number();
    }
    if (depth < 8 && LLVMIsAZExtInst(value)) {
        struct pt_cf_val x = tried_value(b, at, LLVMGetOperand(value, 0), depth + 1);
        return x.kind == PT_CF_INT && x.number == -1 ? pt_cf_int(1) : x; /* from i1 */
    }
    return pt_cf_eval(b->cf, at->context, value);
}

static void do_branch(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at)
{
    LLVMValueRef inst = pt_cf_inst(at);
    LLVMBasicBlockRef *targets = pt_xcalloc(LLVMGetNumSuccessors(inst) + 1, sizeof(LLVMBasicBlockRef));
    unsigned count = pt_cf_successors(b->cf, at->context, inst, targets);
    if (count == 2 && at->try_context != PT_NONE && LLVMIsABranchInst(inst)) {
        struct pt_cf_val val = tried_value(b, at, LLVMGetCondition(inst), 0);
        if (val.kind == PT_CF_INT) {
            targets[0] = LLVMGetSuccessor(inst, val.number ? 0 : 1);
            count = 1;
        }
    }
    for (unsigned i = 0; i < count && !b->cf->failed; i++) {
        struct pt_cf_spot next = *at;
        next.context = pt_cf_follow(b->cf, at->context, LLVMGetInstructionParent(inst), targets[i]);
        if (next.context == PT_NONE)
            continue;
        next.inst = pt_key(LLVMGetFirstInstruction(targets[i]));
        pt_cf_add_edge(b, node, pt_cf_node_at(b, &next), PT_STEP_PLAIN, PT_NONE, inst);
    }
    free(targets);
}

/* Phases: unlock the mutex, touch the condition variable, lock the mutex. Waiting may end at any time. */
static void do_wait(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at, const struct pt_cf_call *what)
{
    struct pt_cf_spot next = *at;
    next.phase++;
    if (at->phase == 0) {
        pt_cf_step_unlock(b, node, at, what->row->mutex, next);
    } else if (at->phase == 1) {
        pt_cf_effects(b->cf, at->context, pt_cf_inst(at), &b->effects);
        pt_cf_add_effects(b, node, at, pt_cf_node_at(b, &next));
    } else {
        pt_cf_step_lock(b, node, at, what->row->mutex);
    }
}

static void do_call_instruction(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at)
{
    struct pt_cf_call what = pt_cf_classify(pt_cf_inst(at));
    struct pt_cf_spot next = pt_cf_after(at);
    switch (what.kind) {
    case PT_CF_CALL_INLINE:
        do_call(b, node, at);
        return;
    case PT_CF_CALL_BEGIN:
        pt_cf_step_begin(b, node, at);
        return;
    case PT_CF_CALL_END:
        pt_cf_step_end(b, node, at);
        return;
    case PT_CF_CALL_SPAWN:
        pt_cf_step_spawn(b, node, at);
        return;
    case PT_CF_CALL_JOIN:
        pt_cf_step_join(b, node, at, what.row);
        return;
    case PT_CF_CALL_LOCK:
        if (pt_sync_may_fail(what.row))
            pt_cf_step_trylock(b, node, at, what.row);
        else
            pt_cf_step_lock(b, node, at, what.row->object);
        return;
    case PT_CF_CALL_UNLOCK:
        pt_cf_step_unlock(b, node, at, what.row->object, next);
        return;
    case PT_CF_CALL_STOPS:
        return;
    case PT_CF_CALL_THREAD_EXIT:
        pt_cf_add_edge(b, node, PT_CF_NODE_STOP, PT_STEP_PLAIN, PT_NONE, pt_cf_inst(at));
        return;
    case PT_CF_CALL_WAIT:
        do_wait(b, node, at, &what);
        return;
    case PT_CF_CALL_UNKNOWN:
    case PT_CF_CALL_ONCE:
        do_callbacks(b, node, at);
        break;
    default:
        break;
    }
    pt_cf_effects(b->cf, at->context, pt_cf_inst(at), &b->effects);
    pt_cf_add_effects(b, node, at, pt_cf_node_at(b, &next));
}

/* The edges that leave one node: silent instructions up to the first that does something or decides where to go. */
static void expand(struct pt_cf_builder *b, uint32_t node, struct pt_cf_spot at)
{
    for (;; at = pt_cf_after(&at)) {
        LLVMValueRef inst = pt_cf_inst(&at);
        LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
        if (opcode == LLVMUnreachable)
            return;
        if (opcode == LLVMRet) {
            do_return(b, node, &at);
            return;
        }
        if (LLVMIsATerminatorInst(inst)) {
            do_branch(b, node, &at);
            return;
        }
        if (opcode == LLVMCall) {
            enum pt_cf_call_kind kind = pt_cf_classify(inst).kind;
            if (kind == PT_CF_CALL_NOTHING || kind == PT_CF_CALL_ALLOCATE)
                continue;
            do_call_instruction(b, node, &at);
            return;
        }
        pt_cf_effects(b->cf, at.context, inst, &b->effects);
        if (!pt_cf_matters(b))
            continue;
        struct pt_cf_spot next = pt_cf_after(&at);
        pt_cf_add_effects(b, node, &at, pt_cf_node_at(b, &next));
        return;
    }
}

/*
 * A way that cannot be taken to its end was not taken: nodes all of whose edges lead to nodes that were cut are cut,
 * too. Not past what may wait forever.
 */
static void cut_backwards(struct pt_cf_builder *b)
{
    struct pt_cf_thread_graph *out = b->out;
    uint32_t *ways = pt_xcalloc((size_t)out->node_count + 1, sizeof *ways);
    bool *cut = pt_xcalloc((size_t)out->node_count + 1, sizeof *cut);
    for (size_t i = 0; i < out->edge_count; i++)
        ways[out->edges[i].from]++;
    for (size_t i = 0; i < b->cut_count; i++)
        cut[b->cut[i]] = true;
    for (bool more = b->cut_count > 0; more;) {
        more = false;
        size_t kept = 0;
        for (size_t i = 0; i < out->edge_count; i++) {
            struct pt_cf_edge edge = out->edges[i];
            if (!cut[edge.to] || edge.kind == PT_STEP_ACQUIRE || edge.kind == PT_STEP_JOIN) {
                out->edges[kept++] = edge;
                continue;
            }
            more = true;
            cut[edge.from] |= --ways[edge.from] == 0;
        }
        out->edge_count = kept;
    }
    free(ways);
    free(cut);
}

static void build_thread(struct pt_cf_graph *g, uint32_t thread)
{
    struct pt_cf_builder b = {.g = g, .cf = g->cf, .thread = thread, .out = &g->threads[thread]};
    pt_strtab_init(&b.places);
    struct pt_cf_spot first = {.context = g->cf->threads[thread].root, .try_context = PT_NONE};
    first.inst = pt_key(LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(g->cf->contexts[first.context].function)));
    pt_cf_add_edge(&b, PT_CF_NODE_START, pt_cf_node_at(&b, &first), PT_STEP_PLAIN, PT_NONE, pt_cf_inst(&first));
    for (uint32_t i = 0; i < b.places.count && !g->cf->failed; i++) {
        struct pt_cf_spot at;
        memcpy(&at, pt_strtab_text(&b.places, i), sizeof at);
        expand(&b, i + 2, at);
    }
    b.out->node_count = b.places.count + 2;
    cut_backwards(&b);
    free(b.cut);
    pt_strtab_release(&b.places);
    free(b.effects.list);
}

/* ---- a look at everything first */

static void note_use(struct pt_cf_graph *g, uint32_t object, uint32_t thread)
{
    g->shared[object] |= g->user[object] != PT_NONE && g->user[object] != thread;
    g->user[object] = thread;
}

static void look_at_lock(struct pt_cf_graph *g, uint32_t context, LLVMValueRef mutex)
{
    struct pt_cf_val val = pt_cf_eval(g->cf, context, mutex);
    struct pt_cf_accesses touched = {0};
    pt_cf_touch(g->cf, val, 1, true, &touched);
    bool vague = touched.count != 1 || val.stride != 0;
    for (size_t i = 0; i < touched.count; i++) {
        uint32_t object = touched.list[i].object;
        g->vague_lock[object] |= vague || object == PT_CF_ANYTHING || g->cf->objects[object].summary;
        note_use(g, object, g->cf->contexts[context].root);
    }
    free(touched.list);
}

static void look(struct pt_cf_graph *g, uint32_t context, LLVMValueRef inst, struct pt_cf_accesses *effects)
{
    pt_cf_effects(g->cf, context, inst, effects);
    for (size_t i = 0; i < effects->count; i++) {
        note_use(g, effects->list[i].object, g->cf->contexts[context].root);
        g->handed_out[effects->list[i].object] |= effects->unknown;
    }
    if (!LLVMIsACallInst(inst))
        return;
    struct pt_cf_call what = pt_cf_classify(inst);
    if (what.kind == PT_CF_CALL_LOCK || what.kind == PT_CF_CALL_UNLOCK)
        look_at_lock(g, context, pt_cf_argument(inst, what.row->object));
    else if (what.kind == PT_CF_CALL_WAIT)
        look_at_lock(g, context, pt_cf_argument(inst, what.row->mutex));
}

/* What is known of PT_CF_ANYTHING holds for all that escaped, and what is shared among these makes it shared. */
static void spread(struct pt_cf_graph *g)
{
    struct pt_cf *cf = g->cf;
    if (g->user[PT_CF_ANYTHING] == PT_NONE)
        return;
    for (uint32_t i = 1; i < cf->object_count; i++) {
        if (!cf->objects[i].escaped || cf->objects[i].kind != PT_CF_DATA)
            continue;
        note_use(g, i, g->user[PT_CF_ANYTHING]);
        g->shared[i] |= g->shared[PT_CF_ANYTHING];
        g->vague_lock[i] |= g->vague_lock[PT_CF_ANYTHING];
        g->handed_out[i] |= g->handed_out[PT_CF_ANYTHING];
    }
    for (uint32_t i = 1; i < cf->object_count; i++)
        g->shared[PT_CF_ANYTHING] |= cf->objects[i].escaped && g->shared[i];
}

void pt_cf_graph_build(struct pt_cf_graph *g)
{
    struct pt_cf *cf = g->cf;
    g->user = pt_xcalloc(cf->object_count, sizeof *g->user);
    g->shared = pt_xcalloc(cf->object_count, sizeof *g->shared);
    g->vague_lock = pt_xcalloc(cf->object_count, sizeof *g->vague_lock);
    g->handed_out = pt_xcalloc(cf->object_count, sizeof *g->handed_out);
    for (size_t i = 0; i < cf->object_count; i++)
        g->user[i] = PT_NONE;
    pt_strtab_intern(&g->sets, "", 0);
    struct pt_cf_accesses effects = {0};
    for (size_t i = 0; i < cf->reached_count; i++)
        for (LLVMValueRef inst = LLVMGetFirstInstruction(cf->reached[i].block); inst;
             inst = LLVMGetNextInstruction(inst))
            look(g, cf->reached[i].context, inst, &effects);
    free(effects.list);
    spread(g);
    g->threads = pt_xcalloc(cf->thread_count, sizeof *g->threads);
    for (uint32_t i = 0; i < cf->thread_count && !cf->failed; i++)
        build_thread(g, i);
}
