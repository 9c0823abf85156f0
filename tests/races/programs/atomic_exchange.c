/* An exchange that releases, and one that acquires.
 * race: none
 */
#include "races.h"

static atomic_int flag;
static int x;

static void *one(void *unused)
{
    x = 1;
    atomic_exchange_explicit(&flag, 1, memory_order_release);
    return NULL;
}

static void *two(void *unused)
{
    while (!atomic_exchange_explicit(&flag, 0, memory_order_acquire))
        usleep(100);
    x = 2;
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
