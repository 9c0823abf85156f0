/* A consumer waits with the outer lock, which the producer needs to wake it.
 * bug: nested monitor
 * depth: 1
 * fails: deadlock|lost-wakeup
 * place: A
 */
#include "catalogue.h"

static pthread_mutex_t outer = LOCK, inner = LOCK;
static pthread_cond_t filled = WAITER;
static int items;

static void *producer(void *unused)
{
    lock(&outer);
    lock(&inner);
    items++;
    pthread_cond_signal(&filled);
    unlock(&inner);
    unlock(&outer);
    return unused;
}

static void *consumer(void *unused)
{
    lock(&outer);
#ifdef FIXED
    unlock(&outer);
#endif
    lock(&inner);
    while (items == 0)
        pthread_cond_wait(&filled, &inner); /* A */
    items--;
    unlock(&inner);
#ifndef FIXED
    unlock(&outer);
#endif
    return unused;
}

int main(void)
{
    pthread_t one = start(producer, NULL);
    usleep(20000);
    pthread_t two = start(consumer, NULL);
    join(one);
    join(two);
    return 0;
}
