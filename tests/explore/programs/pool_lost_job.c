/* A worker that sees the stop leaves, whether there are jobs or not.
 * bug: shutdown race
 * depth: 1
 * fails: status
 * place: A
 */
#include "catalogue.h"

static pthread_mutex_t m = LOCK;
static pthread_cond_t work = WAITER;
static int stop, jobs, done;

static void *worker(void *unused)
{
    lock(&m);
    for (;;) {
        while (jobs == 0 && !stop)
            pthread_cond_wait(&work, &m);
#ifdef FIXED
        if (jobs == 0)
            break;
#else
        if (stop) /* A */
            break;
#endif
        jobs--;
        done++;
    }
    unlock(&m);
    return unused;
}

int main(void)
{
    pthread_t one = start(worker, NULL), two = start(worker, NULL);
    for (int i = 0; i < 3; i++) {
        lock(&m);
        jobs++;
        pthread_cond_signal(&work);
        unlock(&m);
    }
    usleep(20000); /* other work */
    lock(&m);
    stop = 1;
    pthread_cond_broadcast(&work);
    unlock(&m);
    join(one);
    join(two);
    printf("done %d\n", done);
    return done == 3 ? 0 : 5;
}
