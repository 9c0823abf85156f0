/*
 * Runs of two threads that a prediction is made from, and runs that go another way: ways WAY. What each way does is in
 * its functions; `late` ways have the same events as the way without, at a pace at which they come out wrong unless
 * somebody makes the threads wait for each other.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <portent.h>

static int x, y, z, w;
static int n; /* no property names it */
static int s1, s2, s3;
static int *cell;
static int done; /* under `m` */
static const char *way;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static void pause_ms(int ms)
{
    usleep((useconds_t)ms * 1000);
}

static int is(const char *name)
{
    return strcmp(way, name) == 0;
}

/* x, z of `a` and y of `b`, which depends on x. As predicted, y comes before z. */
static void *a(void *unused)
{
    pause_ms(is("late") ? 40 : 0);
    x = 1;
    if (is("blocked"))
        pthread_mutex_lock(&m);
    pause_ms(40);
    z = 1;
    if (is("blocked"))
        pthread_mutex_unlock(&m);
    pthread_mutex_lock(&m);
    done = 1;
    pthread_cond_broadcast(&c);
    pthread_mutex_unlock(&m);
    return unused;
}

static void other_ways(void)
{
    if (is("blocked")) {
        pthread_mutex_lock(&m);
        pthread_mutex_unlock(&m);
    }
    pthread_mutex_lock(&m);
    while (is("condition") && !done)
        pthread_cond_wait(&c, &m);
    pthread_mutex_unlock(&m);
    if (is("slow") || is("held")) {
        puts("begun");
        fflush(stdout);
        pause_ms(is("slow") ? 600000 : 1500);
    }
    if (is("crash"))
        raise(SIGSEGV);
    if (is("other"))
        z = 7;
}

static void *b(void *unused)
{
    pause_ms(is("late") ? 0 : 20);
    int k = x;
    if (is("other") || is("slow") || is("held") || is("crash") || is("blocked") || is("condition"))
        other_ways();
    pause_ms(is("late") ? 0 : 60);
    if (!is("nothing"))
        y = k + (is("values") ? 20 : 10);
    return unused;
}

/* The same where a lock carries the dependence. */
static void *lock_a(void *unused)
{
    pause_ms(is("locks-late") ? 40 : 0);
    pthread_mutex_lock(&m);
    n = 1;
    x = 1;
    pthread_mutex_unlock(&m);
    pause_ms(40);
    z = 1;
    return unused;
}

static void *lock_b(void *unused)
{
    pause_ms(is("locks-late") ? 0 : 20);
    pthread_mutex_lock(&m);
    int k = n;
    pthread_mutex_unlock(&m);
    pause_ms(is("locks-late") ? 0 : 60);
    y = k + 10;
    return unused;
}

/* `rest_b` writes y after `rest_a` has read it: y depends on x, through a read that comes after x. */
static void *rest_a(void *unused)
{
    x = 1;
    pause_ms(is("rest-late") ? 2 : 0);
    int k = y;
    pause_ms(is("rest-late") ? 0 : 80);
    z = k + 1;
    return unused;
}

static void *rest_b(void *unused)
{
    pause_ms(is("rest-late") ? 0 : 20);
    y = 5;
    pause_ms(is("rest-late") ? 40 : 20);
    w = 1;
    return unused;
}

/* Threads that differ by their ordinals only. */
static void *worker(void *number)
{
    int me = *(int *)number;
    pause_ms(20 * me);
    *(me == 1 ? &s1 : me == 2 ? &s2 : &s3) = 1;
    return NULL;
}

/* An object of the heap, and a user event. */
static void *heap_a(void *unused)
{
    *cell = 2;
    return unused;
}

static void *heap_b(void *unused)
{
    pause_ms(30);
    portent_event("closed");
    return unused;
}

static void both(void *(*first)(void *), void *(*second)(void *))
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, first, NULL);
    if (second)
        pthread_create(&threads[1], NULL, second, NULL);
    for (int i = 0; i < (second ? 2 : 1); i++)
        pthread_join(threads[i], NULL);
}

static void workers(void)
{
    static int numbers[] = {1, 2, 3};
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, worker, &numbers[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv)
{
    way = argc > 1 ? argv[1] : "first";
    if (is("long")) {
        for (int i = 2; i < 10000; i++)
            x = i;
    }
    if (strncmp(way, "locks", 5) == 0) {
        both(lock_a, lock_b);
    } else if (strncmp(way, "rest", 4) == 0) {
        both(rest_a, rest_b);
    } else if (is("workers")) {
        workers();
    } else if (is("heap")) {
        cell = calloc(1, sizeof *cell);
        portent_watch(cell, sizeof *cell, PORTENT_INT, "balance");
        both(heap_a, heap_b);
        free(cell);
    } else {
        both(a, is("alone") ? NULL : b);
    }
    puts("done");
    fflush(stdout);
    while (is("forever"))
        pause();
    return 0;
}
