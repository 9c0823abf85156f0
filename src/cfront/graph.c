/*
 * From contexts to one graph per thread.
 *
 * A node is a place in the inlined code together with what the path there has done: which mutexes it holds, which
 * blocks are open, which threads it has started and not yet joined, and how its last trylock ended. So a path on which
 * an unlock has no lock (two tests of one condition that answered differently, since values are not followed) is seen
 * and cut, a trylock's outcome stays with its branch, and what main does while no other thread exists costs nothing.
 *
 * An edge is one effect. Edges without effect are there, too; reduce.c takes them out.
 */
#include <stdlib.h>
#include <string.h>

#include "cfront/graph.h"

enum { MAX_NODES = 1000000, NODE_START = 0, NODE_STOP = 1 };
#define ALWAYS_RUNNING (PT_NONE - 1) /* among running threads: one that starts others, whom nobody may join */

struct place {
    uint64_t inst; /* the instruction to come */
    uint32_t context;
    uint32_t phase;               /* of an instruction with several effects */
    uint32_t held, open, running; /* interned in graph.sets */
    uint32_t try_context;         /* of the last trylock in this function; PT_NONE: none */
    uint64_t try_inst;
    int64_t try_result;
};

struct builder {
    struct pt_cf_graph *g;
    struct pt_cf *cf;
    uint32_t thread;
    struct pt_cf_thread_graph *out;
    struct pt_strtab places; /* node - 2 */
    struct pt_cf_accesses effects;
};

static LLVMValueRef inst_of(const struct place *at)
{
    return (LLVMValueRef)(uintptr_t)at->inst;
}

/* ---- small sets and lists of ids */

static const uint32_t *ids_of(struct pt_cf_graph *g, uint32_t set, uint32_t *ret_count)
{
    *ret_count = pt_strtab_len(&g->sets, set) / sizeof(uint32_t);
    return (const void *)pt_strtab_text(&g->sets, set);
}

static bool has_id(struct pt_cf_graph *g, uint32_t set, uint32_t id)
{
    uint32_t count;
    const uint32_t *ids = ids_of(g, set, &count);
    for (uint32_t i = 0; i < count; i++)
        if (ids[i] == id)
            return true;
    return false;
}

static uint32_t with_id(struct pt_cf_graph *g, uint32_t set, uint32_t id, bool sorted)
{
    uint32_t count;
    const uint32_t *ids = ids_of(g, set, &count);
    uint32_t *more = pt_xmalloc((count + 1) * sizeof *more);
    memcpy(more, ids, count * sizeof *more);
    more[count++] = id;
    if (sorted)
        count = pt_sort_distinct(more, count);
    set = pt_strtab_intern(&g->sets, (const char *)more, count * sizeof *more);
    free(more);
    return set;
}

/* Without the last `id`. */
static uint32_t without_id(struct pt_cf_graph *g, uint32_t set, uint32_t id)
{
    uint32_t count;
    const uint32_t *ids = ids_of(g, set, &count);
    uint32_t *fewer = pt_xmalloc((count + 1) * sizeof *fewer), last = count;
    for (uint32_t i = 0; i < count; i++)
        last = ids[i] == id ? i : last;
    if (last < count) {
        memcpy(fewer, ids, last * sizeof *fewer);
        memcpy(fewer + last, ids + last + 1, (count - last - 1) * sizeof *fewer);
        set = pt_strtab_intern(&g->sets, (const char *)fewer, (count - 1) * sizeof *fewer);
    }
    free(fewer);
    return set;
}

/* ---- nodes and edges */

static uint32_t node_at(struct builder *b, const struct place *at)
{
    if (b->places.count >= MAX_NODES)
        pt_cf_fail(b->cf, inst_of(at), "the program is too large: a thread has more than %d places after inlining",
                   MAX_NODES);
    return pt_strtab_intern(&b->places, (const char *)at, sizeof *at) + 2;
}

static struct place after(const struct place *at)
{
    struct place next = *at;
    next.inst = pt_key(LLVMGetNextInstruction(inst_of(at)));
    next.phase = 0;
    return next;
}

static void add_edge(struct builder *b, uint32_t from, uint32_t to, enum pt_step_kind kind, uint32_t object,
                     LLVMValueRef inst)
{
    struct pt_cf_edge edge = {.from = from, .to = to, .kind = kind, .object = object, .inst = inst};
    edge.access_start = b->g->access_count;
    PT_PUSH(b->out->edges, b->out->edge_count, b->out->edge_cap, edge);
}

/* An edge with b->effects; what nobody else touches is left out, and all of it while no other thread is running. */
static void add_effects(struct builder *b, uint32_t from, const struct place *at, uint32_t to)
{
    add_edge(b, from, to, PT_STEP_PLAIN, PT_NONE, inst_of(at));
    struct pt_cf_edge *edge = &b->out->edges[b->out->edge_count - 1];
    uint32_t running;
    ids_of(b->g, at->running, &running);
    if (b->thread == 0 && running == 0)
        return;
    for (size_t i = 0; i < b->effects.count; i++)
        if (b->g->shared[b->effects.list[i].object])
            PT_PUSH(b->g->accesses, b->g->access_count, b->g->access_cap, b->effects.list[i]);
    edge->access_count = b->g->access_count - edge->access_start;
    edge->vague = b->effects.vague;
    edge->unknown = b->effects.unknown;
}

static bool matters(const struct builder *b)
{
    for (size_t i = 0; i < b->effects.count; i++)
        if (b->g->shared[b->effects.list[i].object])
            return true;
    return false;
}

/* ---- locks */

static uint32_t lock_of(struct pt_cf_graph *g, uint32_t object, int64_t offset)
{
    struct {
        int64_t offset, object;
    } key = {offset, object};
    uint32_t before = g->lock_keys.count, id = pt_strtab_intern(&g->lock_keys, (const char *)&key, sizeof key);
    if (id == before) {
        struct pt_cf_lock lock = {.object = object, .offset = offset, .user = PT_NONE};
        PT_PUSH(g->locks, g->lock_count, g->lock_cap, lock);
    }
    return id;
}

/* The mutex an operand names; PT_NONE when it can only be treated as a variable (then b->effects is a write of it). */
static uint32_t find_lock(struct builder *b, const struct place *at, unsigned operand)
{
    struct pt_cf_val val = pt_cf_eval(b->cf, at->context, LLVMGetOperand(inst_of(at), operand));
    uint32_t count;
    const uint32_t *targets = pt_cf_targets(b->cf, val, &count);
    b->effects.count = 0;
    b->effects.vague = b->effects.unknown = false;
    pt_cf_touch(b->cf, val, 1, true, &b->effects);
    if (count != 1 || val.number == PT_CF_UNKNOWN || b->g->vague_lock[targets[0]] || targets[0] == PT_CF_ANYTHING) {
        b->effects.vague = true;
        return PT_NONE;
    }
    uint32_t id = lock_of(b->g, targets[0], val.number);
    struct pt_cf_lock *lock = &b->g->locks[id];
    lock->shared |= lock->user != PT_NONE && lock->user != b->thread;
    lock->user = b->thread;
    return id;
}

static void do_lock(struct builder *b, uint32_t node, const struct place *at, unsigned operand)
{
    uint32_t lock = find_lock(b, at, operand);
    struct place next = after(at);
    if (lock == PT_NONE) {
        add_effects(b, node, at, node_at(b, &next));
        return;
    }
    if (has_id(b->g, at->held, lock))
        pt_cf_note(b->cf, inst_of(at), "a mutex that this thread already holds is locked here: taken as a deadlock");
    next.held = with_id(b->g, at->held, lock, true);
    add_edge(b, node, node_at(b, &next), PT_STEP_ACQUIRE, lock, inst_of(at));
}

/* `next` comes after the mutex was let go. */
static void do_unlock(struct builder *b, uint32_t node, const struct place *at, unsigned operand, struct place next)
{
    uint32_t lock = find_lock(b, at, operand);
    if (lock == PT_NONE) {
        add_effects(b, node, at, node_at(b, &next));
        return;
    }
    if (!has_id(b->g, at->held, lock)) {
        pt_cf_note(b->cf, inst_of(at), "a way leads here on which the mutex was not locked: taken as impossible");
        return;
    }
    next.held = without_id(b->g, at->held, lock);
    add_edge(b, node, node_at(b, &next), PT_STEP_RELEASE, lock, inst_of(at));
}

/* A trylock that fails is taken to tell nothing, as if it could fail for no reason (C11 allows that). */
static void do_trylock(struct builder *b, uint32_t node, const struct place *at, const struct pt_cf_call *what)
{
    uint32_t lock = find_lock(b, at, what->object);
    struct place next = after(at);
    if (lock == PT_NONE) {
        add_effects(b, node, at, node_at(b, &next));
        return;
    }
    next.try_context = at->context;
    next.try_inst = at->inst;
    next.try_result = what->busy;
    add_edge(b, node, node_at(b, &next), PT_STEP_PLAIN, PT_NONE, inst_of(at));
    if (has_id(b->g, at->held, lock))
        return;
    next.try_result = 0;
    next.held = with_id(b->g, at->held, lock, true);
    add_edge(b, node, node_at(b, &next), PT_STEP_ACQUIRE, lock, inst_of(at));
}

/* ---- blocks */

const char *pt_cf_block_name(struct pt_cf *cf, LLVMValueRef call)
{
    LLVMValueRef text = pt_base_of(&cf->names, LLVMGetOperand(call, 0), NULL);
    LLVMValueRef constant = LLVMIsAGlobalVariable(text) ? LLVMGetInitializer(text) : NULL;
    size_t len;
    return constant && LLVMIsAConstantDataSequential(constant) && LLVMIsConstantString(constant)
               ? LLVMGetAsString(constant, &len)
               : NULL;
}

static uint32_t block_of(struct builder *b, LLVMValueRef inst)
{
    struct pt_cf_graph *g = b->g;
    for (uint32_t i = 0; i < g->block_count; i++)
        if (g->blocks[i].inst == inst && g->blocks[i].thread == b->thread)
            return i;
    struct pt_cf_block block = {.thread = b->thread, .inst = inst, .name = pt_cf_block_name(b->cf, inst)};
    PT_PUSH(g->blocks, g->block_count, g->block_cap, block);
    return (uint32_t)g->block_count - 1;
}

static void do_begin(struct builder *b, uint32_t node, const struct place *at)
{
    uint32_t block = block_of(b, inst_of(at));
    struct place next = after(at);
    if (has_id(b->g, at->open, block)) {
        pt_cf_note(b->cf, inst_of(at), "a way leads here on which this block has not ended: taken as impossible");
        return;
    }
    next.open = with_id(b->g, at->open, block, false);
    add_edge(b, node, node_at(b, &next), PT_STEP_BEGIN, block, inst_of(at));
}

static void do_end(struct builder *b, uint32_t node, const struct place *at)
{
    const char *name = pt_cf_block_name(b->cf, inst_of(at));
    uint32_t count;
    const uint32_t *open = ids_of(b->g, at->open, &count);
    struct place next = after(at);
    for (uint32_t i = count; i-- > 0;) {
        const char *other = b->g->blocks[open[i]].name;
        if (name && other && strcmp(name, other) != 0)
            continue;
        uint32_t block = open[i];
        next.open = without_id(b->g, at->open, block);
        add_edge(b, node, node_at(b, &next), PT_STEP_END, block, inst_of(at));
        return;
    }
    pt_cf_note(b->cf, inst_of(at), "a way leads here on which no block of this name is open: the end is ignored");
    add_edge(b, node, node_at(b, &next), PT_STEP_PLAIN, PT_NONE, inst_of(at));
}

/* ---- threads */

static void do_spawn(struct builder *b, uint32_t node, const struct place *at)
{
    struct pt_cf *cf = b->cf;
    uint32_t object = pt_cf_object(cf, PT_CF_THREAD, inst_of(at), at->context), thread = 0;
    struct place next = after(at);
    while (thread < cf->thread_count && cf->threads[thread].object != object)
        thread++;
    pt_cf_effects(cf, at->context, inst_of(at), &b->effects);
    if (at->phase == 0 && matters(b)) {
        next = *at;
        next.phase = 1;
        add_effects(b, node, at, node_at(b, &next));
        return;
    }
    if (thread == cf->thread_count)
        return; /* not reached after all */
    next.running = with_id(b->g, at->running, thread, true);
    if (cf->contexts[cf->threads[thread].root].starts_threads)
        next.running = with_id(b->g, next.running, ALWAYS_RUNNING, true);
    add_edge(b, node, node_at(b, &next), PT_STEP_SPAWN, thread, inst_of(at));
}

static void do_join(struct builder *b, uint32_t node, const struct place *at)
{
    struct pt_cf *cf = b->cf;
    struct place next = after(at);
    struct pt_cf_val handle = pt_cf_eval(cf, at->context, LLVMGetOperand(inst_of(at), 0));
    uint32_t count, thread = 0;
    const uint32_t *targets = pt_cf_targets(cf, handle, &count);
    if (at->phase == 1) {
        pt_cf_effects(cf, at->context, inst_of(at), &b->effects);
        add_effects(b, node, at, node_at(b, &next));
        return;
    }
    next = *at;
    next.phase = 1;
    while (count == 1 && thread < cf->thread_count && cf->threads[thread].object != targets[0])
        thread++;
    if (count != 1 || thread == cf->thread_count) {
        pt_cf_note(cf, inst_of(at), "cannot tell which thread is joined here: the join is ignored");
        add_edge(b, node, node_at(b, &next), PT_STEP_PLAIN, PT_NONE, inst_of(at));
        return;
    }
    next.running = without_id(b->g, at->running, thread);
    add_edge(b, node, node_at(b, &next), PT_STEP_JOIN, thread, inst_of(at));
}

/* ---- control */

static void enter(struct builder *b, uint32_t node, const struct place *at, uint32_t function)
{
    uint32_t callee = pt_cf_enter(b->cf, at->context, inst_of(at), b->cf->objects[function].value);
    if (callee == PT_NONE)
        return;
    struct place next = *at;
    next.context = callee;
    next.phase = 0;
    next.inst = pt_key(LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(b->cf->objects[function].value)));
    next.try_context = PT_NONE;
    next.try_inst = 0;
    next.try_result = 0;
    add_edge(b, node, node_at(b, &next), PT_STEP_PLAIN, PT_NONE, inst_of(at));
}

static void do_call(struct builder *b, uint32_t node, const struct place *at)
{
    uint32_t *functions, count;
    pt_cf_callees(b->cf, at->context, inst_of(at), &functions, &count);
    if (count == 0)
        pt_cf_fail(b->cf, inst_of(at), "cannot tell which function is called through this pointer");
    if (count > 1)
        pt_cf_note(b->cf, inst_of(at), "a call through a pointer: taken to call any of %u functions", count);
    for (uint32_t i = 0; i < count && !b->cf->failed; i++) {
        if (LLVMIsDeclaration(b->cf->objects[functions[i]].value)) {
            struct place next = after(at);
            add_edge(b, node, node_at(b, &next), PT_STEP_PLAIN, PT_NONE, inst_of(at));
        } else {
            enter(b, node, at, functions[i]);
        }
    }
    free(functions);
}

/* Functions handed to one without a body may be called, any number of times: they return to the call itself. */
static void do_callbacks(struct builder *b, uint32_t node, const struct place *at)
{
    for (unsigned i = 0; i < LLVMGetNumArgOperands(inst_of(at)); i++) {
        uint32_t count;
        const uint32_t *targets =
            pt_cf_targets(b->cf, pt_cf_eval(b->cf, at->context, LLVMGetOperand(inst_of(at), i)), &count);
        for (uint32_t t = 0; t < count; t++)
            if (targets[t] != PT_CF_ANYTHING && b->cf->objects[targets[t]].kind == PT_CF_FUNCTION &&
                !LLVMIsDeclaration(b->cf->objects[targets[t]].value))
                enter(b, node, at, targets[t]);
    }
}

static void do_return(struct builder *b, uint32_t node, const struct place *at)
{
    uint32_t frame = pt_cf_frame(b->cf, at->context);
    const struct pt_cf_context *c = &b->cf->contexts[frame];
    if (c->parent == PT_NONE) {
        add_edge(b, node, NODE_STOP, PT_STEP_PLAIN, PT_NONE, inst_of(at));
        return;
    }
    struct place call = *at;
    call.context = c->parent;
    call.inst = pt_key(c->call);
    call.phase = 0;
    call.try_context = PT_NONE;
    call.try_inst = 0;
    call.try_result = 0;
    enum pt_cf_call_kind kind = pt_cf_classify(b->cf, c->call).kind;
    bool callback = kind == PT_CF_CALL_UNKNOWN || kind == PT_CF_CALL_ONCE;
    struct place next = callback ? call : after(&call);
    add_edge(b, node, node_at(b, &next), PT_STEP_PLAIN, PT_NONE, inst_of(at));
}

/* A condition, knowing how the last trylock ended. */
static struct pt_cf_val tried_value(struct builder *b, const struct place *at, LLVMValueRef value, unsigned depth)
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

static void do_branch(struct builder *b, uint32_t node, const struct place *at)
{
    LLVMValueRef inst = inst_of(at);
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
        struct place next = *at;
        next.context = pt_cf_follow(b->cf, at->context, LLVMGetInstructionParent(inst), targets[i]);
        if (next.context == PT_NONE)
            continue;
        next.inst = pt_key(LLVMGetFirstInstruction(targets[i]));
        add_edge(b, node, node_at(b, &next), PT_STEP_PLAIN, PT_NONE, inst);
    }
    free(targets);
}

/* Phases: unlock the mutex, touch the condition variable, lock the mutex. Waiting may end at any time. */
static void do_wait(struct builder *b, uint32_t node, const struct place *at, const struct pt_cf_call *what)
{
    struct place next = *at;
    next.phase++;
    if (at->phase == 0) {
        do_unlock(b, node, at, what->arg, next);
    } else if (at->phase == 1) {
        pt_cf_effects(b->cf, at->context, inst_of(at), &b->effects);
        add_effects(b, node, at, node_at(b, &next));
    } else {
        do_lock(b, node, at, what->arg);
    }
}

static void do_call_instruction(struct builder *b, uint32_t node, const struct place *at)
{
    struct pt_cf_call what = pt_cf_classify(b->cf, inst_of(at));
    struct place next = after(at);
    switch (what.kind) {
    case PT_CF_CALL_INLINE:
        do_call(b, node, at);
        return;
    case PT_CF_CALL_BEGIN:
        do_begin(b, node, at);
        return;
    case PT_CF_CALL_END:
        do_end(b, node, at);
        return;
    case PT_CF_CALL_SPAWN:
        do_spawn(b, node, at);
        return;
    case PT_CF_CALL_JOIN:
        do_join(b, node, at);
        return;
    case PT_CF_CALL_LOCK:
        do_lock(b, node, at, what.object);
        return;
    case PT_CF_CALL_UNLOCK:
        do_unlock(b, node, at, what.object, next);
        return;
    case PT_CF_CALL_TRYLOCK:
        do_trylock(b, node, at, &what);
        return;
    case PT_CF_CALL_STOPS:
        return;
    case PT_CF_CALL_THREAD_EXIT:
        add_edge(b, node, NODE_STOP, PT_STEP_PLAIN, PT_NONE, inst_of(at));
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
    pt_cf_effects(b->cf, at->context, inst_of(at), &b->effects);
    add_effects(b, node, at, node_at(b, &next));
}

/* The edges that leave one node: silent instructions up to the first that does something or decides where to go. */
static void expand(struct builder *b, uint32_t node, struct place at)
{
    for (;; at = after(&at)) {
        LLVMValueRef inst = inst_of(&at);
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
            enum pt_cf_call_kind kind = pt_cf_classify(b->cf, inst).kind;
            if (kind == PT_CF_CALL_NOTHING || kind == PT_CF_CALL_ALLOCATE)
                continue;
            do_call_instruction(b, node, &at);
            return;
        }
        pt_cf_effects(b->cf, at.context, inst, &b->effects);
        if (!matters(b))
            continue;
        struct place next = after(&at);
        add_effects(b, node, &at, node_at(b, &next));
        return;
    }
}

static void build_thread(struct pt_cf_graph *g, uint32_t thread)
{
    struct builder b = {.g = g, .cf = g->cf, .thread = thread, .out = &g->threads[thread]};
    pt_strtab_init(&b.places);
    struct place first = {.context = g->cf->threads[thread].root, .try_context = PT_NONE};
    first.inst = pt_key(LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(g->cf->contexts[first.context].function)));
    add_edge(&b, NODE_START, node_at(&b, &first), PT_STEP_PLAIN, PT_NONE, inst_of(&first));
    for (uint32_t i = 0; i < b.places.count && !g->cf->failed; i++) {
        struct place at;
        memcpy(&at, pt_strtab_text(&b.places, i), sizeof at);
        expand(&b, i + 2, at);
    }
    b.out->node_count = b.places.count + 2;
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
    bool vague = touched.count != 1 || val.number == PT_CF_UNKNOWN;
    for (size_t i = 0; i < touched.count; i++) {
        uint32_t object = touched.list[i].object;
        g->vague_lock[object] |= vague || g->cf->objects[object].summary;
        note_use(g, object, g->cf->contexts[context].root);
    }
    free(touched.list);
}

static void look(struct pt_cf_graph *g, uint32_t context, LLVMValueRef inst, struct pt_cf_accesses *effects)
{
    pt_cf_effects(g->cf, context, inst, effects);
    for (size_t i = 0; i < effects->count; i++)
        note_use(g, effects->list[i].object, g->cf->contexts[context].root);
    if (!LLVMIsACallInst(inst))
        return;
    struct pt_cf_call what = pt_cf_classify(g->cf, inst);
    if (what.kind == PT_CF_CALL_LOCK || what.kind == PT_CF_CALL_UNLOCK || what.kind == PT_CF_CALL_TRYLOCK)
        look_at_lock(g, context, LLVMGetOperand(inst, what.object));
    else if (what.kind == PT_CF_CALL_WAIT)
        look_at_lock(g, context, LLVMGetOperand(inst, what.arg));
}

void pt_cf_graph_build(struct pt_cf_graph *g)
{
    struct pt_cf *cf = g->cf;
    g->user = pt_xcalloc(cf->object_count, sizeof *g->user);
    g->shared = pt_xcalloc(cf->object_count, sizeof *g->shared);
    g->vague_lock = pt_xcalloc(cf->object_count, sizeof *g->vague_lock);
    for (size_t i = 0; i < cf->object_count; i++)
        g->user[i] = PT_NONE;
    pt_strtab_intern(&g->sets, "", 0);
    struct pt_cf_accesses effects = {0};
    for (size_t i = 0; i < cf->reached_count; i++)
        for (LLVMValueRef inst = LLVMGetFirstInstruction(cf->reached[i].block); inst;
             inst = LLVMGetNextInstruction(inst))
            look(g, cf->reached[i].context, inst, &effects);
    free(effects.list);
    g->threads = pt_xcalloc(cf->thread_count, sizeof *g->threads);
    for (uint32_t i = 0; i < cf->thread_count && !cf->failed; i++)
        build_thread(g, i);
}
