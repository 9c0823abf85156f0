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
 * Where there are two threads for each lattice, they explore stretches of the trace (stretch.h), or one of them fills
 * the levels that the other makes (relay.c). With two
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

/* Events in a batch; counts in their clocks, from which on it is full, too. */
enum { BATCH = 2048, COUNTS = 1 << 17 };
/* The same of a feed; and events that are taken without it. */
enum { FEED_BATCH = 256, FEED_COUNTS = 1 << 14, FEED_FEW = 32 };
/* Events that are taken without one where a lattice may soon be explored by two threads in another way. */
enum { FEED_LATER = 8 * FEED_BATCH, FEED_LATER_BATCHES = 4 };

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

/* A clock as the property counts. */
static struct pt_clock *project(struct watched *w, const uint64_t *counts, uint32_t len, struct pt_clock_pool *pool)
{
    struct pt_clock *own = pt_clock_new(len, pool);
    if (w->all_relevant && len)
        memcpy(own->counts, counts, len * sizeof *own->counts);
    for (uint32_t t = 0; t < len && !w->all_relevant; t++)
        own->counts[t] = counts[t] ? pt_rank_count(own_of(w, t), counts[t]) : 0;
    return own;
}

void pt_watched_forget_pattern(struct watched *w)
{
    pt_order_pattern_free(w->pattern);
    w->pattern = NULL;
}

/* `lane`: where clocks count the events of its thread. The clock, unless it can be shared, has these counts. */
static enum pt_status push(struct watched *w, const struct pt_event *event, uint32_t lane, struct pt_clock *shared,
                           const uint64_t *counts, uint32_t len, struct pt_err *err)
{
    uint32_t var = pt_watched_var(w, event), user_event = pt_watched_event(w, event);
    bool relevant = var != PT_NONE || user_event != PT_NONE;
    if (!w->all_relevant)
        pt_rank_append(own_of(w, lane), relevant);
    if (!relevant)
        return PT_OK;
    struct pt_clock *own =
        shared && w->all_relevant ? pt_clock_ref(shared) : project(w, counts, len, shared ? shared->pool : &w->clocks);
    enum pt_status status = pt_lattice_push(w->lattice, event, lane, var, user_event, own, err);
    if (w->pattern && pt_lattice_needs_order(w->lattice))
        pt_order_pattern_event(w->pattern, event, lane, user_event, own);
    else
        pt_watched_forget_pattern(w); /* later clocks may be missing */
    pt_clock_unref(own);
    return status;
}

static struct pt_event event_of(const struct waiting *e)
{
    return (struct pt_event){
        .line = e->line, .op = e->op, .thread = e->thread, .object = e->object, .loc = e->loc, .value = e->value};
}

/* A property's lattice and the batch. */
static void take_batch(void *context, uint32_t number)
{
    struct pt_analysis *a = context;
    struct watched *w = &a->watched[number];
    const uint64_t *counts = a->fill.counts;
    for (uint32_t i = 0; w->lattice && i < a->fill.count && w->failed == PT_OK; i++) {
        const struct waiting *e = &a->fill.events[i];
        const struct pt_event event = event_of(e);
        w->failed = push(w, &event, e->lane, NULL, counts, e->clock_len, &w->why);
        w->failed_at = i;
        counts += e->clock_len;
    }
}

/* The lattices from `first` on, each `step`-th, and a batch. */
static void take_events(struct pt_analysis *a, const struct batch *b, uint32_t first, uint32_t step)
{
    struct watched *const watched = a->watched;
    const uint64_t *counts = b->counts;
    const uint32_t count = a->count;
    for (uint32_t k = 0; k < b->count; counts += b->events[k++].clock_len) {
        const struct waiting *e = &b->events[k];
        const struct pt_event event = event_of(e);
        for (uint32_t i = first; i < count; i += step) {
            struct watched *w = &watched[i];
            if (!w->lattice || w->failed != PT_OK)
                continue;
            w->at = w->failed_at = b->first + k;
            w->failed = push(w, &event, e->lane, NULL, counts, e->clock_len, &w->why);
            if (w->failed != PT_OK)
                a->failed = true;
        }
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
    struct pt_analysis *a = context;
    take_events(a, &a->slots[slot], taker, a->takers);
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

static struct batch filled(const struct filling *f)
{
    return (struct batch){f->events, f->counts, f->counts_cap, f->count, f->pushed - f->count};
}

/* By the caller: nobody else is at work. */
static void take_here(struct pt_analysis *a)
{
    const struct batch b = filled(&a->fill);
    take_events(a, &b, 0, 1);
    take_down(a, 0, 1);
}

static void begin_batch(struct filling *f, unsigned slot, const struct batch *b)
{
    f->slot = slot;
    f->events = b->events;
    f->counts = b->counts;
    f->counts_cap = b->counts_cap;
    f->count = 0;
    f->count_count = 0;
}

/* The caller makes levels from here on, and another thread, which the lattice starts, fills them. */
static void make_way(struct pt_analysis *a)
{
    struct watched *w = &a->watched[a->only];
    if (a->feed)
        pt_feed_drain(a->feed);
    if (w->failed != PT_OK)
        return;
    pt_analysis_unite(a);
    w->options.progress = a->options.progress;
    w->options.alone = NULL;
    w->options.relays_wait = false;
}

/* Whether it is worth waiting for that: a thread for the feed would be started, and get its memory, for next to
 * nothing. `batch` is of tests, which are about few events. */
static bool may_make_way(const struct pt_analysis *a)
{
    uint64_t most = a->options.batch ? FEED_LATER_BATCHES * (uint64_t)a->options.batch : FEED_LATER;
    return a->makes_way && a->fill.pushed <= most;
}

/* The batch that is being filled goes to the takers, as far as there are threads for them. */
static void hand_on(struct pt_analysis *a)
{
    unsigned slot = a->fill.slot;
    if (!a->feed && !may_make_way(a))
        a->feed = pt_feed_new(a->takers, take_slot, a);
    a->slots[slot] = filled(&a->fill);
    if (a->feed) {
        pt_feed_hand(a->feed);
        slot = pt_feed_slot(a->feed);
    } else {
        take_here(a); /* the same memory is filled again */
    }
    begin_batch(&a->fill, slot, &a->slots[slot]);
    judge(a);
    if (a->makes_way && a->watched[a->only].may_relay)
        make_way(a);
}

/* Until there is nothing that a lattice has not been given. */
static void settle(struct pt_analysis *a)
{
    uint32_t few = a->options.batch ? 0 : FEED_FEW;
    if (a->feed && a->fill.count && (a->fill.count > few || !pt_feed_is_drained(a->feed)))
        hand_on(a);
    if (a->feed)
        pt_feed_drain(a->feed);
    if (a->fill.count)
        take_here(a);
    a->fill.count = 0;
    a->fill.count_count = 0;
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
    a->fill.count = 0;
    a->fill.count_count = 0;
}

enum pt_status pt_analysis_flush(struct pt_analysis *a, struct pt_err *err)
{
    const struct watched *first = NULL;
    if (a->takers)
        settle(a);
    else if (a->fill.count)
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

/* True: the batch is full. */
static bool put(struct filling *f, const struct pt_event *event, uint32_t lane, const struct pt_clock *clock)
{
    struct waiting *e = &f->events[f->count++];
    e->line = event->line;
    e->value = event->value;
    e->thread = event->thread;
    e->object = event->object;
    e->loc = event->loc;
    e->lane = lane;
    e->clock_len = clock->len;
    e->op = event->op;
    PT_GROW(f->counts, f->counts_cap, f->count_count + clock->len);
    if (clock->len)
        memcpy(f->counts + f->count_count, clock->counts, clock->len * sizeof *f->counts);
    f->count_count += clock->len;
    f->pushed++;
    return f->count == f->limit || f->count_count >= f->counts_limit;
}

enum pt_status pt_analysis_push(struct pt_analysis *a, const struct pt_event *event, uint32_t lane,
                                struct pt_clock *clock, struct pt_err *err)
{
    enum pt_status status = PT_OK;
    if (a->crew || a->takers) {
        bool full = put(&a->fill, event, lane, clock);
        if (full && a->takers)
            hand_on(a);
        return (full && a->crew) || a->failed ? pt_analysis_flush(a, err) : PT_OK;
    }
    for (uint32_t i = 0; status == PT_OK && i < a->count; i++)
        if (a->watched[i].lattice)
            status = push(&a->watched[i], event, lane, clock, clock->counts, clock->len, err);
    return status;
}

/* Lattices share nothing that anybody writes. */
static void part(struct pt_analysis *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        struct watched *w = &a->watched[i];
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
        a->slots[s].events = pt_xaligned(_Alignof(struct pt_analysis), FEED_BATCH * sizeof *a->slots[s].events);
    a->fill.limit = a->options.batch ? a->options.batch : FEED_BATCH;
    a->fill.counts_limit = FEED_COUNTS;
    begin_batch(&a->fill, 0, &a->slots[0]);
}

static void begin_crew(struct pt_analysis *a, unsigned threads)
{
    part(a);
    for (uint32_t i = 0; i < a->count; i++)
        a->watched[i].options.progress = NULL; /* pt_analysis_flush tells it */
    a->fill.events = pt_xcalloc(BATCH, sizeof *a->fill.events);
    a->fill.limit = BATCH;
    a->fill.counts_limit = COUNTS;
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
    pt_crew_free(a->crew);
    a->slots[a->fill.slot] = filled(&a->fill); /* of a crew, too */
    for (uint32_t s = 0; s < PT_FEED_SLOTS; s++) {
        free(a->slots[s].events);
        free(a->slots[s].counts);
        a->slots[s] = (struct batch){0};
    }
    begin_batch(&a->fill, 0, &a->slots[0]);
    a->feed = NULL;
    a->crew = NULL;
    a->takers = 0;
}
