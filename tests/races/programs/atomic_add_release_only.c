/* The last thread to count releases only: what the others wrote is not ordered before what it does.
 * race: x w:A w:B
 */
#include "races.h"

static atomic_int left = 2;
static int x;

static void *one(void *unused)
{
    x = 1; /* A */
    atomic_fetch_sub_explicit(&left, 1, memory_order_release);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    NEED(atomic_fetch_sub_explicit(&left, 1, memory_order_release) == 1);
    x = 2; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
