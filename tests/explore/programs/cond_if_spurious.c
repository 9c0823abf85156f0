/* One consumer, one producer, nobody can steal: only a wake-up without a cause shows that it does not look again.
 * bug: if instead of while
 * depth: 1
 * fails: signal
 * options: --spurious=1
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
    lock(&m);
    items++;
    pthread_cond_signal(&filled);
    unlock(&m);
    return unused;
}

int main(void)
{
    both(consumer, producer);
    return 0;
}
