/* Both workers of a pool wait for jobs that are in its queue.
 * bug: deadlock
 * depth: 1
 * fails: lost-wakeup|deadlock
 * place: A
 */
#include "catalogue.h"

enum { PARENT = 1, CHILD };
static pthread_mutex_t m = LOCK;
static pthread_cond_t changed = WAITER;
static int queue[8], first, last, children, ended, stop;

static void put(int job)
{
    queue[last++] = job;
    pthread_cond_broadcast(&changed);
}

static void run_job(void)
{
    int job = queue[first++];
    if (job == CHILD)
        children++;
    else {
        int wanted = ++ended;
        put(CHILD);
#ifdef FIXED
        while (children < wanted && first < last)
            run_job();
#endif
        while (children < wanted)
            pthread_cond_wait(&changed, &m); /* A */
    }
    pthread_cond_broadcast(&changed);
}

static void *worker(void *unused)
{
    lock(&m);
    while (!stop || first < last) {
        if (first < last)
            run_job();
        else
            pthread_cond_wait(&changed, &m);
    }
    unlock(&m);
    return unused;
}

int main(void)
{
    pthread_t one = start(worker, NULL), two = start(worker, NULL);
    for (int i = 0; i < 2; i++) {
        lock(&m);
        put(PARENT);
        unlock(&m);
        usleep(20000);
    }
    lock(&m);
    stop = 1;
    pthread_cond_broadcast(&changed);
    unlock(&m);
    join(one);
    join(two);
    return 0;
}
