/* The same with an acquiring second order.
 * race: none
 */
#include "races.h"

static atomic_int flag;
static int x;

static void *one(void *unused)
{
    x = 1;
    atomic_store_explicit(&flag, 1, memory_order_release);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    int expected = 5;
    await(1);
    NEED(!atomic_compare_exchange_strong_explicit(&flag, &expected, 6, memory_order_relaxed, memory_order_acquire));
    x = 2;
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
