/*
 * Goes through the recorded events for uses of memory and its frees: what comes after a free in the recorded run, and
 * what can come after one in another run (predict/precede.h): the free is in that run, and the use is next.
 *
 * A use is kept until its block is allocated again. Of those that a thread makes at one place in one region, in which
 * it learns nothing of others and takes or releases no lock, the last stands for all: what it needs beside them is
 * itself needed by nobody, so that a run for an earlier one can be continued to a run for it.
 *
 * Guarantee: of each pair of places, all uses and frees are tried until there is a run, in the order `sync`, unless
 * CLOSURES are not enough, which is said; where locks change places TRIES of them. Cost: predict/trf.c's for each
 * event, a closure for each use that a free of another thread does not need, a replay for each finding.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/lifetimes.h"

enum {
    TRIES = 4,   /* of a pair of places, where locks change places */
    RECENT = 16, /* uses among which one of the same region is looked for */
};
#define CLOSURES (UINT64_C(1) << 22)
#define EFFORT   (UINT64_C(1) << 28) /* events that are looked at, where locks change places */

struct life_event pt_lifetimes_event(struct life_scan *s, const struct pt_log_event *event, uint64_t number)
{
    const struct pt_trf_thread *t = &s->trf.threads[event->thread];
    return (struct life_event){.at = {event->thread, number, t->hb.past}, .event = *event, .region = t->region};
}

void pt_lifetimes_keep(struct life_scan *s, struct life_list *list, const struct life_event *event)
{
    size_t cap = list->cap;
    PT_PUSH(list->events, list->count, list->cap, *event);
    s->bytes += (list->cap - cap) * sizeof *event;
    if (event->at.past)
        pt_vec_ref(&s->l->memory, event->at.past);
}

void pt_lifetimes_clear(struct life_scan *s, struct life_list *list)
{
    for (uint32_t i = 0; i < list->count; i++)
        pt_vec_drop(&s->l->memory, list->events[i].at.past);
    s->bytes -= list->cap * sizeof *list->events;
    free(list->events);
    *list = (struct life_list){0};
}

/* ---- runs ---- */

bool pt_lifetimes_may_try(struct life_scan *s, const struct life_pair *pair)
{
    uint64_t key = pt_lifetimes_key(s->l, pair);
    if (!s->predicts || pt_map64_get(&s->l->known, key) != PT_NONE)
        return false;
    if (!s->effort) {
        if (!s->trf.plain)
            s->l->run.unknown = "there are more pairs of events than are looked at";
        return false;
    }
    if (!s->trf.plain)
        return s->effort--;
    uint32_t *tries = pt_map64_at(&s->tries, key);
    *tries = *tries == PT_NONE ? 1 : *tries + 1;
    return *tries <= TRIES;
}

/* Two slices that were found are often no run, or one in which the read sees something else: playing them, which goes
 * through all events twice, is most of the work and counts as effort. */
static void charge(struct life_scan *s)
{
    uint64_t events = s->trf.plain ? 2 * s->l->log.count : 0;
    s->effort -= events < s->effort ? events : s->effort;
}

/* Plays the run that was found, and reports it. */
static bool judge(struct life_scan *s, const struct life_pair *pair, enum life_way way,
                  const struct pt_precede_question *q, const struct life_event *sees)
{
    struct pt_replay replay;
    bool possible = pt_precede_judge(&s->precede, q, &replay);
    charge(s);
    if (!pair->block && way != LIFE_LAST)
        possible = possible && replay.vars[pair->use->event.object].here == (sees ? sees->event.event : 0);
    if (possible)
        pt_lifetimes_report(s, pair, way, &replay);
    pt_replay_end(&replay);
    return possible;
}

void pt_lifetimes_try(struct life_scan *s, const struct life_pair *pair, enum life_way way,
                      const struct life_event *sees)
{
    const struct pt_precede_event events[] = {pair->other->at, pair->use->at};
    const bool last = way == LIFE_LAST;
    const struct pt_precede_question q = {.taken = events,
                                          .taken_count = way == LIFE_WITHIN,
                                          .next = last ? events : &events[1],
                                          .next_count = 1u + last};
    if (!s->trf.plain) {
        if (!pt_precede_sync(&s->precede, &q) ||
            (!pair->block && !last && !pt_lifetimes_is_latest(s, pair->use->event.object, sees)))
            return;
        if (!judge(s, pair, way, &q, sees))
            s->l->run.unknown = "a run could not be replayed, which is a mistake of Portent's own";
        return;
    }
    for (int pull = 0; pull < 2 && s->effort; pull++)
        if (pt_precede_slices(&s->precede, &q, pull, &s->effort) && judge(s, pair, way, &q, sees))
            return;
}

/* ---- blocks ---- */

static struct life_block *block_at(struct life_scan *s, uint32_t id)
{
    PT_ROOM(s->blocks, s->block_cap, id);
    return &s->blocks[id];
}

static void observe(struct life_scan *s, struct life_block *block, const struct life_event *use, const char *note)
{
    const struct life_pair pair = {use, &block->freed, note, block};
    if (s->observes)
        pt_lifetimes_report(s, &pair, LIFE_WITHIN, NULL);
}

static void note_use(struct life_scan *s, const struct pt_log_event *event, uint32_t id)
{
    struct life_block *block = block_at(s, id);
    struct life_event use = pt_lifetimes_event(s, event, s->trf.threads[event->thread].hb.clock);
    if (block->is_freed) {
        observe(s, block, &use, NULL);
        return;
    }
    if (!s->predicts)
        return;
    struct life_list *uses = &block->uses;
    for (uint32_t i = uses->count; i > 0 && uses->count - i < RECENT; i--) {
        struct life_event *other = &uses->events[i - 1];
        if (other->at.thread == use.at.thread && other->region == use.region && other->event.loc == use.event.loc &&
            other->event.object == use.event.object && other->event.op == use.event.op) {
            other->at.number = use.at.number; /* the same past */
            other->event = use.event;
            return;
        }
    }
    pt_lifetimes_keep(s, uses, &use);
}

/* The sections of locks that are open at the free have to be known to their ends. */
static void defer(struct life_scan *s, const struct life_pair *pair, bool slices, bool search)
{
    struct life_deferred deferred = {.block = *pair->block, .slices = slices, .search = search};
    if (!slices && !search)
        return;
    deferred.block.uses = (struct life_list){0};
    pt_lifetimes_keep(s, &deferred.events, pair->use);
    pt_lifetimes_keep(s, &deferred.events, pair->other);
    PT_PUSH(s->deferred, s->deferred_count, s->deferred_cap, deferred);
}

static void try_deferred(struct life_scan *s)
{
    for (uint32_t i = 0; i < s->deferred_count; i++) {
        const struct life_deferred *deferred = &s->deferred[i];
        const struct life_pair pair = {&deferred->events.events[0], &deferred->events.events[1], NULL,
                                       &deferred->block};
        if (deferred->slices && s->effort && pt_map64_get(&s->l->known, pt_lifetimes_key(s->l, &pair)) == PT_NONE)
            pt_lifetimes_try(s, &pair, LIFE_WITHIN, NULL);
    }
}

/* After it was followed. */
static void on_free(struct life_scan *s, const struct pt_log_event *event)
{
    struct life_block *block = block_at(s, event->object);
    struct life_event freed = pt_lifetimes_event(s, event, s->trf.threads[event->thread].hb.clock - 1);
    if (block->is_freed)
        observe(s, block, &freed, "double free");
    for (uint32_t i = block->uses.count; i > 0; i--) {
        const struct life_event *use = &block->uses.events[i - 1];
        const struct life_pair pair = {use, &freed, NULL, block};
        if (use->at.thread == freed.at.thread)
            continue;
        bool tries = pt_vec_at(freed.at.past, use->at.thread) < use->at.number && pt_lifetimes_may_try(s, &pair);
        if (s->trf.plain)
            defer(s, &pair, tries, pt_lifetimes_may_meet(s, &pair));
        else if (tries)
            pt_lifetimes_try(s, &pair, LIFE_WITHIN, NULL);
    }
    pt_lifetimes_tell_use(s, event, event->object);
    block->last_free = *event;
    if (block->is_freed)
        return;
    block->is_freed = true;
    block->freed = freed;
    block->freed.at.past = NULL; /* from here on only what it is matters */
}

static void on_alloc(struct life_scan *s, const struct pt_log_event *event, uint32_t size)
{
    struct life_block *block = block_at(s, event->object);
    pt_lifetimes_tell_alloc(s, event);
    pt_lifetimes_clear(s, &block->uses);
    block->is_freed = false;
    block->is_made = true;
    block->made = *event;
    block->size = size;
}

/* ---- the scan ---- */

static void before(struct life_scan *s, const struct pt_log_event *event, enum life_value value)
{
    struct pt_event as = pt_log_as_event(event);
    if (pt_op_space(event->op) != PT_SPACE_VAR)
        return;
    uint32_t block = pt_lifetimes_block(s->l, event->object);
    pt_trf_before_access(&s->trf, &as);
    if (block) {
        note_use(s, event, block - 1);
        pt_lifetimes_tell_use(s, event, block - 1);
    }
    if (s->l->vars[event->object].pointer && event->op == PT_OP_READ)
        pt_lifetimes_pointer_read(s, event, value);
}

static void after(struct life_scan *s, const struct pt_log_event *event, enum life_value value, uint32_t *sizes)
{
    if (event->op == PT_OP_FREE)
        on_free(s, event);
    else if (event->op == PT_OP_ALLOC)
        on_alloc(s, event, (*sizes)++);
    else if (event->op == PT_OP_FORK) {
        PT_ROOM(s->created, s->created_cap, event->object);
        s->created[event->object] = *event;
    } else if (pt_op_space(event->op) == PT_SPACE_VAR && pt_op_writes(event->op) && s->l->vars[event->object].pointer)
        pt_lifetimes_pointer_write(s, event, value);
}

/* False: the memory limit was reached. */
static bool watch_memory(struct life_scan *s)
{
    struct lifetimes *l = s->l;
    size_t bytes = l->log.bytes + l->value_cap + l->pool.bytes + pt_trf_bytes(&s->trf) + s->bytes +
                   s->block_cap * sizeof *s->blocks + s->pointer_cap * sizeof *s->pointers;
    if (bytes + pt_meeting_bytes(&l->meeting) > l->peak)
        l->peak = bytes + pt_meeting_bytes(&l->meeting);
    if (!l->options.memory_limit || bytes <= l->options.memory_limit)
        return true;
    if (!s->trf.plain)
        l->run.unknown = "the memory limit was reached";
    return false;
}

static void release(struct life_scan *s)
{
    for (size_t i = 0; i < s->block_cap; i++)
        pt_lifetimes_clear(s, &s->blocks[i].uses);
    for (size_t i = 0; i < s->pointer_cap; i++) {
        pt_lifetimes_clear(s, &s->pointers[i].reads);
        pt_lifetimes_clear(s, &s->pointers[i].writes);
    }
    for (uint32_t i = 0; i < s->deferred_count; i++)
        pt_lifetimes_clear(s, &s->deferred[i].events);
    free(s->deferred);
    free(s->blocks);
    free(s->pointers);
    free(s->created);
    pt_map64_release(&s->tries);
    pt_map64_release(&s->meets);
    pt_map64_release(&s->told);
    pt_map64_release(&s->read_before);
    pt_precede_release(&s->precede);
    pt_trf_end(&s->trf);
}

void pt_lifetimes_scan(struct lifetimes *l, bool plain)
{
    struct life_scan s = {
        .l = l, .observes = !plain, .predicts = l->options.order >= PT_CHECK_SYNC, .effort = plain ? EFFORT : CLOSURES};
    struct pt_log_reader reader;
    uint64_t index = 0;
    uint32_t sizes = 0;
    pt_trf_begin(&s.trf, l->names, &l->memory);
    s.trf.plain = plain;
    for (uint32_t i = 0; i < l->names->space[PT_SPACE_THREAD].count; i++)
        pt_trf_thread(&s.trf, i); /* a run is one of all threads, those that begin later among them */
    s.precede.trf = &s.trf;
    s.precede.log = &l->log;
    pt_map64_init(&s.tries);
    pt_map64_init(&s.meets);
    pt_map64_init(&s.told);
    pt_map64_init(&s.read_before);
    bool going = true;
    for (pt_log_start(&reader, &l->log); going && pt_log_next(&reader); index++) {
        struct pt_event event = pt_log_as_event(&reader.event);
        enum life_value value = pt_lifetimes_value(l, index);
        pt_trf_thread(&s.trf, event.thread);
        before(&s, &reader.event, value);
        pt_trf_event(&s.trf, &event);
        after(&s, &reader.event, value, &sizes);
        going = index % 64 != 0 || watch_memory(&s);
    }
    if (going) {
        try_deferred(&s);
        pt_lifetimes_pointers(&s);
        pt_lifetimes_meet(&s);
    }
    release(&s);
}
