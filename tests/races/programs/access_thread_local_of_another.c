/* A pointer to another thread's variable.
 * race: * w:A w:B
 * tsan: the write of the thread's start, which it makes up, instead of w:A; it reports one race of an access
 */
#include "races.h"

static _Thread_local int mine;
static int *_Atomic address;

static void *one(void *unused)
{
    mine = 1; /* A */
    atomic_store_explicit(&address, &mine, memory_order_relaxed);
    pass(1);
    await(2);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    *atomic_load_explicit(&address, memory_order_relaxed) = 2; /* B */
    pass(2);
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
