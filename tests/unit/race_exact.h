/*
 * The race engine of the runtime beside race/cell.h, one cell for each granule: threads that are played by one, and
 * what both say of each access. Who includes it says before how many THREADS there are at most, and GRANULES.
 */
#ifndef PT_TESTS_UNIT_RACE_EXACT_H
#define PT_TESTS_UNIT_RACE_EXACT_H

#include "race_util.h"
#include "runtime/race/fast.h"
#include "runtime/sys/runtime.h"

enum { PLACES = 12, SITES = 40, OBJECTS = 3, FOUND = 4096, OPENED = 48 };

static struct pt_site sites[SITES];
static struct pt_race_self *t[THREADS];
static struct pt_hb_thread ref[THREADS];
static struct pt_cell cells[GRANULES];
static struct pt_hb_lock ref_locks[OBJECTS];
static struct pt_hb_sync ref_syncs[OBJECTS];
static _Alignas(64) uint64_t memory[GRANULES];
static _Alignas(64) char objects[2 * OBJECTS][8];
static bool raced[THREADS][THREADS], held[OBJECTS];
static bool learned; /* somebody knows, by a read that raced, a moment in the middle of a region */
static unsigned threads, now_thread, told, missing;

/* What was reported of one access: thread, place of the earlier one. */
struct pairs {
    unsigned count;
    struct {
        uint64_t thread;
        const struct pt_site *site;
    } at[FOUND];
};
static struct pairs exact, engine;

static void add(struct pairs *pairs, uint64_t thread, const struct pt_site *site)
{
    for (unsigned i = 0; i < pairs->count; i++)
        if (pairs->at[i].thread == thread && pairs->at[i].site == site)
            return;
    assert_true(pairs->count < FOUND);
    pairs->at[pairs->count].thread = thread;
    pairs->at[pairs->count++].site = site;
}

static bool has(const struct pairs *pairs, uint64_t thread, const struct pt_site *site)
{
    for (unsigned i = 0; i < pairs->count; i++)
        if (pairs->at[i].thread == thread && pairs->at[i].site == site)
            return true;
    return false;
}

/* Where it does not matter which thread it was, another one that was at the same place stands for it. */
static bool has_place(const struct pairs *pairs, const struct pt_site *site)
{
    for (unsigned i = 0; i < pairs->count && !pt_race_looks.threads; i++)
        if (pairs->at[i].site == site)
            return true;
    return false;
}

static bool has_raced(unsigned thread, uint64_t other)
{
    bool any = raced[thread][other];
    for (unsigned i = 0; i < threads && !pt_race_looks.threads; i++)
        any |= raced[thread][i];
    return any;
}

static bool is_new(uint64_t key)
{
    assert_true(key != 0);
    return true;
}

static uint64_t asked(uintptr_t granule, unsigned bytes, uint32_t one, uint32_t other)
{
    assert_true(granule && bytes && bytes < 256 && one != other);
    return PT_RACE_CHECK;
}

static uint64_t apart(uintptr_t address, bool element, uint32_t one, uint32_t other)
{
    assert_true(address && !element && one != other);
    return 0;
}

static void on_found(const struct pt_found *found, uint64_t asked_for)
{
    assert_true(asked_for == PT_RACE_CHECK);
    assert_int_equal(found->side_count, 2);
    assert_int_equal(found->sides[1].thread, now_thread + 1);
    add(&engine, found->sides[0].thread - 1, found->sides[0].stack.sites[0]);
}

static void on_race(void *context, const struct pt_cell_seen *earlier)
{
    (void)context;
    add(&exact, pt_epoch_thread(earlier->at), &sites[earlier->access.place]);
}
static const struct pt_cell_env env = {.memory = &test_memory, .race = on_race};

static void compare(void)
{
    for (unsigned i = 0; i < engine.count; i++)
        assert_true(has(&exact, engine.at[i].thread, engine.at[i].site));
    for (unsigned i = 0; i < exact.count; i++) {
        bool there = has(&engine, exact.at[i].thread, exact.at[i].site) || has_place(&engine, exact.at[i].site);
        told += there;
        missing += !there;
        if (!there) /* what there is room for when a granule is opened: runtime/race/README.md */
            assert_true(learned || has_raced(now_thread, exact.at[i].thread) ||
                        (exact.count > OPENED && engine.count >= OPENED));
    }
    for (unsigned i = 0; i < exact.count; i++)
        learned = raced[now_thread][exact.at[i].thread] = raced[exact.at[i].thread][now_thread] = true;
    exact.count = engine.count = 0;
}

static unsigned bytes_in(uintptr_t granule, uintptr_t from, uintptr_t to)
{
    unsigned bytes = 0xff;
    if (from > granule)
        bytes &= 0xffu << (from - granule);
    if (to < granule + 8)
        bytes &= 0xffu >> (granule + 8 - to);
    return bytes;
}

static void exactly(unsigned thread, uintptr_t from, size_t size, unsigned kind, unsigned order, unsigned place,
                    bool ends)
{
    uintptr_t base = (uintptr_t)memory;
    unsigned first = (unsigned)((from - base) / 8), end = (unsigned)((from + size - 1 - base) / 8) + 1;
    bool covers[GRANULES];
    struct pt_cell_access access = {.place = place, .kind = (uint8_t)kind, .order = (uint8_t)order, .op = ends};
    for (int step = 0; step < 3; step++)
        for (unsigned i = first; i < end; i++) {
            access.bytes = (uint8_t)bytes_in(base + 8 * i, from, from + size);
            if (step == 0)
                pt_cell_acquire(&env, &cells[i], &ref[thread], &access);
            else if (step == 1)
                covers[i] = pt_cell_check(&env, &cells[i], &ref[thread], &access);
            else if (!ends)
                pt_cell_record(&env, &cells[i], &ref[thread], &access, covers[i]);
            else
                pt_cell_end(&test_memory, &cells[i]);
        }
    if (kind & PT_CELL_WRITES)
        pt_hb_tick(&ref[thread]);
}

/* One in the engine, and in the cells. */
static void access_both(unsigned thread, uintptr_t from, size_t size, unsigned kind, unsigned place)
{
    now_thread = thread;
    pt_race_plain(t[thread], from, (unsigned)size, kind, &sites[place]);
    exactly(thread, from, size, kind, 0, place, false);
}

/* The read of `x += 1`, by which no pair of places is lost if nothing becomes of it. True: it was made. */
static inline bool peek_both(unsigned thread, uintptr_t from, size_t size, unsigned place)
{
    now_thread = thread;
    bool made = from % 8 + size > 8 || !pt_race_may_peek(t[thread], from, ((1u << size) - 1) << from % 8);
    if (made)
        access_both(thread, from, size, PT_CELL_READS, place);
    else
        exactly(thread, from, size, PT_CELL_READS, 0, place, false);
    return made;
}

static void forget_both(unsigned thread, unsigned first, unsigned count, unsigned place)
{
    now_thread = thread;
    pt_race_forget(t[thread], (uintptr_t)&memory[first], (uintptr_t)&memory[first + count], &sites[place]);
    exactly(thread, (uintptr_t)&memory[first], 8 * (size_t)count, PT_CELL_WRITES, 0, place, true);
}

static void acquire(unsigned thread, unsigned object)
{
    pt_race_sync(t[thread], (uintptr_t)objects[OBJECTS + object], PT_KIND_WAIT, NULL);
    pt_hb_acquire(&test_memory, &ref[thread], &ref_syncs[object]);
}

static void release(unsigned thread, unsigned object)
{
    pt_race_sync(t[thread], (uintptr_t)objects[OBJECTS + object], PT_KIND_NOTIFY, NULL);
    pt_hb_release(&test_memory, &ref[thread], &ref_syncs[object]);
}

static void begin_thread(unsigned thread)
{
    t[thread] = pt_race_begin(thread, thread ? t[0] : NULL, &sites[0]);
    assert_non_null(t[thread]);
    pt_hb_begin(&ref[thread], thread);
    if (thread)
        pt_hb_fork(&test_memory, &ref[0], &ref[thread]);
}

static void begin_threads(void)
{
    for (unsigned i = 0; i < threads; i++)
        begin_thread(i);
}

/* `joined`: thread 0 knows it. */
static inline void end_thread(unsigned thread, bool joined)
{
    pt_race_end(t[thread]);
    if (joined) {
        pt_race_join(t[0], t[thread]);
        pt_hb_join(&test_memory, &ref[0], &ref[thread]);
    }
    pt_race_release(t[thread]);
    t[thread] = NULL;
}

/* Those that have not ended yet. */
static void end_threads(void)
{
    for (unsigned i = 0; i < threads; i++)
        if (t[i])
            pt_race_end(t[i]);
    for (unsigned i = 0; i < threads; i++) {
        if (t[i])
            pt_race_release(t[i]);
        t[i] = NULL;
    }
}

static void clear(void)
{
    memset(raced, 0, sizeof raced);
    learned = false;
    memset(held, 0, sizeof held);
    for (unsigned i = 0; i < threads; i++)
        pt_hb_end(&test_memory, &ref[i]);
    for (unsigned i = 0; i < GRANULES; i++)
        pt_cell_end(&test_memory, &cells[i]);
    for (unsigned i = 0; i < OBJECTS; i++) {
        pt_hb_lock_clear(&test_memory, &ref_locks[i]);
        pt_hb_sync_clear(&test_memory, &ref_syncs[i]);
    }
    end_threads();
    pt_race_restart();
    assert_int_equal(taken, 0);
}

static int start(void **state)
{
    (void)state;
    for (unsigned i = 0; i < SITES; i++)
        sites[i] = (struct pt_site){"a.c", "f", "x", i + 1, 0, NULL};
    for (unsigned i = 0; i < GRANULES; i++)
        pt_cell_begin(&cells[i]);
    pt_race_hooks = (struct pt_race_hooks){asked, apart, is_new, on_found};
    pt_race_looks.races = true;
    return pt_race_start() ? 0 : -1;
}

#endif
