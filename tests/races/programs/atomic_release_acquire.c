/* A release store and the acquire load that reads it.
 * race: none
 */
#include "races.h"

static atomic_int flag;
static int x;

static void *one(void *unused)
{
    x = 1;
    atomic_store_explicit(&flag, 1, memory_order_release);
    return NULL;
}

static void *two(void *unused)
{
    while (!atomic_load_explicit(&flag, memory_order_acquire))
        usleep(100);
    x++;
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
