/* A consumer that was woken does not look again: another one has taken the item before it had the lock.
 * bug: if instead of while
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static pthread_mutex_t m = LOCK;
static pthread_cond_t filled = WAITER;
static int items;

static void *consumer(void *unused)
{
    lock(&m);
#ifdef FIXED
    while (items == 0)
#else
    if (items == 0)
#endif
        pthread_cond_wait(&filled, &m); /* A */
    assert(items > 0);
    items--;
    unlock(&m);
    return unused;
}

static void *producer(void *unused)
{
    for (int i = 0; i < 2; i++) {
        lock(&m);
        items++;
        pthread_cond_signal(&filled);
        unlock(&m);
    }
    return unused;
}

int main(void)
{
    pthread_t one = start(consumer, NULL);
    usleep(5000);
    pthread_t two = start(producer, NULL);
    usleep(5000);
    pthread_t three = start(consumer, NULL);
    join(one);
    join(two);
    join(three);
    return 0;
}
