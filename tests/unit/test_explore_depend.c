/* Dependence of steps (core/explore_depend.h) against what each kind does, by hand; and that it is symmetric. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/explore_depend.h"

static struct pt_explore_step step(uint32_t who, enum pt_explore_kind kind, uint64_t object, uint64_t other,
                                   uint8_t size)
{
    return (struct pt_explore_step){.who = who, .kind = (uint16_t)kind, .object = object, .other = other, .size = size};
}

static bool depend(struct pt_explore_step a, struct pt_explore_step b)
{
    bool one = pt_explore_depends(&a, &b);
    assert_int_equal(one, pt_explore_depends(&b, &a));
    return one;
}

static void memory(void **state)
{
    (void)state;
    struct pt_explore_step load = step(1, PT_EXPLORE_LOAD, 100, 0, 4), store = step(2, PT_EXPLORE_STORE, 100, 0, 4);
    assert_true(depend(load, store));
    assert_true(depend(store, step(1, PT_EXPLORE_STORE, 103, 0, 1)));
    assert_false(depend(store, step(1, PT_EXPLORE_STORE, 104, 0, 1)));
    assert_false(depend(load, step(2, PT_EXPLORE_LOAD, 100, 0, 4)));
    assert_true(depend(load, step(1, PT_EXPLORE_LOAD, 900, 0, 4))); /* of one thread */
    assert_true(depend(load, step(2, PT_EXPLORE_ATOMIC_UPDATE, 96, 0, 8)));
    assert_false(depend(load, step(2, PT_EXPLORE_ATOMIC_LOAD, 96, 0, 8)));
    assert_true(depend(load, step(2, PT_EXPLORE_FREE, 64, 40, 0)));
    assert_false(depend(load, step(2, PT_EXPLORE_FREE, 64, 36, 0)));
    assert_true(depend(load, step(2, PT_EXPLORE_STORE, 0, 1000, 255))); /* more than a size can say */
    assert_false(depend(load, step(2, PT_EXPLORE_STORE, 1000, 5000, 255)));
}

static void objects(void **state)
{
    (void)state;
    struct pt_explore_step lock = step(1, PT_EXPLORE_LOCK, 500, 0, 0);
    assert_true(depend(lock, step(2, PT_EXPLORE_UNLOCK, 500, 0, 0)));
    assert_false(depend(lock, step(2, PT_EXPLORE_LOCK, 540, 0, 0)));
    assert_true(depend(lock, step(2, PT_EXPLORE_WAIT, 700, 500, 0)));
    assert_true(depend(lock, step(2, PT_EXPLORE_WAKE, 700, 500, 0)));
    assert_false(depend(lock, step(2, PT_EXPLORE_WAKE, 700, 540, 0)));
    assert_true(depend(step(1, PT_EXPLORE_SIGNAL, 700, 0, 0), step(2, PT_EXPLORE_WAIT, 700, 500, 0)));
    assert_true(depend(lock, step(2, PT_EXPLORE_FREE, 480, 64, 0)));
    assert_false(depend(lock, step(2, PT_EXPLORE_DESCRIPTOR, 500, 1, 0)));
    assert_true(depend(step(1, PT_EXPLORE_DESCRIPTOR, 3, 1, 0), step(2, PT_EXPLORE_DESCRIPTOR, 4, 4, 0)));
    assert_false(depend(lock, step(2, PT_EXPLORE_SLEEP, 500, 0, 0)));
    assert_false(depend(step(1, PT_EXPLORE_YIELD, 0, 0, 0), step(2, PT_EXPLORE_YIELD, 0, 0, 0)));
}

static void threads(void **state)
{
    (void)state;
    struct pt_explore_step create = step(0, PT_EXPLORE_CREATE, 2, 0, 0), begin = step(2, PT_EXPLORE_BEGIN, 0, 0, 0);
    struct pt_explore_step end = step(2, PT_EXPLORE_END, 2, 0, 0), join = step(0, PT_EXPLORE_JOIN, 2, 0, 0);
    assert_true(pt_explore_enables(&create, &begin));
    assert_false(pt_explore_enables(&begin, &create));
    assert_true(pt_explore_enables(&end, &join));
    assert_true(depend(create, begin));
    assert_true(depend(end, join));
    assert_false(depend(end, step(0, PT_EXPLORE_JOIN, 1, 0, 0)));
    assert_false(depend(begin, step(0, PT_EXPLORE_END, 0, 0, 0)));
    assert_true(depend(create, step(1, PT_EXPLORE_CREATE, 3, 0, 0))); /* slots are numbers in order of creation */
    assert_true(depend(step(0, PT_EXPLORE_SEND, 2, 0, 0), step(2, PT_EXPLORE_HANDLE, 2, 0, 0)));
    assert_false(depend(step(0, PT_EXPLORE_SEND, 1, 0, 0), step(2, PT_EXPLORE_HANDLE, 2, 0, 0)));
    assert_true(depend(step(0, PT_EXPLORE_SEND, PT_EXPLORE_NO_SLOT, 0, 0), step(2, PT_EXPLORE_HANDLE, 2, 0, 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(memory), cmocka_unit_test(objects), cmocka_unit_test(threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
