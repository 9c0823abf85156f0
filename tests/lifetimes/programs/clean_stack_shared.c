/* A thread uses its parent's local, which outlives it.
 * life: none
 */
#include "races.h"

static void *one(void *number)
{
    *(volatile int *)number = 5;
    return NULL;
}

static __attribute__((noinline)) int deeper(int depth)
{
    volatile int local = depth;
    pthread_join(start(one, (void *)&local), NULL);
    return depth ? deeper(depth - 1) + local : local;
}

int main(void)
{
    NEED(deeper(10) == 55);
    return 0;
}
