/* The waiter looks at the flag before it takes the lock: the signal comes in between.
 * bug: lost wake-up
 * depth: 2
 * fails: lost-wakeup
 * place: A
 */
#include "catalogue.h"

static pthread_mutex_t m = LOCK;
static pthread_cond_t c = WAITER;
static _Atomic int ready;

static void *waiter(void *unused)
{
#ifdef FIXED
    lock(&m);
    while (!ready)
        pthread_cond_wait(&c, &m);
    unlock(&m);
#else
    if (!ready) {
        lock(&m); /* A */
        pthread_cond_wait(&c, &m);
        unlock(&m);
    }
#endif
    return unused;
}

static void *signaller(void *unused)
{
    lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    unlock(&m);
    return unused;
}

int main(void)
{
    both(waiter, signaller);
    return 0;
}
