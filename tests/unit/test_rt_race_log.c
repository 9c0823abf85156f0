/*
 * What is told of a race whose first access was long ago, so that its record is gone (runtime/race/log.c): that there
 * is one, always, and where the latest accesses of the granule were made; and that nothing is told where there is none.
 */

#include "race_told.h"

enum { MANY = 300000, FEW = 512 /* a page */ };

static struct pt_race_self *t[4];
static _Alignas(4096) uint64_t memory[MANY];
static uint64_t lock;

static int begin(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        t[i] = pt_race_begin(i, i ? t[0] : NULL, &sites[0]);
    found_count = 0;
    return 0;
}
static int end(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        pt_race_end(t[i]);
    for (unsigned i = 0; i < 4; i++)
        pt_race_release(t[i]);
    pt_race_restart();
    return 0;
}

static void access(unsigned thread, unsigned at, unsigned kind, unsigned site)
{
    pt_race_plain(t[thread], (uintptr_t)&memory[at], 8, kind, &sites[site]);
}
/* More than its log has room for, each of another granule. */
static void go_on(unsigned thread)
{
    for (unsigned i = FEW; i < MANY; i++)
        access(thread, i, PT_CELL_WRITES, 7);
}
static void acquire(unsigned thread)
{
    pt_race_sync(t[thread], (uintptr_t)&lock, PT_KIND_ACQ, NULL);
}
static void release(unsigned thread)
{
    pt_race_sync(t[thread], (uintptr_t)&lock, PT_KIND_REL, NULL);
}

static void test_last_write_and_read(void **state)
{
    (void)state;
    access(1, 0, PT_CELL_WRITES, 1);
    access(1, 1, PT_CELL_READS, 2);
    go_on(1);
    access(2, 0, PT_CELL_READS, 3);
    assert_int_equal(found_count, 1);
    assert_true(is_told(1, 1));
    access(3, 1, PT_CELL_WRITES, 4);
    assert_int_equal(found_count, 2);
    assert_true(is_told(1, 2));
}

/* Readers of which none knows another are all in a list. */
static void test_readers(void **state)
{
    (void)state;
    access(1, 0, PT_CELL_READS, 1);
    access(2, 0, PT_CELL_READS, 2);
    go_on(1);
    access(3, 0, PT_CELL_WRITES, 3);
    assert_int_equal(found_count, 2);
    assert_true(is_told(1, 1) && is_told(2, 2));
}

/* The record of a write goes on while its granule's slot is replaced: what it has replaced is gone, and it is told. */
static void test_latest_is_told(void **state)
{
    (void)state;
    access(1, 0, PT_CELL_WRITES, 1);
    go_on(1);
    access(1, 0, PT_CELL_WRITES, 2);
    access(2, 0, PT_CELL_WRITES, 3);
    assert_true(is_told(1, 2));
    for (unsigned i = 0; i < found_count; i++)
        assert_true(told[i].thread == 1);
}

/* All is ordered by a lock, for longer than any log: nothing is told, and whoever leaves the order is. */
static void test_long_order(void **state)
{
    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        unsigned who = 1 + i % 3;
        acquire(who);
        access(who, i % FEW, i % 5 ? PT_CELL_READS : PT_CELL_WRITES, i % 6);
        release(who);
    }
    assert_int_equal(found_count, 0);
    access(0, 0, PT_CELL_WRITES, 6);
    assert_true(found_count > 0);
}

/* What a thread has done that has ended, and whose log another one has by now. */
static void test_after_its_end(void **state)
{
    (void)state;
    access(1, 0, PT_CELL_WRITES, 1);
    pt_race_end(t[1]);
    go_on(3);
    access(2, 0, PT_CELL_READS, 2);
    assert_int_equal(found_count, 1);
    assert_true(is_told(1, 1));
    t[1] = pt_race_begin(4, t[0], &sites[0]);
}

static void tell(unsigned from, unsigned to, unsigned object)
{
    static uint64_t objects[2];
    pt_race_sync(t[from], (uintptr_t)&objects[object], PT_KIND_NOTIFY, NULL);
    pt_race_sync(t[to], (uintptr_t)&objects[object], PT_KIND_WAIT, NULL);
}

/* A write whose record is gone, and what was made after it, of which its thread has learned since: who knows the write
 * need not know that. */
static void test_after_what_is_gone(void **state)
{
    (void)state;
    access(1, 0, PT_CELL_WRITES, 1);
    tell(1, 2, 0);
    tell(1, 3, 0);
    access(2, 0, PT_CELL_READS, 2);
    tell(2, 1, 1);
    go_on(1);
    access(3, 0, PT_CELL_WRITES, 3);
    assert_int_equal(found_count, 1);
    assert_true(is_told(2, 2));
}

/* Bytes that were read at two places, of which the latest is known. */
static void test_places_of_bytes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        pt_race_plain(t[1], (uintptr_t)&memory[i] + 6, 2, PT_CELL_READS, &sites[1]);
        pt_race_plain(t[1], (uintptr_t)&memory[i] + 2, 2, PT_CELL_READS, &sites[2]);
    }
    go_on(1);
    pt_race_plain(t[3], (uintptr_t)&memory[0] + 6, 1, PT_CELL_WRITES, &sites[3]);
    assert_int_equal(found_count, 1);
    assert_true(told[0].thread == 1 && !is_told(1, 2));
    pt_race_plain(t[3], (uintptr_t)&memory[1] + 2, 1, PT_CELL_WRITES, &sites[3]);
    assert_int_equal(found_count, 2);
    assert_true(is_told(1, 2));
}

/* Two halves of a granule that were written in two regions. */
static void test_place_in_a_list(void **state)
{
    (void)state;
    pt_race_plain(t[1], (uintptr_t)&memory[0], 4, PT_CELL_WRITES, &sites[1]);
    release(1);
    pt_race_plain(t[1], (uintptr_t)&memory[0] + 4, 4, PT_CELL_WRITES, &sites[2]);
    go_on(1);
    pt_race_plain(t[2], (uintptr_t)&memory[0] + 4, 4, PT_CELL_READS, &sites[3]);
    assert_int_equal(found_count, 1);
    assert_true(is_told(1, 2));
}

/* Where memory has ended its accesses are told beside that. */
static void test_before_the_end_of_memory(void **state)
{
    enum { LENGTH = 8 };
    (void)state;
    for (unsigned i = 0; i < LENGTH; i++)
        access(1, i, PT_CELL_WRITES, 1);
    pt_race_free(t[1], (uintptr_t)&memory[0], (uintptr_t)&memory[LENGTH], &sites[2]);
    access(2, LENGTH / 2, PT_CELL_READS, 3);
    assert_int_equal(found_count, 2);
    assert_true(is_told(1, 1) && is_told(1, 2));
}

/* What granules share is told of those that are as they were, when another one of them was accessed anew. */
static void test_place_of_shared(void **state)
{
    enum { RUN = 16, LONGS = 32, INTS = 64 };
    (void)state;
    pt_race_access(t[1], (uintptr_t)&memory[RUN], 8 * RUN, PT_CELL_WRITES, &sites[1]);
    for (unsigned i = LONGS; i < INTS; i++)
        access(1, i, PT_CELL_READS, 2);
    for (uintptr_t at = (uintptr_t)&memory[INTS]; at < (uintptr_t)&memory[FEW]; at += 4)
        pt_race_plain(t[1], at, 4, PT_CELL_READS, &sites[3]);
    release(1);
    for (unsigned i = 0; i < FEW; i += 3) {
        access(1, i, PT_CELL_READS, 5);
        access(1, i, PT_CELL_WRITES, 6);
    }
    go_on(1);
    access(2, RUN + 4, PT_CELL_READS, 4);
    access(3, LONGS + 6, PT_CELL_WRITES, 4);
    access(3, INTS + 6, PT_CELL_WRITES, 4);
    assert_int_equal(found_count, 3);
    assert_true(is_told(1, 1) && is_told(1, 2) && is_told(1, 3));
}

/* Others go while their thread accesses one granule again and again, so that no record of that is worth a look. */
static void test_places_of_others(void **state)
{
    enum { OTHERS = 45, STEP = 3 };
    (void)state;
    for (unsigned i = 0; i < OTHERS; i++)
        access(1, i, PT_CELL_WRITES, 1);
    for (unsigned i = 0; i < MANY; i++) {
        release(1);
        access(1, OTHERS, PT_CELL_WRITES, 2);
    }
    for (unsigned i = 0; i < OTHERS; i += STEP)
        access(2, i, PT_CELL_READS, 3);
    assert_true(is_told(1, 1));
    for (unsigned i = 0; i < found_count; i++)
        assert_ptr_equal(told[i].site, &sites[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_last_write_and_read, begin, end),
        cmocka_unit_test_setup_teardown(test_readers, begin, end),
        cmocka_unit_test_setup_teardown(test_latest_is_told, begin, end),
        cmocka_unit_test_setup_teardown(test_long_order, begin, end),
        cmocka_unit_test_setup_teardown(test_after_its_end, begin, end),
        cmocka_unit_test_setup_teardown(test_after_what_is_gone, begin, end),
        cmocka_unit_test_setup_teardown(test_places_of_bytes, begin, end),
        cmocka_unit_test_setup_teardown(test_place_in_a_list, begin, end),
        cmocka_unit_test_setup_teardown(test_before_the_end_of_memory, begin, end),
        cmocka_unit_test_setup_teardown(test_place_of_shared, begin, end),
        cmocka_unit_test_setup_teardown(test_places_of_others, begin, end),
    };
    return cmocka_run_group_tests(tests, start_told, NULL);
}
