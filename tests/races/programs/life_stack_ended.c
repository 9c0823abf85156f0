/* The end of a thread ends its stack, whoever still uses it: here that was before.
 * race: * w:A free:none
 * tsan: nothing, it forgets the stack
 */
#include "races.h"

static int *_Atomic address;

static void *one(void *unused)
{
    volatile int local = 0;
    atomic_store_explicit(&address, (int *)&local, memory_order_release);
    await(1);
    return NULL;
}

static void *two(void *unused)
{
    int *p;
    while (!(p = atomic_load_explicit(&address, memory_order_acquire)))
        usleep(100);
    *p = 1; /* A */
    pass(1);
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
