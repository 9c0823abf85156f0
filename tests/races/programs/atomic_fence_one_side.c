/* A release fence whose other side neither acquires nor has a fence.
 * race: x w:A w:B
 */
#include "races.h"

static atomic_int flag;
static int x;

static void *one(void *unused)
{
    x = 1; /* A */
    atomic_thread_fence(memory_order_seq_cst);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    NEED(atomic_load_explicit(&flag, memory_order_relaxed));
    x = 2; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
