/*
 * Data races of the recorded run (contract section 10): happens-before and SHB by race/hb.h and race/cell.h, which say
 * what is reported exactly; here an event of a trace becomes what it means for them.
 *
 * A variable is one location, but accesses that touch a part of it only (b=) race where they have bytes in common: it
 * is cut into eights of bytes as they are touched. A block of memory (alloc, free) is its variables, those that are
 * named NAME+OFFSET and NAME itself; a free writes all of them, those too that have not been touched yet, and an alloc
 * makes new ones of them. alloc itself is no access.
 *
 * Guarantee: every pair of places that SHB leaves unordered in the recorded run is reported, once, and no other.
 * Not judged, and said to be unknown: what comes after events that are missing, and traces of relevant events alone
 * (c=), which lack accesses and locks. A location that more than 64 accesses are kept of forgets those that are before
 * everything the threads of that moment can still do; where a thread that nobody forked appears after that, what is
 * found stands, but that there is nothing more is unknown.
 *
 * One pass. Cost and memory: race/cell.c and race/hb.c; per event without a race constant time but for joins.
 */
#include "engine/races.h"

#include <stdlib.h>
#include <string.h>

struct races *pt_races_new(const struct pt_names *names, const struct pt_check_options *options)
{
    struct races *r = pt_xcalloc(1, sizeof *r);
    r->names = names;
    r->options = *options;
    r->started = options->now ? options->now() : 0;
    r->memory = pt_races_memory(&r->pool);
    r->env = (struct pt_cell_env){&r->memory, pt_races_found, pt_races_is_past, r};
    pt_strtab_init(&r->block_names);
    pt_strtab_init(&r->lock_sets);
    if (options->order > PT_CHECK_ACCESS)
        r->predict = pt_races_predict_begin(r);
    return r;
}

void pt_races_ask(struct races *r, struct races_asker asker)
{
    pt_map64_init(&asker.met);
    pt_map64_init(&asker.pairs);
    PT_PUSH(r->askers, r->asker_count, r->asker_cap, asker);
}

static void *begin(const struct pt_names *names, const struct pt_check_options *options)
{
    struct races *r = pt_races_new(names, options);
    r->own = pt_finding_new();
    r->own->property = "races";
    r->own->kind = "race";
    r->own->text = "";
    r->own->order = "access";
    r->own->builtin = r->own->monitorable = r->own->complete = true;
    pt_races_ask(r, (struct races_asker){.finding = r->own});
    return r;
}

/* Everything but the findings. */
static void release_run(struct races *r)
{
    for (size_t i = 0; i < r->thread_cap; i++)
        free(r->threads[i].locks);
    for (size_t i = 0; i < r->var_cap; i++) /* large pieces are not the pool's */
        pt_races_end_var(r, &r->vars[i]);
    for (size_t i = 0; i < r->block_cap; i++)
        pt_cell_end(&r->memory, &r->blocks[i].whole);
    for (size_t i = 0; i < r->lock_cap; i++)
        pt_hb_lock_clear(&r->memory, &r->locks[i].hb);
    for (size_t i = 0; i < r->other_cap; i++)
        pt_hb_sync_clear(&r->memory, &r->others[i]);
    for (size_t i = 0; i < r->thread_cap; i++)
        pt_hb_end(&r->memory, &r->threads[i].hb);
    free(r->threads);
    free(r->locks);
    free(r->others);
    free(r->vars);
    free(r->blocks);
    r->threads = NULL;
    r->locks = NULL;
    r->others = NULL;
    r->vars = NULL;
    r->blocks = NULL;
    r->thread_cap = r->lock_cap = r->other_cap = r->var_cap = r->block_cap = 0;
    pt_races_predict_free(r->predict);
    r->predict = NULL;
    pt_races_memory_release(&r->pool);
}

void pt_races_free(struct races *r)
{
    if (!r)
        return;
    release_run(r);
    pt_full_run_release(&r->run);
    free(r->met_events);
    pt_strtab_release(&r->block_names);
    pt_strtab_release(&r->lock_sets);
    for (uint32_t i = 0; i < r->asker_count; i++) {
        pt_map64_release(&r->askers[i].met);
        pt_map64_release(&r->askers[i].pairs);
    }
    free(r->askers);
    pt_finding_free(r->own);
    free(r);
}

static void release(void *check)
{
    pt_races_free(check);
}

/* ---- threads ---- */

static struct races_thread *thread_at(struct races *r, uint32_t id)
{
    PT_ROOM(r->threads, r->thread_cap, id);
    struct races_thread *t = &r->threads[id];
    if (!t->begun) {
        pt_hb_begin(&t->hb, id);
        t->begun = true;
        t->lock_set = PT_NONE;
        r->thread_count = id >= r->thread_count ? id + 1 : r->thread_count;
    }
    return t;
}

/* A thread that has begun without a fork, or goes on after its end. */
static struct races_thread *new_actor(struct races *r, uint32_t id)
{
    struct races_thread *t = thread_at(r, id);
    if (r->pruned && !r->run.unknown)
        r->run.unknown = "a thread that nobody forked begins after accesses were forgotten that it may race with";
    t->ended = false;
    return t;
}

/* The thread of an event. */
static struct races_thread *actor(struct races *r, uint32_t id)
{
    bool known = id < r->thread_cap && r->threads[id].begun && !r->threads[id].ended;
    return known ? &r->threads[id] : new_actor(r, id);
}

static void on_fork(struct races *r, const struct pt_event *event)
{
    struct races_thread *child = thread_at(r, event->object); /* may move them */
    child->forked = true;
    child->forked_at = event->loc;
    child->forked_stack = event->stack;
    pt_hb_fork(&r->memory, &r->threads[event->thread].hb, &r->threads[event->object].hb);
}

static void on_join(struct races *r, const struct pt_event *event)
{
    thread_at(r, event->object);
    struct races_thread *child = &r->threads[event->object];
    pt_hb_join(&r->memory, &r->threads[event->thread].hb, &child->hb);
    pt_hb_end(&r->memory, &child->hb);
    child->ended = true;
}

/* ---- locks ---- */

static void note_lock(struct races_thread *t, const struct pt_event *event)
{
    uint32_t i = t->lock_count;
    t->lock_set = PT_NONE;
    if (pt_op_locks(event->op)) {
        PT_PUSH(t->locks, t->lock_count, t->lock_cap, event->object);
        return;
    }
    while (i > 0 && t->locks[i - 1] != event->object)
        i--;
    if (i > 0) { /* otherwise it was locked before a gap */
        memmove(t->locks + i - 1, t->locks + i, (t->lock_count - i) * sizeof *t->locks);
        t->lock_count--;
    }
}

uint32_t pt_races_make_lock_set(struct races *r, struct races_thread *t)
{
    uint32_t *alone = t->lock_count == 1 ? &r->locks[t->locks[0]].alone : NULL;
    if (alone && *alone) {
        t->lock_set = *alone - 1;
    } else {
        uint32_t *ids = pt_xmalloc(t->lock_count * sizeof *ids);
        memcpy(ids, t->locks, t->lock_count * sizeof *ids);
        uint32_t count = pt_sort_distinct(ids, t->lock_count);
        t->lock_set = pt_strtab_intern(&r->lock_sets, (const char *)ids, count * sizeof *ids);
        free(ids);
        if (alone)
            *alone = t->lock_set + 1;
    }
    return t->lock_set;
}

void pt_races_lock(struct races *r, struct races_thread *t, const struct pt_event *event)
{
    bool shared = pt_op_is_shared(event->op);
    PT_ROOM(r->locks, r->lock_cap, event->object);
    struct pt_hb_lock *lock = &r->locks[event->object].hb;
    if (pt_op_locks(event->op))
        pt_hb_lock(&r->memory, &t->hb, lock, shared);
    else
        pt_hb_unlock(&r->memory, &t->hb, lock, shared);
    note_lock(t, event);
}

static void on_other(struct races *r, struct races_thread *t, const struct pt_event *event)
{
    PT_ROOM(r->others, r->other_cap, event->object);
    struct pt_hb_sync *sync = &r->others[event->object];
    bool gives = event->op == PT_OP_NOTIFY || event->order == PT_MEMORY_RELEASE;
    bool takes = event->op == PT_OP_WAIT || event->order == PT_MEMORY_ACQUIRE;
    if (event->order == PT_MEMORY_RELAXED)
        return;
    if (!gives)
        pt_hb_acquire(&r->memory, &t->hb, sync);
    if (!gives && !takes)
        pt_hb_sync_clear(&r->memory, sync); /* what it had is in what is put in now */
    if (!takes)
        pt_hb_release(&r->memory, &t->hb, sync);
}

/* ---- memory ---- */

static struct races_block *block_at(struct races *r, const char *name, size_t len)
{
    uint32_t id = pt_strtab_intern(&r->block_names, name, len);
    size_t old = r->block_cap;
    PT_ROOM(r->blocks, r->block_cap, id);
    for (size_t i = old; i < r->block_cap; i++) {
        r->blocks[i].vars = PT_NONE;
        pt_cell_begin(&r->blocks[i].whole);
    }
    return &r->blocks[id];
}

struct races_block *pt_races_block_of(struct races *r, uint32_t var, bool *ret_offset)
{
    const struct pt_strtab *names = &r->names->space[PT_SPACE_VAR];
    const char *name = pt_strtab_text(names, var);
    size_t len = pt_strtab_len(names, var), at = len;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    *ret_offset = at > 1 && at < len && name[at - 1] == '+';
    if (*ret_offset)
        return block_at(r, name, at - 1);
    uint32_t id = pt_strtab_find(&r->block_names, name, len);
    return id == PT_NONE ? NULL : &r->blocks[id];
}

/* As PT_ROOM, but that a variable keeps to its cache lines. */
static void make_room(struct races *r, uint32_t id)
{
    size_t old = r->var_cap, cap = old ? old : 16;
    while (cap <= id)
        cap *= 2;
    if (cap == old)
        return;
    struct races_var *vars = pt_xaligned(RACES_LINE, cap * sizeof *vars);
    if (old)
        memcpy(vars, r->vars, old * sizeof *vars);
    free(r->vars);
    r->vars = vars;
    r->var_cap = cap;
}

static struct races_var *var_at(struct races *r, uint32_t id)
{
    make_room(r, id);
    struct races_var *var = &r->vars[id];
    if (var->begun)
        return var;
    bool offset;
    struct races_block *block = pt_races_block_of(r, id, &offset);
    var->begun = true;
    var->next = PT_NONE;
    if (offset) {
        var->next = block->vars;
        block->vars = id;
    }
    var->heap = block && block->heap;
    if (block && block->freed)
        pt_cell_copy(&r->memory, &var->cell, &block->whole);
    else
        pt_cell_begin(&var->cell);
    return var;
}

static struct pt_cell_access make_access(const struct races *r, uint8_t kind)
{
    static const uint8_t orders[PT_MEMORY_COUNT] = {PT_HB_SEQ_CST, PT_HB_RELAXED, PT_HB_ACQUIRE,
                                                    PT_HB_RELEASE, PT_HB_ACQ_REL, PT_HB_SEQ_CST};
    const struct pt_event *event = r->event;
    return (struct pt_cell_access){.place = event->loc,
                                   .kind = kind,
                                   .bytes = PT_CELL_WHOLE,
                                   .op = event->op,
                                   .order = orders[event->order],
                                   .note = {r->run.events, event->stack, r->event_locks}};
}

void pt_races_access(struct races *r, struct races_thread *t, const struct pt_event *event)
{
    r->event = event;
    struct races_var *var = var_at(r, event->object);
    var->quiet = 0;
    unsigned kind = (pt_op_reads(event->op) ? PT_CELL_READS : 0) | (pt_op_writes(event->op) ? PT_CELL_WRITES : 0) |
                    (event->order || event->op == PT_OP_UPDATE ? PT_CELL_ATOMIC : 0);
    r->event_locks = pt_races_lock_set(r, t);
    r->event_var = event->object;
    r->event_in_heap = var->heap;
    struct pt_cell_access access = make_access(r, (uint8_t)kind);
    if (event->to || var->part_count)
        pt_races_access_parts(r, t, var, &access);
    else
        pt_cell_access(&r->env, &var->cell, &t->hb, &access);
}

/* The next variable of a block after `var`, PT_NONE at first: those with offsets, then the one of the block's name. */
static uint32_t next_of_block(const struct races *r, const struct races_block *block, uint32_t heap, uint32_t var)
{
    const struct pt_strtab *vars = &r->names->space[PT_SPACE_VAR], *names = &r->names->space[PT_SPACE_HEAP];
    uint32_t same = pt_strtab_find(vars, pt_strtab_text(names, heap), pt_strtab_len(names, heap));
    if (same >= r->var_cap || !r->vars[same].begun)
        same = PT_NONE;
    if (var != PT_NONE && var == same)
        return PT_NONE;
    uint32_t next = var == PT_NONE ? block->vars : r->vars[var].next;
    return next == PT_NONE ? same : next;
}

static struct races_block *heap_block(struct races *r, uint32_t heap)
{
    const struct pt_strtab *names = &r->names->space[PT_SPACE_HEAP];
    struct races_block *block = block_at(r, pt_strtab_text(names, heap), pt_strtab_len(names, heap));
    uint32_t var = PT_NONE;
    while (!block->heap && (var = next_of_block(r, block, heap, var)) != PT_NONE)
        r->vars[var].heap = true;
    block->heap = true;
    return block;
}

static void on_alloc(struct races *r, struct races_thread *t, const struct pt_event *event)
{
    struct races_block *block = heap_block(r, event->object);
    block->made = *event;
    block->made_at = r->run.events;
    block->made_locks = pt_races_lock_set(r, t);
    for (uint32_t var = PT_NONE; (var = next_of_block(r, block, event->object, var)) != PT_NONE;)
        pt_races_end_var(r, &r->vars[var]);
    pt_cell_end(&r->memory, &block->whole);
    block->freed = false;
}

/* A write learns nothing, so the order in which a free checks and records its parts is all one. */
static void free_cell(struct races *r, struct races_thread *t, struct pt_cell *cell,
                      const struct pt_cell_access *access, uint32_t var)
{
    r->event_var = var;
    pt_cell_record(&r->env, cell, &t->hb, access, pt_cell_check(&r->env, cell, &t->hb, access));
}

static void on_free(struct races *r, struct races_thread *t, const struct pt_event *event)
{
    struct races_block *block = heap_block(r, event->object);
    r->event_locks = pt_races_lock_set(r, t);
    r->event_in_heap = true;
    struct pt_cell_access access = make_access(r, PT_CELL_WRITES);
    for (uint32_t var = PT_NONE; (var = next_of_block(r, block, event->object, var)) != PT_NONE;) {
        r->in_parts = r->vars[var].part_count > 0;
        r->met_count = 0;
        r->vars[var].quiet = 0;
        for (uint32_t i = 0; i < r->vars[var].part_count; i++)
            free_cell(r, t, &r->vars[var].parts[i].cell, &access, var);
        free_cell(r, t, &r->vars[var].cell, &access, var);
    }
    r->in_parts = false;
    free_cell(r, t, &block->whole, &access, PT_NONE);
    pt_hb_tick(&t->hb);
    block->freed = true;
}

/* ---- events ---- */

static void follow(struct races *r, const struct pt_event *event)
{
    static const uint8_t orders[PT_MEMORY_COUNT] = {PT_HB_RELAXED, PT_HB_RELAXED, PT_HB_ACQUIRE,
                                                    PT_HB_RELEASE, PT_HB_ACQ_REL, PT_HB_SEQ_CST};
    struct races_thread *t = actor(r, event->thread);
    if (event->op == PT_OP_READ || event->op == PT_OP_WRITE) {
        if (!pt_races_plain(r, t, event))
            pt_races_access(r, t, event);
        return;
    }
    if (pt_op_space(event->op) == PT_SPACE_LOCK && event->op != PT_OP_CONTENDED) {
        pt_races_lock(r, t, event);
        return;
    }
    switch (event->op) {
    case PT_OP_UPDATE:
        pt_races_access(r, t, event);
        break;
    case PT_OP_WAIT:
    case PT_OP_NOTIFY:
    case PT_OP_SYNC:
        on_other(r, t, event);
        break;
    case PT_OP_FORK:
        on_fork(r, event);
        break;
    case PT_OP_JOIN:
        on_join(r, event);
        break;
    case PT_OP_ALLOC:
        on_alloc(r, t, event);
        break;
    case PT_OP_FREE:
        on_free(r, t, event);
        break;
    case PT_OP_FENCE:
        pt_hb_fence(&r->memory, &t->hb, orders[event->order]);
        break;
    case PT_OP_STATE:
        t->ended = strcmp(pt_name(r->names, PT_SPACE_STATE, event->object), "ended") == 0;
        break;
    default: /* internal to its thread */
        break;
    }
}

void pt_races_watch_memory(struct races *r)
{
    size_t bytes = r->pool.bytes + r->part_bytes + r->var_cap * sizeof *r->vars + r->thread_cap * sizeof *r->threads +
                   r->lock_cap * sizeof *r->locks + r->other_cap * sizeof *r->others + r->block_cap * sizeof *r->blocks;
    for (uint32_t i = 0; i < r->asker_count; i++)
        bytes += pt_map64_bytes(&r->askers[i].met) + pt_map64_bytes(&r->askers[i].pairs);
    if (r->predict)
        bytes += pt_races_predict_bytes(r->predict);
    if (bytes > r->peak)
        r->peak = bytes;
    if (!r->options.memory_limit || bytes <= r->options.memory_limit)
        return;
    if (r->predict && r->options.automatic) { /* the recorded run itself takes little */
        pt_races_predict_free(r->predict);
        r->predict = NULL;
        pt_races_watch_memory(r);
        return;
    }
    r->run.unknown = "the memory limit was reached";
    r->run.stopped = true;
    release_run(r);
}

void pt_races_gap(struct races *r)
{
    pt_full_run_gap(&r->run);
}

enum pt_status pt_races_event(struct races *r, const struct pt_event *event, struct pt_err *err)
{
    if (r->predict)
        pt_races_predict_keep(r->predict, event);
    if (!pt_full_run_usual(&r->run, event)) {
        bool looked_at;
        enum pt_status status = pt_full_run_event(&r->run, r->options.trace, event, &looked_at, err);
        if (!looked_at)
            return status;
    }
    r->event = event;
    follow(r, event);
    if (r->predict)
        pt_races_predict_event(r, event);
    if (r->run.events % RACES_WATCH_EVERY == 0)
        pt_races_watch_memory(r);
    return PT_OK;
}

void pt_races_finish(struct races *r, const char *lost)
{
    pt_races_watch_memory(r);
    if (r->predict)
        pt_races_predict_finish(r);
    bool all = r->predict && pt_races_predicts_all(r->predict);
    for (uint32_t i = 0; i < r->asker_count; i++) {
        struct pt_finding *f = r->askers[i].finding;
        if (f->verdict == PT_VERDICT_VIOLATED)
            pt_finding_join_places(f, r->options.suppressed, r->options.context);
        if (all && f->verdict == PT_VERDICT_HOLDS)
            f->order = "sync";
        pt_full_run_settle(&r->run, f, lost);
        f->peak_bytes = r->peak;
        f->seconds = r->options.now ? (double)(r->options.now() - r->started) / 1e9 : 0;
    }
}

static enum pt_status take(void *check, const struct pt_event *event, struct pt_err *err)
{
    return pt_races_event(check, event, err);
}

static enum pt_status take_some(void *check, const struct pt_event *events, uint32_t count, uint32_t *ret_taken,
                                struct pt_err *err)
{
    return pt_races_events(check, events, count, ret_taken, err);
}

static struct pt_check_found finish(void *check, const char *lost)
{
    struct races *r = check;
    if (r->run.lacking && r->options.by_default && r->own->verdict != PT_VERDICT_VIOLATED)
        return (struct pt_check_found){0};
    pt_races_finish(r, lost);
    return (struct pt_check_found){.finding = r->own};
}

const struct pt_check_kind pt_check_races = {
    .begin = begin,
    .event = take,
    .events = take_some,
    .finish = finish,
    .free = release,
};
