/*
 * Plays a run, once through the recorded events for each of its two parts.
 *
 * Guarantee: true only if every event can happen where the run has it: each thread's events come in their order, after
 * its fork; a join comes after all of the child's; locks are had by one thread, or by readers; wait, notify and sync of
 * an object come after all before them; an alloc comes after the latest free of its block, a free after its alloc; and
 * every read sees the write that it saw, of variables that parts were written of all writes since the last of the
 * whole. Cost: two passes over the recorded events.
 */
#include "predict/replay.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"

static uint32_t *depth_of(struct pt_replay *r, uint32_t thread, uint32_t lock)
{
    uint32_t *depth = pt_map64_at(&r->depth, (uint64_t)thread << 32 | lock);
    if (*depth == PT_NONE)
        *depth = 0;
    return depth;
}

static bool play_lock(struct pt_replay *r, const struct pt_log_event *event)
{
    bool shared = pt_op_is_shared(event->op);
    uint32_t *depth = depth_of(r, event->thread, event->object);
    struct pt_replay_lock *lock = &r->locks[event->object];
    if (pt_op_locks(event->op)) {
        bool free = !lock->owner && (shared || !lock->readers);
        if ((*depth)++)
            return true;
        if (shared)
            lock->readers++;
        else
            lock->owner = event->thread + 1;
        return free;
    }
    if (!*depth || --*depth)
        return *depth;
    if (lock->owner == event->thread + 1)
        lock->owner = 0;
    else
        lock->readers--;
    return true;
}

static bool play_memory(const struct pt_replay_block *block, bool made)
{
    const struct pt_replay_object *before = made ? &block->freed : &block->made;
    return before->recorded == before->here;
}

/* One event of our run; false: it cannot happen now, or reads something else. */
static bool play(struct pt_replay *r, const struct pt_log_event *event)
{
    if (r->unforked[event->thread])
        return false;
    switch (pt_op_space(event->op)) {
    case PT_SPACE_VAR:
        return !pt_op_reads(event->op) || r->vars[event->object].recorded == r->vars[event->object].here;
    case PT_SPACE_LOCK:
        return play_lock(r, event);
    case PT_SPACE_OTHER:
        return r->others[event->object].recorded == r->others[event->object].here;
    case PT_SPACE_HEAP:
        return play_memory(&r->blocks[event->object], event->op == PT_OP_ALLOC);
    case PT_SPACE_THREAD:
        if (event->op == PT_OP_FORK)
            r->unforked[event->object] = false;
        return event->op == PT_OP_FORK || r->seen[event->object] <= r->taken[event->object];
    default:
        return true;
    }
}

static uint64_t written(uint64_t before, const struct pt_log_event *event)
{
    return event->to ? pt_mix64(before + pt_mix64(event->event)) : event->event;
}

/* What the recorded run has after this event, and ours if it was taken. */
static void note(struct pt_replay *r, const struct pt_log_event *event, bool taken)
{
    enum pt_space space = pt_op_space(event->op);
    if (space == PT_SPACE_VAR && pt_op_writes(event->op)) {
        struct pt_replay_object *var = &r->vars[event->object];
        var->recorded = written(var->recorded, event);
        if (taken)
            var->here = written(var->here, event);
    } else if (space == PT_SPACE_OTHER) {
        r->others[event->object].recorded++;
        r->others[event->object].here += taken;
    } else if (space == PT_SPACE_HEAP) {
        struct pt_replay_block *block = &r->blocks[event->object];
        struct pt_replay_object *what = event->op == PT_OP_ALLOC ? &block->made : &block->freed;
        what->recorded = event->event;
        if (taken)
            what->here = event->event;
    }
    r->taken[event->thread] += taken;
}

static void make_room(struct pt_replay *r, const struct pt_log_event *event)
{
    switch (pt_op_space(event->op)) {
    case PT_SPACE_VAR:
        PT_ROOM(r->vars, r->var_cap, event->object);
        break;
    case PT_SPACE_LOCK:
        PT_ROOM(r->locks, r->lock_cap, event->object);
        break;
    case PT_SPACE_OTHER:
        PT_ROOM(r->others, r->other_cap, event->object);
        break;
    case PT_SPACE_HEAP:
        PT_ROOM(r->blocks, r->block_cap, event->object);
        break;
    default:
        break;
    }
}

/* One part of the run: of each thread the events after `from`, if there is such, up to `upto`. */
static bool play_part(struct pt_replay *r, const uint64_t *from, const uint64_t *upto)
{
    struct pt_log_reader reader;
    memset(r->seen, 0, r->run.threads * sizeof *r->seen);
    for (size_t i = 0; i < r->var_cap; i++)
        r->vars[i].recorded = 0;
    for (size_t i = 0; i < r->other_cap; i++)
        r->others[i].recorded = 0;
    for (size_t i = 0; i < r->block_cap; i++)
        r->blocks[i].made.recorded = r->blocks[i].freed.recorded = 0;
    for (pt_log_start(&reader, r->log); pt_log_next(&reader);) {
        const struct pt_log_event *event = &reader.event;
        uint64_t number = r->seen[event->thread] + 1;
        bool taken = number <= upto[event->thread] && (!from || number > from[event->thread]);
        make_room(r, event);
        if (taken && !play(r, event))
            return false;
        r->seen[event->thread] = number;
        if (!from && !taken && event->op == PT_OP_FORK)
            r->unforked[event->object] = true;
        if (number == r->run.upto[event->thread] + 1)
            r->next[event->thread] = *event;
        note(r, event, taken);
    }
    return true;
}

bool pt_replay_play(struct pt_replay *replay, const struct pt_log *log, const struct pt_replay_run *run)
{
    size_t threads = (size_t)run->threads + 1;
    *replay = (struct pt_replay){.log = log,
                                 .run = *run,
                                 .seen = pt_xcalloc(threads, sizeof *replay->seen),
                                 .taken = pt_xcalloc(threads, sizeof *replay->taken),
                                 .next = pt_xcalloc(threads, sizeof *replay->next),
                                 .unforked = pt_xcalloc(threads, sizeof *replay->unforked)};
    pt_map64_init(&replay->depth);
    if (!play_part(replay, NULL, run->first))
        return false;
    return memcmp(run->first, run->upto, run->threads * sizeof *run->upto) == 0 ||
           play_part(replay, run->first, run->upto);
}

void pt_replay_end(struct pt_replay *replay)
{
    free(replay->seen);
    free(replay->taken);
    free(replay->next);
    free(replay->unforked);
    free(replay->vars);
    free(replay->others);
    free(replay->blocks);
    free(replay->locks);
    pt_map64_release(&replay->depth);
}

const struct pt_log_event *pt_replay_next(const struct pt_replay *replay, uint32_t thread)
{
    return replay->next[thread].event ? &replay->next[thread] : NULL;
}

bool pt_replay_has(const struct pt_replay *replay, uint32_t thread, uint32_t lock, bool alone)
{
    uint32_t depth = pt_map64_get(&replay->depth, (uint64_t)thread << 32 | lock);
    return depth != PT_NONE && depth && (!alone || replay->locks[lock].owner == thread + 1);
}
