/* The order of the runtime's locks, in a build that checks it (sys/spin.h), and waiting for one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/sys/spin.h"

static struct pt_spin watch = PT_SPIN(PT_RANK_WATCH), names = PT_SPIN(PT_RANK_NAME), clocks = PT_SPIN(PT_RANK_CLOCK);

static void inwards(void)
{
    pt_spin_lock(&watch);
    pt_rank_take(PT_RANK_GRANULE);
    pt_rank_take(PT_RANK_GRANULE);
    pt_spin_lock(&names);
    pt_spin_lock(&clocks);
    pt_spin_unlock(&names);
    pt_spin_unlock(&clocks);
    pt_spin_lock(&names);
    pt_spin_unlock(&names);
    pt_rank_give(PT_RANK_GRANULE);
    pt_rank_give(PT_RANK_GRANULE);
    pt_spin_unlock(&watch);
}

static void outwards(void)
{
    pt_spin_lock(&clocks);
    pt_spin_lock(&names);
}

static void around_granule(void)
{
    pt_rank_take(PT_RANK_GRANULE);
    pt_spin_lock(&watch);
}

static void granule_inside(void)
{
    pt_spin_lock(&names);
    pt_rank_take(PT_RANK_GRANULE);
}

static void twice(void)
{
    pt_spin_lock(&names);
    pt_spin_lock(&names);
}

/* How a process that does it ends: 0, or the signal. */
static int end_of(void (*take)(void))
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL); /* cmocka has a handler of its own */
        close(STDERR_FILENO);
        alarm(20);
        take();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

static void test_order(void **state)
{
    (void)state;
    assert_int_equal(end_of(inwards), 0);
    assert_int_equal(end_of(outwards), SIGABRT);
    assert_int_equal(end_of(around_granule), SIGABRT);
    assert_int_equal(end_of(granule_inside), SIGABRT);
    assert_int_equal(end_of(twice), SIGABRT);
}

enum { THREADS = 4, TIMES = 20000 };
static long counted;

static void *count(void *unused)
{
    for (int i = 0; i < TIMES; i++) {
        pt_spin_lock(&names);
        counted++;
        if (i % 1000 == 0)
            usleep(10); /* the others come to wait on the futex */
        pt_spin_unlock(&names);
    }
    return unused;
}

static void test_wait(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(counted, THREADS * TIMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_wait)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
