/*
 * Readings: reads through them against a writer that collects them, which rests on a fence in each (readers.h). A read
 * is before the write, and then the writer knows of it, or after it, and then it sees its value.
 */
#include "shadow_threads.h"

/* Both readers have a reading of the variable, and have had an event since. */
static int start_with_readings(void **state)
{
    if (start(state) != 0)
        return -1;
    play(0);
    store();
    for (unsigned i = 0; i < 12; i++) {
        play(1 + i % 2);
        load();
        tick();
    }
    play(0);
    tick();
    forget_accesses();
    uint64_t word = *pt_shadow_peek((uintptr_t)VARIABLE);
    assert_true(word & PT_SHADOW_FINE);
    assert_int_equal(pt_fines[pt_shadow_access(word)].readers, 6);
    return 0;
}

static void test_a_reader_and_a_writer(void **state)
{
    (void)state;
    explore(2, store, load, NULL);
}

#ifndef PT_SEEDED
static void load_twice(void)
{
    load();
    load();
}

static void test_a_reader_that_reads_again(void **state)
{
    (void)state;
    explore(2, store, load_twice, NULL);
}

static void test_two_readers_and_a_writer(void **state)
{
    (void)state;
    explore(3, store, load, load);
}

static void end_reading(void)
{
    pt_enter(pt_self);
    pt_readers_end(pt_self);
    pt_leave(pt_self);
}

static void test_a_reader_ends(void **state)
{
    (void)state;
    explore(2, store, end_reading, NULL);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_reader_and_a_writer, start_with_readings),
#ifndef PT_SEEDED
        cmocka_unit_test_setup(test_a_reader_that_reads_again, start_with_readings),
        cmocka_unit_test_setup(test_two_readers_and_a_writer, start_with_readings),
        cmocka_unit_test_setup(test_a_reader_ends, start_with_readings),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
