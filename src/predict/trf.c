/*
 * Follows a run: clocks that say what each event needs, closed at every step, and the sections of each lock.
 *
 * What a thread needs is kept closed because a union of closed sets is nearly closed: only sections that are open in
 * one of them may have to end, and those are the few that some thread has at the last of its events that are in the
 * set. Closing what is needed changes no answer: a set that contains the need of an event contains its closure, once it
 * is closed itself. A release never has to come in before it was recorded, since a section has to end only where a
 * younger one has begun.
 *
 * Memory blocks: an access, and a free, need the alloc of their block; an alloc needs the free before it.
 *
 * Guarantee: exact for the order `sync`, with two remarks. A read of a part of a variable (b=) needs all writes of
 * parts since the last write of all of it, though it may have seen one of them only. Of readers' sections one must end
 * only if a writer's younger one has begun. Cost: constant time for an event from which nobody learns anything new;
 * otherwise a join of vectors and a closure (closure.c). Memory: 48 bytes for each section, a bit for each event, and a
 * vector for each event at which a thread learned something and which is still spoken of.
 */
#include "predict/trf.h"

#include <stdlib.h>
#include <string.h>

enum { PRUNE_LEAST = 4096 /* sections */, SETTLE_LEAST = 256 /* threads */ };

void pt_trf_begin(struct pt_trf *trf, const struct pt_names *names, const struct pt_race_memory *memory)
{
    *trf = (struct pt_trf){.names = names, .memory = memory, .prune_at = PRUNE_LEAST, .settle_at = SETTLE_LEAST};
    pt_map64_init(&trf->use_index);
}

static void end_threads(struct pt_trf *trf)
{
    for (size_t i = 0; i < trf->thread_cap; i++) {
        struct pt_trf_thread *t = &trf->threads[i];
        for (uint32_t k = 0; k < t->count - t->first; k++)
            pt_vec_drop(trf->memory, t->sections[k].past);
        pt_hb_end(trf->memory, &t->hb);
        free(t->held);
        free(t->inside);
        free(t->sections);
    }
    free(trf->threads);
    free(trf->present);
}

void pt_trf_end(struct pt_trf *trf)
{
    end_threads(trf);
    for (uint32_t i = 0; i < trf->use_count; i++)
        free(trf->uses[i].sections);
    for (size_t i = 0; i < trf->var_cap; i++)
        pt_hb_sync_clear(trf->memory, &trf->vars[i].written);
    for (size_t i = 0; i < trf->other_cap; i++)
        pt_hb_sync_clear(trf->memory, &trf->others[i]);
    for (size_t i = 0; i < trf->block_cap; i++) {
        pt_hb_sync_clear(trf->memory, &trf->blocks[i].made);
        pt_hb_sync_clear(trf->memory, &trf->blocks[i].freed);
    }
    pt_vec_drop(trf->memory, trf->floor);
    free(trf->locks);
    free(trf->uses);
    free(trf->vars);
    free(trf->others);
    free(trf->blocks);
    free(trf->scratch);
    pt_map64_release(&trf->use_index);
    *trf = (struct pt_trf){.names = trf->names, .memory = trf->memory};
}

size_t pt_trf_bytes(const struct pt_trf *trf)
{
    return trf->section_bytes + trf->inside_bytes + trf->thread_cap * sizeof *trf->threads +
           trf->present_cap * sizeof *trf->present + trf->lock_cap * sizeof *trf->locks +
           trf->use_cap * sizeof *trf->uses + trf->var_cap * sizeof *trf->vars + trf->other_cap * sizeof *trf->others +
           trf->block_cap * sizeof *trf->blocks + trf->scratch_cap * sizeof *trf->scratch +
           pt_map64_bytes(&trf->use_index);
}

struct pt_trf_thread *pt_trf_new_thread(struct pt_trf *trf, uint32_t id)
{
    PT_ROOM(trf->threads, trf->thread_cap, id);
    struct pt_trf_thread *t = &trf->threads[id];
    pt_hb_begin(&t->hb, id);
    t->begun = true;
    PT_PUSH(trf->present, trf->present_count, trf->present_cap, id);
    t->hb.past = pt_vec_ref(trf->memory, trf->floor);
    trf->thread_count = id >= trf->thread_count ? id + 1 : trf->thread_count;
    PT_ROOM(trf->scratch, trf->scratch_cap, trf->thread_count + PT_VEC_CHUNK);
    return t;
}

struct pt_trf_lock *pt_trf_lock(struct pt_trf *trf, uint32_t id)
{
    size_t old = trf->lock_cap;
    PT_ROOM(trf->locks, trf->lock_cap, id);
    for (size_t i = old; i < trf->lock_cap; i++)
        trf->locks[i].uses = trf->locks[i].writer = PT_NONE;
    return &trf->locks[id];
}

/* ---- what threads learn ---- */

/* Notes that the thread is inside a section after its present event. Where nobody does, a bit is 0. */
static void note_inside(struct pt_trf *trf, struct pt_trf_thread *t)
{
    uint64_t word = t->hb.clock / 64;
    size_t cap = t->inside_cap;
    if (word >= cap) {
        PT_ROOM(t->inside, t->inside_cap, word);
        trf->inside_bytes += (t->inside_cap - cap) * sizeof *t->inside;
    }
    t->inside[word] |= UINT64_C(1) << t->hb.clock % 64;
}

/* Closes what the thread's next event needs, if `number` of its own events count in. */
static void close_past(struct pt_trf *trf, struct pt_trf_thread *t, uint64_t number)
{
    uint64_t *set = trf->scratch;
    t->region++;
    if (trf->plain)
        return;
    pt_trf_begin_set(trf, set, t->hb.id, number, t->hb.past);
    bool more; /* where it cannot be closed, nothing that builds on it is possible, and close says so again */
    (void)pt_trf_close_more(trf, set, &more);
    trf->added |= more;
    t->open = false;
    for (uint32_t i = 0; i < trf->present_count; i++) {
        uint32_t u = trf->present[i];
        if (u == t->hb.id)
            continue;
        if (more && set[u] > pt_vec_at(t->hb.past, u))
            pt_vec_raise(trf->memory, &t->hb.past, u, set[u]);
        t->open = t->open || (pt_trf_may_be_open(&trf->threads[u], set[u]) && pt_trf_is_open(trf, u, set[u]));
    }
}

/* The thread's next event needs all that an object carries. Returns whether that is news. */
static bool learn(struct pt_trf *trf, struct pt_trf_thread *t, const struct pt_hb_sync *from)
{
    bool last = from->last.at && !pt_hb_knows(&t->hb, from->last.at);
    bool rest = from->rest && !pt_vec_is_within(from->rest, t->hb.past, t->hb.id);
    if (last || rest)
        pt_hb_acquire(trf->memory, &t->hb, from);
    return last || rest;
}

static void learn_and_close(struct pt_trf *trf, struct pt_trf_thread *t, const struct pt_hb_sync *from)
{
    if (learn(trf, t, from))
        close_past(trf, t, t->hb.clock - 1);
}

/* From here on it stands for all up to the thread's present event; `alone`: and for nothing else. */
static void publish(struct pt_trf *trf, struct pt_trf_thread *t, struct pt_hb_sync *what, bool alone)
{
    if (alone && !what->rest && what->last.past == t->hb.past && what->last.at) {
        what->last.at = pt_hb_now(&t->hb); /* the same vector */
        return;
    }
    if (alone)
        pt_hb_sync_clear(trf->memory, what);
    pt_hb_add(trf->memory, what, pt_hb_moment(trf->memory, &t->hb));
}

/* ---- memory ---- */

/* The block of a variable NAME or NAME+OFFSET, plus 1; 0: nobody has spoken of one. */
static uint32_t find_block(const struct pt_trf *trf, uint32_t var)
{
    const struct pt_strtab *names = &trf->names->space[PT_SPACE_VAR], *blocks = &trf->names->space[PT_SPACE_HEAP];
    const char *name = pt_strtab_text(names, var);
    size_t len = pt_strtab_len(names, var), at = len;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    bool offset = at > 1 && at < len && name[at - 1] == '+';
    uint32_t id = blocks->count ? pt_strtab_find(blocks, name, offset ? at - 1 : len) : PT_NONE;
    return id == PT_NONE ? 0 : id + 1;
}

static struct pt_trf_var *new_var(struct pt_trf *trf, uint32_t id)
{
    PT_ROOM(trf->vars, trf->var_cap, id);
    struct pt_trf_var *var = &trf->vars[id];
    var->begun = true;
    var->block = find_block(trf, id);
    return var;
}

static inline struct pt_trf_var *var_at(struct pt_trf *trf, uint32_t id)
{
    bool known = id < trf->var_cap && trf->vars[id].begun;
    return known ? &trf->vars[id] : new_var(trf, id);
}

void pt_trf_before_access(struct pt_trf *trf, const struct pt_event *event)
{
    uint32_t block = event->op == PT_OP_FREE ? event->object + 1 : var_at(trf, event->object)->block;
    if (block && block <= trf->block_cap)
        learn_and_close(trf, pt_trf_thread(trf, event->thread), &trf->blocks[block - 1].made);
}

static void on_access(struct pt_trf *trf, struct pt_trf_thread *t, const struct pt_event *event)
{
    struct pt_trf_var *var = var_at(trf, event->object);
    if (var->block)
        pt_trf_before_access(trf, event);
    if (pt_op_reads(event->op) && trf->blind)
        t->region++;
    else if (pt_op_reads(event->op))
        learn_and_close(trf, t, &var->written);
    if (pt_op_writes(event->op))
        publish(trf, t, &var->written, !event->to);
}

static void on_memory(struct pt_trf *trf, struct pt_trf_thread *t, const struct pt_event *event)
{
    PT_ROOM(trf->blocks, trf->block_cap, event->object);
    struct pt_trf_block *block = &trf->blocks[event->object];
    bool made = event->op == PT_OP_ALLOC;
    learn_and_close(trf, t, made ? &block->freed : &block->made);
    publish(trf, t, made ? &block->made : &block->freed, true);
}

/* ---- other objects and threads ---- */

static void on_other(struct pt_trf *trf, struct pt_trf_thread *t, const struct pt_event *event)
{
    PT_ROOM(trf->others, trf->other_cap, event->object);
    learn_and_close(trf, t, &trf->others[event->object]);
    publish(trf, t, &trf->others[event->object], true);
}

static void on_fork(struct pt_trf *trf, const struct pt_event *event)
{
    pt_trf_thread(trf, event->object); /* may move them */
    struct pt_trf_thread *child = &trf->threads[event->object];
    struct pt_hb_stamp now = pt_hb_moment(trf->memory, &trf->threads[event->thread].hb);
    pt_hb_learn(trf->memory, &child->hb, &now);
    pt_hb_stamp_drop(trf->memory, &now);
    close_past(trf, child, child->hb.clock - 1);
}

static void on_join(struct pt_trf *trf, const struct pt_event *event)
{
    pt_trf_thread(trf, event->object);
    struct pt_trf_thread *child = &trf->threads[event->object], *t = &trf->threads[event->thread];
    if (child->hb.past)
        pt_vec_join(trf->memory, &t->hb.past, child->hb.past);
    if (child->hb.clock > 1)
        pt_vec_raise(trf->memory, &t->hb.past, child->hb.id, child->hb.clock - 1);
    child->ended = true;
    close_past(trf, t, t->hb.clock - 1);
}

/* ---- locks ---- */

static struct pt_trf_use *use_of(struct pt_trf *trf, uint32_t lock, uint32_t thread, bool shared)
{
    uint64_t key = (uint64_t)lock << 32 | (uint64_t)thread << 1 | shared;
    uint32_t *index = pt_map64_at(&trf->use_index, key);
    if (*index != PT_NONE)
        return &trf->uses[*index];
    *index = trf->use_count;
    struct pt_trf_lock *of = &trf->locks[lock];
    struct pt_trf_use use = {.thread = thread, .lock = lock, .shared = shared, .next = of->uses};
    of->contested |= of->uses != PT_NONE && trf->uses[of->uses].thread != thread;
    of->uses = trf->use_count;
    PT_PUSH(trf->uses, trf->use_count, trf->use_cap, use);
    return &trf->uses[trf->use_count - 1];
}

static struct pt_trf_held *find_held(struct pt_trf_thread *t, uint32_t lock)
{
    uint32_t i = t->held_count;
    while (i > 0 && t->held[i - 1].lock != lock)
        i--;
    return i ? &t->held[i - 1] : NULL;
}

static void on_acquire(struct pt_trf *trf, struct pt_trf_thread *t, const struct pt_event *event)
{
    struct pt_trf_lock *lock = pt_trf_lock(trf, event->object);
    struct pt_trf_held *held = find_held(t, event->object);
    bool shared = pt_op_is_shared(event->op);
    if (held) {
        held->depth++;
        return;
    }
    if (!shared)
        lock->writer = event->thread;
    struct pt_trf_use *use = use_of(trf, event->object, event->thread, shared);
    struct pt_trf_section section = {.acquired = t->hb.clock,
                                     .number = ++trf->acquisitions,
                                     .lock = event->object,
                                     .outer = t->held_count ? t->held[t->held_count - 1].section + 1 : 0,
                                     .held = t->held_count,
                                     .shared = shared};
    lock->latest = section.number;
    uint32_t index = t->count, kept = t->count++ - t->first;
    size_t cap = t->section_cap;
    PT_PUSH(t->sections, kept, t->section_cap, section);
    trf->kept++;
    trf->section_bytes += (t->section_cap - cap) * sizeof section;
    cap = use->cap;
    PT_PUSH(use->sections, use->count, use->cap, index);
    use->youngest = section.number;
    use->youngest_acquired = section.acquired;
    trf->section_bytes += (use->cap - cap) * sizeof index;
    struct pt_trf_held now = {event->object, index, 1, shared};
    PT_PUSH(t->held, t->held_count, t->held_cap, now);
    t->region++;
    if (lock->contested && t->open) {
        note_inside(trf, t);
        close_past(trf, t, t->hb.clock);
    }
}

static void on_release(struct pt_trf *trf, struct pt_trf_thread *t, const struct pt_event *event)
{
    struct pt_trf_held *held = find_held(t, event->object);
    if (!held || --held->depth)
        return;
    struct pt_trf_section *section = pt_trf_section(t, held->section);
    section->released = t->hb.clock;
    section->past = pt_vec_ref(trf->memory, t->hb.past);
    if (!held->shared)
        trf->locks[event->object].writer = PT_NONE;
    size_t after = (size_t)(t->held + --t->held_count - held);
    memmove(held, held + 1, after * sizeof *held);
    t->region++;
}

/* ---- what nobody will ask about ---- */

void pt_trf_begin_set(const struct pt_trf *trf, uint64_t *set, uint32_t thread, uint64_t number,
                      const struct pt_vec *past)
{
    if (!pt_trf_is_sparse(trf))
        memset(set, 0, trf->thread_count * sizeof *set);
    else
        for (uint32_t i = 0; i < trf->present_count; i++)
            set[trf->present[i]] = 0;
    pt_trf_add(trf, set, thread, number, past);
}

void pt_trf_complete(const struct pt_trf *trf, uint64_t *set)
{
    for (uint32_t u = 0; trf->settlings && u < trf->thread_count; u++)
        if (trf->threads[u].settled)
            set[u] = trf->threads[u].hb.clock - 1;
}

/* Whether all sets that are still asked about for the sake of another thread have all of thread u. What is forgotten
 * for that, the other one's own past may come to have without need; but whoever learns of that has it. */
static bool needs_wholly(const struct pt_trf *trf, uint32_t other, uint32_t u)
{
    const struct pt_trf_future *futures = trf->futures;
    return (other < trf->future_count && futures[other].asks_until <= trf->followed) ||
           (u < trf->future_count && futures[u].joiner == other + 1 && futures[u].joined_from <= trf->followed);
}

/* Of a thread that is not settled. */
static uint64_t known_of(const struct pt_trf *trf, uint32_t u)
{
    uint64_t known = trf->bounded ? pt_vec_at(trf->floor, u) : trf->threads[u].hb.clock - 1;
    for (uint32_t i = 0; i < trf->present_count; i++) {
        const struct pt_trf_thread *other = &trf->threads[trf->present[i]];
        uint64_t past = pt_vec_at(other->hb.past, u);
        if (past < known && other->hb.id != u && !other->ended && !needs_wholly(trf, other->hb.id, u))
            known = past;
    }
    return known;
}

void pt_trf_known(const struct pt_trf *trf, uint64_t *known)
{
    memset(known, 0, trf->thread_count * sizeof *known);
    pt_trf_complete(trf, known);
    for (uint32_t i = 0; i < trf->present_count; i++)
        known[trf->present[i]] = known_of(trf, trf->present[i]);
}

/* Threads all of whose events are known, and that have no more, are not looked at again. */
static void settle(struct pt_trf *trf, const uint64_t *known)
{
    uint32_t kept = 0, count = trf->present_count;
    for (uint32_t i = 0; i < count; i++) {
        struct pt_trf_thread *t = &trf->threads[trf->present[i]];
        t->settled = t->ended && !t->held_count && known[t->hb.id] >= t->hb.clock - 1;
        if (!t->settled) {
            trf->present[kept++] = t->hb.id;
            continue;
        }
        pt_vec_drop(trf->memory, t->hb.past); /* all have that */
        t->hb.past = NULL;
    }
    trf->present_count = kept;
    trf->settlings += kept < count;
    trf->pruned |= kept < count;
    trf->settle_at = 2 * kept > SETTLE_LEAST ? 2 * kept : SETTLE_LEAST;
}

/* How many of a thread's first sections have ended by then; a set that contains what some thread's next event needs
 * contains their ends. */
static uint32_t count_ended(const struct pt_trf_thread *t, uint64_t known)
{
    uint32_t kept = t->count - t->first, ended = 0;
    while (ended < kept && t->sections[ended].released && t->sections[ended].released <= known)
        ended++;
    return ended;
}

static void forget_first(struct pt_trf *trf, struct pt_trf_thread *t, uint32_t drop)
{
    for (uint32_t i = 0; i < drop; i++)
        pt_vec_drop(trf->memory, t->sections[i].past);
    memmove(t->sections, t->sections + drop, (t->count - t->first - drop) * sizeof *t->sections);
    t->first += drop;
    trf->kept -= drop;
    trf->pruned |= drop > 0;
}

/* Of the uses of settled threads, none of whose sections is kept, the lock itself knows the youngest. */
static void forget_uses(struct pt_trf *trf, struct pt_trf_lock *lock)
{
    for (uint32_t *at = &lock->uses; *at != PT_NONE;) {
        const struct pt_trf_use *use = &trf->uses[*at];
        if (!trf->threads[use->thread].settled) {
            at = &trf->uses[*at].next;
            continue;
        }
        if (use->forgotten > lock->settled[use->shared])
            lock->settled[use->shared] = use->forgotten;
        *at = use->next;
    }
}

/* What is known is closed, as an intersection of closed sets, and so is forgotten for good: only that a section of a
 * lock was there, and which was the youngest, is asked for those that are older and not known. */
void pt_trf_forget(struct pt_trf *trf)
{
    uint64_t *known = trf->scratch;
    pt_trf_known(trf, known);
    if (trf->settles)
        settle(trf, known);
    for (uint32_t i = 0; i < trf->thread_count; i++)
        known[i] = count_ended(&trf->threads[i], known[i]);
    for (uint32_t i = 0; i < trf->use_count; i++) {
        struct pt_trf_use *use = &trf->uses[i];
        const struct pt_trf_thread *t = &trf->threads[use->thread];
        uint32_t drop = 0;
        while (drop < use->count && use->sections[drop] < t->first + known[use->thread])
            use->forgotten = pt_trf_section(t, use->sections[drop++])->number;
        memmove(use->sections, use->sections + drop, (use->count - drop) * sizeof *use->sections);
        use->count -= drop;
    }
    for (uint32_t i = 0; i < trf->thread_count; i++)
        if (known[i])
            forget_first(trf, &trf->threads[i], (uint32_t)known[i]);
    for (size_t i = 0; trf->settlings && i < trf->lock_cap; i++)
        forget_uses(trf, &trf->locks[i]);
    trf->prune_at = trf->kept * 2 > PRUNE_LEAST ? trf->kept * 2 : PRUNE_LEAST;
}

struct pt_vec *pt_trf_now(struct pt_trf *trf)
{
    struct pt_vec *now = NULL;
    for (uint32_t i = 0; i < trf->thread_count; i++)
        if (trf->threads[i].begun)
            pt_vec_raise(trf->memory, &now, i, trf->threads[i].hb.clock - 1);
    return now;
}

void pt_trf_raise(struct pt_trf *trf, struct pt_vec *floor)
{
    for (uint32_t i = 0; i < trf->thread_count; i++) {
        struct pt_trf_thread *t = &trf->threads[i];
        if (!t->begun || pt_vec_is_within(floor, t->hb.past, i))
            continue;
        pt_vec_join(trf->memory, &t->hb.past, floor);
        close_past(trf, t, t->hb.clock - 1);
    }
    pt_vec_drop(trf->memory, trf->floor);
    trf->floor = floor;
    if (trf->forgets)
        pt_trf_forget(trf);
}

void pt_trf_event(struct pt_trf *trf, const struct pt_event *event)
{
    struct pt_trf_thread *t = pt_trf_thread(trf, event->thread);
    switch (event->op) {
    case PT_OP_READ:
    case PT_OP_WRITE:
    case PT_OP_UPDATE:
        on_access(trf, t, event);
        break;
    case PT_OP_ACQ:
    case PT_OP_RACQ:
        on_acquire(trf, t, event);
        break;
    case PT_OP_REL:
    case PT_OP_RREL:
        on_release(trf, t, event);
        break;
    case PT_OP_FORK:
        on_fork(trf, event);
        break;
    case PT_OP_JOIN:
        on_join(trf, event);
        break;
    case PT_OP_ALLOC:
    case PT_OP_FREE:
        on_memory(trf, t, event);
        break;
    default: /* wait, notify, sync */
        on_other(trf, t, event);
        break;
    }
    trf->followed++;
    t = &trf->threads[event->thread]; /* a fork may have moved it */
    if (t->held_count)
        note_inside(trf, t);
    pt_hb_tick(&t->hb);
    bool crowded = trf->settles && trf->present_count >= trf->settle_at;
    if (trf->forgets && (crowded || trf->kept >= trf->prune_at)) {
        pt_trf_forget(trf);
    } else if (crowded) {
        pt_trf_known(trf, trf->scratch);
        settle(trf, trf->scratch);
    }
}
