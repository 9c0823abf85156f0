/* The explorer itself, on protocols whose answer is known. */
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static _Atomic uint32_t a, b, c, lock, inside;
static uint32_t got_a, got_b;
static uint64_t *seen_ends; /* outcomes seen, a bit each: not where the explorer puts back what was */

/* --- straight lines: the number of interleavings is the binomial coefficient --- */

static void three_of_a(void)
{
    for (int i = 0; i < 3; i++)
        atomic_fetch_add(&a, 1);
}
static void four_of_a(void)
{
    for (int i = 0; i < 4; i++)
        atomic_fetch_add(&a, 1);
}
static void three_of_b(void)
{
    for (int i = 0; i < 3; i++)
        atomic_fetch_add(&b, 1);
}

static void test_counts(void **state)
{
    (void)state;
    struct pt_interleave_result result =
        pt_interleave(&(struct pt_interleave){.threads = 2, .body = {three_of_a, four_of_a}, .all = true});
    assert_null(result.fault);
    assert_int_equal(result.runs, 35); /* 7 over 3 */
    assert_int_equal(result.steps, 7);
    /* all steps depend on each other: nothing to leave out */
    result = pt_interleave(&(struct pt_interleave){.threads = 2, .body = {three_of_a, four_of_a}});
    assert_int_equal(result.runs, 35);
    result =
        pt_interleave(&(struct pt_interleave){.threads = 3, .body = {three_of_a, four_of_a, three_of_a}, .all = true});
    assert_int_equal(result.runs, 4200); /* 10! / (3! 4! 3!) */
    /* two threads that have nothing to do with each other are one run */
    result = pt_interleave(&(struct pt_interleave){.threads = 2, .body = {three_of_a, three_of_b}});
    assert_int_equal(result.runs, 1);
    /* a third that has, next to two of them */
    result = pt_interleave(&(struct pt_interleave){.threads = 3, .body = {three_of_a, three_of_b, four_of_a}});
    assert_int_equal(result.runs, 35);
}

/* --- what can be read: the same outcomes with and without reduction --- */

static void write_a_read_b(void)
{
    atomic_store_explicit(&a, 1, memory_order_relaxed);
    got_b = atomic_load_explicit(&b, memory_order_relaxed);
}
static void write_b_read_a(void)
{
    atomic_store_explicit(&b, 1, memory_order_relaxed);
    got_a = atomic_load_explicit(&a, memory_order_relaxed);
}
static void fenced_a(void)
{
    atomic_store_explicit(&a, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    got_b = atomic_load_explicit(&b, memory_order_relaxed);
}
static void fenced_b(void)
{
    atomic_store_explicit(&b, 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_seq_cst);
    got_a = atomic_load_explicit(&a, memory_order_relaxed);
}

static const char *note_end(void)
{
    *seen_ends |= UINT64_C(1) << (got_a * 2 + got_b);
    return NULL;
}

static uint64_t ends_of(struct pt_interleave what)
{
    uint64_t noted = 0;
    seen_ends = &noted;
    what.threads = 2;
    what.check = note_end;
    struct pt_interleave_result result = pt_interleave(&what);
    assert_null(result.fault);
    return noted;
}

static void test_store_buffers(void **state)
{
    (void)state;
    const uint64_t all = 0xf, sequential = 0xe; /* both read 0: only through buffers */
    assert_int_equal(ends_of((struct pt_interleave){.body = {write_a_read_b, write_b_read_a}}), all);
    assert_int_equal(ends_of((struct pt_interleave){.body = {write_a_read_b, write_b_read_a}, .all = true}), all);
    assert_int_equal(ends_of((struct pt_interleave){.body = {write_a_read_b, write_b_read_a}, .direct = true}),
                     sequential);
    assert_int_equal(ends_of((struct pt_interleave){.body = {fenced_a, fenced_b}}), sequential);
    assert_int_equal(ends_of((struct pt_interleave){.body = {fenced_a, fenced_b}, .all = true}), sequential);
    assert_int_equal(ends_of((struct pt_interleave){.body = {fenced_a, write_b_read_a}}), all);
}

/* --- mutual exclusion --- */

static void critical(void)
{
    if (atomic_fetch_add(&inside, 1) != 0)
        pt_interleave_fault("two at a time");
    atomic_fetch_sub_explicit(&inside, 1, memory_order_relaxed);
}

static void dekker(_Atomic uint32_t *mine, _Atomic uint32_t *theirs, bool fence)
{
    atomic_store_explicit(mine, 1, memory_order_relaxed);
    if (fence)
        atomic_thread_fence(memory_order_seq_cst);
    if (!atomic_load_explicit(theirs, memory_order_acquire))
        critical();
    atomic_store_explicit(mine, 0, memory_order_release);
}
static void dekker_a(void)
{
    dekker(&a, &b, true);
}
static void dekker_b(void)
{
    dekker(&b, &a, true);
}
static void careless_a(void)
{
    dekker(&a, &b, false);
}

static void test_dekker(void **state)
{
    (void)state;
    struct pt_interleave_result result =
        pt_interleave(&(struct pt_interleave){.threads = 2, .body = {dekker_a, dekker_b}});
    assert_null(result.fault);
    result = pt_interleave(&(struct pt_interleave){.threads = 2, .body = {careless_a, dekker_b}});
    assert_string_equal(result.fault, "two at a time");
    /* in sequential consistency a fence is not needed */
    result = pt_interleave(&(struct pt_interleave){.threads = 2, .body = {careless_a, dekker_b}, .direct = true});
    assert_null(result.fault);
}

static void spin(void)
{
    while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
        __builtin_ia32_pause();
    critical();
    atomic_store_explicit(&lock, 0, memory_order_release);
}
static void broken_spin(void)
{
    while (atomic_load_explicit(&lock, memory_order_acquire))
        __builtin_ia32_pause();
    atomic_store_explicit(&lock, 1, memory_order_seq_cst);
    critical();
    atomic_store_explicit(&lock, 0, memory_order_release);
}
static void never_unlocks(void)
{
    while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
        __builtin_ia32_pause();
}

static void test_locks(void **state)
{
    (void)state;
    struct pt_interleave_result result =
        pt_interleave(&(struct pt_interleave){.threads = 3, .body = {spin, spin, spin}});
    assert_null(result.fault);
    assert_true(result.runs >= 6); /* the orders in which they get it, and who failed to meanwhile */
    result = pt_interleave(&(struct pt_interleave){.threads = 2, .body = {broken_spin, broken_spin}});
    assert_string_equal(result.fault, "two at a time");
    result = pt_interleave(&(struct pt_interleave){.threads = 2, .body = {never_unlocks, spin}});
    assert_string_equal(result.fault, "deadlock");
}

/* A load and a store instead of an addition lose one of two. */
static void add_badly(void)
{
    atomic_store_explicit(&c, atomic_load_explicit(&c, memory_order_relaxed) + 1, memory_order_relaxed);
}
static const char *both_added(void)
{
    return c == 2 ? NULL : "one is lost";
}

static void test_lost_update(void **state)
{
    (void)state;
    struct pt_interleave what = {.threads = 2, .body = {add_badly, add_badly}, .check = both_added};
    assert_string_equal(pt_interleave(&what).fault, "one is lost");
    assert_int_equal(c, 0); /* everything is as it was */
    what.most = 1;
    what.check = NULL;
    assert_string_equal(pt_interleave(&what).fault, "more runs than were to be");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts), cmocka_unit_test(test_store_buffers), cmocka_unit_test(test_dekker),
        cmocka_unit_test(test_locks),  cmocka_unit_test(test_lost_update),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
