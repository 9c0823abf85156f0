/*
 * Loops over what several threads read (runtime/race/loop.c) beside exact cells, with logs that have room for all: what
 * is told is exact, and all pairs are told.
 */
enum { THREADS = 200, GRANULES = 160, RUNS = 300, ROUNDS = 6 };

#include "race_rounds.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rounds)};
    return cmocka_run_group_tests(tests, start, NULL);
}
