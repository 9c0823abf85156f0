/* C11's thrd_sleep instead of a join: what the worker adds may come too late.
 * bug: sleep as synchronisation
 * depth: 1
 * fails: status
 * place: A
 */
#include "catalogue.h"

static mtx_t m;
static int sum;

static int worker(void *unused)
{
    (void)unused;
    for (int i = 1; i <= 3; i++) {
        mtx_lock(&m);
        sum += i;
        mtx_unlock(&m);
    }
    return 0;
}

int main(void)
{
    thrd_t thread;
    mtx_init(&m, mtx_plain);
    NEED(thrd_create(&thread, worker, NULL) == thrd_success);
#ifdef FIXED
    thrd_join(thread, NULL);
#else
    thrd_sleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* A */
#endif
    mtx_lock(&m);
    int seen = sum;
    mtx_unlock(&m);
#ifndef FIXED
    thrd_join(thread, NULL);
#endif
    printf("sum %d\n", seen);
    return seen == 6 ? 0 : 2;
}
