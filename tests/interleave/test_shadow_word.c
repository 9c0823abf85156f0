/* The shadow word: threads that lock it by fast and slow paths at the same time. */
#include "shadow_threads.h"

static void load_twice(void)
{
    load();
    tick();
    load();
}
static void store_twice(void)
{
    store();
    tick();
    store();
}
static void load_store(void)
{
    load();
    store();
}

static void test_two_writers(void **state)
{
    (void)state;
    explore(2, store, store, NULL);
}
static void test_writer_and_reader(void **state)
{
    (void)state;
    explore(2, store, load_twice, NULL);
}
static void test_passed_clocks(void **state)
{
    (void)state;
    explore(2, store_twice, load, NULL);
}
static void test_read_then_write(void **state)
{
    (void)state;
    explore(2, load_store, load, NULL);
}
static void test_two_writers_and_a_reader(void **state)
{
    (void)state;
    explore(3, store, store, load);
}
static void test_a_writer_and_two_readers(void **state)
{
    (void)state;
    explore(3, store, load, load);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_two_writers, start),
        cmocka_unit_test_setup(test_writer_and_reader, start),
        cmocka_unit_test_setup(test_passed_clocks, start),
        cmocka_unit_test_setup(test_read_then_write, start),
        cmocka_unit_test_setup(test_two_writers_and_a_reader, start),
        cmocka_unit_test_setup(test_a_writer_and_two_readers, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
