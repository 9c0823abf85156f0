/* Happens-before as clocks: what each means of synchronisation orders, and what it does not; nothing is leaked. */
#include "race_util.h"

static const struct pt_race_memory *m;
static struct pt_hb_thread t[4];

static int begin(void **state)
{
    m = *state ? *state : &test_memory;
    for (uint32_t i = 0; i < 4; i++)
        pt_hb_begin(&t[i], i * 20); /* in chunks of their own */
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        pt_hb_end(m, &t[i]);
    assert_int_equal(taken, 0);
    return 0;
}

/* An event of the thread that is over. */
static pt_epoch act(struct pt_hb_thread *thread)
{
    pt_epoch now = pt_hb_now(thread);
    pt_hb_tick(thread);
    return now;
}

static void test_epochs(void **state)
{
    (void)state;
    pt_epoch epoch = pt_epoch_make(PT_HB_THREADS - 1, PT_EPOCH_CLOCK);
    assert_int_equal(pt_epoch_thread(epoch), PT_HB_THREADS - 1);
    assert_int_equal(pt_epoch_clock(epoch), PT_EPOCH_CLOCK);
    assert_true(pt_hb_knows(&t[1], 0));
    assert_true(pt_hb_knows(&t[1], pt_hb_now(&t[1])));
    assert_false(pt_hb_knows(&t[1], pt_hb_now(&t[2])));
}

static void test_lock(void **state)
{
    (void)state;
    struct pt_hb_lock lock = {0};
    pt_epoch before = act(&t[1]);
    pt_hb_unlock(m, &t[1], &lock, false);
    pt_epoch after = act(&t[1]);
    pt_hb_lock(m, &t[2], &lock, false);
    assert_true(pt_hb_knows(&t[2], before));
    assert_false(pt_hb_knows(&t[2], after));
    pt_epoch second = act(&t[2]);
    pt_hb_unlock(m, &t[2], &lock, false);
    pt_hb_lock(m, &t[3], &lock, true);
    assert_true(pt_hb_knows(&t[3], before) && pt_hb_knows(&t[3], second)); /* by way of thread 2 */
    pt_hb_lock_clear(m, &lock);
}

static void test_readers(void **state)
{
    (void)state;
    struct pt_hb_lock lock = {0};
    pt_epoch one = act(&t[1]), two = act(&t[2]);
    pt_hb_unlock(m, &t[1], &lock, true);
    pt_hb_lock(m, &t[2], &lock, true);
    assert_false(pt_hb_knows(&t[2], one));
    pt_hb_unlock(m, &t[2], &lock, true);
    pt_hb_lock(m, &t[3], &lock, false);
    assert_true(pt_hb_knows(&t[3], one) && pt_hb_knows(&t[3], two));
    pt_hb_unlock(m, &t[3], &lock, false);
    assert_int_equal(lock.readers.last.at, 0); /* what the writer knew is not kept twice */
    assert_null(lock.readers.rest);
    pt_hb_lock(m, &t[0], &lock, true);
    assert_true(pt_hb_knows(&t[0], one) && pt_hb_knows(&t[0], two));
    pt_hb_lock_clear(m, &lock);
}

static void test_notify(void **state)
{
    (void)state;
    struct pt_hb_sync cond = {0};
    pt_epoch one = act(&t[1]), two = act(&t[2]);
    pt_hb_release(m, &t[1], &cond);
    pt_hb_release(m, &t[2], &cond);
    assert_false(pt_hb_knows(&t[2], one));
    pt_hb_acquire(m, &t[3], &cond);
    assert_true(pt_hb_knows(&t[3], one) && pt_hb_knows(&t[3], two));
    pt_hb_sync_clear(m, &cond);
}

static void test_fork_and_join(void **state)
{
    (void)state;
    pt_epoch before = act(&t[1]);
    pt_hb_fork(m, &t[1], &t[2]);
    pt_epoch after = act(&t[1]), child = act(&t[2]);
    assert_true(pt_hb_knows(&t[2], before));
    assert_false(pt_hb_knows(&t[2], after) || pt_hb_knows(&t[1], child));
    pt_hb_join(m, &t[1], &t[2]);
    assert_true(pt_hb_knows(&t[1], child));
}

/* A vector that others refer to does not change under them. */
static void test_sharing(void **state)
{
    (void)state;
    struct pt_vec *one = NULL, *two = NULL;
    pt_vec_raise(m, &one, 3, 7);
    pt_vec_raise(m, &one, 40, 9);
    pt_vec_join(m, &two, one);
    assert_ptr_equal(one, two);
    pt_vec_raise(m, &two, 4, 5);
    assert_ptr_not_equal(one, two);
    assert_ptr_equal(one->chunks[2], two->chunks[2]);
    assert_int_equal(pt_vec_at(one, 4), 0);
    assert_int_equal(pt_vec_at(two, 4), 5);
    assert_int_equal(pt_vec_at(two, 3), 7);
    pt_vec_raise(m, &one, 3, 8);
    pt_vec_join(m, &two, one); /* neither chunk is above the other */
    assert_int_equal(pt_vec_at(two, 3), 8);
    assert_int_equal(pt_vec_at(two, 4), 5);
    assert_true(pt_vec_is_within(one, two, UINT32_MAX));
    assert_false(pt_vec_is_within(two, one, UINT32_MAX));
    assert_true(pt_vec_is_within(two, one, 4));
    pt_vec_drop(m, one);
    pt_vec_drop(m, two);
}

/* A release fence and a relaxed store, read by a relaxed load and an acquire fence. */
static void test_fences(void **state)
{
    (void)state;
    struct pt_hb_sync published = {0};
    pt_epoch before = act(&t[1]);
    pt_hb_fence(m, &t[1], PT_HB_RELEASE);
    pt_epoch between = act(&t[1]);
    pt_hb_add(m, &published, (struct pt_hb_stamp){t[1].fence.at, pt_vec_ref(m, t[1].fence.past)});
    pt_hb_acquire_later(m, &t[2], &published);
    assert_false(pt_hb_knows(&t[2], before));
    pt_hb_fence(m, &t[2], PT_HB_RELEASE);
    assert_false(pt_hb_knows(&t[2], before));
    pt_hb_fence(m, &t[2], PT_HB_ACQUIRE);
    assert_true(pt_hb_knows(&t[2], before));
    assert_false(pt_hb_knows(&t[2], between));
    pt_hb_sync_clear(m, &published);
}

int main(void)
{
    struct pt_race_memory shared = shared_memory;
#define CASE(name)                                                                                                     \
    cmocka_unit_test_setup_teardown(name, begin, end),                                                                 \
    {                                                                                                                  \
#name " with atomic counts", name, begin, end, &shared                                                         \
    }
    const struct CMUnitTest tests[] = {
        CASE(test_epochs),  CASE(test_lock),          CASE(test_readers), CASE(test_notify),
        CASE(test_sharing), CASE(test_fork_and_join), CASE(test_fences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
