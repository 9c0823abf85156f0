/*
 * Silence (silence.h): accesses without clocks by threads that have none, against the thread that ends it by its first
 * event.
 */
#include "shadow_threads.h"

#include "runtime/shadow/silence.h"

static void each(void (*visit)(struct pt_shadow_self *self))
{
    for (unsigned i = 0; i < THREADS; i++)
        visit(&threads[i]);
}

/* Nobody has had an event. */
static int start_silent(void **state)
{
    (void)state;
    begin_anew();
    if (!pt_clock_start() || !pt_shadow_start() || !pt_shadow_word_of((uintptr_t)VARIABLE))
        return -1;
    reset_variable();
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i].clock.slot = threads[i].clock.number = i;
        pt_shadow_refresh(&threads[i]);
    }
    pt_shadow_hooks.each = each;
    atomic_store(&pt_active, PT_ACTIVE_SILENCE);
    atomic_store(&pt_silence_over, false);
    return 0;
}

static void tick_and_store(void)
{
    tick();
    store();
}

/* Where a thread may stop between its look and its store, which has no buffer then. */
static void test_a_store_meets_the_end(void **state)
{
    (void)state;
    expect(pt_interleave(&(struct pt_interleave){.threads = 2,
                                                 .body = {tick_and_store, store},
                                                 .begin = reset_variable,
                                                 .enter = play,
                                                 .check = check,
                                                 .direct = true}));
}

#ifndef PT_SEEDED
/* Where its look may come before others see that it stores. */
static void test_a_store_in_a_buffer_meets_the_end(void **state)
{
    (void)state;
    explore(2, tick_and_store, store, NULL);
}

static void test_a_load_meets_the_end(void **state)
{
    (void)state;
    explore(2, tick_and_store, load, NULL);
}

static void test_two_end_it(void **state)
{
    (void)state;
    explore(2, tick_and_store, tick_and_store, NULL);
}

static void test_two_end_it_and_one_stores(void **state)
{
    (void)state;
    explore(3, tick_and_store, tick, store);
}

/* A store that others may come before: between the look and the store is a step. */
static void store_in_steps(void)
{
    if (!pt_silence_begin_piece(pt_self, 0, 0, (uintptr_t)VARIABLE, 8))
        return;
    atomic_store_explicit((_Atomic uint64_t *)VARIABLE, 7, memory_order_relaxed);
    pt_silence_end_store(pt_self, (uintptr_t)VARIABLE, 8);
}

/* What is watched from now on is stored to before, or not in silence. */
static void widen_and_look(void)
{
    pt_silence_widen((uintptr_t)VARIABLE, (uintptr_t)VARIABLE + 8);
    uint64_t seen = atomic_load_explicit((_Atomic uint64_t *)VARIABLE, memory_order_relaxed);
    if (atomic_load_explicit((_Atomic uint64_t *)VARIABLE, memory_order_relaxed) != seen)
        pt_interleave_fault("a store goes past what is watched");
}

static void test_a_store_meets_a_wider_range(void **state)
{
    (void)state;
    expect(pt_interleave(&(struct pt_interleave){
        .threads = 2, .body = {widen_and_look, store_in_steps}, .begin = reset_variable, .enter = play}));
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_store_meets_the_end, start_silent),
#ifndef PT_SEEDED
        cmocka_unit_test_setup(test_a_store_in_a_buffer_meets_the_end, start_silent),
        cmocka_unit_test_setup(test_a_load_meets_the_end, start_silent),
        cmocka_unit_test_setup(test_two_end_it, start_silent),
        cmocka_unit_test_setup(test_two_end_it_and_one_stores, start_silent),
        cmocka_unit_test_setup(test_a_store_meets_a_wider_range, start_silent),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
