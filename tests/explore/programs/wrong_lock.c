/* One of four threads takes another lock than the rest.
 * bug: wrong lock
 * depth: 2
 * fails: status
 * place: A
 */
#include "catalogue.h"

static _Atomic int total;
static pthread_mutex_t right = LOCK, wrong = LOCK;

static void add(pthread_mutex_t *mutex)
{
    lock(mutex);
    int seen = total;
    total = seen + 1; /* A */
    unlock(mutex);
}

static void *good(void *unused)
{
    add(&right);
    return unused;
}

static void *bad(void *unused)
{
#ifdef FIXED
    add(&right);
#else
    add(&wrong);
#endif
    return unused;
}

int main(void)
{
    pthread_t threads[4];
    lock(&wrong);
    unlock(&wrong);
    for (int i = 0; i < 4; i++)
        threads[i] = start(i == 2 ? bad : good, NULL);
    for (int i = 0; i < 4; i++)
        join(threads[i]);
    printf("total %d\n", total);
    return total == 4 ? 0 : 4;
}
