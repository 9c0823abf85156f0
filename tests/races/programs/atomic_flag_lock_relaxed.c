/* The same lock, freed by a relaxed store.
 * race: x w:A w:B
 */
#include "races.h"

static atomic_flag lock = ATOMIC_FLAG_INIT;
static int x;

static void *one(void *unused)
{
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        usleep(50);
    x = 1; /* A */
    atomic_flag_clear_explicit(&lock, memory_order_relaxed);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
        usleep(50);
    x = 2; /* B */
    atomic_flag_clear_explicit(&lock, memory_order_relaxed);
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
