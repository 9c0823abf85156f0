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

/* The protocol alone: a read through the thread's reading, and a writer that collects. A read that did not see the
 * write is in the record then. */
static uint32_t record;
static bool is_read;
static uint64_t read_value;

static void read_by_reading(void)
{
    pt_shadow_word *word = pt_shadow_peek((uintptr_t)VARIABLE);
    uint64_t seen = atomic_load_explicit(word, memory_order_acquire);
    struct pt_reading *reading = pt_readers_at(pt_self, seen, (uintptr_t)VARIABLE, 0xff);
    if (!reading)
        return;
    if (pt_readers_begin(pt_self, reading, word, seen)) {
        read_value = __atomic_load_n(VARIABLE, __ATOMIC_ACQUIRE);
        is_read = pt_readers_done(pt_self, reading);
    }
    pt_leave(pt_self);
}

static void collect_and_write(void)
{
    pt_shadow_word *word = pt_shadow_peek((uintptr_t)VARIABLE);
    pt_enter(pt_self);
    uint64_t seen = pt_granule_lock(word);
    pt_readers_collect(pt_self, record);
    __atomic_store_n(VARIABLE, 77, __ATOMIC_RELEASE);
    pt_granule_unlock(word, seen);
    pt_leave(pt_self);
}

static const char *check_collected(void)
{
    const struct pt_clock_snapshot *clock = &pt_clocks[pt_fines[record].access[0]];
    uint32_t known = 0;
    for (uint32_t i = 0; i < clock->count; i++)
        if (clock->pairs[i].lane == 1)
            known = clock->pairs[i].count;
    if (is_read && read_value != 77 && known < threads[1].clock.events)
        return "a read that did not see the write was not collected";
    return NULL;
}

static void test_a_reading_and_a_collector(void **state)
{
    (void)state;
    record = pt_shadow_access(*pt_shadow_peek((uintptr_t)VARIABLE));
    is_read = false;
    expect(pt_interleave(&(struct pt_interleave){.threads = 2,
                                                 .body = {collect_and_write, read_by_reading},
                                                 .begin = reset_variable,
                                                 .enter = play,
                                                 .check = check_collected}));
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
        cmocka_unit_test_setup(test_a_reading_and_a_collector, start_with_readings),
#ifndef PT_SEEDED
        cmocka_unit_test_setup(test_a_reader_that_reads_again, start_with_readings),
        cmocka_unit_test_setup(test_two_readers_and_a_writer, start_with_readings),
        cmocka_unit_test_setup(test_a_reader_ends, start_with_readings),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
