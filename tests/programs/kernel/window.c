/*
 * A check and an action in two sections of a lock: window ROUNDS
 *
 * Two threads take from a balance that is enough for one. The first is done with both sections long before the other
 * comes, LATER nanoseconds after it, unless it is as late for its second section: then both take. Prints how often that
 * was.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LATER = 30000 };

int balance;
static atomic_int begun;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *draw(void *unused)
{
    pthread_mutex_lock(&lock);
    int enough = balance >= 10;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    if (enough)
        balance -= 10;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *draw_first(void *unused)
{
    atomic_store_explicit(&begun, 1, memory_order_relaxed);
    return draw(unused);
}

static void *draw_later(void *unused)
{
    const struct timespec a_moment = {.tv_nsec = 1000}, later = {.tv_nsec = LATER};
    while (!atomic_load_explicit(&begun, memory_order_relaxed))
        nanosleep(&a_moment, NULL);
    nanosleep(&later, NULL);
    return draw(unused);
}

int main(int count, char **words)
{
    int overdrawn = 0, rounds = count > 1 ? atoi(words[1]) : 1;
    for (int i = 0; i < rounds; i++) {
        pthread_t first, second;
        balance = 10;
        atomic_store_explicit(&begun, 0, memory_order_relaxed);
        if (pthread_create(&first, NULL, draw_first, NULL) || pthread_create(&second, NULL, draw_later, NULL))
            return 1;
        pthread_join(first, NULL);
        pthread_join(second, NULL);
        overdrawn += balance < 0;
    }
    printf("%d\n", overdrawn);
    return 0;
}
