/*
 * Patterns through one acquire: a walk backwards marks what can reach it at all, wherever nothing turns the order of
 * locks round that is nothing, and the walk forwards keeps to what is marked.
 *
 * Guarantee: every pattern, once, unless the search says that it gave up. Nothing here allocates but for new acquires,
 * waits, or keeps state of its own, so that the runtime can use it under a lock.
 *
 * Cost: a known acquire is a look-up; a new one the walk over those that can reach it. The walk forwards is exponential
 * in the length of circles at worst, which `steps` bounds.
 */
#include "deadlock/patterns.h"

#include <string.h>

#include "core/hash.h"

enum { FIRST_BUCKETS = 64 };

/* Whether someone who wants it this way waits for someone who has it that way. */
static bool conflicts(struct pt_lock_use one, struct pt_lock_use other)
{
    return one.lock == other.lock && !(one.shared && other.shared);
}

/* ---- tables ---- */

void pt_patterns_begin(struct pt_patterns *patterns, const struct pt_race_memory *memory)
{
    *patterns = (struct pt_patterns){.memory = memory};
}

static size_t acquire_bytes(uint32_t held_count)
{
    return sizeof(struct pt_acquire) + held_count * sizeof(struct pt_holding);
}

static void give_tables(struct pt_patterns *p)
{
    size_t bytes = p->buckets * sizeof(void *);
    if (!bytes)
        return;
    p->memory->give(p->memory->context, p->known, bytes);
    p->memory->give(p->memory->context, p->wanting, bytes);
    p->memory->give(p->memory->context, p->holding, bytes);
}

void pt_patterns_end(struct pt_patterns *p)
{
    for (uint32_t i = 0; i < p->buckets; i++) {
        for (struct pt_acquire *a = p->known[i], *next; a; a = next) {
            next = a->bucket;
            p->memory->give(p->memory->context, a, acquire_bytes(a->held_count));
        }
    }
    give_tables(p);
    pt_patterns_begin(p, p->memory);
}

size_t pt_patterns_bytes(const struct pt_patterns *p)
{
    return (size_t)p->buckets * 3 * sizeof(void *) + p->count * acquire_bytes(2);
}

static void *take_table(const struct pt_patterns *p, uint32_t buckets)
{
    void *table = p->memory->take(p->memory->context, buckets * sizeof(void *));
    memset(table, 0, buckets * sizeof(void *));
    return table;
}

static uint32_t slot_of_lock(const struct pt_patterns *p, uint64_t lock)
{
    return (uint32_t)pt_mix64(lock) & (p->buckets - 1);
}

static uint64_t hash_held(uint64_t value, const struct pt_lock_use *use)
{
    return pt_mix64((value ^ (use->lock << 1 | use->shared)) + use->lent);
}

static uint64_t hash(uint32_t thread, struct pt_lock_use wants, const struct pt_lock_use *held, uint32_t count)
{
    uint64_t value = pt_mix64(thread) + pt_mix64(wants.lock << 1 | wants.shared);
    for (uint32_t i = 0; i < count; i++)
        value = hash_held(value, &held[i]);
    return value;
}

static uint64_t hash_of(const struct pt_acquire *a)
{
    uint64_t value = pt_mix64(a->thread) + pt_mix64(a->wants.lock << 1 | a->wants.shared);
    for (uint32_t i = 0; i < a->held_count; i++)
        value = hash_held(value, &a->held[i].use);
    return value;
}

static void insert(struct pt_patterns *p, struct pt_acquire *a)
{
    struct pt_acquire **known = &p->known[hash_of(a) & (p->buckets - 1)];
    struct pt_acquire **wanting = &p->wanting[slot_of_lock(p, a->wants.lock)];
    a->bucket = *known;
    *known = a;
    a->next_wanting = *wanting;
    *wanting = a;
    for (uint32_t i = 0; i < a->held_count; i++) {
        struct pt_holding **holding = &p->holding[slot_of_lock(p, a->held[i].use.lock)];
        a->held[i].next = *holding;
        *holding = &a->held[i];
    }
}

static void grow(struct pt_patterns *p)
{
    struct pt_patterns old = *p;
    p->buckets = old.buckets ? old.buckets * 2 : FIRST_BUCKETS;
    p->known = take_table(p, p->buckets);
    p->wanting = take_table(p, p->buckets);
    p->holding = take_table(p, p->buckets);
    for (uint32_t i = 0; i < old.buckets; i++) {
        for (struct pt_acquire *a = old.known[i], *next; a; a = next) {
            next = a->bucket;
            insert(p, a);
        }
    }
    give_tables(&old);
}

static void sort(struct pt_lock_use *held, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct pt_lock_use use = held[i];
        uint32_t k = i;
        for (; k > 0 && held[k - 1].lock > use.lock; k--)
            held[k] = held[k - 1];
        held[k] = use;
    }
}

static bool is_same(const struct pt_acquire *a, uint32_t thread, struct pt_lock_use wants,
                    const struct pt_lock_use *held, uint32_t count)
{
    if (a->thread != thread || a->wants.lock != wants.lock || a->wants.shared != wants.shared || a->held_count != count)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (a->held[i].use.lock != held[i].lock || a->held[i].use.shared != held[i].shared ||
            a->held[i].use.lent != held[i].lent)
            return false;
    return true;
}

struct pt_acquire *pt_patterns_take(struct pt_patterns *p, uint32_t thread, struct pt_lock_use wants,
                                    struct pt_lock_use *held, uint32_t held_count, bool *ret_new)
{
    sort(held, held_count);
    if (p->count >= p->buckets)
        grow(p);
    struct pt_acquire *a = p->known[hash(thread, wants, held, held_count) & (p->buckets - 1)];
    while (a && !is_same(a, thread, wants, held, held_count))
        a = a->bucket;
    *ret_new = !a;
    if (a)
        return a;
    a = p->memory->take(p->memory->context, acquire_bytes(held_count));
    *a = (struct pt_acquire){.thread = thread, .index = p->count++, .wants = wants, .held_count = held_count};
    for (uint32_t i = 0; i < held_count; i++)
        a->held[i] = (struct pt_holding){.use = held[i], .of = a};
    insert(p, a);
    return a;
}

/* ---- searching ---- */

/* Marks every acquire from which a chain of waiting leads to `latest`. */
static void mark_reaching(struct pt_patterns *p, struct pt_acquire *latest)
{
    struct pt_acquire *pending = latest;
    latest->mark = ++p->searches;
    latest->pending = NULL;
    while (pending) {
        const struct pt_acquire *to = pending;
        pending = pending->pending;
        for (uint32_t i = 0; i < to->held_count; i++) {
            struct pt_lock_use held = to->held[i].use;
            for (struct pt_acquire *a = p->wanting[slot_of_lock(p, held.lock)]; a; a = a->next_wanting) {
                if (a->mark == p->searches || !conflicts(a->wants, held) || a->thread == to->thread)
                    continue;
                a->mark = p->searches;
                a->pending = pending;
                pending = a;
            }
        }
    }
}

struct walk {
    struct pt_patterns *p;
    const struct pt_patterns_search *search;
    struct pt_acquire *path[PT_PATTERN_MAX];
    uint32_t length;
    uint64_t steps;
    bool complete;
};

static bool has_gate(const struct pt_acquire *one, const struct pt_acquire *other)
{
    uint32_t i = 0, k = 0;
    while (i < one->held_count && k < other->held_count) {
        struct pt_lock_use a = one->held[i].use, b = other->held[k].use;
        if (conflicts(a, b))
            return true;
        i += a.lock <= b.lock;
        k += b.lock <= a.lock;
    }
    return false;
}

static bool fits(const struct walk *walk, const struct pt_acquire *next)
{
    const struct pt_patterns_search *search = walk->search;
    for (uint32_t i = 0; i < walk->length; i++) {
        const struct pt_acquire *there = walk->path[i];
        if (there->thread == next->thread || there->wants.lock == next->wants.lock || has_gate(there, next) ||
            (search->may_meet && !search->may_meet(search->context, there, next)))
            return false;
    }
    return true;
}

static bool closes(const struct pt_acquire *last, const struct pt_acquire *first)
{
    for (uint32_t i = 0; i < first->held_count; i++)
        if (conflicts(last->wants, first->held[i].use))
            return true;
    return false;
}

static void go_on(struct walk *walk)
{
    const struct pt_acquire *last = walk->path[walk->length - 1];
    if (walk->length > 1 && closes(last, walk->path[0]))
        walk->search->found(walk->search->context, walk->path, walk->length);
    const struct pt_holding *holding = walk->p->holding[slot_of_lock(walk->p, last->wants.lock)];
    for (; holding && walk->steps; holding = holding->next) {
        struct pt_acquire *next = holding->of;
        if (!conflicts(last->wants, holding->use) || next->mark != walk->p->searches)
            continue;
        walk->steps--;
        if (!fits(walk, next))
            continue;
        if (walk->length == walk->search->most) {
            walk->complete = false;
            continue;
        }
        walk->path[walk->length++] = next;
        go_on(walk);
        walk->length--;
    }
    walk->complete &= walk->steps > 0;
}

bool pt_patterns_search(struct pt_patterns *p, struct pt_acquire *latest, const struct pt_patterns_search *search)
{
    mark_reaching(p, latest);
    struct walk walk = {
        .p = p, .search = search, .path = {latest}, .length = 1, .steps = search->steps, .complete = true};
    go_on(&walk);
    return walk.complete;
}
