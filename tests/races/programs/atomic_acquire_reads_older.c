/* An acquire load that reads the value from before the release store orders nothing.
 * race: x w:A w:B
 */
#include "races.h"

static atomic_int flag;
static int x;

static void *one(void *unused)
{
    await(1);
    x = 1; /* A */
    atomic_store_explicit(&flag, 1, memory_order_release);
    pass(2);
    return NULL;
}

static void *two(void *unused)
{
    NEED(!atomic_load_explicit(&flag, memory_order_acquire));
    pass(1);
    await(2);
    x = 2; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
