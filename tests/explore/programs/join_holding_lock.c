/* main waits for the worker's end while it holds the lock that the worker needs.
 * bug: deadlock
 * depth: 1
 * fails: deadlock
 * place: A
 */
#include "catalogue.h"

static pthread_mutex_t m = LOCK;
static int result;

static void *worker(void *unused)
{
    lock(&m);
    result++;
    unlock(&m);
    return unused;
}

int main(void)
{
    pthread_t thread = start(worker, NULL);
    usleep(20000); /* other work */
#ifdef FIXED
    join(thread);
    lock(&m);
#else
    lock(&m);
    join(thread); /* A */
#endif
    int seen = result;
    unlock(&m);
    return seen == 1 ? 0 : 98;
}
