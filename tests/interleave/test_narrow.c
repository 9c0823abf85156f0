/*
 * A granule whose bytes have different clocks (narrow.h): reads that look at its record without a lock, and accesses
 * that change the record in place, against each other and against writes that make it a plain granule again.
 */
#include "shadow_threads.h"

#define BYTE ((uint8_t *)VARIABLE)

static uint8_t stamp(void)
{
    return (uint8_t)(current << 6 | pt_self->clock.events);
}

static void load_byte(void)
{
    unsigned thread = current;
    uint8_t value = __portent_atomic_load1(BYTE, __ATOMIC_ACQUIRE, NULL);
    if (known_of(&threads[thread], value >> 6) < (value & 0x3fu))
        pt_interleave_fault("a read does not know of the write that it saw");
    note(false, value);
}

static void store_byte(void)
{
    uint8_t value = stamp();
    __portent_atomic_store1(BYTE, value, __ATOMIC_RELEASE, NULL);
    note(true, value);
}

/* Another byte has a clock of its own then. */
static void store_other(void)
{
    __portent_atomic_store1(BYTE + 1, stamp(), __ATOMIC_RELEASE, NULL);
}

static bool is_fine(void)
{
    return *pt_shadow_peek((uintptr_t)VARIABLE) & PT_SHADOW_FINE;
}

/* Thread 0 has written both bytes, with different clocks; the others know of it. */
static int start_narrow(void **state)
{
    if (start(state) != 0)
        return -1;
    play(0);
    store_byte();
    tick();
    store_other();
    for (unsigned i = 1; i < THREADS; i++) {
        play(i);
        __portent_atomic_load1(BYTE + 1, __ATOMIC_ACQUIRE, NULL);
        load_byte();
    }
    play(0);
    store_byte();
    play(1); /* knows all, and the record says so: its next read is a known one */
    load_byte();
    forget_accesses();
    assert_true(is_fine());
    assert_int_equal(pt_fines[pt_shadow_access(*pt_shadow_peek((uintptr_t)VARIABLE))].access[0], pt_self->clock.id);
    return 0;
}

static const char *check_byte(void)
{
    return check_accesses(*BYTE, *BYTE >> 6);
}

static uint64_t first;
static void reset_byte(void)
{
    *VARIABLE = first;
}

static void explore_bytes(void (*a)(void), void (*b)(void))
{
    first = *VARIABLE;
    expect(pt_interleave(&(struct pt_interleave){
        .threads = 2, .body = {a, b}, .begin = reset_byte, .enter = play, .check = check_byte}));
}

static void tick_and_store(void)
{
    tick();
    store_byte();
}
#ifndef PT_SEEDED
static void store_whole(void)
{
    uint8_t value = stamp();
    __portent_atomic_store8(VARIABLE, value, __ATOMIC_RELEASE, NULL);
    note(true, value);
}

static void tick_load_store(void)
{
    tick();
    load_byte();
    store_byte();
}
/* The record becomes another one, or the same once more. */
static void pack_and_split(void)
{
    tick();
    store_whole();
    tick();
    store_byte();
}

static void test_the_bytes_are_told_apart(void **state)
{
    (void)state;
    pt_clock_id mine = pt_self->clock.id;
    const struct pt_fine *fine = &pt_fines[pt_shadow_access(*pt_shadow_peek((uintptr_t)VARIABLE))];
    pt_clock_id other = fine->write[1];
    assert_int_equal(fine->access[0], mine);
    tick();
    store_byte();
    assert_int_equal(fine->access[0], pt_self->clock.id);
    assert_int_equal(fine->write[0], pt_self->clock.id);
    assert_int_equal(fine->write[1], other);
    assert_null(check_references(*pt_shadow_peek((uintptr_t)VARIABLE)));
    store_whole();
    assert_false(is_fine());
    tick();
    load_byte();
    assert_true(is_fine());
    assert_null(check_references(*pt_shadow_peek((uintptr_t)VARIABLE)));
}
static void test_two_writers(void **state)
{
    (void)state;
    explore_bytes(tick_and_store, tick_and_store);
}
static void test_two_that_read_and_write(void **state)
{
    (void)state;
    explore_bytes(tick_load_store, tick_and_store);
}
static void test_a_record_that_goes(void **state)
{
    (void)state;
    explore_bytes(pack_and_split, load_byte);
}
#endif
static void test_a_writer_and_a_reader(void **state)
{
    (void)state;
    explore_bytes(tick_and_store, load_byte);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_writer_and_a_reader, start_narrow),
#ifndef PT_SEEDED
        cmocka_unit_test_setup(test_the_bytes_are_told_apart, start_narrow),
        cmocka_unit_test_setup(test_two_writers, start_narrow),
        cmocka_unit_test_setup(test_two_that_read_and_write, start_narrow),
        cmocka_unit_test_setup(test_a_record_that_goes, start_narrow),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
