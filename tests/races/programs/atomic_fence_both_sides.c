/* Relaxed accesses between a release and an acquire fence.
 * race: none
 * tsan: x w:A w:B, it does not know fences
 */
#include "races.h"

static atomic_int flag;
static int x;

static void *one(void *unused)
{
    x = 1; /* A */
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&flag, 1, memory_order_relaxed);
    return NULL;
}

static void *two(void *unused)
{
    while (!atomic_load_explicit(&flag, memory_order_relaxed))
        usleep(100);
    atomic_thread_fence(memory_order_acquire);
    x = 2; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
