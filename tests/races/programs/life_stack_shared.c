/* A local variable that another thread writes and its own one reads. Its thread ends only when that is over.
 * race: * w:A r:B
 */
#include "races.h"

static int *_Atomic address;
static sem_t over;

static void *one(void *unused)
{
    volatile int local = 0;
    atomic_store_explicit(&address, (int *)&local, memory_order_release);
    await(1);
    USE(local); /* B */
    sem_wait(&over);
    return NULL;
}

static void *two(void *unused)
{
    int *p;
    while (!(p = atomic_load_explicit(&address, memory_order_acquire)))
        usleep(100);
    *p = 1; /* A */
    pass(1);
    sem_post(&over);
    return NULL;
}

int main(void)
{
    sem_init(&over, 0, 0);
    both(one, two);
    return 0;
}
