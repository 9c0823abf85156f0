/*
 * Deadlocks that a run of the same events could have had (contract section 10): lock-order patterns by
 * deadlock/patterns.h, and of each whether it is a sync-preserving deadlock, by the algorithm SPDOffline: the events
 * that have to come before all of its acquires, closed under what they need, must not contain one of them.
 *
 * What an event needs, and the closure: predict/trf.h.
 *
 * Guarantee: one of the order `sync` is reported if and only if there is a run that takes a part of each thread's
 * events from the beginning, in which all reads see what they saw, the sections of each lock that are taken keep their
 * order, and after which every thread of the pattern is next to take a lock that the next one has. In `values` patterns
 * that are left are tried with the sections of locks in another order (deadlocks_reverse.c). Each is shown only after
 * predict/replay.c has played that run. Not judged, and said to be unknown: what comes after events that are missing,
 * traces of relevant events alone (c=), more patterns than are looked at.
 *
 * A lock for which its thread would not have waited, or not for ever (`state(trying)` before it), is had like any
 * other, and stands in others' way; but nobody waits there, so it is no acquire of a pattern, and no instance of one.
 * In the log such an acquire is marked as atomic, which no lock is otherwise (pt_deadlocks_tries).
 *
 * Cost: one pass, in which all events are kept, packed (predict/log.h); where there are patterns a second one over
 * these (deadlocks_follow.c), then for each pattern time linear in its instances.
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
    pt_trf_begin(&d->trf, names, &d->memory);
    pt_map64_init(&d->known);
    pt_meeting_begin(&d->meeting, names, options);
    d->finding = pt_finding_new();
    d->finding->property = "deadlocks";
    d->finding->kind = "deadlock";
    d->finding->text = "";
    d->finding->order = options->order > PT_CHECK_ACCESS ? "sync" : "access";
    d->finding->builtin = d->finding->monitorable = d->finding->complete = true;
    return d;
}

static void release_node(struct deadlocks *d, struct deadlocks_node *node)
{
    for (uint64_t i = 0; i < node->count - node->forgotten; i++) {
        pt_vec_drop(&d->memory, node->instances[i].past);
        pt_vec_drop(&d->memory, node->instances[i].plain);
    }
    free(node->instances);
    free(node);
}

/* Everything but the findings; what lies in the pool goes with it. */
static void release_run(struct deadlocks *d)
{
    for (uint32_t i = 0; i < d->cycle_count; i++) {
        free(d->cycles[i].members);
        free(d->cycles[i].cursors);
        free(d->cycles[i].ideal);
        free(d->cycles[i].at);
    }
    for (size_t i = 0; i < d->thread_cap; i++)
        pt_held_release(&d->threads[i].held);
    for (uint32_t i = 0; i < d->patterns.buckets; i++)
        for (struct pt_acquire *a = d->patterns.known[i]; a; a = a->bucket) {
            release_node(d, a->note);
        }
    pt_patterns_end(&d->patterns); /* large pieces are not the pool's */
    pt_trf_end(&d->trf);
    pt_log_release(&d->log);
    pt_witnesses_release(&d->witnesses);
    pt_meeting_end(&d->meeting);
    free(d->cycles);
    free(d->lents);
    free(d->threads);
    free(d->owners);
    d->cycles = NULL;
    d->lents = NULL;
    d->threads = NULL;
    d->owners = NULL;
    d->cycle_count = d->thread_count = d->lent_count = 0;
    d->cycle_cap = d->thread_cap = d->owner_cap = d->lent_cap = 0;
    pt_races_memory_release(&d->pool);
}

static void release(void *check)
{
    struct deadlocks *d = check;
    release_run(d);
    pt_full_run_release(&d->run);
    pt_map64_release(&d->known);
    pt_finding_free(d->finding);
    free(d);
}

/* ---- locks ---- */

/* Whether each lock that another thread has for a member is one that somebody waits for: without it there is the same
 * pattern. */
static bool needs_all(const struct deadlocks *d, struct pt_acquire *const *members, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct deadlocks_node *node = members[i]->note;
        if (node->lent && members[(i + count - 1) % count]->wants.lock != d->lents[node->lent - 1].lock)
            return false;
    }
    return true;
}

static void keep_cycle(void *context, struct pt_acquire *const *members, uint32_t count)
{
    struct deadlocks *d = context;
    if (!needs_all(d, members, count))
        return;
    if (d->cycle_count == PATTERNS_MAX) {
        d->run.unknown = "there are more lock-order patterns than are looked at";
        return;
    }
    struct deadlocks_cycle cycle = {.members = pt_xmalloc(count * sizeof *members), .count = count};
    memcpy(cycle.members, members, count * sizeof *members);
    for (uint32_t i = 0; i < count; i++)
        ((struct deadlocks_node *)members[i]->note)->wanted = true;
    PT_PUSH(d->cycles, d->cycle_count, d->cycle_cap, cycle);
}

struct deadlocks_node *pt_deadlocks_node(struct deadlocks *d, uint32_t thread, const struct pt_event *event,
                                         struct pt_lock_use *held, uint32_t held_count, uint32_t lent)
{
    bool new;
    struct pt_lock_use wants = {event->object, pt_op_is_shared(event->op)};
    struct pt_acquire *a = pt_patterns_take(&d->patterns, thread, wants, held, held_count, &new);
    if (!new)
        return a->note;
    struct deadlocks_node *made = a->note = pt_xcalloc(1, sizeof *made);
    made->lent = lent;
    const struct pt_patterns_search search = {
        .found = keep_cycle, .context = d, .most = PT_PATTERN_MAX, .steps = SEARCH_STEPS};
    if (!pt_patterns_search(&d->patterns, a, &search))
        d->run.unknown = "there are more lock-order patterns than are looked at";
    return made;
}

void pt_deadlocks_keep(struct deadlocks *d, struct deadlocks_node *node, const struct deadlocks_instance *instance)
{
    uint64_t kept = node->count++ - node->forgotten;
    size_t cap = node->cap;
    PT_PUSH(node->instances, kept, node->cap, *instance);
    d->node_bytes += (node->cap - cap) * sizeof *instance;
}

/* The thread takes a lock, with these it had. */
static void on_acquire(struct deadlocks *d, struct deadlocks_thread *t, const struct pt_event *event)
{
    uint32_t before = t->held.count;
    d->locks = true;
    if (!pt_held_take(&t->held, event))
        return;
    PT_ROOM(d->owners, d->owner_cap, event->object);
    if (!pt_op_is_shared(event->op))
        d->owners[event->object] = event->thread + 1;
    if (!before || event->order)
        return;
    struct pt_lock_use *held = pt_xmalloc(before * sizeof *held);
    for (uint32_t i = 0; i < before; i++)
        held[i] = (struct pt_lock_use){t->held.locks[i].lock, t->held.locks[i].shared};
    (void)pt_deadlocks_node(d, event->thread, event, held, before, 0);
    free(held);
}

static void on_release(struct deadlocks *d, struct deadlocks_thread *t, const struct pt_event *event)
{
    bool shared;
    if (pt_held_give(&t->held, event, &shared) && !shared)
        d->owners[event->object] = 0;
}

/* ---- events ---- */

/* The locks that a thread has which joins another one (deadlocks_span.c). */
static void note_join(struct deadlocks *d, const struct deadlocks_thread *t)
{
    for (uint32_t i = 0; i < t->held.count; i++) {
        if (t->held.locks[i].shared)
            continue;
        d->spans_several |= d->spans && d->span != t->held.locks[i].lock;
        d->span = t->held.locks[i].lock;
        d->spans = true;
    }
}

/* Whether such a lock can be part of a pattern: somebody waits for it who has another one, in the same way or as others
 * do. */
static bool spans_matter(const struct deadlocks *d)
{
    for (uint32_t i = 0; d->spans && !d->spans_several && i < d->patterns.buckets; i++)
        for (const struct pt_acquire *a = d->patterns.known[i]; a; a = a->bucket)
            if (a->wants.lock == d->span)
                return true;
    return d->spans_several;
}

static struct deadlocks_thread *thread_at(struct deadlocks *d, uint32_t id)
{
    PT_ROOM(d->threads, d->thread_cap, id);
    d->thread_count = id >= d->thread_count ? id + 1 : d->thread_count;
    return &d->threads[id];
}

static bool says_trying(const struct deadlocks *d, const struct pt_event *event)
{
    return event->op == PT_OP_STATE &&
           strcmp(pt_name(d->names, PT_SPACE_STATE, event->object), PT_STATE_TRYING_NAME) == 0;
}

static void follow(struct deadlocks *d, const struct pt_event *event)
{
    struct deadlocks_thread *t = thread_at(d, event->thread);
    struct pt_event tried;
    t->tries |= says_trying(d, event);
    if (t->tries && pt_op_locks(event->op)) {
        t->tries = false;
        tried = *event;
        tried.order = PT_MEMORY_RELAXED;
        event = &tried;
    }
    if (event->op == PT_OP_CONTENDED) {
        t->on = event->object + 1;
        t->loc = event->loc;
        t->stack = event->stack;
        t->at = d->run.events;
        return;
    }
    if (!pt_trf_counts(event->op))
        return;
    t->acted = true;
    t->on = 0;
    if (pt_op_space(event->op) == PT_SPACE_LOCK) {
        if (pt_op_locks(event->op))
            on_acquire(d, t, event);
        else
            on_release(d, t, event);
    } else if (event->op == PT_OP_JOIN) {
        note_join(d, t);
        thread_at(d, event->object);
    } else if (event->op == PT_OP_FORK) {
        thread_at(d, event->object)->forked = true;
    }
    pt_log_add(&d->log, event, d->run.events);
}

void pt_deadlocks_watch_memory(struct deadlocks *d)
{
    size_t bytes = d->pool.bytes + d->node_bytes + d->log.bytes + pt_trf_bytes(&d->trf) +
                   d->thread_cap * sizeof *d->threads + d->owner_cap * sizeof *d->owners +
                   d->cycle_count * (sizeof *d->cycles + d->trf.thread_count * sizeof(uint64_t));
    if (bytes + pt_meeting_bytes(&d->meeting) > d->peak)
        d->peak = bytes + pt_meeting_bytes(&d->meeting);
    if (!d->options.memory_limit || bytes <= d->options.memory_limit)
        return;
    d->run.unknown = "the memory limit was reached";
    d->run.stopped = true;
    release_run(d);
}

static enum pt_status take(void *check, const struct pt_event *event, struct pt_err *err)
{
    struct deadlocks *d = check;
    pt_meeting_event(&d->meeting, event);
    if (!pt_full_run_usual(&d->run, event)) {
        bool looked_at;
        enum pt_status status = pt_full_run_event(&d->run, d->options.trace, event, &looked_at, err);
        if (!looked_at)
            return status;
    }
    follow(d, event);
    if (d->run.events % WATCH_EVERY == 0)
        pt_deadlocks_watch_memory(d);
    return PT_OK;
}

/* ---- the end ---- */

/* Who has the lock that a thread is blocked on; PT_NONE: nobody, or it is not blocked. */
static uint32_t blocked_by(const struct deadlocks *d, uint32_t thread)
{
    uint32_t on = d->threads[thread].on;
    return on && on <= d->owner_cap && d->owners[on - 1] ? d->owners[on - 1] - 1 : PT_NONE;
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

/* Deadlocks of the order `sync`, whose runs are played together. */
static void report_some(struct deadlocks *d, const struct deadlocks_cycle *const *cycles, uint32_t count)
{
    bool possible[PT_REPLAYS];
    pt_deadlocks_replay_some(d, cycles, count, possible);
    for (uint32_t i = 0; i < count; i++)
        if (possible[i])
            pt_deadlocks_tell(d, cycles[i], cycles[i]->at, "sync", cycles[i]->ideal, cycles[i]->ideal);
        else
            d->run.unknown = "a deadlock's witness could not be replayed, which is a mistake of Portent's own";
}

static void find_predicted(struct deadlocks *d)
{
    const struct deadlocks_cycle *some[PT_REPLAYS];
    uint32_t count = 0;
    d->spans = spans_matter(d);
    if ((!d->cycle_count && !d->spans) || (!pt_deadlocks_divides(d) && !pt_group_leads(d->options.group)))
        return;
    for (uint32_t i = 0; d->spans && i < d->patterns.buckets; i++)
        for (struct pt_acquire *a = d->patterns.known[i]; a; a = a->bucket)
            ((struct deadlocks_node *)a->note)->wanted = true; /* patterns may come with those of other threads */
    pt_deadlocks_follow(d);
    if (d->spans && !d->run.stopped)
        pt_deadlocks_spans(d);
    for (uint32_t i = 0; i < d->cycle_count; i++)
        if (pt_deadlocks_is_own(d, i))
            pt_deadlocks_close(d, &d->cycles[i]);
    if (pt_deadlocks_divides(d))
        pt_deadlocks_gather(d);
    for (uint32_t i = 0; pt_group_leads(d->options.group) && i < d->cycle_count; i++) {
        struct deadlocks_cycle *cycle = &d->cycles[i];
        if (cycle->possible)
            some[count++] = cycle;
        if (count == PT_REPLAYS || (count && i + 1 == d->cycle_count)) {
            report_some(d, some, count);
            count = 0;
        }
    }
}

static struct pt_check_found finish(void *check, const char *lost)
{
    struct deadlocks *d = check;
    struct pt_finding *f = d->finding;
    if (d->options.by_default && (d->run.lacking || !d->locks))
        return (struct pt_check_found){0};
    pt_deadlocks_watch_memory(d);
    if (!d->run.lacking)
        find_observed(d);
    if (d->options.order >= PT_CHECK_SYNC)
        find_predicted(d);
    if (d->options.order >= PT_CHECK_VALUES && d->cycle_count && pt_group_leads(d->options.group))
        pt_deadlocks_reverse(d);
    if (d->meeting.mistake)
        d->run.unknown = d->meeting.mistake;
    pt_full_run_settle(&d->run, f, lost);
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
