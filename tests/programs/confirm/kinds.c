/*
 * A program for each kind of finding of a built-in check that another run can show: kinds WAY. Every run passes, paced
 * by its pauses; tests/programs/run_confirm.py says what is predicted from it, and what becomes of the program then.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <portent.h>

struct box {
    int count, size;
};

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER, k = PTHREAD_MUTEX_INITIALIZER;
static struct box *box;
static int *volatile slot, balance = 100, total;

static void later(void)
{
    usleep(50000);
}

/* freed: used, and freed by another thread later. */
static void *use_box(void *unused)
{
    box->count = 1;
    return unused;
}
static void *free_box(void *unused)
{
    later();
    free(box);
    return unused;
}

/* dropped: the pointer is looked at, and used; meanwhile it may be null. */
static void *use_slot(void *unused)
{
    if (slot)
        *slot = 1;
    return unused;
}
static void *drop_slot(void *unused)
{
    later();
    slot = NULL;
    return unused;
}

/* unset: the pointer is set, in time, by another thread. */
static void *set_slot(void *unused)
{
    slot = calloc(1, sizeof *slot);
    return unused;
}
static void *use_slot_later(void *unused)
{
    later();
    *slot = 1;
    return unused;
}

/* block: in a block that is meant to be atomic another access can come in between. */
static void *pay(void *unused)
{
    portent_begin("pay");
    int had = balance;
    balance = had - 10;
    portent_end("pay");
    return unused;
}
static void *pay_later(void *unused)
{
    later();
    balance = 50;
    return unused;
}

/* disturbed, and disturbed-locked: the block really is, in the run at their pace; hurried: the same without a pause. */
static int hurried;

static void pause_in_block(void)
{
    if (!hurried)
        later(), later();
}
static void come_between(void)
{
    if (!hurried)
        later();
}
static void *pay_slowly(void *unused)
{
    portent_begin("pay");
    int had = balance;
    pause_in_block();
    balance = had - 10;
    portent_end("pay");
    return unused;
}
static void *pay_between(void *unused)
{
    come_between();
    balance = 50;
    return unused;
}
static void lock_m(void)
{
    pthread_mutex_lock(&m); /* one place for all */
}
static void *pay_locked(void *unused)
{
    portent_begin("pay");
    lock_m();
    int had = balance;
    pthread_mutex_unlock(&m);
    pause_in_block();
    lock_m();
    balance = had - 10;
    pthread_mutex_unlock(&m);
    portent_end("pay");
    return unused;
}
static void *pay_locked_between(void *unused)
{
    come_between();
    pthread_mutex_lock(&m);
    balance = 50;
    pthread_mutex_unlock(&m);
    return unused;
}

/* chain: what it wrote is read, and something written for it, by another thread. */
static volatile int asked, answer;
static void *ask(void *unused)
{
    portent_begin("ask");
    asked = 1;
    pause_in_block();
    total = answer;
    portent_end("ask");
    return unused;
}
static void *answer_it(void *unused)
{
    come_between();
    int question = asked;
    answer = question + 1;
    return unused;
}

/* again: a place that is passed before; the other thread waits for what comes after that. */
static atomic_int used;
static void use_it(void)
{
    box->count++;
}
static void *use_twice(void *unused)
{
    use_it();
    atomic_store(&used, 1);
    use_it();
    return unused;
}
static void *free_used(void *unused)
{
    while (!atomic_load(&used))
        sched_yield();
    later();
    free(box);
    return unused;
}

/* heap: a race of memory that has no name, behind a lock that only happens to order it. */
static void *count_before(void *unused)
{
    box->count++;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return unused;
}
static void *count_after(void *unused)
{
    later();
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    box->count++;
    return unused;
}

/* long: the same after more steps than a result keeps, so that only the places are known. */
static void *count_long_before(void *unused)
{
    for (int i = 0; i < 24000; i++)
        *(volatile int *)&total = i;
    return count_before(unused);
}
static void *count_long_after(void *unused)
{
    later();
    later();
    return count_after(unused);
}

/* cycle: three locks and three threads. */
static void both(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    total++;
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}
static void *lock_mn(void *unused)
{
    both(&m, &n);
    return unused;
}
static void *lock_nk(void *unused)
{
    later();
    both(&n, &k);
    return unused;
}
static void *lock_km(void *unused)
{
    later();
    later();
    both(&k, &m);
    return unused;
}

/* line: both locks of each thread are taken at one place. */
static void take(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
}
static void take_both(pthread_mutex_t *first, pthread_mutex_t *second)
{
    take(first);
    take(second);
    total++;
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}
static void *take_mn(void *unused)
{
    take_both(&m, &n);
    return unused;
}
static void *take_nm(void *unused)
{
    later();
    take_both(&n, &m);
    return unused;
}

static const struct way {
    const char *name;
    void *(*threads[3])(void *);
} ways[] = {
    {"freed", {use_box, free_box}},
    {"dropped", {use_slot, drop_slot}},
    {"unset", {set_slot, use_slot_later}},
    {"block", {pay, pay_later}},
    {"heap", {count_before, count_after}},
    {"long", {count_long_before, count_long_after}},
    {"cycle", {lock_mn, lock_nk, lock_km}},
    {"disturbed", {pay_slowly, pay_between}},
    {"disturbed-locked", {pay_locked, pay_locked_between}},
    {"chain", {ask, answer_it}},
    {"again", {use_twice, free_used}},
    {"line", {take_mn, take_nm}},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways && argc > 1; i++) {
        pthread_t threads[3];
        int count = 0;
        if (strcmp(ways[i].name, argv[1]) != 0)
            continue;
        hurried = argc > 2; /* kinds WAY hurried */
        box = calloc(1, sizeof *box);
        if (strcmp(argv[1], "dropped") == 0)
            slot = calloc(1, sizeof *slot);
        for (; count < 3 && ways[i].threads[count]; count++)
            pthread_create(&threads[count], NULL, ways[i].threads[count], NULL);
        while (count > 0)
            pthread_join(threads[--count], NULL);
        puts("done");
        return 0;
    }
    return 2;
}
