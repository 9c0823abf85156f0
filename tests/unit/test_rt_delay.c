/*
 * Pauses before synchronisation: what a budget may be, that it is kept, and that the seed chooses. Time is the test's
 * own, so that nothing depends on the machine: each look at the clock takes 2 ns, and sleeping takes exactly as long
 * as it should (the linker puts the function below in the place of the runtime's).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "core/delay.h"
#include "runtime/sys/delay.h"
#include "runtime/sys/options.h"
#include "runtime/sys/sys.h"

static struct pt_delay_budget parsed(const char *text)
{
    struct pt_delay_budget budget = {UINT64_MAX, UINT64_MAX};
    assert_true(pt_delay_parse((struct pt_span){text, strlen(text)}, &budget));
    return budget;
}

static void budgets(void **state)
{
    (void)state;
    assert_int_equal(parsed("5%").share, 50000);
    assert_int_equal(parsed("5%").nanoseconds, 0);
    assert_int_equal(parsed("0.5%").share, 5000);
    assert_int_equal(parsed("1000%").share, 10000000);
    assert_int_equal(parsed("0.2").nanoseconds, 200000000);
    assert_int_equal(parsed("3600").nanoseconds, 3600000000000);
    assert_int_equal(parsed("0").nanoseconds, 0);
    static const char *const wrong[] = {"", "%", ".", "-1", "5 %", "1001%", "3601", "1.2.3", "x", "5%%", "1.0000001"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct pt_delay_budget budget;
        assert_false(pt_delay_parse((struct pt_span){wrong[i], strlen(wrong[i])}, &budget));
    }
}

static uint64_t time_now;

static int read_clock(clockid_t clock, struct timespec *to)
{
    (void)clock;
    time_now += 2;
    *to = (struct timespec){(time_t)(time_now / 1000000000), (long)(time_now % 1000000000)};
    return 0;
}

void __wrap_pt_sys_sleep(uint64_t nanoseconds);
void __wrap_pt_sys_sleep(uint64_t nanoseconds)
{
    time_now += nanoseconds;
}

static void begin(const char *options)
{
    pt_sys_read_clock = read_clock;
    pt_options_start(options);
    pt_delay_on = false;
    pt_delay_start();
    pt_delay_thread(0);
}

struct spent {
    uint64_t paused, lived; /* without pauses */
};

/* Calls as fast as they go, for so long. */
static struct spent spend(uint64_t nanoseconds, void (*call)(void))
{
    struct spent spent = {0};
    uint64_t began = pt_sys_now(), before = began;
    while (before < began + nanoseconds) {
        call();
        uint64_t after = pt_sys_now(), took = after - before;
        spent.paused += took >= 1000 ? took : 0;
        before = after;
    }
    spent.lived = before - began - spent.paused;
    return spent;
}

/* The clock is looked at before and after a pause, too: that is less than a hundredth of it. */
static void a_share_is_kept(void **state)
{
    (void)state;
    begin("delay=5% seed=7");
    assert_true(pt_delay_on);
    struct spent spent = spend(100000000, pt_delay_sync);
    uint64_t allowed = spent.lived / 20 + 2000000;
    assert_in_range(spent.paused, allowed * 9 / 10, allowed + allowed / 100);
}

static void seconds_are_kept(void **state)
{
    (void)state;
    begin("delay=0.005 seed=7");
    struct spent spent = spend(100000000, pt_delay_sync);
    assert_in_range(spent.paused, 4990000, 5005000);
}

static void off(void **state)
{
    (void)state;
    begin("verbosity=0");
    assert_false(pt_delay_on);
    begin("delay=0");
    assert_false(pt_delay_on);
}

enum { CALLS = 400 };

static void which(const char *options, uint32_t thread, bool *paused)
{
    begin(options);
    pt_delay_thread(thread);
    for (int i = 0; i < CALLS; i++) {
        uint64_t before = pt_sys_now();
        pt_delay_sync();
        paused[i] = pt_sys_now() - before >= 900;
    }
}

static int differences(const bool *one, const bool *other)
{
    int count = 0;
    for (int i = 0; i < CALLS; i++)
        count += one[i] != other[i];
    return count;
}

/* A quarter of the calls are paused, so that of two choices that have nothing to do with each other some 150 differ. */
static void the_seed_chooses(void **state)
{
    static bool first[CALLS], again[CALLS], other[CALLS], thread[CALLS];
    (void)state;
    which("delay=10 seed=3", 1, first);
    which("delay=10 seed=3", 1, again);
    which("delay=10 seed=4", 1, other);
    which("delay=10 seed=3", 2, thread);
    assert_int_equal(differences(first, again), 0);
    assert_true(differences(first, other) > 60);
    assert_true(differences(first, thread) > 60);
}

/* Whatever loops on one variable does not use up the budget. */
static int variable;
static void load(void)
{
    pt_delay_atomic(&variable, __ATOMIC_ACQUIRE);
}
static void one_address_backs_off(void **state)
{
    (void)state;
    begin("delay=10 seed=3");
    int pauses = 0;
    for (int i = 0; i < 20000; i++) {
        uint64_t before = pt_sys_now();
        load();
        pauses += pt_sys_now() - before >= 900;
    }
    assert_int_equal(pauses, 7); /* the first, second, fourth ... 64th that were chosen */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(budgets), cmocka_unit_test(a_share_is_kept),  cmocka_unit_test(seconds_are_kept),
        cmocka_unit_test(off),     cmocka_unit_test(the_seed_chooses), cmocka_unit_test(one_address_backs_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
