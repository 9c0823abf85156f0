/* C11's threads and mutexes: reading and writing each take the lock.
 * bug: lost update
 * depth: 2
 * fails: status
 * place: A
 */
#include "catalogue.h"

static mtx_t m;
static int count;

static int add(void *unused)
{
    (void)unused;
    mtx_lock(&m);
    int seen = count;
#ifndef FIXED
    mtx_unlock(&m);
    mtx_lock(&m);
#endif
    count = seen + 1; /* A */
    mtx_unlock(&m);
    return 0;
}

int main(void)
{
    thrd_t threads[2];
    mtx_init(&m, mtx_plain);
    for (int i = 0; i < 2; i++)
        NEED(thrd_create(&threads[i], add, NULL) == thrd_success);
    for (int i = 0; i < 2; i++)
        thrd_join(threads[i], NULL);
    return count == 2 ? 0 : 1;
}
