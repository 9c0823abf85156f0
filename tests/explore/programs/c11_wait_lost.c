/* C11's condition variable is signalled after the flag, both without the lock.
 * bug: lost wake-up
 * depth: 2
 * fails: lost-wakeup
 * place: A
 */
#include "catalogue.h"

static mtx_t m;
static cnd_t c;
static _Atomic int ready;

static int waiter(void *unused)
{
    (void)unused;
    mtx_lock(&m);
    while (!ready)
        cnd_wait(&c, &m); /* A */
    mtx_unlock(&m);
    return 0;
}

static int signaller(void *unused)
{
    (void)unused;
#ifdef FIXED
    mtx_lock(&m);
#endif
    ready = 1;
    cnd_signal(&c);
#ifdef FIXED
    mtx_unlock(&m);
#endif
    return 0;
}

int main(void)
{
    thrd_t one, two;
    mtx_init(&m, mtx_plain);
    cnd_init(&c);
    NEED(thrd_create(&one, waiter, NULL) == thrd_success);
    NEED(thrd_create(&two, signaller, NULL) == thrd_success);
    thrd_join(one, NULL);
    thrd_join(two, NULL);
    return 0;
}
