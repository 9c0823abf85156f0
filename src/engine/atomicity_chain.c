/*
 * Witnesses. Each thread's lessons say from which event it learned of a begin first. To show e1 <= s, walk back:
 * s's thread learned of e1 at an event no later than s, from an event that knew e1 already; and so on until that is an
 * event of e1's own thread. Event numbers fall with every step, so this ends; the chain is as long as there are changes
 * of thread. It is checked link by link against the definition of the order, which knows nothing of clocks.
 *
 * A lesson older than every open block that lacks a witness can never be asked for: the lessons are dropped when they
 * have doubled.
 *
 * Guarantee: every link of a chain that is shown is one of the order's own. Cost: a witness takes a binary search for
 * each change of thread; lessons take amortised O(1) each, and memory for those since the oldest open block.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/atomicity_impl.h"

enum { LESSONS_AT_LEAST = 1024 };

/* The first event of an open occurrence that may need a witness. */
static uint64_t oldest_wanted(const struct pt_blocks *b)
{
    uint64_t oldest = UINT64_MAX;
    for (size_t i = 0; b->wanted && i < b->thread_cap; i++) {
        const struct block_thread *t = &b->threads[i];
        for (uint32_t k = t->settled; k < t->open_count; k++) {
            if (!t->open[k].closed && !b->blocks[t->open[k].block].finding.events && t->open[k].step.seq < oldest)
                oldest = t->open[k].step.seq;
        }
    }
    return oldest;
}

static void forget(struct pt_blocks *b)
{
    uint64_t oldest = oldest_wanted(b);
    b->lesson_count = 0;
    for (size_t i = 0; i < b->thread_cap; i++) {
        struct block_lessons *l = &b->threads[i].lessons;
        uint32_t drop = 0;
        while (drop < l->count && l->items[drop].at.seq < oldest)
            pt_clock_unref(l->items[drop++].after);
        l->count -= drop;
        if (drop && l->count)
            memmove(l->items, l->items + drop, l->count * sizeof *l->items);
        b->lesson_count += l->count;
    }
    b->lesson_limit = b->lesson_count * 2 > LESSONS_AT_LEAST ? b->lesson_count * 2 : LESSONS_AT_LEAST;
}

void pt_blocks_remember(struct pt_blocks *b, const struct block_source *from, const struct block_step *at,
                        struct pt_clock *after)
{
    if (!b->wanted)
        return;
    if (b->lesson_count >= b->lesson_limit)
        forget(b);
    struct block_lessons *l = &b->threads[at->thread].lessons;
    size_t old = l->cap;
    struct block_lesson lesson = {from->step, *at, pt_clock_ref(after)};
    PT_PUSH(l->items, l->count, l->cap, lesson);
    b->bytes += (l->cap - old) * sizeof *l->items;
    b->lesson_count++;
}

/* The lesson from which a thread learned of the n-th begin of another one; NULL: it never did. */
static const struct block_lesson *first_lesson(const struct block_lessons *l, uint32_t other, uint64_t n)
{
    uint32_t low = 0, high = l->count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (pt_clock_get(l->items[mid].after, other) < n)
            low = mid + 1;
        else
            high = mid;
    }
    return low < l->count ? &l->items[low] : NULL;
}

/* Does the order put `a` before `b` directly? */
static bool is_cause(const struct block_step *a, const struct block_step *b, bool given)
{
    struct pt_act earlier = {a->thread, a->object, a->op}, later = {b->thread, b->object, b->op};
    if (a->seq >= b->seq)
        return false;
    return given || /* c= fields are the order: there is nothing else to compare them with */
           pt_order_access.depends(&earlier, &later) != PT_LINK_NONE;
}

struct chain { /* from the last event to the first */
    struct block_step *items;
    uint32_t count;
    size_t cap;
};

static void chain_add(struct chain *chain, const struct block_step *step)
{
    if (chain->count == 0 || chain->items[chain->count - 1].seq != step->seq)
        PT_PUSH(chain->items, chain->count, chain->cap, *step);
}

/* False: some thread does not know how it learned of the begin. */
static bool walk_back(const struct pt_blocks *b, const struct block_occurrence *o, struct block_step s,
                      struct chain *chain)
{
    while (s.thread != o->step.thread) {
        chain_add(chain, &s);
        const struct block_lesson *lesson = first_lesson(&b->threads[s.thread].lessons, o->step.thread, o->begin);
        if (!lesson || lesson->at.seq > s.seq || lesson->from.seq >= lesson->at.seq)
            return false;
        chain_add(chain, &lesson->at);
        s = lesson->from;
    }
    chain_add(chain, &s);
    chain_add(chain, &o->step);
    return true;
}

static bool chain_holds(const struct chain *chain, bool given)
{
    for (uint32_t i = chain->count - 1; i > 0; i--) {
        if (!is_cause(&chain->items[i], &chain->items[i - 1], given))
            return false;
    }
    return chain->count >= 3;
}

static struct pt_step shown(const struct pt_blocks *b, const struct block_step *s)
{
    return (struct pt_step){.thread = pt_name(b->names, PT_SPACE_THREAD, s->thread),
                            .op = pt_op_word(s->op),
                            .object = pt_name(b->names, pt_op_space(s->op), s->object),
                            .loc = pt_name(b->names, PT_SPACE_LOC, s->loc),
                            .value = s->value,
                            .number = s->seq,
                            .line = s->line,
                            .var = PT_NONE};
}

static void show(struct pt_blocks *b, const struct chain *chain, struct pt_block_finding *finding)
{
    bool foreign = false;
    finding->events = pt_arena_alloc(&b->findings.arena, chain->count * sizeof *finding->events);
    finding->event_count = chain->count;
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct block_step *s = &chain->items[chain->count - 1 - i];
        bool other = s->thread != chain->items[0].thread;
        finding->events[i].step = shown(b, s);
        finding->events[i].role = i == 0                  ? PT_BLOCK_BEGIN
                                  : i == chain->count - 1 ? PT_BLOCK_LATER
                                  : other && !foreign     ? PT_BLOCK_FOREIGN
                                                          : PT_BLOCK_OTHER;
        foreign = foreign || other;
    }
}

void pt_blocks_explain(struct pt_blocks *b, const struct block_occurrence *o, const struct block_source *from,
                       const struct block_step *at)
{
    struct block *block = &b->blocks[o->block];
    struct chain chain = {0};
    chain_add(&chain, at);
    if (walk_back(b, o, from->step, &chain) && chain_holds(&chain, b->given))
        show(b, &chain, &block->finding);
    else
        b->bad_chain = true;
    b->wanted -= block->open;
    free(chain.items);
}
