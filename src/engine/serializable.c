/*
 * Whether the atomic blocks of the recorded run are conflict serializable: whether some run with the same order of all
 * conflicting operations has each block in one piece. By AeroDrome (ASPLOS 2020; prediction.md 3.7): clocks count
 * blocks, and a block is on a cycle as soon as one of its events learns of the block itself from elsewhere. Where a
 * block ends, whoever knows of it learns all that it knew. An event outside of blocks is one by itself, but has no
 * number of its own: a thread's clock is compared only with the beginning of its open block, before and after which it
 * ticks, so that all between two blocks may have the same.
 *
 * Conflicts are those of the order `access` (contract section 3): two operations on one variable, lock or other object
 * of which one writes it, fork and join. Of nested blocks the outermost counts. Blocks that are open at the end of the
 * run end there.
 *
 * Guarantee: exact, for the recorded run as a whole; the first cycle that is met is shown, and the check looks no
 * further in it. Of other runs triples are looked for (triples.h). Not judged, and said to be unknown: what comes after
 * events that are missing, and traces of relevant events alone (c=). Cost: one pass; constant time for an event that
 * teaches nothing, else a join of vectors; an end costs that for each object used since the block began. Memory: two
 * vectors for each object, shared where they are the same, and a few bytes for each event.
 */
#include "engine/serializable.h"

#include <stdlib.h>
#include <string.h>

#include "order/access.h"

enum { WATCH_EVERY = 64 }; /* events */

static void *begin(const struct pt_names *names, const struct pt_check_options *options)
{
    struct serializable *s = pt_xcalloc(1, sizeof *s);
    s->names = names;
    s->options = *options;
    s->started = options->now ? options->now() : 0;
    s->memory = pt_races_memory(&s->pool);
    s->finding = pt_finding_new();
    s->finding->property = "serializable";
    s->finding->kind = "serializable";
    s->finding->text = "";
    s->finding->order = "access";
    s->finding->builtin = s->finding->monitorable = s->finding->complete = true;
    if (options->order >= PT_CHECK_SYNC)
        s->triples = pt_triples_new(names, options);
    return s;
}

static void release_run(struct serializable *s)
{
    for (int space = 0; space < PT_SPACE_COUNT; space++) {
        for (size_t i = 0; i < s->object_cap[space]; i++) {
            pt_vec_drop(&s->memory, s->objects[space][i].written);
            pt_vec_drop(&s->memory, s->objects[space][i].read);
            free(s->objects[space][i].others);
        }
        free(s->objects[space]);
        s->objects[space] = NULL;
        s->object_cap[space] = 0;
    }
    for (size_t i = 0; i < s->thread_cap; i++) {
        pt_vec_drop(&s->memory, s->threads[i].clock);
        free(s->threads[i].touched);
    }
    free(s->threads);
    s->threads = NULL;
    s->thread_cap = s->thread_count = 0;
    pt_log_release(&s->log);
    pt_races_memory_release(&s->pool);
}

static void release(void *check)
{
    struct serializable *s = check;
    release_run(s);
    pt_triples_free(s->triples);
    pt_full_run_release(&s->run);
    pt_finding_free(s->finding);
    free(s);
}

static struct serial_thread *thread_at(struct serializable *s, uint32_t id)
{
    PT_ROOM(s->threads, s->thread_cap, id);
    struct serial_thread *t = &s->threads[id];
    if (!t->now) {
        t->now = 1;
        pt_vec_raise(&s->memory, &t->clock, id, 1);
        s->thread_count = id >= s->thread_count ? id + 1 : s->thread_count;
    }
    return t;
}

static void tick(struct serializable *s, uint32_t thread)
{
    struct serial_thread *t = &s->threads[thread];
    pt_vec_raise(&s->memory, &t->clock, thread, ++t->now);
}

/* ---- clocks ---- */

/* The thread learns; `knows`: how much of the thread itself is behind that. False: of its open block. */
static bool learn(struct serializable *s, uint32_t thread, uint64_t knows, struct pt_vec *from)
{
    struct serial_thread *t = &s->threads[thread];
    bool cycle = t->depth && t->began <= knows;
    pt_vec_join(&s->memory, &t->clock, from);
    return !cycle;
}

/* Open blocks that the clock knows of, which the object is to know now, have it on their lists from here on. */
static void touch(struct serializable *s, struct serial_object_ref ref, const struct pt_vec *clock)
{
    const struct serial_object *o = &s->objects[ref.space][ref.object];
    for (uint32_t i = 0; s->open && i < s->thread_count; i++) {
        struct serial_thread *t = &s->threads[i];
        if (!t->depth || pt_vec_at(clock, i) < t->began || pt_vec_at(o->written, i) >= t->began ||
            pt_vec_at(o->read, i) >= t->began)
            continue;
        size_t cap = t->touched_cap;
        PT_PUSH(t->touched, t->touched_count, t->touched_cap, ref);
        s->touched_bytes += (t->touched_cap - cap) * sizeof ref;
    }
}

static struct serial_object *object_at(struct serializable *s, enum pt_space space, uint32_t id)
{
    PT_ROOM(s->objects[space], s->object_cap[space], id);
    return &s->objects[space][id];
}

/* What reads of others than the thread knew of it. */
static uint64_t others_knew(const struct serial_object *o, uint32_t thread)
{
    if (o->reader == PT_NONE)
        return thread < o->others_cap ? o->others[thread] : 0;
    return o->reader == thread + 1 ? 0 : pt_vec_at(o->read, thread);
}

/* All that a clock knows, but of the thread itself. */
static void add_others(struct serializable *s, struct serial_object *o, const struct pt_vec *clock, uint32_t but)
{
    size_t cap = o->others_cap;
    PT_ROOM(o->others, o->others_cap, s->thread_count);
    s->others_bytes += (o->others_cap - cap) * sizeof *o->others;
    for (uint32_t i = 0; i < s->thread_count; i++) {
        uint64_t at = i == but ? 0 : pt_vec_at(clock, i);
        if (at > o->others[i])
            o->others[i] = at;
    }
}

static void add_read(struct serializable *s, struct serial_object *o, uint32_t thread)
{
    if (o->reader && o->reader != PT_NONE && o->reader != thread + 1) {
        add_others(s, o, o->read, o->reader - 1);
        o->reader = PT_NONE;
    }
    if (o->reader == PT_NONE)
        add_others(s, o, s->threads[thread].clock, thread);
    else
        o->reader = thread + 1;
    pt_vec_join(&s->memory, &o->read, s->threads[thread].clock);
}

/* ---- events ---- */

static bool on_access(struct serializable *s, const struct pt_event *event, bool writes)
{
    struct serial_object *o = object_at(s, pt_op_space(event->op), event->object);
    uint32_t thread = event->thread;
    bool fine = o->writer == thread + 1 || learn(s, thread, pt_vec_at(o->written, thread), o->written);
    if (writes && o->read)
        fine = learn(s, thread, others_knew(o, thread), o->read) && fine;
    struct pt_vec *clock = s->threads[thread].clock;
    touch(s, (struct serial_object_ref){event->object, (uint8_t)pt_op_space(event->op)}, clock);
    if (writes) {
        if (o->written != clock) {
            pt_vec_drop(&s->memory, o->written);
            o->written = pt_vec_ref(&s->memory, clock);
        }
        o->writer = thread + 1;
    } else {
        add_read(s, o, thread);
    }
    return fine;
}

static void on_begin(struct serializable *s, uint32_t thread)
{
    struct serial_thread *t = &s->threads[thread];
    s->blocks = true;
    if (t->depth++)
        return;
    s->open++;
    tick(s, thread);
    t->began = t->now;
    t->touched_count = 0;
}

/* An object that knows of a block learns all that it knew. */
static void end_object(struct serializable *s, uint32_t thread, struct serial_object *o)
{
    const struct serial_thread *t = &s->threads[thread];
    if (pt_vec_at(o->written, thread) >= t->began)
        pt_vec_join(&s->memory, &o->written, t->clock);
    if (pt_vec_at(o->read, thread) < t->began)
        return;
    if (o->reader != PT_NONE && o->reader != thread + 1) {
        add_others(s, o, o->read, o->reader - 1);
        o->reader = PT_NONE;
    }
    if (o->reader == PT_NONE)
        add_others(s, o, t->clock, thread);
    pt_vec_join(&s->memory, &o->read, t->clock);
}

/* Returns the thread that is found to be on a cycle, plus 1; 0: none. */
static uint32_t on_end(struct serializable *s, uint32_t thread)
{
    struct serial_thread *t = &s->threads[thread];
    uint32_t cycle = 0;
    if (!t->depth || --t->depth)
        return 0;
    s->open--;
    for (uint32_t i = 0; i < s->thread_count && !cycle; i++)
        if (i != thread && pt_vec_at(s->threads[i].clock, thread) >= t->began &&
            !learn(s, i, pt_vec_at(t->clock, i), t->clock))
            cycle = i + 1;
    for (uint32_t i = 0; i < t->touched_count; i++) {
        struct serial_object_ref ref = t->touched[i];
        touch(s, ref, t->clock);
        end_object(s, thread, &s->objects[ref.space][ref.object]);
    }
    tick(s, thread);
    return cycle;
}

static bool on_join(struct serializable *s, const struct pt_event *event)
{
    thread_at(s, event->object);
    struct pt_vec *child = s->threads[event->object].clock;
    s->threads[event->object].ended = true;
    return learn(s, event->thread, pt_vec_at(child, event->thread), child);
}

static void on_fork(struct serializable *s, const struct pt_event *event)
{
    thread_at(s, event->object); /* may move them */
    pt_vec_join(&s->memory, &s->threads[event->object].clock, s->threads[event->thread].clock);
}

/* Returns the thread that is found to be on a cycle, plus 1; 0: none. */
static uint32_t follow(struct serializable *s, const struct pt_event *event)
{
    thread_at(s, event->thread);
    enum pt_role role = pt_event_is_tie(event) ? PT_ROLE_NONE : pt_access_role(event->op);
    if (role == PT_ROLE_NONE && event->op != PT_OP_BEGIN && event->op != PT_OP_END)
        return 0;
    pt_log_add(&s->log, event, s->run.events);
    if (event->op == PT_OP_BEGIN)
        on_begin(s, event->thread);
    else if (event->op == PT_OP_END)
        return on_end(s, event->thread);
    else if (role == PT_ROLE_FORKS)
        on_fork(s, event);
    else if (role == PT_ROLE_JOINS ? !on_join(s, event) : !on_access(s, event, role == PT_ROLE_WRITES))
        return event->thread + 1;
    return 0;
}

static void watch_memory(struct serializable *s)
{
    size_t bytes =
        s->pool.bytes + s->others_bytes + s->touched_bytes + s->log.bytes + s->thread_cap * sizeof *s->threads;
    for (int space = 0; space < PT_SPACE_COUNT; space++)
        bytes += s->object_cap[space] * sizeof *s->objects[space];
    if (s->triples)
        bytes += pt_triples_bytes(s->triples);
    if (bytes > s->peak)
        s->peak = bytes;
    if (!s->options.memory_limit || bytes <= s->options.memory_limit)
        return;
    if (s->triples && s->options.automatic) {
        pt_triples_free(s->triples);
        s->triples = NULL;
        return;
    }
    s->run.unknown = "the memory limit was reached";
    s->run.stopped = true;
    pt_triples_free(s->triples);
    s->triples = NULL;
    release_run(s);
}

static void report(struct serializable *s, uint32_t thread)
{
    s->settled = true;
    s->run.stopped = !s->triples;
    pt_serializable_report(s, thread);
}

static enum pt_status take(void *check, const struct pt_event *event, struct pt_err *err)
{
    struct serializable *s = check;
    if (!pt_full_run_usual(&s->run, event)) {
        bool looked_at;
        enum pt_status status = pt_full_run_event(&s->run, s->options.trace, event, &looked_at, err);
        if (!looked_at)
            return status;
    }
    uint32_t cycle = s->settled ? 0 : follow(s, event);
    if (cycle)
        report(s, cycle - 1);
    if (s->triples)
        pt_triples_event(s->triples, event, s->run.events);
    if (s->run.events % WATCH_EVERY == 0)
        watch_memory(s);
    return PT_OK;
}

/* Of other runs. */
static void find_predicted(struct serializable *s)
{
    const char *unknown = s->triples ? pt_triples_finish(s->triples, &s->run, s->finding) : NULL;
    if (unknown)
        s->run.unknown = unknown;
}

static struct pt_check_found finish(void *check, const char *lost)
{
    struct serializable *s = check;
    struct pt_finding *f = s->finding;
    watch_memory(s);
    for (uint32_t i = 0; i < s->thread_count && !s->run.stopped && !s->settled; i++) {
        s->threads[i].depth = s->threads[i].depth > 0;
        uint32_t cycle = on_end(s, i);
        if (cycle)
            report(s, cycle - 1);
    }
    find_predicted(s);
    pt_full_run_settle(&s->run, f, lost);
    if (s->triples && !f->message && f->verdict == PT_VERDICT_HOLDS)
        f->message = "in others of order sync no access comes between two of a block to the same variable";
    if (!s->blocks && f->verdict == PT_VERDICT_HOLDS)
        f->message = "the trace has no atomic blocks (begin events)";
    f->peak_bytes = s->peak;
    f->seconds = s->options.now ? (double)(s->options.now() - s->started) / 1e9 : 0;
    return (struct pt_check_found){.finding = f};
}

const struct pt_check_kind pt_check_serializable = {
    .begin = begin,
    .event = take,
    .finish = finish,
    .free = release,
};
