/* A pool's shutdown sets its flag and wakes everybody without the lock: a worker about to wait misses it.
 * bug: lost wake-up
 * depth: 2
 * fails: lost-wakeup
 * place: A
 */
#include "catalogue.h"

static pthread_mutex_t m = LOCK;
static pthread_cond_t work = WAITER;
static _Atomic int stop;
static int jobs = 2, done;

static void *worker(void *unused)
{
    lock(&m);
    for (;;) {
        if (jobs > 0) {
            jobs--;
            done++;
        } else if (stop)
            break;
        else
            pthread_cond_wait(&work, &m); /* A */
    }
    unlock(&m);
    return unused;
}

int main(void)
{
    pthread_t one = start(worker, NULL), two = start(worker, NULL);
#ifdef FIXED
    lock(&m);
#endif
    stop = 1;
    pthread_cond_broadcast(&work);
#ifdef FIXED
    unlock(&m);
#endif
    join(one);
    join(two);
    return done == 2 ? 0 : 98;
}
