/* A condition variable as if it kept its signals: if the signaller is first, the waiter waits for ever.
 * bug: lost wake-up
 * depth: 1
 * fails: lost-wakeup
 * place: A
 */
#include "catalogue.h"

static pthread_mutex_t m = LOCK;
static pthread_cond_t c = WAITER;
static int ready;

static void *waiter(void *unused)
{
    lock(&m);
#ifdef FIXED
    while (!ready)
#endif
        pthread_cond_wait(&c, &m); /* A */
    unlock(&m);
    return unused;
}

int main(void)
{
    pthread_t thread = start(waiter, NULL);
    usleep(20000); /* "it will be waiting by now" */
    lock(&m);
    ready = 1;
    pthread_cond_signal(&c);
    unlock(&m);
    join(thread);
    return 0;
}
