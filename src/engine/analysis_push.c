/*
 * From a relevant event to the lattices of all properties.
 *
 * Where several properties have bounded windows, whose levels are too small to be divided among threads, and the trace
 * is a file, the lattices themselves are: events wait until there is a batch of them, and then each lattice takes all
 * of it, by whichever thread is free. Lattices share nothing then but what nobody writes while they are at it: each has
 * its monitor, copies of the clocks, and its own count of memory. The thread that reads waits meanwhile.
 *
 * Where events come from a running program, or where there are threads enough, it does not: takers (feed.h), each with
 * some of the lattices, take batches while others are read, decoded and ordered. What they have to tell is told in the
 * order of events and properties. A few events that come alone are not worth a thread's waking: the caller takes them,
 * as it does until there has been a whole batch at a time.
 *
 * Where there are two threads for each lattice, one of them fills the levels that the other makes (relay.c). With two
 * threads and one lattice it is either: the taker has the lattice until its levels are such that this can be done.
 *
 * Guarantee: each lattice gets the same events in the same order as without this, so findings are the same. An error
 * is that of the first event that has one, for the first property. Not done where lattices share a limit of memory, and
 * for modules, whose code may not expect it; the first, where something is called at once (found, observed); the second
 * where something else than lattices calls it too, which would come too early.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/analysis_impl.h"
#include "engine/lattice.h"
#include "engine/patterns.h"

enum { BATCH = 2048 };
/* Of a feed: events in a batch; counts in their clocks, from which on it is full; events that are taken without it. */
enum { FEED_BATCH = 256, FEED_COUNTS = 1 << 14, FEED_FEW = 32 };

static struct pt_rank *own_of(struct watched *w, uint32_t thread)
{
    if (thread >= w->own_cap) {
        size_t old = w->own_cap;
        PT_GROW(w->own, w->own_cap, (size_t)thread + 1);
        memset(w->own + old, 0, (w->own_cap - old) * sizeof *w->own);
        for (size_t i = old; i < w->own_cap; i++)
            pt_rank_begin(&w->own[i], w->counted_before);
    }
    return &w->own[thread];
}

/* A new reference to the clock as the property counts. */
static struct pt_clock *project(struct watched *w, struct pt_clock *clock)
{
    if (w->all_relevant && !w->apart)
        return pt_clock_ref(clock);
    struct pt_clock *own = pt_clock_new(clock->len, w->apart ? &w->clocks : clock->pool);
    if (w->all_relevant)
        memcpy(own->counts, clock->counts, clock->len * sizeof *own->counts);
    for (uint32_t t = 0; t < clock->len && !w->all_relevant; t++)
        own->counts[t] = clock->counts[t] ? pt_rank_count(own_of(w, t), clock->counts[t]) : 0;
    return own;
}

void pt_watched_forget_pattern(struct watched *w)
{
    pt_order_pattern_free(w->pattern);
    w->pattern = NULL;
}

/* `lane`: where clocks count the events of its thread. */
static enum pt_status push(struct watched *w, const struct pt_event *event, uint32_t lane, struct pt_clock *clock,
                           struct pt_err *err)
{
    uint32_t var = pt_watched_var(w, event), user_event = pt_watched_event(w, event);
    bool relevant = var != PT_NONE || user_event != PT_NONE;
    if (!w->all_relevant)
        pt_rank_append(own_of(w, lane), relevant);
    if (!relevant)
        return PT_OK;
    struct pt_clock *own = project(w, clock);
    enum pt_status status = pt_lattice_push(w->lattice, event, lane, var, user_event, own, err);
    if (w->pattern && pt_lattice_needs_order(w->lattice))
        pt_order_pattern_event(w->pattern, event, lane, user_event, own);
    else
        pt_watched_forget_pattern(w); /* later clocks may be missing */
    pt_clock_unref(own);
    return status;
}

/* A property's lattice and the batch. */
static void take_batch(void *context, uint32_t number)
{
    struct pt_analysis *a = context;
    struct watched *w = &a->watched[number];
    for (uint32_t i = 0; w->lattice && i < a->batch_count && w->failed == PT_OK; i++) {
        const struct waiting *e = &a->batch[i];
        w->failed = push(w, &e->event, e->lane, e->clock, &w->why);
        w->failed_at = i;
    }
}

/* The lattices from `first` on, each `step`-th, and an event. */
static void take_event(struct pt_analysis *a, const struct waiting *e, uint64_t number, uint32_t first, uint32_t step)
{
    for (uint32_t i = first; i < a->count; i += step) {
        struct watched *w = &a->watched[i];
        if (!w->lattice || w->failed != PT_OK)
            continue;
        w->at = number;
        w->failed = push(w, &e->event, e->lane, e->clock, &w->why);
        w->failed_at = number;
        if (w->failed != PT_OK)
            a->failed = true;
    }
}

/* What the caller wants to know of lattices that others have. */
static void take_down(struct pt_analysis *a, uint32_t first, uint32_t step)
{
    for (uint32_t i = first; i < a->count; i += step) {
        struct watched *w = &a->watched[i];
        if (!w->lattice)
            continue;
        w->unordered = !pt_lattice_needs_order(w->lattice);
        w->may_relay = pt_lattice_may_relay(w->lattice);
        w->levels = w->finding->levels;
        w->states = w->finding->states;
    }
}

/* Clocks are made no longer than some property needs them. */
static void judge(struct pt_analysis *a)
{
    bool needed = false;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct watched *w = &a->watched[i];
        needed = needed || (w->lattice && !w->unordered);
        if (w->lattice && a->options.progress)
            a->options.progress(a->options.context, w->finding->property, w->levels, w->states);
    }
    a->ordering = a->ordering && needed;
}

static void take_slot(void *context, unsigned taker, unsigned slot)
{
    enum { AHEAD = 4 };
    struct pt_analysis *a = context;
    const struct batch *b = &a->slots[slot];
    for (uint32_t i = 0; i < b->count; i++) {
        if (i + AHEAD < b->count)
            __builtin_prefetch(b->events[i + AHEAD].clock);
        take_event(a, &b->events[i], b->first + i, taker, a->takers);
    }
    take_down(a, taker, a->takers);
}

static void alone(void *of, bool begins)
{
    const struct watched *w = of;
    struct pt_feed *feed = w->analysis->feed;
    if (feed && begins)
        pt_feed_begin(feed, w->taker, w->at, (uint32_t)(w - w->analysis->watched));
    else if (feed)
        pt_feed_end(feed, w->taker);
}

static void drop_clocks(struct waiting *events, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        pt_clock_unref(events[i].clock);
}

/* By the caller: nobody else is at work. */
static void take_here(struct pt_analysis *a)
{
    for (uint32_t i = 0; i < a->batch_count; i++)
        take_event(a, &a->batch[i], a->pushed - a->batch_count + i, 0, 1);
    drop_clocks(a->batch, a->batch_count);
    take_down(a, 0, 1);
}

/* The caller makes levels from here on, and another thread, which the lattice starts, fills them. */
static void make_way(struct pt_analysis *a)
{
    struct watched *w = &a->watched[a->only];
    pt_feed_drain(a->feed);
    if (w->failed != PT_OK)
        return;
    pt_analysis_unite(a);
    w->apart = false;
    w->options.progress = a->options.progress;
    w->options.alone = NULL;
    w->options.relays_wait = false;
}

/* The batch that is being filled goes to the takers, as far as there are threads for them. */
static void hand_on(struct pt_analysis *a)
{
    struct batch *b = &a->slots[a->slot];
    if (!a->feed)
        a->feed = pt_feed_new(a->takers, take_slot, a);
    if (a->feed) {
        b->count = a->batch_count;
        b->first = a->pushed - b->count;
        pt_feed_hand(a->feed);
        a->slot = pt_feed_slot(a->feed);
        b = &a->slots[a->slot];
        a->batch = b->events;
        drop_clocks(b->events, b->count);
        b->count = 0;
    } else {
        take_here(a);
    }
    a->batch_count = 0;
    a->counts = 0;
    judge(a);
    if (a->makes_way && a->watched[a->only].may_relay)
        make_way(a);
}

/* Until there is nothing that a lattice has not been given. */
static void settle(struct pt_analysis *a)
{
    uint32_t few = a->options.batch ? 0 : FEED_FEW;
    if (a->feed && a->batch_count && (a->batch_count > few || !pt_feed_is_drained(a->feed)))
        hand_on(a);
    if (a->feed)
        pt_feed_drain(a->feed);
    if (a->batch_count)
        take_here(a);
    a->batch_count = 0;
    a->counts = 0;
    judge(a);
}

static void take_together(struct pt_analysis *a)
{
    pt_crew_run(a->crew, take_batch, a, a->count);
    for (uint32_t i = 0; i < a->count; i++) {
        const struct watched *w = &a->watched[i];
        if (w->lattice && a->options.progress)
            a->options.progress(a->options.context, w->finding->property, w->finding->levels, w->finding->states);
    }
    drop_clocks(a->batch, a->batch_count);
    a->batch_count = 0;
}

enum pt_status pt_analysis_flush(struct pt_analysis *a, struct pt_err *err)
{
    const struct watched *first = NULL;
    if (a->takers)
        settle(a);
    else if (a->batch_count)
        take_together(a);
    for (uint32_t i = 0; i < a->count; i++) {
        const struct watched *w = &a->watched[i];
        if (w->failed != PT_OK && (!first || w->failed_at < first->failed_at))
            first = w;
    }
    if (!first)
        return PT_OK;
    *err = first->why;
    return first->failed;
}

enum pt_status pt_analysis_push(struct pt_analysis *a, const struct pt_event *event, uint32_t lane,
                                struct pt_clock *clock, struct pt_err *err)
{
    enum pt_status status = PT_OK;
    if (a->crew || a->takers) {
        struct waiting *e = &a->batch[a->batch_count++];
        *e = (struct waiting){*event, lane, pt_clock_ref(clock)};
        e->event.clock = NULL; /* it is valid until the next event is read, and not needed any more */
        a->pushed++;
        a->counts += clock->len;
        if (a->crew)
            return a->batch_count == BATCH ? pt_analysis_flush(a, err) : PT_OK;
        if (a->batch_count == (a->options.batch ? a->options.batch : FEED_BATCH) || a->counts >= FEED_COUNTS)
            hand_on(a);
        return a->failed ? pt_analysis_flush(a, err) : PT_OK;
    }
    for (uint32_t i = 0; status == PT_OK && i < a->count; i++)
        if (a->watched[i].lattice)
            status = push(&a->watched[i], event, lane, clock, err);
    return status;
}

/* Lattices share nothing that anybody writes. */
static void part(struct pt_analysis *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        struct watched *w = &a->watched[i];
        w->apart = true;
        w->options.memory_used = &w->memory_used;
    }
}

static void begin_feed(struct pt_analysis *a, unsigned takers)
{
    part(a);
    a->takers = takers;
    for (uint32_t i = 0; i < a->count; i++) {
        struct watched *w = &a->watched[i];
        w->analysis = a;
        w->taker = i % takers;
        w->options.alone = alone;
        w->options.alone_of = w;
        w->options.progress = NULL; /* `judge` tells it */
        a->only = w->lattice ? i : a->only;
    }
    for (uint32_t s = 0; s < PT_FEED_SLOTS; s++)
        a->slots[s].events = pt_xcalloc(FEED_BATCH, sizeof *a->slots[s].events);
    a->batch = a->slots[0].events;
}

static void begin_crew(struct pt_analysis *a, unsigned threads)
{
    part(a);
    for (uint32_t i = 0; i < a->count; i++)
        a->watched[i].options.progress = NULL; /* pt_analysis_flush tells it */
    a->batch = pt_xcalloc(BATCH, sizeof *a->batch);
    a->crew = pt_crew_new(threads);
}

void pt_analysis_divide(struct pt_analysis *a)
{
    const struct pt_analysis_options *o = &a->options;
    uint32_t lattices = 0;
    bool modules = false;
    for (uint32_t i = 0; i < a->count; i++) {
        lattices += a->watched[i].lattice != NULL;
        modules |= a->watched[i].lattice && pt_monitor_is_module(a->watched[i].monitor);
    }
    bool bounded = o->window != PT_ALL || o->lookahead != PT_ALL;
    bool calls = o->found || o->observed, others_call = a->any_timed || a->knowledge || a->races || a->log;
    for (uint32_t i = 0; i < a->count; i++)
        a->watched[i].options.relays = o->batches && bounded && lattices && o->jobs >= 2 * lattices;
    if (!bounded || o->jobs < 2 || !lattices || modules || o->memory_limit)
        return;
    unsigned others = o->jobs - 1;
    if (o->live && !(calls && others_call)) {
        begin_feed(a, others < lattices ? others : lattices);
    } else if (o->batches && !calls && (lattices == 1 || others >= 2 * lattices)) {
        begin_feed(a, lattices);
        a->makes_way = a->watched[a->only].options.relays_wait = others < 2 * lattices;
    } else if (o->batches && !calls && lattices > 1) {
        begin_crew(a, others < lattices ? others : lattices - 1);
    }
}

void pt_analysis_unite(struct pt_analysis *a)
{
    pt_feed_free(a->feed);
    a->feed = NULL;
    for (uint32_t s = 0; a->takers && s < PT_FEED_SLOTS; s++) {
        drop_clocks(a->slots[s].events, s == a->slot ? a->batch_count : a->slots[s].count);
        free(a->slots[s].events);
        a->slots[s] = (struct batch){0};
    }
    pt_crew_free(a->crew);
    a->crew = NULL;
    if (!a->takers) {
        drop_clocks(a->batch, a->batch_count);
        free(a->batch);
    }
    a->batch = NULL;
    a->batch_count = 0;
    a->takers = 0;
}
