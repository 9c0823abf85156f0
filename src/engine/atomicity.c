/*
 * Atomicity of blocks in one run, as the events arrive.
 *
 * Every event gets its vector clock from `order`, all events counting. For each open occurrence and each other thread
 * it is remembered which event of that thread was the first causally after the begin: if any is, this one is. A later
 * event of the occurrence whose clock has reached it is a violation, with these three events as its witness.
 *
 * Guarantee: exactly Definition 3 (as corrected in the project's contract) for the occurrences in this run; nothing is
 * predicted. Cost: per event, the number of open occurrences plus, for the thread's own, the number of threads; memory
 * is one entry per open occurrence and thread.
 *
 * Where lines carry clocks (c=), these are the order, and only lines with one have a place in it: lines without are
 * passed over, and an occurrence whose begin has none starts with its thread's next line that does. What such a trace
 * left out cannot be judged.
 */
#include "engine/atomicity.h"

#include <stdlib.h>

#include "order/order.h"

struct first {      /* the first event of another thread after a begin */
    uint32_t count; /* its number in its thread; 0: there is none yet */
    struct pt_event event;
};

struct occurrence {
    uint32_t thread, block;
    uint32_t entry; /* in `all` */
    uint32_t count; /* of its begin, in its thread; 0: not known yet */
    bool violated;
    struct pt_event begin;
    struct first *firsts; /* by thread */
    size_t first_count, first_cap;
};

struct pt_run_blocks {
    const char *label;
    const struct pt_names *names;
    struct pt_order *order;
    bool clocked; /* a line with c= was met */
    uint64_t events;
    struct occurrence *open;
    size_t open_count, open_cap;
    struct pt_run_block *all;
    size_t all_count, all_cap;
    struct pt_map64 entries; /* (thread, block) to an index of `all` */
};

struct pt_run_blocks *pt_run_blocks_new(const char *label, const struct pt_names *names)
{
    struct pt_run_blocks *blocks = pt_xcalloc(1, sizeof *blocks);
    blocks->label = label;
    blocks->names = names;
    blocks->order = pt_order_new(label, names);
    pt_map64_init(&blocks->entries);
    return blocks;
}

void pt_run_blocks_free(struct pt_run_blocks *blocks)
{
    for (size_t i = 0; i < blocks->open_count; i++)
        free(blocks->open[i].firsts);
    free(blocks->open);
    free(blocks->all);
    pt_map64_release(&blocks->entries);
    pt_order_free(blocks->order);
    free(blocks);
}

const struct pt_run_block *pt_run_blocks_all(const struct pt_run_blocks *blocks, uint32_t *ret_count)
{
    *ret_count = (uint32_t)blocks->all_count;
    return blocks->all;
}

uint64_t pt_run_blocks_events(const struct pt_run_blocks *blocks)
{
    return blocks->events;
}

static struct pt_event copy(const struct pt_event *event)
{
    struct pt_event kept = *event;
    kept.clock = NULL; /* valid until the next read only */
    kept.clock_len = 0;
    return kept;
}

static void begin(struct pt_run_blocks *blocks, const struct pt_event *event)
{
    uint32_t *entry = pt_map64_at(&blocks->entries, (uint64_t)event->thread << 32 | event->object);
    if (*entry == PT_NONE) {
        *entry = (uint32_t)blocks->all_count;
        struct pt_run_block added = {.thread = event->thread, .block = event->object};
        PT_PUSH(blocks->all, blocks->all_count, blocks->all_cap, added);
    }
    blocks->all[*entry].occurrences++;
    struct occurrence opened = {.thread = event->thread, .block = event->object, .entry = *entry, .begin = copy(event)};
    PT_PUSH(blocks->open, blocks->open_count, blocks->open_cap, opened);
}

/* Closes the innermost open occurrence; an end without one is none of ours. */
static void end(struct pt_run_blocks *blocks, const struct pt_event *event)
{
    for (size_t i = blocks->open_count; i-- > 0;) {
        struct occurrence *o = &blocks->open[i];
        if (o->thread != event->thread || o->block != event->object)
            continue;
        free(o->firsts);
        for (size_t k = i + 1; k < blocks->open_count; k++)
            blocks->open[k - 1] = blocks->open[k];
        blocks->open_count--;
        return;
    }
}

/* The event as a foreign one: is it the first of its thread after the begin? */
static void note_foreign(struct occurrence *o, const struct pt_event *event, const struct pt_clock *clock)
{
    if (o->count == 0 || pt_clock_get(clock, o->thread) < o->count)
        return;
    while (o->first_count <= event->thread) {
        struct first none = {0};
        PT_PUSH(o->firsts, o->first_count, o->first_cap, none);
    }
    struct first *first = &o->firsts[event->thread];
    if (first->count == 0) {
        first->count = pt_clock_get(clock, event->thread);
        first->event = copy(event);
    }
}

/* The event as a later one of the occurrence. */
static void note_own(struct pt_run_blocks *blocks, struct occurrence *o, const struct pt_event *event,
                     const struct pt_clock *clock)
{
    if (o->count == 0)
        o->count = pt_clock_get(clock, o->thread);
    for (uint32_t t = 0; t < o->first_count && !o->violated; t++) {
        const struct first *first = &o->firsts[t];
        if (first->count == 0 || pt_clock_get(clock, t) < first->count)
            continue;
        struct pt_run_block *entry = &blocks->all[o->entry];
        o->violated = true;
        if (entry->violated++ == 0) {
            entry->begin = o->begin;
            entry->foreign = first->event;
            entry->later = copy(event);
        }
    }
}

/* From here on clocks are the order: what was counted before has no place in it. */
static void start_clocks(struct pt_run_blocks *blocks)
{
    blocks->clocked = true;
    pt_order_free(blocks->order);
    blocks->order = pt_order_new(blocks->label, blocks->names);
    for (size_t i = 0; i < blocks->open_count; i++) {
        blocks->open[i].count = 0;
        blocks->open[i].first_count = 0;
    }
}

enum pt_status pt_run_blocks_event(struct pt_run_blocks *blocks, const struct pt_event *event, struct pt_err *err)
{
    if (event->op == PT_OP_INIT || event->op == PT_OP_CLOCK)
        return PT_OK;
    if (event->clock && !blocks->clocked)
        start_clocks(blocks);
    blocks->events++;
    struct pt_clock *clock = NULL;
    bool relevant = !blocks->clocked || event->clock;
    enum pt_status status = pt_order_event(blocks->order, event, relevant, &clock, err);
    if (status != PT_OK)
        return status;
    if (event->op == PT_OP_END)
        end(blocks, event);
    if (event->op == PT_OP_BEGIN)
        begin(blocks, event);
    for (size_t i = 0; i < blocks->open_count && relevant; i++) {
        struct occurrence *o = &blocks->open[i];
        if (o->thread == event->thread)
            note_own(blocks, o, event, clock);
        else
            note_foreign(o, event, clock);
    }
    return PT_OK;
}
