/* A fence for signal handlers is none between threads.
 * race: x w:A w:B
 */
#include "races.h"

static atomic_int flag;
static int x;

static void *one(void *unused)
{
    x = 1; /* A */
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    NEED(atomic_load_explicit(&flag, memory_order_relaxed));
    atomic_signal_fence(memory_order_seq_cst);
    x = 2; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
