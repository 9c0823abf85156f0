/*
 * Deadlocks that a run of the same events could have had (contract section 10): lock-order patterns by
 * deadlock/patterns.h, and of each whether it is a sync-preserving deadlock, by the algorithm SPDOffline: the events
 * that have to come before all of its acquires, closed under what they need, must not contain one of them.
 *
 * What an event needs, here: those before it in its thread, the write that a read has seen, forks, ends of joined
 * threads, and for wait, notify and sync all before it of the same object. Not the acquisitions before it of a lock.
 *
 * Guarantee: a deadlock is reported if and only if there is a run that takes a part of each thread's events from the
 * beginning, in which all reads see what they saw, the sections of each lock that are taken keep their order, and after
 * which every thread of the pattern is next to take a lock that the next one has; and each is shown only after
 * deadlocks_replay.c has played that run. Not judged, and said to be unknown: what comes after events that are missing,
 * traces of relevant events alone (c=), more patterns than are looked at. A trylock that succeeded is a lock in a
 * trace, and is taken for one that would have waited.
 *
 * Cost: one pass, in which all events are kept, 16 bytes each, and what each release of a lock and each nested
 * acquisition needs, shared where it is the same; then for each pattern time linear in that.
 */
#include "engine/deadlocks.h"

#include <stdlib.h>
#include <string.h>

enum {
    WATCH_EVERY = 64, /* events */
    PATTERNS_MAX = 100000,
    SEARCH_STEPS = 1000000,
};

static void *begin(const struct pt_names *names, const struct pt_check_options *options)
{
    struct deadlocks *d = pt_xcalloc(1, sizeof *d);
    d->names = names;
    d->options = *options;
    d->started = options->now ? options->now() : 0;
    d->memory = pt_races_memory(&d->pool);
    pt_patterns_begin(&d->patterns, &d->memory);
    pt_map64_init(&d->use_index);
    pt_map64_init(&d->known);
    d->finding = pt_finding_new();
    d->finding->property = "deadlocks";
    d->finding->kind = "deadlock";
    d->finding->text = "";
    d->finding->order = "sync";
    d->finding->builtin = d->finding->monitorable = d->finding->complete = true;
    return d;
}

/* Everything but the findings; what lies in the pool goes with it. */
static void release_run(struct deadlocks *d)
{
    for (uint32_t i = 0; i < d->cycle_count; i++)
        free(d->cycles[i].members);
    for (uint32_t i = 0; i < d->patterns.buckets; i++)
        for (struct pt_acquire *a = d->patterns.known[i]; a; a = a->bucket) {
            free(((struct deadlocks_node *)a->note)->instances);
            free(a->note);
        }
    pt_patterns_end(&d->patterns); /* large pieces are not the pool's */
    for (uint32_t i = 0; i < d->use_count; i++)
        free(d->uses[i].sections);
    for (size_t i = 0; i < d->thread_cap; i++)
        free(d->threads[i].held);
    free(d->cycles);
    free(d->uses);
    free(d->threads);
    free(d->locks);
    free(d->vars);
    free(d->others);
    free(d->kept);
    free(d->ideal);
    pt_map64_release(&d->use_index);
    pt_map64_init(&d->use_index);
    d->cycles = NULL;
    d->uses = NULL;
    d->threads = NULL;
    d->locks = NULL;
    d->vars = NULL;
    d->others = NULL;
    d->kept = NULL;
    d->ideal = NULL;
    d->cycle_count = d->use_count = d->thread_count = 0;
    d->thread_cap = d->lock_cap = d->var_cap = d->other_cap = d->use_cap = d->cycle_cap = d->kept_cap = 0;
    d->kept_count = 0;
    pt_races_memory_release(&d->pool);
}

static void release(void *check)
{
    struct deadlocks *d = check;
    release_run(d);
    free(d->stacks);
    pt_map64_release(&d->use_index);
    pt_map64_release(&d->known);
    pt_finding_free(d->finding);
    free(d);
}

/* Room for an id, zeroed. */
#define ROOM(d, items, cap, id)                                                                                        \
    do {                                                                                                               \
        size_t room_old = (d)->cap;                                                                                    \
        if ((id) >= room_old) {                                                                                        \
            PT_GROW((d)->items, (d)->cap, (size_t)(id) + 1);                                                           \
            memset((d)->items + room_old, 0, ((d)->cap - room_old) * sizeof *(d)->items);                              \
        }                                                                                                              \
    } while (0)

static struct deadlocks_thread *thread_at(struct deadlocks *d, uint32_t id)
{
    ROOM(d, threads, thread_cap, id);
    struct deadlocks_thread *t = &d->threads[id];
    if (!t->begun) {
        pt_hb_begin(&t->hb, id);
        t->begun = true;
        t->blocked_on = PT_NONE;
        d->thread_count = id >= d->thread_count ? id + 1 : d->thread_count;
    }
    return t;
}

static struct deadlocks_lock *lock_at(struct deadlocks *d, uint32_t id)
{
    size_t old = d->lock_cap;
    ROOM(d, locks, lock_cap, id);
    for (size_t i = old; i < d->lock_cap; i++)
        d->locks[i].uses = d->locks[i].writer = PT_NONE;
    return &d->locks[id];
}

/* ---- what events need ---- */

static void learn(struct deadlocks *d, struct deadlocks_thread *t, const struct pt_hb_sync *what)
{
    pt_hb_acquire(&d->memory, &t->hb, what);
}

/* From here on it stands for all up to the thread's present event; `alone`: and for nothing else. */
static void publish(struct deadlocks *d, struct deadlocks_thread *t, struct pt_hb_sync *what, bool alone)
{
    if (alone)
        pt_hb_sync_clear(&d->memory, what);
    pt_hb_add(&d->memory, what, pt_hb_moment(&d->memory, &t->hb));
}

/* A read of a part of a variable sees all writes since the last of the whole, as far as we know. */
static void on_access(struct deadlocks *d, struct deadlocks_thread *t, const struct pt_event *event)
{
    ROOM(d, vars, var_cap, event->object);
    struct pt_hb_sync *written = &d->vars[event->object];
    if (pt_op_reads(event->op))
        learn(d, t, written);
    if (pt_op_writes(event->op))
        publish(d, t, written, !event->to);
}

static void on_other(struct deadlocks *d, struct deadlocks_thread *t, const struct pt_event *event)
{
    ROOM(d, others, other_cap, event->object);
    learn(d, t, &d->others[event->object]);
    publish(d, t, &d->others[event->object], true);
}

static void on_fork(struct deadlocks *d, const struct pt_event *event)
{
    thread_at(d, event->object); /* may move them */
    struct pt_hb_stamp now = pt_hb_moment(&d->memory, &d->threads[event->thread].hb);
    pt_hb_learn(&d->memory, &d->threads[event->object].hb, &now);
    pt_hb_stamp_drop(&d->memory, &now);
}

static void on_join(struct deadlocks *d, const struct pt_event *event)
{
    thread_at(d, event->object);
    struct pt_hb_thread *child = &d->threads[event->object].hb, *t = &d->threads[event->thread].hb;
    if (child->past)
        pt_vec_join(&d->memory, &t->past, child->past);
    if (child->clock > 1)
        pt_vec_raise(&d->memory, &t->past, child->id, child->clock - 1);
}

/* ---- locks ---- */

static uint32_t use_of(struct deadlocks *d, uint32_t lock, uint32_t thread, bool shared)
{
    uint64_t key = (uint64_t)lock << 32 | (uint64_t)thread << 1 | shared;
    uint32_t *index = pt_map64_at(&d->use_index, key);
    if (*index != PT_NONE)
        return *index;
    *index = d->use_count;
    struct deadlocks_lock *of = &d->locks[lock];
    struct deadlocks_use use = {.thread = thread, .lock = lock, .shared = shared, .next = of->uses};
    of->contested |= of->uses != PT_NONE && d->uses[of->uses].thread != thread;
    of->uses = d->use_count;
    PT_PUSH(d->uses, d->use_count, d->use_cap, use);
    return d->use_count - 1;
}

static void keep_cycle(void *context, struct pt_acquire *const *members, uint32_t count)
{
    struct deadlocks *d = context;
    if (d->cycle_count == PATTERNS_MAX) {
        d->unknown = "there are more lock-order patterns than are looked at";
        return;
    }
    struct deadlocks_cycle cycle = {pt_xmalloc(count * sizeof *members), count};
    memcpy(cycle.members, members, count * sizeof *members);
    PT_PUSH(d->cycles, d->cycle_count, d->cycle_cap, cycle);
}

/* The thread takes a lock while it has others. */
static void note_nested(struct deadlocks *d, struct deadlocks_thread *t, const struct pt_event *event)
{
    struct pt_lock_use *held = pt_xmalloc(t->held_count * sizeof *held);
    for (uint32_t i = 0; i < t->held_count; i++)
        held[i] = (struct pt_lock_use){t->held[i].lock, t->held[i].shared};
    bool new;
    struct pt_lock_use wants = {event->object, pt_op_is_shared(event->op)};
    struct pt_acquire *a = pt_patterns_take(&d->patterns, event->thread, wants, held, t->held_count, &new);
    free(held);
    if (new) {
        a->note = pt_xcalloc(1, sizeof(struct deadlocks_node));
        const struct pt_patterns_search search = {
            .found = keep_cycle, .context = d, .most = PT_PATTERN_MAX, .steps = SEARCH_STEPS};
        if (!pt_patterns_search(&d->patterns, a, &search))
            d->unknown = "there are more lock-order patterns than are looked at";
    }
    struct deadlocks_node *node = a->note;
    struct deadlocks_instance instance = {.number = t->hb.clock,
                                          .event = d->events,
                                          .position = d->kept_count,
                                          .past = t->hb.past ? pt_vec_ref(&d->memory, t->hb.past) : NULL,
                                          .loc = event->loc,
                                          .stack = event->stack};
    size_t cap = node->cap;
    PT_PUSH(node->instances, node->count, node->cap, instance);
    d->node_bytes += (node->cap - cap) * sizeof instance;
}

static struct deadlocks_held *find_held(struct deadlocks_thread *t, uint32_t lock)
{
    uint32_t i = t->held_count;
    while (i > 0 && t->held[i - 1].lock != lock)
        i--;
    return i ? &t->held[i - 1] : NULL;
}

static void on_acquire(struct deadlocks *d, struct deadlocks_thread *t, const struct pt_event *event)
{
    struct deadlocks_lock *lock = lock_at(d, event->object);
    struct deadlocks_held *held = find_held(t, event->object);
    bool shared = pt_op_is_shared(event->op);
    if (held) {
        held->depth++;
        return;
    }
    if (!shared)
        lock->writer = event->thread;
    if (t->held_count)
        note_nested(d, t, event);
    uint32_t index = use_of(d, event->object, event->thread, shared);
    struct deadlocks_use *use = &d->uses[index];
    struct deadlocks_section section = {.acquired = t->hb.clock, .number = ++d->acquisitions};
    size_t cap = use->cap;
    PT_PUSH(use->sections, use->count, use->cap, section);
    d->section_bytes += (use->cap - cap) * sizeof section;
    struct deadlocks_held now = {event->object, index, 1, shared};
    PT_PUSH(t->held, t->held_count, t->held_cap, now);
}

static void on_release(struct deadlocks *d, struct deadlocks_thread *t, const struct pt_event *event)
{
    struct deadlocks_held *held = find_held(t, event->object);
    if (!held || --held->depth)
        return;
    struct deadlocks_use *use = &d->uses[held->use];
    use->sections[use->count - 1].until = pt_hb_moment(&d->memory, &t->hb);
    if (!held->shared)
        d->locks[event->object].writer = PT_NONE;
    size_t after = (size_t)(t->held + --t->held_count - held);
    memmove(held, held + 1, after * sizeof *held);
}

/* ---- events ---- */

static void follow(struct deadlocks *d, const struct pt_event *event)
{
    struct deadlocks_thread *t = thread_at(d, event->thread);
    switch (event->op) {
    case PT_OP_READ:
    case PT_OP_WRITE:
    case PT_OP_UPDATE:
        on_access(d, t, event);
        break;
    case PT_OP_ACQ:
    case PT_OP_RACQ:
        on_acquire(d, t, event);
        break;
    case PT_OP_REL:
    case PT_OP_RREL:
        on_release(d, t, event);
        break;
    case PT_OP_WAIT:
    case PT_OP_NOTIFY:
    case PT_OP_SYNC:
        on_other(d, t, event);
        break;
    case PT_OP_FORK:
        on_fork(d, event);
        break;
    case PT_OP_JOIN:
        on_join(d, event);
        break;
    case PT_OP_CONTENDED:
        lock_at(d, event->object);
        t->blocked_on = event->object;
        t->blocked_loc = event->loc;
        t->blocked_stack = event->stack;
        t->blocked_at = d->events;
        return;
    default: /* internal to its thread */
        return;
    }
    t = &d->threads[event->thread];
    t->blocked_on = PT_NONE;
    struct deadlocks_event kept = {event->thread, event->object, event->loc, event->op};
    PT_PUSH(d->kept, d->kept_count, d->kept_cap, kept);
    pt_hb_tick(&t->hb);
}

static void watch_memory(struct deadlocks *d)
{
    size_t bytes = d->pool.bytes + d->node_bytes + d->section_bytes + d->kept_cap * sizeof *d->kept +
                   d->var_cap * sizeof *d->vars + d->thread_cap * sizeof *d->threads + d->lock_cap * sizeof *d->locks +
                   d->other_cap * sizeof *d->others + d->use_cap * sizeof *d->uses + pt_map64_bytes(&d->use_index) +
                   d->cycle_cap * sizeof *d->cycles;
    if (bytes > d->peak)
        d->peak = bytes;
    if (!d->options.memory_limit || bytes <= d->options.memory_limit)
        return;
    d->unknown = "the memory limit was reached";
    d->stopped = true;
    release_run(d);
}

static enum pt_status take(void *check, const struct pt_event *event, struct pt_err *err)
{
    struct deadlocks *d = check;
    if (event->op == PT_OP_STACK) {
        ROOM(d, stacks, stack_cap, event->object);
        d->stacks[event->object] = event->value;
    }
    if (event->op == PT_OP_LOST && !d->stopped) {
        d->stopped = true;
        d->unknown = "events are missing, and what comes after them cannot be judged";
    }
    if (event->thread == PT_NONE)
        return PT_OK;
    d->events++;
    if (event->clock && !d->stopped) {
        d->stopped = d->lacking = true;
        d->unknown = "the trace has relevant events alone (c=), so that reads, writes and locks are missing; "
                     "'portent run --record-all -o' records them";
    }
    if (d->stopped)
        return PT_OK;
    if (event->thread >= PT_HB_THREADS || (pt_op_is_of_thread(event->op) && event->object >= PT_HB_THREADS))
        return pt_err_at(err, PT_ELIMIT, d->options.trace, event->line, 0, "more than %u threads", PT_HB_THREADS);
    follow(d, event);
    if (d->events % WATCH_EVERY == 0)
        watch_memory(d);
    return PT_OK;
}

/* ---- the end ---- */

/* Who has the lock that a thread is blocked on; PT_NONE: nobody, or it is not blocked. */
static uint32_t blocked_by(const struct deadlocks *d, uint32_t thread)
{
    uint32_t lock = d->threads[thread].begun ? d->threads[thread].blocked_on : PT_NONE;
    return lock == PT_NONE ? PT_NONE : d->locks[lock].writer;
}

/* Circles of threads that the run ends with; of each, that which begins at its first thread. */
static void find_observed(struct deadlocks *d)
{
    uint32_t *path = pt_xmalloc((d->thread_count + 1) * sizeof *path);
    for (uint32_t first = 0; first < d->thread_count; first++) {
        uint32_t count = 0, at = first;
        do {
            path[count++] = at;
            at = blocked_by(d, at);
        } while (at != PT_NONE && at > first && count < d->thread_count);
        if (at == first)
            pt_deadlocks_observed(d, path, count);
    }
    free(path);
}

static struct pt_check_found finish(void *check, const char *lost)
{
    struct deadlocks *d = check;
    struct pt_finding *f = d->finding;
    bool locks = d->acquisitions > 0;
    if (d->options.by_default && (d->lacking || !locks))
        return (struct pt_check_found){0};
    watch_memory(d);
    d->ideal = pt_xcalloc((size_t)d->thread_count + 1, sizeof *d->ideal);
    if (!d->lacking)
        find_observed(d);
    for (uint32_t i = 0; i < d->cycle_count; i++)
        if (pt_deadlocks_close(d, &d->cycles[i]))
            pt_deadlocks_predicted(d, &d->cycles[i]);
    const char *unknown = d->unknown ? d->unknown : lost;
    f->complete = !unknown;
    if (unknown)
        f->message = pt_arena_strndup(&f->arena, unknown, strlen(unknown));
    if (unknown && f->verdict != PT_VERDICT_VIOLATED)
        f->verdict = PT_VERDICT_UNKNOWN;
    f->peak_bytes = d->peak;
    f->seconds = d->options.now ? (double)(d->options.now() - d->started) / 1e9 : 0;
    return (struct pt_check_found){.finding = f};
}

const struct pt_check_kind pt_check_deadlocks = {
    .begin = begin,
    .event = take,
    .finish = finish,
    .free = release,
};
