/* Loops until time has passed, which nobody else makes pass: alone, and with another thread that waits. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int turns;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void wait_for(double seconds)
{
    for (double end = now() + seconds; now() < end;)
        turns++;
}

static void *worker(void *unused)
{
    pthread_mutex_lock(&lock);
    turns = 0;
    wait_for(1);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    double begun = now();
    wait_for(5);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return now() - begun < 7 ? 1 : 0;
}
