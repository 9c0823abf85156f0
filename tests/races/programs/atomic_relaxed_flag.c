/* A relaxed flag orders nothing.
 * race: x w:A w:B
 */
#include "races.h"

static atomic_int flag;
static int x;

static void *one(void *unused)
{
    x = 1; /* A */
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return NULL;
}

static void *two(void *unused)
{
    while (!atomic_load_explicit(&flag, memory_order_relaxed))
        usleep(100);
    x = 2; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
