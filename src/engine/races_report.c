/*
 * Races as findings: one for each pair of places (core/finding_key.h), with both sides of the first time it was seen
 * and how often it was. Cost: a look-up for each race that is met, and strings for each that is new.
 */
#include <stdlib.h>
#include <string.h>

#include "core/finding_key.h"
#include "core/hash.h"
#include "engine/races.h"

enum { UNTOLD = PT_CHECK_FINDINGS_MAX + 1 };

const char *const *pt_races_stack(struct pt_finding *f, struct pt_value text)
{
    uint32_t count = 0, most = 2;
    for (uint32_t i = 0; i < text.len; i++)
        most += text.s[i] == '<';
    const char **calls = pt_arena_alloc(&f->arena, most * sizeof *calls);
    const char *at = text.s, *end = text.s + text.len;
    while (at < end) {
        const char *stop = memmem(at, (size_t)(end - at), " < ", 3);
        calls[count++] = pt_arena_strndup(&f->arena, at, (size_t)((stop ? stop : end) - at));
        at = stop ? stop + 3 : end;
    }
    calls[count] = NULL;
    return calls;
}

static const char *const *list_locks(const struct races *r, struct pt_finding *f, uint32_t set)
{
    uint32_t count = set == PT_NONE ? 0 : pt_strtab_len(&r->lock_sets, set) / (uint32_t)sizeof(uint32_t);
    const char **names = pt_arena_alloc(&f->arena, (count + 1) * sizeof *names);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id;
        memcpy(&id, pt_strtab_text(&r->lock_sets, set) + i * sizeof id, sizeof id);
        names[i] = pt_name(r->names, PT_SPACE_LOCK, id);
    }
    names[count] = NULL;
    return names;
}

/* The calls in which the thread was forked; of a fork without a stack its place. */
static const char *const *list_created(const struct races *r, struct pt_finding *f, uint32_t thread)
{
    const struct races_thread *t = thread < r->thread_cap ? &r->threads[thread] : NULL;
    if (!t || !t->forked)
        return NULL;
    if (t->forked_stack && t->forked_stack <= r->run.stack_cap)
        return pt_races_stack(f, r->run.stacks[t->forked_stack - 1]);
    const char **calls = pt_arena_alloc(&f->arena, 2 * sizeof *calls);
    calls[0] = pt_name(r->names, PT_SPACE_LOC, t->forked_at);
    calls[1] = NULL;
    return calls;
}

struct pt_side pt_races_side(const struct races *r, struct pt_finding *f, const struct pt_cell_access *access,
                             uint32_t thread, const char *object)
{
    struct pt_side side = {.step = {.thread = pt_name(r->names, PT_SPACE_THREAD, thread),
                                    .op = pt_op_word(access->op),
                                    .object = object,
                                    .loc = pt_name(r->names, PT_SPACE_LOC, access->place)},
                           .event = access->note.event,
                           .locks = list_locks(r, f, access->note.locks)};
    if (access->note.stack && access->note.stack <= r->run.stack_cap)
        side.stack = pt_races_stack(f, r->run.stacks[access->note.stack - 1]);
    side.created = list_created(r, f, thread);
    return side;
}

void pt_races_tell_block(struct races *r, struct pt_finding *f, const struct races_block *block)
{
    if (!block || !block->made_at)
        return;
    const struct pt_event *made = &block->made;
    struct pt_cell_access access = {
        .place = made->loc, .op = made->op, .note = {block->made_at, made->stack, block->made_locks}};
    f->block = pt_arena_alloc(&f->arena, sizeof *f->block);
    *f->block = pt_races_side(r, f, &access, made->thread, pt_name(r->names, PT_SPACE_HEAP, made->object));
    f->block->step.value = made->value;
}

/* The block that the present event is about. */
static const struct races_block *present_block(struct races *r)
{
    if (r->event_var != PT_NONE)
        return pt_races_block_of(r, r->event_var, &(bool){0});
    const struct pt_strtab *heap = &r->names->space[PT_SPACE_HEAP];
    return &r->blocks[pt_strtab_find(&r->block_names, pt_strtab_text(heap, r->event->object),
                                     pt_strtab_len(heap, r->event->object))];
}

struct pt_finding *pt_races_add(struct pt_finding *f, enum pt_how how)
{
    if (f->more_count == PT_CHECK_FINDINGS_MAX) {
        f->untold++;
        return NULL;
    }
    if (f->verdict == PT_VERDICT_VIOLATED)
        f = pt_finding_add(f);
    f->verdict = PT_VERDICT_VIOLATED;
    f->how = how;
    return f;
}

/* A new finding: its index, or UNTOLD. */
static uint32_t add(struct races *r, struct races_asker *asker, const struct pt_cell_seen *earlier,
                    const struct pt_cell_access *now, const char *object)
{
    struct pt_finding *f = pt_races_add(asker->finding, PT_HOW_OBSERVED);
    if (!f)
        return UNTOLD;
    f->object = object;
    f->sides = pt_arena_alloc(&f->arena, 2 * sizeof *f->sides);
    f->sides[0] = pt_races_side(r, f, &earlier->access, pt_epoch_thread(earlier->at), object);
    f->sides[1] = pt_races_side(r, f, now, r->event->thread, object);
    f->side_count = 2;
    if (r->event_in_heap)
        pt_races_tell_block(r, f, present_block(r));
    return f == asker->finding ? 0 : asker->finding->more_count;
}

static bool is_suppressed(const struct races *r, const struct races_asker *asker, uint32_t index)
{
    return index != UNTOLD && r->options.suppressed &&
           r->options.suppressed(r->options.context, index ? asker->finding->more[index - 1] : asker->finding);
}

/* The finding of a pair of places that was not met on this variable before: its index, or UNTOLD. What people know of
 * one element, or of one thread, hides no other: the first that they do not know takes the place of those. */
static uint32_t find_or_add(struct races *r, struct races_asker *asker, const struct pt_cell_seen *earlier,
                            const struct pt_cell_access *now, const char *object)
{
    /* Blocks have numbers as they come, which say nothing about the program. */
    const char *name = r->event_in_heap ? "0x" : object;
    struct pt_finding_side one = {pt_name(r->names, PT_SPACE_LOC, earlier->access.place), name},
                           other = {pt_name(r->names, PT_SPACE_LOC, now->place), name};
    uint32_t *index = pt_map64_at(&asker->pairs, pt_finding_key_race(one, other));
    if (*index == PT_NONE)
        return *index = add(r, asker, earlier, now, object);
    if (!is_suppressed(r, asker, *index))
        return *index;
    uint32_t added = add(r, asker, earlier, now, object);
    if (!is_suppressed(r, asker, added))
        return *index = added;
    pt_finding_drop(asker->finding);
    return *index;
}

/* Parts of one variable have the same accesses: of each it is heard once. */
static bool is_repeated(struct races *r, uint64_t event)
{
    for (uint32_t i = 0; i < r->met_count; i++)
        if (r->met_events[i] == event)
            return true;
    PT_PUSH(r->met_events, r->met_count, r->met_cap, event);
    return false;
}

static void report(struct races *r, struct races_asker *asker, const struct pt_cell_seen *earlier, const char *object)
{
    const struct pt_event *event = r->event;
    uint64_t key = pt_mix64((uint64_t)earlier->access.place << 32 | event->loc) +
                   (uint64_t)r->event_var * UINT64_C(0x9e3779b97f4a7c15);
    if (r->options.suppressed)
        key ^= pt_mix64((uint64_t)pt_epoch_thread(earlier->at) << 32 | event->thread);
    uint32_t *known = pt_map64_at(&asker->met, key);
    struct pt_cell_access now = {
        .place = event->loc, .op = event->op, .note = {r->run.events, event->stack, r->event_locks}};
    if (*known == PT_NONE)
        *known = find_or_add(r, asker, earlier, &now, object);
    if (*known != UNTOLD)
        (*known ? asker->finding->more[*known - 1] : asker->finding)->count++;
}

static bool wants(const struct races *r, const struct races_asker *asker, const char *object, uint32_t one,
                  uint32_t other)
{
    return !asker->wants || asker->wants(asker->context, object, pt_name(r->names, PT_SPACE_THREAD, one),
                                         pt_name(r->names, PT_SPACE_THREAD, other));
}

bool pt_races_is_asked(const struct races *r, const struct races_asker *asker, uint64_t key, const char *object,
                       uint32_t one, uint32_t other)
{
    return wants(r, asker, object, one, other) && pt_map64_get(&asker->pairs, key) == PT_NONE;
}

void pt_races_found(void *context, const struct pt_cell_seen *earlier)
{
    struct races *r = context;
    if (r->in_parts && is_repeated(r, earlier->access.note.event))
        return;
    uint32_t var = r->event_var;
    const char *object =
        var == PT_NONE ? pt_name(r->names, PT_SPACE_HEAP, r->event->object) : pt_name(r->names, PT_SPACE_VAR, var);
    for (uint32_t i = 0; i < r->asker_count; i++)
        if (wants(r, &r->askers[i], object, pt_epoch_thread(earlier->at), r->event->thread))
            report(r, &r->askers[i], earlier, object);
}
