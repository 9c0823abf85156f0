/* Atomic accesses do not race with each other, whatever their orders.
 * race: none
 */
#include "races.h"

static atomic_int count;

static void *one(void *unused)
{
    for (int i = 0; i < 20; i++)
        atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    atomic_store_explicit(&count, 5, memory_order_relaxed);
    USE(atomic_load_explicit(&count, memory_order_relaxed));
    return NULL;
}

int main(void)
{
    both(one, one);
    return atomic_load_explicit(&count, memory_order_relaxed) < 5;
}
