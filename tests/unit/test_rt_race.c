/*
 * The race engine of the runtime against race/cell.h, one cell for each granule: random runs of several threads, played
 * by one. Whatever the engine reports, the cells report for the same access; and what they report it reports, unless
 * the two threads have raced before (runtime/race/access.c says why).
 */
#include <stdio.h>

enum { THREADS = 72, FEW = 5, GRANULES = 24, RUNS = 1500 };

#include "race_exact.h"

/* Of a run in which bytes of a granule were written again, and others were then known by a moment in between. */
#define FIRST UINT64_C(0x77a6ef97cfecdc09)

static void plain(unsigned thread)
{
    static const size_t sizes[] = {1, 2, 4, 8, 8, 8, 16, 40};
    size_t size = sizes[below(8)];
    unsigned kind = below(5) < 2 ? PT_CELL_WRITES : PT_CELL_READS, place = below(PLACES);
    uintptr_t from = (uintptr_t)memory + (size < 8 ? below(8 * (GRANULES - 1)) & ~(unsigned)(size - 1)
                                                   : 8 * below((unsigned)(GRANULES - size / 8)));
    access_both(thread, from, size, kind, place);
}

/* As a loop does it: one place, many granules, one after the other. */
static void loop(unsigned thread)
{
    unsigned place = below(PLACES), first = below(GRANULES / 2), count = 3 + below(GRANULES / 2 - 2);
    unsigned kind = below(2) ? PT_CELL_WRITES : PT_CELL_READS;
    for (unsigned i = first; i < first + count; i++) {
        access_both(thread, (uintptr_t)&memory[i], 8, kind, place);
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
        forget_both(thread, first, count, place);
    } else if (what > 85) {
        loop(thread);
    } else if (what > 75) {
        atomic(thread);
    } else {
        plain(thread);
    }
    compare();
}

static void test_random_runs(void **state)
{
    (void)state;
    threads = FEW;
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
    if (kind == PT_CELL_WRITES && place % 2)
        peek_both(thread, from, size, place);
    access_both(thread, from, size, kind, place);
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

/* Reads of bytes of one of two granules, or of both, in several regions. */
static void read_some(unsigned thread)
{
    static const size_t sizes[] = {1, 2, 4, 8, 8, 16};
    now_thread = thread;
    for (unsigned i = 1 + below(4); i > 0; i--) {
        size_t size = sizes[below(6)];
        unsigned place = below(PLACES);
        uintptr_t from = (uintptr_t)memory + (size < 16 ? below(16) & ~(unsigned)(size - 1) : 0);
        access_both(thread, from, size, PT_CELL_READS, place);
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
    access_both(thread, (uintptr_t)&memory[at], 8, kind, place);
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

/* A read before a write may be left out, as loads alone say, where nobody or the thread itself wrote the bytes, and
 * never in a cell, whichever number that has. */
static void test_what_peeks_leave_out(void **state)
{
    uintptr_t at = (uintptr_t)&memory[0], cell = (uintptr_t)&memory[1];
    (void)state;
    begin_threads();
    touch(1, 0, PT_CELL_WRITES, 1);
    assert_true(pt_race_peeks_own(t[1], at, 0xff));
    assert_false(pt_race_peeks_own(t[2], at, 0xff));
    assert_true(pt_race_atomic_begin(t[1], cell, 8));
    pt_race_atomic_end(t[1], cell, 8, PT_CELL_READS, PT_HB_RELAXED, &sites[2]);
    exactly(1, cell, 8, PT_CELL_READS | PT_CELL_ATOMIC, PT_HB_RELAXED, 2, false);
    for (unsigned i = 0; i < 8; i++)
        assert_false(pt_race_peeks_own(t[1], cell, 1u << i));
    clear();
}

/* A byte at so many places that not all are kept, then another one at any place: that one is told, and of that place
 * only, whether it was among those before it or not. */
static void test_many_places(void **state)
{
    enum { FEWEST = 11, MOST = 18 };
    (void)state;
    pt_race_looks.threads = true;
    for (unsigned run = 0; run < 2 * (MOST - FEWEST) * SITES; run++) {
        unsigned kind = run % 2 ? PT_CELL_READS : PT_CELL_WRITES, place = run / 2 % SITES;
        begin_threads();
        for (unsigned i = 0; i < FEWEST + run / 2 / SITES; i++)
            access_both(1, (uintptr_t)memory, 1, kind, i);
        access_both(1, (uintptr_t)memory + 1, 1, kind, place);
        access_both(0, (uintptr_t)memory + 1, 1, PT_CELL_WRITES, 0);
        assert_int_equal(exact.count, 1);
        assert_int_equal(engine.count, 1);
        compare();
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
    end_threads();
    pt_race_restart();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_runs),         cmocka_unit_test(test_long_cells),
        cmocka_unit_test(test_many_readers),        cmocka_unit_test(test_read_before_rewrite),
        cmocka_unit_test(test_many_places),         cmocka_unit_test(test_own_cells_are_small),
        cmocka_unit_test(test_what_peeks_leave_out)};
    return cmocka_run_group_tests(tests, start, NULL);
}
