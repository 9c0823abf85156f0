/*
 * Causal atomicity of the blocks of one recorded run: Definition 3 of the causal-atomicity paper, as contract section 8
 * corrects it. An occurrence of a block, begun by event e1 of thread T, is violated if some event f of another thread
 * and some event e2 of T before the occurrence's end have e1 <= f <= e2 in the causal order of the trace. An
 * occurrence that never ends goes on to the end of the trace.
 *
 * One pass with vector clocks that count `begin` events alone, so that almost no event changes one.
 *
 * Let e1 <= f <= e2 be a violation, e1 and e2 of thread T. On a path of immediate causes from f to e2, some event s of
 * another thread is the immediate cause of an event of T, which is after e1 and no later than e2: so it is enough to
 * look, at each event of T, at its immediate causes in other threads (the variable's latest write; for a write also the
 * reads since then; the last event of a joined thread), and to ask whether they know e1, that is whether their
 * clock's count of T's begins has reached e1's. What violates an occurrence violates those around it, and `settled`
 * passes each of them once. The other direction is immediate, with f = s.
 *
 * Where lines carry c=, the immediate causes of an event are, for each other thread, its latest event that c= counts;
 * as everything it knows is known since the first event of its thread with the same clock, only such first ones are
 * kept. Begins need not be counted: the next counted event of their thread carries them along.
 *
 * Guarantee: exact for the recorded events: a block is violated exactly if an occurrence of it is, and then has a chain
 * that shows it. With c= clocks that do not count begin events (`portent run -o`), every violation is one, and blocks
 * without are unknown: what happened to them may not be in the trace.
 *
 * Cost: one pass, O(threads) for an event that teaches its thread of a begin it did not know, O(1) for nearly all
 * others; memory for two clocks per object, for open blocks and threads, and for the lessons that a witness may need,
 * not for the length of the trace.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/atomicity_impl.h"

static void *begin(const struct pt_names *names, const struct pt_check_options *options)
{
    struct pt_blocks *b = pt_xcalloc(1, sizeof *b);
    b->names = names;
    b->options = *options;
    b->order = pt_order_new(&pt_order_access, options->trace, names);
    b->order->counted_before = options->counted_before;
    b->empty = pt_clock_new(0, &b->pool);
    b->started = options->now ? options->now() : 0;
    pt_map64_init(&b->site_ids);
    pt_map64_init(&b->block_ids);
    pt_arena_init(&b->findings.arena);
    return b;
}

static void release_thread(struct block_thread *t)
{
    pt_clock_unref(t->clock);
    pt_clock_unref(t->fork.clock);
    for (uint32_t i = 0; i < t->lessons.count; i++)
        pt_clock_unref(t->lessons.items[i].after);
    for (uint32_t i = 0; i < t->version_count; i++)
        pt_clock_unref(t->versions[i].source.clock);
    free(t->open);
    free(t->lessons.items);
    free(t->versions);
}

static void release_object(struct block_object *x)
{
    pt_clock_unref(x->write.clock);
    for (uint32_t i = 0; i < x->reader_count; i++)
        pt_clock_unref(x->readers[i].clock);
    free(x->readers);
}

/* Everything that grows with the trace, blocks apart. */
static void release_run(struct pt_blocks *b)
{
    for (size_t i = 0; i < b->thread_cap; i++)
        release_thread(&b->threads[i]);
    free(b->threads);
    b->threads = NULL;
    b->thread_cap = 0;
    for (int s = 0; s < PT_SPACE_COUNT; s++) {
        for (size_t i = 0; i < b->objects[s].cap; i++)
            release_object(&b->objects[s].items[i]);
        free(b->objects[s].items);
        b->objects[s] = (struct block_objects){0};
    }
}

static void release(void *check)
{
    struct pt_blocks *b = check;
    release_run(b);
    free(b->blocks);
    free(b->sites);
    pt_map64_release(&b->site_ids);
    pt_map64_release(&b->block_ids);
    pt_clock_unref(b->empty);
    pt_clock_pool_release(&b->pool);
    pt_order_free(b->order);
    pt_arena_release(&b->findings.arena);
    free(b);
}

static struct block_thread *thread_at(struct pt_blocks *b, uint32_t id)
{
    if (id >= b->thread_cap) {
        size_t old = b->thread_cap;
        PT_GROW(b->threads, b->thread_cap, (size_t)id + 1);
        memset(b->threads + old, 0, (b->thread_cap - old) * sizeof *b->threads);
        for (size_t i = old; i < b->thread_cap; i++) {
            b->threads[i].clock = pt_clock_ref(b->empty);
            b->threads[i].counted = b->options.counted_before;
        }
        b->bytes += (b->thread_cap - old) * sizeof *b->threads;
    }
    return &b->threads[id];
}

static struct block_object *object_at(struct pt_blocks *b, enum pt_space space, uint32_t id)
{
    struct block_objects *objects = &b->objects[space];
    if (id >= objects->cap) {
        size_t old = objects->cap;
        PT_GROW(objects->items, objects->cap, (size_t)id + 1);
        memset(objects->items + old, 0, (objects->cap - old) * sizeof *objects->items);
        b->bytes += (objects->cap - old) * sizeof *objects->items;
    }
    return &objects->items[id];
}

static void source_set(struct block_source *source, const struct block_step *step, struct pt_clock *clock)
{
    pt_clock_ref(clock);
    pt_clock_unref(source->clock);
    *source = (struct block_source){*step, clock};
}

/* `from` is an immediate cause of `at`: the check at the head of this file, then the join of clocks. */
static void learn(struct pt_blocks *b, const struct block_source *from, const struct block_step *at)
{
    struct block_thread *self = &b->threads[at->thread];
    if (!from->clock || from->step.thread == at->thread)
        return;
    uint64_t known = pt_clock_get(from->clock, at->thread);
    for (; self->settled < self->open_count && self->open[self->settled].begin <= known; self->settled++) {
        const struct block_occurrence *occurrence = &self->open[self->settled];
        if (!occurrence->closed && b->blocks[occurrence->block].finding.violated++ == 0)
            pt_blocks_explain(b, occurrence, from, at);
    }
    if (pt_clock_absorb(&self->clock, from->clock))
        pt_blocks_remember(b, from, at, self->clock);
}

static void on_read(struct pt_blocks *b, enum pt_space space, const struct block_step *at)
{
    struct block_object *x = object_at(b, space, at->object);
    struct block_thread *self = &b->threads[at->thread];
    learn(b, &x->write, at);
    uint32_t i = 0;
    while (i < x->reader_count && x->readers[i].step.thread != at->thread)
        i++;
    if (i == x->reader_count) {
        size_t old = x->reader_cap;
        PT_PUSH(x->readers, x->reader_count, x->reader_cap, (struct block_source){0});
        b->bytes += (x->reader_cap - old) * sizeof *x->readers;
    }
    if (x->readers[i].clock != self->clock) /* otherwise the earlier read says as much */
        source_set(&x->readers[i], at, self->clock);
}

static void on_write(struct pt_blocks *b, enum pt_space space, const struct block_step *at)
{
    struct block_object *x = object_at(b, space, at->object);
    learn(b, &x->write, at);
    for (uint32_t i = 0; i < x->reader_count; i++) {
        learn(b, &x->readers[i], at);
        pt_clock_unref(x->readers[i].clock);
    }
    x->reader_count = 0;
    source_set(&x->write, at, b->threads[at->thread].clock);
}

static void on_join(struct pt_blocks *b, const struct block_step *at)
{
    const struct block_thread *child = &b->threads[at->object];
    struct block_source end = child->acted ? (struct block_source){child->last, child->clock} : child->fork;
    learn(b, &end, at);
}

static void follow_access_rule(struct pt_blocks *b, const struct block_step *at)
{
    if (pt_op_is_of_thread(at->op))
        thread_at(b, at->object); /* may move the array */
    struct block_thread *self = &b->threads[at->thread];
    if (!self->acted)
        learn(b, &self->fork, at);
    switch (pt_access_role(at->op)) {
    case PT_ROLE_READS:
        on_read(b, pt_op_space(at->op), at);
        break;
    case PT_ROLE_WRITES:
        on_write(b, pt_op_space(at->op), at);
        break;
    case PT_ROLE_FORKS:
        source_set(&b->threads[at->object].fork, at, self->clock);
        break;
    case PT_ROLE_JOINS:
        on_join(b, at);
        break;
    case PT_ROLE_NONE:
        break;
    }
}

/* The latest kept event of a thread among its first `count` counted ones; NULL: there is none. */
static const struct block_source *version_at(const struct block_thread *t, uint64_t count)
{
    uint32_t low = 0, high = t->version_count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (t->versions[mid].count <= count)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? &t->versions[low - 1].source : NULL;
}

/* A line with c=. *ret_counted: the clock counts this event. */
static enum pt_status follow_clock(struct pt_blocks *b, const struct pt_event *event, const struct block_step *at,
                                   bool *ret_counted, struct pt_err *err)
{
    if (b->block_count && !b->given)
        return pt_err_at(err, PT_EINPUT, b->options.trace, event->line, 0,
                         "this line carries a clock c=, but blocks before it carry none");
    enum pt_status status = pt_order_event(b->order, event, false, NULL, err);
    if (status != PT_OK)
        return status;
    b->given = true;
    *ret_counted = false;
    for (uint32_t k = 0; k < event->clock_len; k++) {
        uint32_t other = event->clock[k].thread;
        const struct block_thread *t = thread_at(b, other);
        if (other == event->thread) {
            *ret_counted = event->clock[k].count > t->counted;
            continue;
        }
        const struct block_source *source = version_at(t, event->clock[k].count);
        if (source)
            learn(b, source, at);
    }
    return PT_OK;
}

static void keep_version(struct pt_blocks *b, const struct block_step *at)
{
    struct block_thread *self = &b->threads[at->thread];
    self->counted++;
    if (self->version_count && self->versions[self->version_count - 1].source.clock == self->clock)
        return;
    size_t old = self->version_cap;
    struct block_version version = {self->counted, {*at, pt_clock_ref(self->clock)}};
    PT_PUSH(self->versions, self->version_count, self->version_cap, version);
    b->bytes += (self->version_cap - old) * sizeof *self->versions;
}

static uint32_t site_of(struct pt_blocks *b, const struct block_step *at)
{
    uint32_t *id = pt_map64_at(&b->site_ids, (uint64_t)at->thread << 32 | at->object);
    if (*id == PT_NONE) {
        size_t old = b->site_cap;
        *id = b->site_count;
        PT_PUSH(b->sites, b->site_count, b->site_cap, (struct block_site){PT_NONE});
        b->bytes += (b->site_cap - old) * sizeof *b->sites;
    }
    return *id;
}

static uint32_t block_of(struct pt_blocks *b, uint32_t site, const struct block_step *at)
{
    uint32_t *id = pt_map64_at(&b->block_ids, (uint64_t)site << 32 | at->loc);
    if (*id != PT_NONE)
        return *id;
    size_t old = b->block_cap;
    struct block block = {.finding = {.thread = pt_name(b->names, PT_SPACE_THREAD, at->thread),
                                      .name = pt_name(b->names, PT_SPACE_BLOCK, at->object),
                                      .loc = pt_name(b->names, PT_SPACE_LOC, at->loc),
                                      .number = ++b->threads[at->thread].blocks}};
    *id = b->block_count;
    PT_PUSH(b->blocks, b->block_count, b->block_cap, block);
    b->bytes += (b->block_cap - old) * sizeof *b->blocks;
    return *id;
}

static void on_begin(struct pt_blocks *b, const struct block_step *at)
{
    struct block_thread *self = &b->threads[at->thread];
    pt_clock_tick(&self->clock, at->thread);
    size_t old = self->open_cap;
    uint32_t site = site_of(b, at);
    struct block_occurrence occurrence = {.begin = ++self->begins,
                                          .block = block_of(b, site, at),
                                          .site = site,
                                          .below = b->sites[site].top,
                                          .step = *at};
    b->sites[site].top = self->open_count;
    PT_PUSH(self->open, self->open_count, self->open_cap, occurrence);
    b->bytes += (self->open_cap - old) * sizeof *self->open;
    struct block *block = &b->blocks[occurrence.block];
    block->finding.occurrences++;
    block->open++;
    b->wanted += !block->finding.events;
}

/* Closes the latest open block of that name in the thread. Blocks may overlap: then it is in the midst of others. */
static void on_end(struct pt_blocks *b, const struct block_step *at)
{
    struct block_thread *self = &b->threads[at->thread];
    uint32_t id = site_of(b, at); /* may move the array */
    struct block_site *site = &b->sites[id];
    if (site->top == PT_NONE) {
        b->findings.stray_ends++;
        return;
    }
    struct block_occurrence *occurrence = &self->open[site->top];
    struct block *block = &b->blocks[occurrence->block];
    occurrence->closed = true;
    site->top = occurrence->below;
    block->open--;
    b->wanted -= !block->finding.events;
    while (self->open_count && self->open[self->open_count - 1].closed)
        self->open_count--;
    if (self->settled > self->open_count)
        self->settled = self->open_count;
}

static enum pt_status follow(struct pt_blocks *b, const struct pt_event *event, const struct block_step *at,
                             struct pt_err *err)
{
    enum pt_status status = PT_OK;
    bool counted = false;
    if (event->clock)
        status = follow_clock(b, event, at, &counted, err);
    else if (b->given && event->op == PT_OP_BEGIN)
        status = pt_err_at(err, PT_EINPUT, b->options.trace, event->line, 0,
                           "this block's begin carries no clock c=, but lines before it do");
    else if (!b->given)
        follow_access_rule(b, at);
    if (status == PT_OK && event->op == PT_OP_BEGIN) {
        b->uncounted |= b->given && !counted;
        on_begin(b, at);
    } else if (status == PT_OK && event->op == PT_OP_END) {
        on_end(b, at);
    }
    if (counted && status == PT_OK)
        keep_version(b, at);
    return status;
}

static void watch_memory(struct pt_blocks *b)
{
    size_t bytes = b->bytes + b->pool.bytes + pt_map64_bytes(&b->site_ids) + pt_map64_bytes(&b->block_ids);
    if (bytes > b->peak)
        b->peak = bytes;
    if (!b->options.memory_limit || bytes <= b->options.memory_limit)
        return;
    b->over_limit = true;
    release_run(b);
}

static enum pt_status take(void *check, const struct pt_event *event, struct pt_err *err)
{
    struct pt_blocks *b = check;
    if (event->thread == PT_NONE || b->over_limit) /* init, clock: no event */
        return PT_OK;
    struct block_step at = {.seq = ++b->seq,
                            .line = event->line,
                            .value = event->value,
                            .thread = event->thread,
                            .object = event->object,
                            .loc = event->loc,
                            .op = event->op};
    if (pt_event_is_tie(event))
        return PT_OK;
    thread_at(b, at.thread);
    enum pt_status status = follow(b, event, &at, err);
    if (status != PT_OK)
        return status;
    b->threads[at.thread].last = at;
    b->threads[at.thread].acted = true;
    if (b->bad_chain)
        return pt_err_at(err, PT_EUSAGE, b->options.trace, event->line, 0,
                         "a witness failed its own check (this is a mistake in portent: please report the trace)");
    watch_memory(b);
    return PT_OK;
}

static struct pt_check_found finish(void *check, const char *lost)
{
    struct pt_blocks *b = check;
    struct pt_block_findings *all = &b->findings;
    const char *unknown =
        lost            ? lost
        : b->over_limit ? "the memory limit was reached"
        : b->uncounted  ? "the clocks of this trace count the events of its run's properties alone, so that reads, "
                          "writes and locks may be missing; 'portent run --record-all -o' records them"
                        : NULL;
    all->items = pt_arena_alloc(&all->arena, (b->block_count + 1) * sizeof *all->items);
    all->count = b->block_count;
    for (uint32_t i = 0; i < b->block_count; i++) {
        struct pt_block_finding *finding = &all->items[i];
        *finding = b->blocks[i].finding;
        finding->unfinished = b->blocks[i].open;
        finding->verdict = finding->violated ? PT_VERDICT_VIOLATED : unknown ? PT_VERDICT_UNKNOWN : PT_VERDICT_HOLDS;
    }
    all->message = unknown ? pt_arena_strndup(&all->arena, unknown, strlen(unknown)) : NULL;
    all->peak_bytes = b->peak + pt_order_bytes(b->order) + all->arena.bytes;
    all->seconds = b->options.now ? (double)(b->options.now() - b->started) / 1e9 : 0;
    return (struct pt_check_found){.blocks = all};
}

const struct pt_check_kind pt_check_atomicity = {
    .begin = begin,
    .event = take,
    .finish = finish,
    .free = release,
};
