/*
 * The ring of clock numbers: its owner makes clocks across the end of a cycle, and stores with them, while others still
 * have numbers of the last cycle in the shadow word and among what they have passed. A number is made to mean another
 * clock only when nobody has it: else a reader would take the new clock for the old, which it knows, and not learn of
 * the write that it saw.
 */
#include "shadow_threads.h"

enum { RING = 128 }; /* numbers in a first ring */

/* Thread 1 remembers the number of a clock of thread 0, whose ring will come to that number after `left` more events.
 */
static void remember(unsigned left)
{
    play(0);
    while (threads[0].clock.ring.position != 3)
        tick();
    store();
    play(1);
    load();
    tick();
    load(); /* by which the word's reference becomes its own */
    play(0);
    while (threads[0].clock.ring.position != RING - 1)
        tick();
    for (unsigned i = left; i < 3; i++)
        tick();
    forget_accesses();
}

static void go_around(void)
{
    for (unsigned i = 0; i < 4; i++)
        tick();
    store();
}

static void test_a_remembered_number(void **state)
{
    (void)state;
    remember(3);
    explore(2, go_around, load, NULL);
}

#ifndef PT_SEEDED
static void tick_and_store(void)
{
    tick();
    store();
}

static void test_the_next_cycle(void **state)
{
    (void)state;
    remember(1);
    explore(2, tick_and_store, load, NULL);
}
static void test_two_readers(void **state)
{
    (void)state;
    remember(1);
    explore(3, tick_and_store, load, load);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_remembered_number, start),
#ifndef PT_SEEDED
        cmocka_unit_test_setup(test_the_next_cycle, start),
        cmocka_unit_test_setup(test_two_readers, start),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
