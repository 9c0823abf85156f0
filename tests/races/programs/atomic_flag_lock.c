/* A lock of an atomic flag.
 * race: none
 */
#include "races.h"

static atomic_flag lock = ATOMIC_FLAG_INIT;
static int x;

static void *one(void *unused)
{
    for (int i = 0; i < 10; i++) {
        while (atomic_flag_test_and_set_explicit(&lock, memory_order_acquire))
            usleep(50);
        x++;
        atomic_flag_clear_explicit(&lock, memory_order_release);
    }
    return NULL;
}

int main(void)
{
    both(one, one);
    return x != 20;
}
