/*
 * Deadlocks as findings: one for each set of places and locks, with a side for each thread of the cycle, each waiting
 * for a lock that the next one holds, and the run that gets there. Cost: a replay and strings for each that is new.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "core/finding_key.h"
#include "core/hash.h"
#include "engine/deadlocks.h"
#include "engine/predict.h"

enum {
    UNTOLD = PT_CHECK_FINDINGS_MAX + 1,
};

/* What is known of one thread of a cycle. */
struct side {
    uint32_t thread, lock, loc, stack;
    uint64_t event;
    bool shared;
    const struct pt_lock_use *held; /* allocated */
    uint32_t held_count;
    const struct deadlocks_lent *lent; /* NULL: all locks are its own */
};

/* Sums do not depend on where the cycle begins. */
static uint64_t key_of(const struct side *sides, uint32_t count, enum pt_how how)
{
    uint64_t key = (uint64_t)how;
    for (uint32_t i = 0; i < count; i++)
        key += pt_mix64((uint64_t)sides[i].loc << 32 | sides[i].lock);
    return pt_mix64(key);
}

/* NULL: there are so many that it is only counted. */
static struct pt_finding *add_finding(struct deadlocks *d)
{
    struct pt_finding *f = d->finding;
    if (f->more_count == PT_CHECK_FINDINGS_MAX) {
        f->untold++;
        return NULL;
    }
    if (f->verdict == PT_VERDICT_VIOLATED)
        return pt_finding_add(f);
    f->verdict = PT_VERDICT_VIOLATED;
    return f;
}

/* The locks of the cycle by their names, so that the same ones read the same in every run. */
static const char *name_locks(const struct deadlocks *d, struct pt_finding *f, const struct side *sides, uint32_t count)
{
    const char **names = pt_xmalloc(count * sizeof *names);
    size_t bytes = 1, len = 0;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = pt_name(d->names, PT_SPACE_LOCK, sides[i].lock);
        uint32_t k = i;
        for (; k > 0 && strcmp(names[k - 1], name) > 0; k--)
            names[k] = names[k - 1];
        names[k] = name;
        bytes += strlen(name) + 2;
    }
    char *text = pt_arena_alloc(&f->arena, bytes);
    for (uint32_t i = 0; i < count; i++) {
        if (i) {
            memcpy(text + len, ", ", 2);
            len += 2;
        }
        memcpy(text + len, names[i], strlen(names[i]));
        len += strlen(names[i]);
    }
    free(names);
    return text;
}

/* Where the lock was taken that another thread has, "a.c:1 by T1, which joins T2", among the others. */
static const char *const *tell_lent(const struct deadlocks *d, struct pt_finding *f, const struct side *from)
{
    const char **places = pt_arena_alloc(&f->arena, (from->held_count + 1) * sizeof *places);
    struct pt_buf buf;
    pt_buf_init(&buf);
    pt_buf_printf(&buf, "%s by %s, which joins %s", pt_name(d->names, PT_SPACE_LOC, from->lent->loc),
                  pt_name(d->names, PT_SPACE_THREAD, from->lent->owner),
                  pt_name(d->names, PT_SPACE_THREAD, from->thread));
    for (uint32_t i = 0; i < from->held_count; i++)
        places[i] = from->held[i].lock == from->lent->lock ? pt_arena_strndup(&f->arena, buf.text, buf.len) : "";
    places[from->held_count] = NULL;
    pt_buf_release(&buf);
    return places;
}

static struct pt_side make_side(const struct deadlocks *d, struct pt_finding *f, const struct side *from)
{
    const char **locks = pt_arena_alloc(&f->arena, (from->held_count + 1) * sizeof *locks);
    for (uint32_t i = 0; i < from->held_count; i++)
        locks[i] = pt_name(d->names, PT_SPACE_LOCK, (uint32_t)from->held[i].lock);
    struct pt_side side = {.step = {.thread = pt_name(d->names, PT_SPACE_THREAD, from->thread),
                                    .op = pt_op_word(from->shared ? PT_OP_RACQ : PT_OP_ACQ),
                                    .object = pt_name(d->names, PT_SPACE_LOCK, from->lock),
                                    .loc = pt_name(d->names, PT_SPACE_LOC, from->loc)},
                           .event = from->event,
                           .locks = locks};
    if (from->lent)
        side.locked_at = tell_lent(d, f, from);
    if (from->stack && from->stack <= d->run.stack_cap)
        side.stack = pt_races_stack(f, d->run.stacks[from->stack - 1]);
    return side;
}

/* Counts it once more if it was found before. */
static bool is_known(struct deadlocks *d, const struct side *sides, uint32_t count, enum pt_how how)
{
    uint32_t index = pt_map64_get(&d->known, key_of(sides, count, how));
    if (index != PT_NONE && index != UNTOLD)
        (index ? d->finding->more[index - 1] : d->finding)->count++;
    return index != PT_NONE;
}

/* A new one; NULL: there are too many. */
static struct pt_finding *add(struct deadlocks *d, const struct side *sides, uint32_t count, enum pt_how how,
                              const char *order)
{
    struct pt_finding *f = add_finding(d);
    *pt_map64_at(&d->known, key_of(sides, count, how)) = !f ? UNTOLD : f == d->finding ? 0 : d->finding->more_count;
    if (!f)
        return NULL;
    f->how = how;
    f->order = order;
    f->count = 1;
    f->object = name_locks(d, f, sides, count);
    f->sides = pt_arena_alloc(&f->arena, count * sizeof *f->sides);
    for (uint32_t i = 0; i < count; i++)
        f->sides[i] = make_side(d, f, &sides[i]);
    f->side_count = count;
    return f;
}

/* The events that lead there. */
static void add_witness(struct deadlocks *d, struct pt_finding *f, const uint64_t *first, const uint64_t *upto)
{
    const struct pt_replay_run run = {first, upto, d->trf.thread_count};
    pt_predict_witness(&d->witnesses, f, d->names, &d->log, &run);
}

static struct pt_lock_use *list_held(const struct pt_acquire *a)
{
    struct pt_lock_use *held = pt_xmalloc((a->held_count + 1) * sizeof *held);
    for (uint32_t i = 0; i < a->held_count; i++)
        held[i] = a->held[i].use;
    return held;
}

static void release_sides(struct side *sides, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free((void *)sides[i].held);
    free(sides);
}

/* The cycle is shown from the acquire on that the recorded run has first. */
static uint32_t find_first(const struct deadlocks_instance *at, uint32_t count)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < count; i++)
        if (at[i].event < at[first].event)
            first = i;
    return first;
}

static struct side *list_sides(const struct deadlocks *d, const struct deadlocks_cycle *cycle,
                               const struct deadlocks_instance *at)
{
    struct side *sides = pt_xcalloc(cycle->count, sizeof *sides);
    uint32_t start = find_first(at, cycle->count);
    for (uint32_t i = 0; i < cycle->count; i++) {
        uint32_t member = (start + i) % cycle->count;
        const struct pt_acquire *a = cycle->members[member];
        const struct deadlocks_node *node = a->note;
        const struct deadlocks_instance *instance = &at[member];
        sides[i] = (struct side){.thread = a->thread,
                                 .lock = (uint32_t)a->wants.lock,
                                 .loc = instance->loc,
                                 .stack = instance->stack,
                                 .event = instance->event,
                                 .shared = a->wants.shared,
                                 .held = list_held(a),
                                 .held_count = a->held_count,
                                 .lent = node->lent ? &d->lents[node->lent - 1] : NULL};
    }
    return sides;
}

void pt_deadlocks_tell(struct deadlocks *d, const struct deadlocks_cycle *cycle, const struct deadlocks_instance *at,
                       const char *order, const uint64_t *first, const uint64_t *upto)
{
    struct side *sides = list_sides(d, cycle, at);
    if (!is_known(d, sides, cycle->count, PT_HOW_PREDICTED)) {
        struct pt_finding *f = add(d, sides, cycle->count, PT_HOW_PREDICTED, order);
        if (f)
            add_witness(d, f, first, upto);
    }
    release_sides(sides, cycle->count);
}

void pt_deadlocks_met(struct deadlocks *d, const struct deadlocks_cycle *cycle, const struct deadlocks_instance *at)
{
    struct side *sides = list_sides(d, cycle, at);
    struct pt_finding *f = is_known(d, sides, cycle->count, PT_HOW_PREDICTED)
                               ? NULL
                               : add(d, sides, cycle->count, PT_HOW_PREDICTED, "values");
    if (f)
        pt_meeting_witness(&d->meeting, &d->witnesses, f);
    release_sides(sides, cycle->count);
}

void pt_deadlocks_observed(struct deadlocks *d, const uint32_t *threads, uint32_t count)
{
    struct side *sides = pt_xcalloc(count, sizeof *sides);
    for (uint32_t i = 0; i < count; i++) {
        const struct deadlocks_thread *t = &d->threads[threads[i]];
        struct pt_lock_use *held = pt_xmalloc((t->held.count + 1) * sizeof *held);
        for (uint32_t k = 0; k < t->held.count; k++)
            held[k] = (struct pt_lock_use){t->held.locks[k].lock, t->held.locks[k].shared};
        sides[i] = (struct side){.thread = threads[i],
                                 .lock = t->on - 1,
                                 .loc = t->loc,
                                 .stack = t->stack,
                                 .event = t->at,
                                 .held = held,
                                 .held_count = t->held.count};
    }
    if (!is_known(d, sides, count, PT_HOW_OBSERVED))
        add(d, sides, count, PT_HOW_OBSERVED, "access");
    release_sides(sides, count);
}
