/*
 * Nodes and edges of one thread's graph, and what mutexes, blocks and threads add to it.
 *
 * A mutex is a lock only where it is surely one and the same; elsewhere locking is a write, which orders and excludes
 * nobody: ways are added, never lost. The one exception, an unlock of what was not locked, is cut with a note. A node
 * costs a hash of its place; there are as many as places times what the ways there may have done, at most MAX_NODES.
 */
#include <stdlib.h>
#include <string.h>

#include "cfront/builder.h"

enum { MAX_NODES = 1000000 };
#define ALWAYS_RUNNING (PT_NONE - 1) /* among running threads: one that starts others, whom nobody may join */

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

uint32_t pt_cf_node_at(struct pt_cf_builder *b, const struct pt_cf_spot *at)
{
    if (b->places.count >= MAX_NODES)
        pt_cf_fail(b->cf, pt_cf_inst(at), "the program is too large: a thread has more than %d places after inlining",
                   MAX_NODES);
    return pt_strtab_intern(&b->places, (const char *)at, sizeof *at) + 2;
}

struct pt_cf_spot pt_cf_after(const struct pt_cf_spot *at)
{
    struct pt_cf_spot next = *at;
    next.inst = pt_key(LLVMGetNextInstruction(pt_cf_inst(at)));
    next.phase = 0;
    return next;
}

void pt_cf_add_edge(struct pt_cf_builder *b, uint32_t from, uint32_t to, enum pt_step_kind kind, uint32_t object,
                    LLVMValueRef inst)
{
    struct pt_cf_edge edge = {.from = from, .to = to, .kind = kind, .object = object, .inst = inst};
    edge.access_start = b->g->access_count;
    PT_PUSH(b->out->edges, b->out->edge_count, b->out->edge_cap, edge);
}

void pt_cf_add_effects(struct pt_cf_builder *b, uint32_t from, const struct pt_cf_spot *at, uint32_t to)
{
    pt_cf_add_edge(b, from, to, PT_STEP_PLAIN, PT_NONE, pt_cf_inst(at));
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

bool pt_cf_matters(const struct pt_cf_builder *b)
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

/* The mutex an argument names; PT_NONE when it can only be treated as a variable (then b->effects is a write of it). */
static uint32_t find_lock(struct pt_cf_builder *b, const struct pt_cf_spot *at, unsigned argument)
{
    struct pt_cf_val val = pt_cf_eval(b->cf, at->context, pt_cf_argument(pt_cf_inst(at), argument));
    uint32_t count;
    const uint32_t *targets = pt_cf_targets(b->cf, val, &count);
    b->effects.count = 0;
    b->effects.vague = b->effects.unknown = false;
    pt_cf_touch(b->cf, val, 1, true, &b->effects);
    if (count != 1 || val.stride != 0 || b->g->vague_lock[targets[0]] || targets[0] == PT_CF_ANYTHING) {
        b->effects.vague = true;
        return PT_NONE;
    }
    uint32_t id = lock_of(b->g, targets[0], val.number);
    struct pt_cf_lock *lock = &b->g->locks[id];
    lock->shared |= lock->user != PT_NONE && lock->user != b->thread;
    lock->user = b->thread;
    return id;
}

void pt_cf_step_lock(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at, unsigned argument)
{
    uint32_t lock = find_lock(b, at, argument);
    struct pt_cf_spot next = pt_cf_after(at);
    if (lock == PT_NONE) {
        pt_cf_add_effects(b, node, at, pt_cf_node_at(b, &next));
        return;
    }
    if (has_id(b->g, at->held, lock)) {
        pt_cf_note(b->cf, pt_cf_inst(at), "a mutex that this thread already holds is locked here: taken as a deadlock");
        b->g->locks[lock].shared = true; /* it stops a thread, be it no other's */
    }
    next.held = with_id(b->g, at->held, lock, true);
    pt_cf_add_edge(b, node, pt_cf_node_at(b, &next), PT_STEP_ACQUIRE, lock, pt_cf_inst(at));
}

void pt_cf_step_unlock(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at, unsigned argument,
                       struct pt_cf_spot next)
{
    uint32_t lock = find_lock(b, at, argument);
    if (lock == PT_NONE) {
        pt_cf_add_effects(b, node, at, pt_cf_node_at(b, &next));
        return;
    }
    if (!has_id(b->g, at->held, lock) && b->g->handed_out[b->g->locks[lock].object]) {
        pt_cf_note(b->cf, pt_cf_inst(at),
                   "a way leads here on which the mutex was not locked, but by a function without a body it may have "
                   "been: taken to order, not to exclude");
        pt_cf_add_effects(b, node, at, pt_cf_node_at(b, &next));
        return;
    }
    if (!has_id(b->g, at->held, lock)) {
        pt_cf_note(b->cf, pt_cf_inst(at), "a way leads here on which the mutex was not locked: taken as impossible");
        PT_PUSH(b->cut, b->cut_count, b->cut_cap, node);
        return;
    }
    next.held = without_id(b->g, at->held, lock);
    pt_cf_add_edge(b, node, pt_cf_node_at(b, &next), PT_STEP_RELEASE, lock, pt_cf_inst(at));
}

/* What the call returned, for the branch that asks. */
static void tried(struct pt_cf_spot *next, const struct pt_cf_spot *at, int result)
{
    next->try_context = at->context;
    next->try_inst = at->inst;
    next->try_result = result;
}

/* A trylock that fails is taken to tell nothing, as if it could fail for no reason (C11 allows that). */
void pt_cf_step_trylock(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at,
                        const struct pt_sync_row *row)
{
    uint32_t lock = find_lock(b, at, row->object);
    struct pt_cf_spot next = pt_cf_after(at);
    if (lock == PT_NONE) {
        pt_cf_add_effects(b, node, at, pt_cf_node_at(b, &next));
        return;
    }
    tried(&next, at, row->failure);
    pt_cf_add_edge(b, node, pt_cf_node_at(b, &next), PT_STEP_PLAIN, PT_NONE, pt_cf_inst(at));
    if (has_id(b->g, at->held, lock))
        return;
    next.try_result = row->success;
    next.held = with_id(b->g, at->held, lock, true);
    pt_cf_add_edge(b, node, pt_cf_node_at(b, &next), PT_STEP_ACQUIRE, lock, pt_cf_inst(at));
}

/* ---- blocks */

static const char *block_name(struct pt_cf *cf, LLVMValueRef call)
{
    unsigned args = LLVMGetNumArgOperands(call); /* the name is the last: portent.h may add a place before it */
    if (args == 0)
        return NULL;
    LLVMValueRef text = pt_base_of(&cf->names, LLVMGetOperand(call, args - 1), NULL);
    LLVMValueRef constant = LLVMIsAGlobalVariable(text) ? LLVMGetInitializer(text) : NULL;
    size_t len;
    return constant && LLVMIsAConstantDataSequential(constant) && LLVMIsConstantString(constant)
               ? LLVMGetAsString(constant, &len)
               : NULL;
}

static uint32_t block_of(struct pt_cf_builder *b, LLVMValueRef inst)
{
    struct pt_cf_graph *g = b->g;
    for (uint32_t i = 0; i < g->block_count; i++)
        if (g->blocks[i].inst == inst && g->blocks[i].thread == b->thread)
            return i;
    struct pt_cf_block block = {.thread = b->thread, .inst = inst, .name = block_name(b->cf, inst)};
    PT_PUSH(g->blocks, g->block_count, g->block_cap, block);
    return (uint32_t)g->block_count - 1;
}

void pt_cf_step_begin(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at)
{
    uint32_t block = block_of(b, pt_cf_inst(at));
    struct pt_cf_spot next = pt_cf_after(at);
    if (has_id(b->g, at->open, block)) {
        pt_cf_note(b->cf, pt_cf_inst(at), "a way leads here on which this block has not ended: taken as impossible");
        PT_PUSH(b->cut, b->cut_count, b->cut_cap, node);
        return;
    }
    next.open = with_id(b->g, at->open, block, false);
    pt_cf_add_edge(b, node, pt_cf_node_at(b, &next), PT_STEP_BEGIN, block, pt_cf_inst(at));
}

void pt_cf_step_end(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at)
{
    const char *name = block_name(b->cf, pt_cf_inst(at));
    uint32_t count;
    const uint32_t *open = ids_of(b->g, at->open, &count);
    struct pt_cf_spot next = pt_cf_after(at);
    const char *innermost = count ? b->g->blocks[open[count - 1]].name : NULL;
    if (count && !(name && innermost && strcmp(name, innermost) != 0)) {
        uint32_t block = open[count - 1];
        next.open = without_id(b->g, at->open, block);
        pt_cf_add_edge(b, node, pt_cf_node_at(b, &next), PT_STEP_END, block, pt_cf_inst(at));
        return;
    }
    pt_cf_note(b->cf, pt_cf_inst(at),
               "a way leads here on which this does not end the innermost open block: ignored, as at run time");
    pt_cf_add_edge(b, node, pt_cf_node_at(b, &next), PT_STEP_PLAIN, PT_NONE, pt_cf_inst(at));
}

/* ---- threads */

void pt_cf_step_spawn(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at)
{
    struct pt_cf *cf = b->cf;
    uint32_t object = pt_cf_object(cf, PT_CF_THREAD, pt_cf_inst(at), at->context), thread = 0;
    struct pt_cf_spot next = pt_cf_after(at);
    while (thread < cf->thread_count && cf->threads[thread].object != object)
        thread++;
    pt_cf_effects(cf, at->context, pt_cf_inst(at), &b->effects);
    if (at->phase == 0 && pt_cf_matters(b)) {
        next = *at;
        next.phase = 1;
        pt_cf_add_effects(b, node, at, pt_cf_node_at(b, &next));
        return;
    }
    if (thread == cf->thread_count)
        return; /* not reached after all */
    next.running = with_id(b->g, at->running, thread, true);
    if (cf->contexts[cf->threads[thread].root].starts_threads)
        next.running = with_id(b->g, next.running, ALWAYS_RUNNING, true);
    pt_cf_add_edge(b, node, pt_cf_node_at(b, &next), PT_STEP_SPAWN, thread, pt_cf_inst(at));
}

void pt_cf_step_join(struct pt_cf_builder *b, uint32_t node, const struct pt_cf_spot *at, const struct pt_sync_row *row)
{
    struct pt_cf *cf = b->cf;
    struct pt_cf_spot next = pt_cf_after(at);
    struct pt_cf_val handle = pt_cf_eval(cf, at->context, pt_cf_argument(pt_cf_inst(at), row->object));
    uint32_t count, thread = 0;
    const uint32_t *targets = pt_cf_targets(cf, handle, &count);
    if (at->phase == 1) {
        pt_cf_effects(cf, at->context, pt_cf_inst(at), &b->effects);
        pt_cf_add_effects(b, node, at, pt_cf_node_at(b, &next));
        return;
    }
    next = *at;
    next.phase = 1;
    while (count == 1 && thread < cf->thread_count && cf->threads[thread].object != targets[0])
        thread++;
    if (count != 1 || thread == cf->thread_count) {
        pt_cf_note(cf, pt_cf_inst(at), "cannot tell which thread is joined here: the join is ignored");
        pt_cf_add_edge(b, node, pt_cf_node_at(b, &next), PT_STEP_PLAIN, PT_NONE, pt_cf_inst(at));
        return;
    }
    if (pt_sync_may_fail(row)) { /* like a trylock: it may fail for no reason */
        struct pt_cf_spot failed = pt_cf_after(at);
        tried(&failed, at, row->failure);
        pt_cf_add_edge(b, node, pt_cf_node_at(b, &failed), PT_STEP_PLAIN, PT_NONE, pt_cf_inst(at));
        tried(&next, at, row->success);
    }
    next.running = without_id(b->g, at->running, thread);
    pt_cf_add_edge(b, node, pt_cf_node_at(b, &next), PT_STEP_JOIN, thread, pt_cf_inst(at));
}
