/* Bytes of a fine granule: reads that take no lock, and accesses that raise the clocks in its record. */
#define PT_NARROW
#include "shadow_threads.h"

static void load_twice(void)
{
    load();
    load();
}
static void load_tick_load(void)
{
    load();
    tick();
    load();
}
static void tick_store(void)
{
    tick();
    store();
}

static void test_known_reads_and_a_writer(void **state)
{
    (void)state;
    explore(2, load_twice, tick_store, NULL);
}
static void test_two_writers(void **state)
{
    (void)state;
    explore(2, tick_store, tick_store, NULL);
}
static void test_passed_reads_and_a_writer(void **state)
{
    (void)state;
    explore(2, load_tick_load, store, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_known_reads_and_a_writer, start),
        cmocka_unit_test_setup(test_two_writers, start),
        cmocka_unit_test_setup(test_passed_reads_and_a_writer, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
