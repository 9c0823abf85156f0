/*
 * The race engine of the runtime against race/cell.h, one cell for each granule: random runs of several threads, played
 * by one. Whatever the engine reports, the cells report for the same access; and what they report it reports, unless
 * the two threads have raced before (runtime/race/access.c says why).
 */
#include <stdio.h>

#include "race_util.h"
#include "runtime/race/race.h"
#include "runtime/sys/runtime.h"

enum { THREADS = 72, FEW = 5, GRANULES = 24, PLACES = 12, OBJECTS = 3, RUNS = 1500, FOUND = 4096, OPENED = 48 };

/* Of a run in which bytes of a granule were written again, and others were then known by a moment in between. */
#define FIRST UINT64_C(0x77a6ef97cfecdc09)

static struct pt_site sites[PLACES];
static struct pt_race_self *t[THREADS];
static struct pt_hb_thread ref[THREADS];
static struct pt_cell cells[GRANULES];
static struct pt_hb_lock ref_locks[OBJECTS];
static struct pt_hb_sync ref_syncs[OBJECTS];
static _Alignas(64) uint64_t memory[GRANULES];
static _Alignas(64) char objects[2 * OBJECTS][8];
static bool raced[THREADS][THREADS], held[OBJECTS];
static unsigned threads = FEW, now_thread, told, missing;

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
            assert_true(has_raced(now_thread, exact.at[i].thread) || (exact.count > OPENED && engine.count >= OPENED));
    }
    for (unsigned i = 0; i < exact.count; i++)
        raced[now_thread][exact.at[i].thread] = raced[exact.at[i].thread][now_thread] = true;
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

static void plain(unsigned thread)
{
    static const size_t sizes[] = {1, 2, 4, 8, 8, 8, 16, 40};
    size_t size = sizes[below(8)];
    unsigned kind = below(5) < 2 ? PT_CELL_WRITES : PT_CELL_READS, place = below(PLACES);
    uintptr_t from = (uintptr_t)memory + (size < 8 ? below(8 * (GRANULES - 1)) & ~(unsigned)(size - 1)
                                                   : 8 * below((unsigned)(GRANULES - size / 8)));
    pt_race_plain(t[thread], from, (unsigned)size, kind, &sites[place]);
    exactly(thread, from, size, kind, 0, place, false);
}

/* As a loop does it: one place, many granules, one after the other. */
static void loop(unsigned thread)
{
    unsigned place = below(PLACES), first = below(GRANULES / 2), count = 3 + below(GRANULES / 2 - 2);
    unsigned kind = below(2) ? PT_CELL_WRITES : PT_CELL_READS;
    for (unsigned i = first; i < first + count; i++) {
        pt_race_plain(t[thread], (uintptr_t)&memory[i], 8, kind, &sites[place]);
        exactly(thread, (uintptr_t)&memory[i], 8, kind, 0, place, false);
        compare();
    }
}

static void atomic(unsigned thread)
{
    size_t size = below(4) ? 8 : 4;
    static const uint8_t kinds[] = {PT_CELL_READS, PT_CELL_WRITES, PT_CELL_READS | PT_CELL_WRITES};
    unsigned kind = kinds[below(3)], order = below(5), place = below(PLACES);
    uintptr_t at = (uintptr_t)&memory[below(4)];
    assert_true(pt_race_atomic_begin(t[thread], at, size));
    if (below(8) == 0) { /* a fault in its middle */
        uint32_t count = t[thread]->locked_count;
        pt_race_suspend(t[thread]);
        pt_race_resume(t[thread], count);
    }
    pt_race_atomic_end(t[thread], at, size, kind, order, &sites[place]);
    exactly(thread, at, size, kind | PT_CELL_ATOMIC, order, place, false);
}

static void lock(unsigned thread)
{
    static unsigned owner[OBJECTS];
    unsigned i = below(OBJECTS);
    if (held[i] && owner[i] != thread)
        return;
    bool shared = false;
    pt_race_sync(t[thread], (uintptr_t)objects[i], held[i] ? PT_KIND_REL : PT_KIND_ACQ, NULL);
    if (held[i])
        pt_hb_unlock(&test_memory, &ref[thread], &ref_locks[i], shared);
    else
        pt_hb_lock(&test_memory, &ref[thread], &ref_locks[i], shared);
    owner[i] = thread;
    held[i] = !held[i];
}

static void other(unsigned thread)
{
    unsigned i = below(OBJECTS);
    uintptr_t at = (uintptr_t)objects[OBJECTS + i];
    if (below(2)) {
        pt_race_sync(t[thread], at, PT_KIND_NOTIFY, NULL);
        pt_hb_release(&test_memory, &ref[thread], &ref_syncs[i]);
    } else {
        pt_race_sync(t[thread], at, PT_KIND_WAIT, NULL);
        pt_hb_acquire(&test_memory, &ref[thread], &ref_syncs[i]);
    }
}

static void step(unsigned syncs)
{
    unsigned thread = now_thread = below(threads), what = below(100);
    if (what < syncs) {
        unsigned order = below(5);
        switch (below(4)) {
        case 0:
        case 1:
            lock(thread);
            break;
        case 2:
            other(thread);
            break;
        default:
            pt_race_fence(t[thread], order);
            pt_hb_fence(&test_memory, &ref[thread], (enum pt_hb_order)order);
        }
    } else if (what > 97) {
        unsigned first = below(GRANULES - 4), count = 1 + below(4), place = below(PLACES);
        pt_race_forget(t[thread], (uintptr_t)&memory[first], (uintptr_t)&memory[first + count], &sites[place]);
        exactly(thread, (uintptr_t)&memory[first], 8 * count, PT_CELL_WRITES, 0, place, true);
    } else if (what > 85) {
        loop(thread);
    } else if (what > 75) {
        atomic(thread);
    } else {
        plain(thread);
    }
    compare();
}

static void clear(void)
{
    memset(raced, 0, sizeof raced);
    memset(held, 0, sizeof held);
    for (unsigned i = 0; i < threads; i++)
        pt_hb_end(&test_memory, &ref[i]);
    for (unsigned i = 0; i < GRANULES; i++)
        pt_cell_end(&test_memory, &cells[i]);
    for (unsigned i = 0; i < OBJECTS; i++) {
        pt_hb_lock_clear(&test_memory, &ref_locks[i]);
        pt_hb_sync_clear(&test_memory, &ref_syncs[i]);
    }
    for (unsigned i = 0; i < threads; i++)
        pt_race_end(t[i]);
    for (unsigned i = 0; i < threads; i++)
        pt_race_release(t[i]);
    pt_race_restart();
    assert_int_equal(taken, 0);
}

static void begin_threads(void)
{
    for (unsigned i = 0; i < threads; i++) {
        t[i] = pt_race_begin(i, i ? t[0] : NULL, &sites[0]);
        assert_non_null(t[i]);
        pt_hb_begin(&ref[i], i);
        if (i)
            pt_hb_fork(&test_memory, &ref[0], &ref[i]);
    }
}

static void test_random_runs(void **state)
{
    (void)state;
    for (unsigned run = 0; run < RUNS; run++) {
        test_seed = run < 2 ? FIRST : run / 2 * UINT64_C(0x9e3779b97f4a7c15) + 1;
        pt_race_looks.threads = run % 2;
        begin_threads();
        unsigned syncs = below(4) * 15;
        for (unsigned i = 20 + below(200); i > 0; i--)
            step(syncs);
        clear();
    }
    print_message("%u races, %u of them missed after others of the same threads\n", told + missing, missing);
    assert_true(told > 100 * RUNS / 10);
    assert_true(missing < told / 10);
}

/* An access of bytes of one of two granules. */
static void touch_few(unsigned thread)
{
    size_t size = (size_t)1 << below(4);
    unsigned kind = below(3) ? PT_CELL_READS : PT_CELL_WRITES, place = below(PLACES);
    uintptr_t from = (uintptr_t)memory + (below(16) & ~(unsigned)(size - 1));
    pt_race_plain(t[thread], from, (unsigned)size, kind, &sites[place]);
    exactly(thread, from, size, kind, 0, place, false);
}

static void guarded(unsigned thread)
{
    now_thread = thread;
    pt_race_sync(t[thread], (uintptr_t)objects[0], PT_KIND_ACQ, NULL);
    pt_hb_lock(&test_memory, &ref[thread], &ref_locks[0], false);
    for (unsigned i = below(12); i > 0; i--) {
        touch_few(thread);
        assert_int_equal(exact.count, 0);
        assert_int_equal(engine.count, 0);
    }
    pt_race_sync(t[thread], (uintptr_t)objects[0], PT_KIND_REL, NULL);
    pt_hb_unlock(&test_memory, &ref[thread], &ref_locks[0], false);
}

/* Granules that are accessed at many places, by bytes, all of it ordered; then once without order. What is reported is
 * exact, and where there is a race one is, though accesses before the last write may be forgotten by then. */
static void test_long_cells(void **state)
{
    unsigned all = 0, found = 0, accesses = 0;
    (void)state;
    for (unsigned run = 0; run < RUNS; run++) {
        test_seed = run / 2 * UINT64_C(0x9e3779b97f4a7c15) + 7;
        pt_race_looks.threads = run % 2;
        begin_threads();
        for (unsigned i = 1 + below(40); i > 0; i--)
            guarded(below(threads));
        touch_few(now_thread = below(threads));
        for (unsigned i = 0; i < engine.count; i++)
            assert_true(has(&exact, engine.at[i].thread, engine.at[i].site));
        assert_true(!exact.count == !engine.count);
        accesses += exact.count > 0;
        all += exact.count;
        found += engine.count;
        exact.count = engine.count = 0;
        clear();
    }
    print_message("%u of %u pairs of %u accesses\n", found, all, accesses);
    assert_true(accesses > RUNS / 2);
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

/* Reads of bytes of one of two granules, or of both, in several regions. */
static void read_some(unsigned thread)
{
    static const size_t sizes[] = {1, 2, 4, 8, 8, 16};
    now_thread = thread;
    for (unsigned i = 1 + below(4); i > 0; i--) {
        size_t size = sizes[below(6)];
        unsigned place = below(PLACES);
        uintptr_t from = (uintptr_t)memory + (size < 16 ? below(16) & ~(unsigned)(size - 1) : 0);
        pt_race_plain(t[thread], from, (unsigned)size, PT_CELL_READS, &sites[place]);
        exactly(thread, from, size, PT_CELL_READS, 0, place, false);
        compare();
        if (below(2))
            release(thread, 2); /* nobody takes it; the region ends */
    }
}

/* Many threads read what one has written, each again and again, and then one writes that knows of nearly all reads. */
static void test_many_readers(void **state)
{
    (void)state;
    told = missing = 0;
    for (unsigned run = 0; run < RUNS / 5; run++) {
        test_seed = run / 2 * UINT64_C(0x9e3779b97f4a7c15) + 3;
        pt_race_looks.threads = run % 2;
        threads = run % 3 ? 3 + below(14) : THREADS; /* which is more than there are columns */
        begin_threads();
        for (unsigned round = 1 + below(4); round > 0; round--) {
            touch_few(now_thread = 0);
            compare();
            release(0, 0);
            for (unsigned i = below(3 * threads); i > 0; i--) {
                unsigned reader = 1 + below(threads - 1);
                acquire(reader, 0);
                read_some(reader);
                if (below(40))
                    release(reader, 1);
            }
            acquire(0, 1);
        }
        touch_few(now_thread = 0);
        compare();
        touch_few(now_thread = below(threads)); /* of which only the first knows so much */
        compare();
        clear();
    }
    threads = FEW;
    print_message("%u races, %u of them beyond the bound or missed after others of the same threads\n", told + missing,
                  missing);
    assert_true(told > 100 && missing < told / 2);
}

static void touch(unsigned thread, unsigned at, unsigned kind, unsigned place)
{
    now_thread = thread;
    pt_race_plain(t[thread], (uintptr_t)&memory[at], 8, kind, &sites[place]);
    exactly(thread, (uintptr_t)&memory[at], 8, kind, 0, place, false);
    compare();
}

/* A thread writes, reads what has a cell, and writes again what it has written, with or without another access between:
 * who reads that, and races, knows of all of it, so that it may write what was read. */
static void test_read_before_rewrite(void **state)
{
    (void)state;
    for (unsigned run = 0; run < 4; run++) {
        pt_race_looks.threads = true;
        begin_threads();
        touch(1, 0, PT_CELL_WRITES, 1);
        if (run % 2)
            touch(1, 2, PT_CELL_WRITES, 1);
        uintptr_t at = (uintptr_t)&memory[1];
        assert_true(pt_race_atomic_begin(t[1], at, 8));
        pt_race_atomic_end(t[1], at, 8, PT_CELL_READS, PT_HB_RELAXED, &sites[2]);
        exactly(1, at, 8, PT_CELL_READS | PT_CELL_ATOMIC, PT_HB_RELAXED, 2, false);
        if (run / 2)
            touch(1, 1, PT_CELL_READS, 5);
        touch(1, 0, PT_CELL_WRITES, 1);
        touch(2, 0, PT_CELL_READS, 3);
        assert_true(raced[2][1]);
        touch(2, 1, PT_CELL_WRITES, 4);
        clear();
    }
}

/* Bytes of memory that the process has. */
static size_t resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
    assert_int_equal(fclose(file), 0);
    return (size_t)pages * 4096;
}

/* One thread writes all, then another reads all under the same lock, each in a region of its own: so each granule has
 * its own cell. */
static void test_own_cells_are_small(void **state)
{
    enum { MANY = 40000, BYTES = 160 };
    static uint64_t many[MANY];
    (void)state;
    for (unsigned i = 0; i < 2; i++)
        t[i] = pt_race_begin(i, i ? t[0] : NULL, &sites[0]);
    size_t before = resident();
    for (unsigned i = 0; i < 2 * MANY; i++) {
        unsigned who = i / MANY;
        struct pt_race_self *self = t[who];
        pt_race_sync(self, (uintptr_t)objects[0], PT_KIND_ACQ, NULL);
        pt_race_plain(self, (uintptr_t)&many[i % MANY], 8, who ? PT_CELL_READS : PT_CELL_WRITES, &sites[who]);
        pt_race_sync(self, (uintptr_t)objects[0], PT_KIND_REL, NULL);
    }
    size_t each = (resident() - before) / MANY;
    print_message("%zu bytes for a granule\n", each);
    assert_true(each < BYTES);
    for (unsigned i = 0; i < 2; i++)
        pt_race_end(t[i]);
    for (unsigned i = 0; i < 2; i++)
        pt_race_release(t[i]);
    pt_race_restart();
}

static int start(void **state)
{
    (void)state;
    for (unsigned i = 0; i < PLACES; i++)
        sites[i] = (struct pt_site){"a.c", "f", "x", i + 1, 0, NULL};
    for (unsigned i = 0; i < GRANULES; i++)
        pt_cell_begin(&cells[i]);
    pt_race_hooks = (struct pt_race_hooks){asked, apart, is_new, on_found};
    pt_race_looks.races = true;
    return pt_race_start() ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_runs), cmocka_unit_test(test_long_cells),
                                       cmocka_unit_test(test_many_readers), cmocka_unit_test(test_read_before_rewrite),
                                       cmocka_unit_test(test_own_cells_are_small)};
    return cmocka_run_group_tests(tests, start, NULL);
}
