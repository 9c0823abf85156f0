/*
 * The race engine of the runtime with little room (PT_RACE_SMALL): logs that are soon written over, few columns, rows,
 * links of chains and loops. Each run ends with its first race: nothing is told that is none, and that there is one is
 * told. What was in use is given back.
 */
enum { THREADS = 400, GRANULES = 40, RUNS = 1500, ROUNDS = 25 };

#include "race_rounds.h"
#include "runtime/race/log.h"

static bool is_lost(const struct pt_site *site)
{
    return !strcmp(site->function, "[place lost]");
}

static bool ends_with_race(void)
{
    bool any = exact.count > 0;
    for (unsigned i = 0; i < engine.count; i++)
        assert_true(is_lost(engine.at[i].site) ? any : has(&exact, engine.at[i].thread, engine.at[i].site));
    assert_true(!any || engine.count);
    told += engine.count;
    missing += exact.count > engine.count ? exact.count - engine.count : 0;
    exact.count = engine.count = 0;
    return any;
}

static void test_rounds(void **state)
{
    (void)state;
    unsigned races = 0;
    judge = ends_with_race;
    for (unsigned run = 0; run < RUNS; run++) {
        pt_race_looks.threads = run % 2;
        races += play_run(run / 2 * UINT64_C(0x9e3779b97f4a7c15) + 5, ROUNDS);
        clear();
    }
    print_message("%u runs with a race, in which %u pairs were told, and %u not\n", races, told, missing);
    assert_true(races > RUNS / 4);
}

/* ---- accesses that are made again when the filter has forgotten them (fast.h) ---- */

enum { FIRST, OTHER, WRITER = 1, READER = 2 }; /* granules, and threads */

/* Thread 1 reads so much that the filter has nothing else, and puts few records. */
static void fill_filter(void)
{
    for (unsigned i = 2; i < GRANULES; i++)
        access_both(WRITER, (uintptr_t)&memory[i], 8, PT_CELL_READS, PLACES - 1);
}

/* What thread 2 races with when it makes that access. */
static unsigned races_of(unsigned granule, unsigned byte, unsigned kind)
{
    access_both(READER, (uintptr_t)&memory[granule] + byte, 1, kind, 0);
    unsigned count = exact.count;
    compare();
    return count;
}

static void begin_again(void)
{
    threads = 3;
    begin_threads();
}

static void end_all(void)
{
    end_threads();
    clear();
}

/* However many places a granule was read at, a byte that was not read yet is new. */
static void test_new_byte(void **state)
{
    (void)state;
    begin_again();
    for (unsigned i = 0; i < 12; i++)
        access_both(WRITER, (uintptr_t)&memory[FIRST], 1, PT_CELL_READS, 1 + i);
    fill_filter();
    access_both(WRITER, (uintptr_t)&memory[FIRST] + 1, 1, PT_CELL_READS, 3);
    assert_int_equal(races_of(FIRST, 1, PT_CELL_WRITES), 1);
    end_all();
}

/* A place has its own bytes, whatever was read at others. */
static void test_byte_of_a_place(void **state)
{
    (void)state;
    begin_again();
    access_both(WRITER, (uintptr_t)&memory[FIRST], 2, PT_CELL_READS, 1);
    access_both(WRITER, (uintptr_t)&memory[FIRST], 1, PT_CELL_READS, 2);
    fill_filter();
    access_both(WRITER, (uintptr_t)&memory[FIRST] + 1, 1, PT_CELL_READS, 2);
    assert_int_equal(races_of(FIRST, 1, PT_CELL_WRITES), 2);
    end_all();
}

/* Who reads a write that was made again knows what its thread has done until then: writes of other granules, ... */
static void test_rewrite(void **state)
{
    (void)state;
    begin_again();
    access_both(WRITER, (uintptr_t)&memory[FIRST], 8, PT_CELL_WRITES, 1);
    access_both(WRITER, (uintptr_t)&memory[OTHER], 8, PT_CELL_WRITES, 2);
    fill_filter();
    access_both(WRITER, (uintptr_t)&memory[FIRST], 8, PT_CELL_WRITES, 1);
    assert_int_equal(races_of(FIRST, 0, PT_CELL_READS), 1);
    assert_int_equal(races_of(OTHER, 0, PT_CELL_READS), 0);
    end_all();
}

/* ... and reads of one that has a cell. */
static void test_rewrite_after_a_read(void **state)
{
    (void)state;
    begin_again();
    access_both(WRITER, (uintptr_t)&memory[GRANULES - 1], 8, PT_CELL_WRITES, 5);
    assert_int_equal(races_of(GRANULES - 1, 0, PT_CELL_READS), 1); /* it has a cell now */
    release(WRITER, NOBODY);
    access_both(WRITER, (uintptr_t)&memory[FIRST], 8, PT_CELL_WRITES, 1);
    fill_filter(); /* that granule is the last it reads */
    access_both(WRITER, (uintptr_t)&memory[FIRST], 8, PT_CELL_WRITES, 1);
    assert_int_equal(races_of(FIRST, 0, PT_CELL_READS), 1);
    assert_int_equal(races_of(GRANULES - 1, 0, PT_CELL_WRITES), 0);
    end_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_byte),         cmocka_unit_test(test_byte_of_a_place),
        cmocka_unit_test(test_rewrite),          cmocka_unit_test(test_rewrite_after_a_read),
        cmocka_unit_test(test_rounds)};
    return cmocka_run_group_tests(tests, start, NULL);
}
