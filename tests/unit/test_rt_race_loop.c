/*
 * Loops over what several threads read (runtime/race/loop.c) beside exact cells, with logs that have room for all: what
 * is told is exact, and all pairs are told.
 */
enum { THREADS = 200, GRANULES = 160, RUNS = 300, ROUNDS = 6 };

#include "race_rounds.h"
#include "runtime/race/log.h"

static bool goes_on(void)
{
    compare();
    return false;
}

static void test_rounds(void **state)
{
    (void)state;
    judge = goes_on;
    for (unsigned run = 0; run < RUNS; run++) {
        pt_race_looks.threads = run % 2;
        play_run(run / 2 * UINT64_C(0x9e3779b97f4a7c15) + 9, ROUNDS);
        clear();
    }
    print_message("%u races, %u of them missed after others of the same threads\n", told + missing, missing);
    assert_true(told > RUNS && missing < told / 2);
}

static void read_all(unsigned thread, size_t size, unsigned place)
{
    now_thread = thread;
    for (unsigned i = 0; i < GRANULES; i++) {
        pt_race_plain(t[thread], (uintptr_t)&memory[i], (unsigned)size, PT_CELL_READS, &sites[place]);
        exactly(thread, (uintptr_t)&memory[i], size, PT_CELL_READS, 0, place, false);
        compare();
    }
}

/* One thread reads all, another, which knows that, the first half of each granule: what it has not read is still the
 * first one's, with or without a chain. */
static void test_halves(void **state)
{
    (void)state;
    threads = 4;
    pt_race_looks.threads = true;
    begin_threads();
    read_all(1, 8, 1);
    release(1, 0);
    acquire(2, 0);
    read_all(2, 4, 2);
    now_thread = 3;
    for (unsigned i = 0; i < GRANULES; i++) {
        uintptr_t half = (uintptr_t)&memory[i] + 4;
        pt_race_plain(t[3], half, 4, PT_CELL_WRITES, &sites[3]);
        exactly(3, half, 4, PT_CELL_WRITES, 0, 3, false);
        assert_int_equal(exact.count, 1);
        assert_int_equal(engine.count, 1);
        compare();
    }
    clear();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rounds), cmocka_unit_test(test_halves)};
    return cmocka_run_group_tests(tests, start, NULL);
}
