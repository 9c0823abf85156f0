/*
 * Programs that fail in another order than that of the run they have here, one for each way that the order is another:
 * docs/prediction.md tells of them. Pauses make the first thread come first, and so every run passes.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static int config, serving, level, counter, shared;
static atomic_int flag, done;

/* access: nothing keeps the two writes apart. */
static void *load(void *unused)
{
    config = 1;
    return unused;
}

static void *serve(void *unused)
{
    usleep(50000);
    serving = 1;
    return unused;
}

/* sync: both lock, but the second one reads nothing of the first: that one may come later, or not at all. */
static void *load_locked(void *unused)
{
    pthread_mutex_lock(&m);
    config = 1;
    pthread_mutex_unlock(&m);
    return unused;
}

static void *serve_locked(void *unused)
{
    usleep(50000);
    pthread_mutex_lock(&m);
    serving = 1;
    pthread_mutex_unlock(&m);
    return unused;
}

/* values: both write under the lock, and the wrong one may be last. */
static void *raise_level(void *unused)
{
    pthread_mutex_lock(&m);
    level = 1;
    pthread_mutex_unlock(&m);
    return unused;
}

static void *drop_level(void *unused)
{
    usleep(50000);
    pthread_mutex_lock(&m);
    level = 2;
    pthread_mutex_unlock(&m);
    return unused;
}

/* values, without a lock: whoever waits for the flag sees a flag, no matter whose. */
static void *load_and_say(void *unused)
{
    config = 1;
    atomic_store(&flag, 1);
    return unused;
}

static void *serve_when_said(void *unused)
{
    usleep(50000);
    if (atomic_load(&flag))
        serving = 1;
    return unused;
}

static void *say_nothing(void *unused)
{
    usleep(100000);
    atomic_store(&flag, 1);
    return unused;
}

/* Races: a lock that only happens to order the accesses, outside of it and inside. */
static void *count_before(void *unused)
{
    counter++;
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    return unused;
}

static void *count_inside(void *unused)
{
    pthread_mutex_lock(&m);
    counter++;
    pthread_mutex_unlock(&m);
    return unused;
}

static void *count_after(void *unused)
{
    usleep(50000);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    counter++;
    return unused;
}

/* Deadlocks: two locks in both orders; the second program's threads have done more before. */
static void *outer_first(void *unused)
{
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&n);
    shared++;
    pthread_mutex_unlock(&n);
    pthread_mutex_unlock(&m);
    return unused;
}

static void *inner_first(void *unused)
{
    usleep(50000);
    pthread_mutex_lock(&n);
    pthread_mutex_lock(&m);
    shared++;
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&n);
    return unused;
}

static void *write_first(void *unused)
{
    pthread_mutex_lock(&m);
    pthread_mutex_lock(&n);
    pthread_mutex_unlock(&n);
    pthread_mutex_unlock(&m);
    return unused;
}

static void *write_later(void *unused)
{
    usleep(50000);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_mutex_lock(&n);
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&n);
    return unused;
}

static const struct way {
    const char *name;
    void *(*threads[3])(void *);
} ways[] = {
    {"access", {load, serve}},
    {"sync", {load_locked, serve_locked}},
    {"values", {raise_level, drop_level}},
    {"flag", {load_and_say, serve_when_said, say_nothing}},
    {"race-sync", {count_before, count_after}},
    {"race-values", {count_inside, count_after}},
    {"deadlock-sync", {outer_first, inner_first}},
    {"deadlock-values", {write_first, write_later}},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways && argc > 1; i++) {
        pthread_t threads[3];
        int count = 0;
        if (strcmp(ways[i].name, argv[1]) != 0)
            continue;
        for (; count < 3 && ways[i].threads[count]; count++)
            pthread_create(&threads[count], NULL, ways[i].threads[count], NULL);
        while (count > 0)
            pthread_join(threads[--count], NULL);
        atomic_store(&done, 1);
        puts("done");
        return 0;
    }
    return 2;
}
