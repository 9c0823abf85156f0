/*
 * From a relevant event to the lattices of all properties.
 *
 * Where several properties have bounded windows, whose levels are too small to be divided among threads, and the trace
 * is a file, the lattices themselves are: events wait until there is a batch of them, and then each lattice takes all
 * of it, by whichever thread is free. Lattices share nothing then but what nobody writes while they are at it: each has
 * its monitor, copies of the clocks, and its own count of memory. The thread that reads waits meanwhile.
 *
 * Guarantee: each lattice gets the same events in the same order as without this, so findings are the same. An error
 * is that of the first event that has one, for the first property. Not done where something is called at once (found,
 * observed), where lattices share a limit of memory, and for modules, whose code may not expect it.
 *
 * Where there are two threads for each lattice, one of them fills the levels that the other makes (relay.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/analysis_impl.h"
#include "engine/lattice.h"
#include "engine/patterns.h"

enum { BATCH = 2048 };

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

enum pt_status pt_analysis_flush(struct pt_analysis *a, struct pt_err *err)
{
    const struct watched *first = NULL;
    if (!a->batch_count)
        return PT_OK;
    pt_crew_run(a->crew, take_batch, a, a->count);
    for (uint32_t i = 0; i < a->count; i++) {
        const struct watched *w = &a->watched[i];
        if (w->failed != PT_OK && (!first || w->failed_at < first->failed_at))
            first = w;
        if (w->lattice && a->options.progress)
            a->options.progress(a->options.context, w->finding->property, w->finding->levels, w->finding->states);
    }
    for (uint32_t i = 0; i < a->batch_count; i++)
        pt_clock_unref(a->batch[i].clock);
    a->batch_count = 0;
    if (!first)
        return PT_OK;
    *err = first->why;
    return first->failed;
}

enum pt_status pt_analysis_push(struct pt_analysis *a, const struct pt_event *event, uint32_t lane,
                                struct pt_clock *clock, struct pt_err *err)
{
    enum pt_status status = PT_OK;
    if (a->crew) {
        struct waiting *e = &a->batch[a->batch_count++];
        *e = (struct waiting){*event, lane, pt_clock_ref(clock)};
        e->event.clock = NULL; /* it is valid until the next event is read, and not needed any more */
        return a->batch_count == BATCH ? pt_analysis_flush(a, err) : PT_OK;
    }
    for (uint32_t i = 0; status == PT_OK && i < a->count; i++)
        if (a->watched[i].lattice)
            status = push(&a->watched[i], event, lane, clock, err);
    return status;
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
    for (uint32_t i = 0; i < a->count; i++)
        a->watched[i].options.relays = o->batches && bounded && lattices && o->jobs >= 2 * lattices;
    if (!o->batches || !bounded || o->jobs < 2 || lattices < 2 || modules || o->memory_limit || o->found || o->observed)
        return;
    for (uint32_t i = 0; i < a->count; i++) {
        struct watched *w = &a->watched[i];
        w->apart = true;
        w->options.memory_used = &w->memory_used;
        w->options.progress = NULL; /* pt_analysis_flush tells it */
    }
    a->batch = pt_xcalloc(BATCH, sizeof *a->batch);
    a->crew = pt_crew_new((o->jobs < lattices ? o->jobs : lattices) - 1);
}
