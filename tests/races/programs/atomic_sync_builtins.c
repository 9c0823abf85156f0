/* GCC's older functions: a spin lock of __sync_lock_test_and_set, a counter of __sync_fetch_and_add.
 * race: none
 */
#include "races.h"

static int lock, count, x;

static void *one(void *unused)
{
    for (int i = 0; i < 10; i++) {
        while (__sync_lock_test_and_set(&lock, 1))
            usleep(50);
        x++;
        __sync_lock_release(&lock);
        __sync_fetch_and_add(&count, 1);
    }
    return NULL;
}

int main(void)
{
    both(one, one);
    return x != 20 || count != 20;
}
