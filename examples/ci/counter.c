/* The bug: `counter_peek` reads without the lock. "It is only for display." */
#include "counter.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

void counter_add(int n)
{
    pthread_mutex_lock(&lock);
    total += n;
    pthread_mutex_unlock(&lock);
}

int counter_get(void)
{
    pthread_mutex_lock(&lock);
    int now = total;
    pthread_mutex_unlock(&lock);
    return now;
}

int counter_peek(void)
{
    return total;
}
