/* Nobody looks whether the wait ended because of the data or of the time.
 * bug: time-out
 * depth: 1
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static pthread_mutex_t m = LOCK;
static pthread_cond_t c = WAITER;
static int ready;

static void *producer(void *unused)
{
    lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    unlock(&m);
    return unused;
}

static void *consumer(void *unused)
{
    struct timespec until = in_ms(400);
    lock(&m);
    int timed_out = 0;
    while (!ready && !timed_out)
        timed_out = pthread_cond_timedwait(&c, &m, &until) == ETIMEDOUT; /* A */
#ifdef FIXED
    if (!timed_out)
#endif
        assert(ready);
    unlock(&m);
    return unused;
}

int main(void)
{
    both(consumer, producer);
    return 0;
}
