/* Relaxed updates order nothing, though both threads are in one chain of them.
 * race: x w:A w:B
 */
#include "races.h"

static atomic_int count;
static int x;

static void *one(void *unused)
{
    x = 1; /* A */
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    NEED(atomic_fetch_add_explicit(&count, 1, memory_order_relaxed) == 1);
    x = 2; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
