/* Two producers and two consumers share one condition, whose signal wakes the wrong one.
 * bug: signal instead of broadcast
 * depth: 3
 * fails: lost-wakeup
 * place: A
 */
#include "catalogue.h"

static pthread_mutex_t m = LOCK;
static pthread_cond_t changed = WAITER;
static int full;

static void wake(void)
{
#ifdef FIXED
    pthread_cond_broadcast(&changed);
#else
    pthread_cond_signal(&changed); /* A */
#endif
}

static void *producer(void *unused)
{
    for (int i = 0; i < 2; i++) {
        lock(&m);
        while (full)
            pthread_cond_wait(&changed, &m);
        full = 1;
        wake();
        unlock(&m);
    }
    return unused;
}

static void *consumer(void *unused)
{
    for (int i = 0; i < 2; i++) {
        lock(&m);
        while (!full)
            pthread_cond_wait(&changed, &m);
        full = 0;
        wake();
        unlock(&m);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        threads[i] = start(i % 2 ? consumer : producer, NULL);
        if (i == 1)
            usleep(10000);
    }
    for (int i = 0; i < 4; i++)
        join(threads[i]);
    return 0;
}
