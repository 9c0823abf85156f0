/* A lock of one compare-exchange that acquires and a store that releases.
 * race: none
 */
#include "races.h"

static atomic_int lock;
static int x;

static void *one(void *unused)
{
    for (int i = 0; i < 10; i++) {
        int none = 0;
        while (!atomic_compare_exchange_weak_explicit(&lock, &none, 1, memory_order_acquire, memory_order_relaxed)) {
            none = 0;
            usleep(50);
        }
        x++;
        atomic_store_explicit(&lock, 0, memory_order_release);
    }
    return NULL;
}

int main(void)
{
    both(one, one);
    return x != 20;
}
