/*
 * The race engine of the runtime with little room (PT_RACE_SMALL): logs that are soon written over, few columns, rows,
 * links of chains and loops. Each run ends with its first race: nothing is told that is none, and that there is one is
 * told. What was in use is given back.
 */
enum { THREADS = 400, GRANULES = 40, RUNS = 1500, ROUNDS = 25 };

#include "race_rounds.h"
#include "runtime/race/log.h"

enum { ROWS = (1 << PT_RACE_ROW_BITS) - 1 /* 0 is none */, READERS = 3 };

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

/* Rows and links that nobody has. Takes a new thread. */
static unsigned free_rows(void)
{
    uint32_t at, taken_rows[ROWS + 1];
    unsigned count = 0;
    struct pt_race_self *self = pt_race_begin(THREADS, NULL, &sites[0]);
    assert_non_null(self);
    for (unsigned kind = PT_RACE_ROWS; kind <= PT_RACE_LINKS; kind++)
        while (count <= ROWS && (at = pt_race_row_new(self, kind)) != 0)
            taken_rows[count++] = at;
    for (unsigned i = 0; i < count; i++)
        pt_race_row_free(self, taken_rows[i]);
    pt_race_end(self);
    pt_race_release(self);
    return count;
}

/* All memory ends, and all threads do: no row is left in use. */
static void check_rows(void)
{
    forget_both(0, 0, GRANULES, 0);
    exact.count = engine.count = 0;
    end_threads();
    assert_int_equal(free_rows(), ROWS);
}

static void test_rounds(void **state)
{
    (void)state;
    unsigned races = 0;
    judge = ends_with_race;
    for (unsigned run = 0; run < RUNS; run++) {
        pt_race_looks.threads = run % 2;
        races += play_run(run / 2 * UINT64_C(0x9e3779b97f4a7c15) + 5, ROUNDS);
        check_rows();
        clear();
    }
    print_message("%u runs with a race, in which %u pairs were told, and %u not\n", races, told, missing);
    assert_true(races > RUNS / 4);
}

static void read_all(unsigned thread, unsigned place)
{
    acquire(thread, WROTE);
    for (unsigned i = 0; i < GRANULES; i++)
        access_both(thread, (uintptr_t)&memory[i], 8, PT_CELL_READS, place);
    release(thread, READ);
    compare();
}

static void write_all(unsigned thread)
{
    for (unsigned i = 0; i < GRANULES; i++)
        access_both(thread, (uintptr_t)&memory[i], 8, PT_CELL_WRITES, 0);
    compare();
}

static unsigned chained(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < GRANULES; i++)
        count += pt_race_is_chain(atomic_load(&pt_race_pair_of((uintptr_t)&memory[i])->r));
    return count;
}

/* The thread ends, and another is there. */
static void replace(unsigned *thread)
{
    end_thread(*thread, true);
    *thread = threads++;
    begin_thread(*thread);
}

/* Chains come into being again and again, and what they are made of is given back: by writes, by the end of memory, and
 * where a thread ends that has brought granules to them. */
static void test_chains_come_back(void **state)
{
    unsigned reader[READERS] = {1, 2, 3};
    (void)state;
    told = missing = 0;
    threads = READERS + 1;
    begin_threads();
    for (unsigned round = 0; round < 3 * ROWS; round++) {
        write_all(0);
        release(0, WROTE);
        for (unsigned i = 0; i < READERS; i++)
            read_all(reader[i], 1 + i);
        assert_true(chained() > GRANULES / 2);
        acquire(0, READ);
        if (round % 3 == 2) {
            forget_both(0, 0, GRANULES, 0);
            compare();
        }
        if (round % 5 == 4)
            replace(&reader[round % READERS]);
    }
    assert_int_equal(told + missing, 0);
    check_rows();
    clear();
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
    for (unsigned i = 0; i < PT_RACE_STEPS + 1; i++)
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
        cmocka_unit_test(test_chains_come_back), cmocka_unit_test(test_rounds)};
    return cmocka_run_group_tests(tests, start, NULL);
}
