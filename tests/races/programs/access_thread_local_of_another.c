/* A pointer to another thread's variable. The thread ends only when that is over.
 * race: * w:A w:B
 * tsan: the write of the thread's start, which it makes up, instead of w:A; it reports one race of an access
 */
#include "races.h"

static _Thread_local int mine;
static int *_Atomic address;
static sem_t over;

static void *one(void *unused)
{
    mine = 1; /* A */
    atomic_store_explicit(&address, &mine, memory_order_relaxed);
    pass(1);
    sem_wait(&over);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    *atomic_load_explicit(&address, memory_order_relaxed) = 2; /* B */
    sem_post(&over);
    return NULL;
}

int main(void)
{
    sem_init(&over, 0, 0);
    both(one, two);
    return 0;
}
