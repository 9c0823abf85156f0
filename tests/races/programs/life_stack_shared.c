/* A local variable that another thread writes while its own one reads it.
 * race: * w:A r:B
 */
#include "races.h"

static int *_Atomic address;

static void *one(void *unused)
{
    volatile int local = 0;
    atomic_store_explicit(&address, (int *)&local, memory_order_release);
    await(1);
    USE(local); /* B */
    pass(2);
    await(3);
    return NULL;
}

static void *two(void *unused)
{
    int *p;
    while (!(p = atomic_load_explicit(&address, memory_order_acquire)))
        usleep(100);
    *p = 1; /* A */
    pass(1);
    await(2);
    pass(3);
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
