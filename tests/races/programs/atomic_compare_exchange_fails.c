/* A compare-exchange that fails is a load of its second order: relaxed, here.
 * race: x w:A w:B
 */
#include "races.h"

static atomic_int flag;
static int x;

static void *one(void *unused)
{
    x = 1; /* A */
    atomic_store_explicit(&flag, 1, memory_order_release);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    int expected = 5;
    await(1);
    NEED(!atomic_compare_exchange_strong_explicit(&flag, &expected, 6, memory_order_seq_cst, memory_order_relaxed));
    NEED(expected == 1);
    x = 2; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
