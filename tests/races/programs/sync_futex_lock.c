/* A mutex of one word and futex calls, as libraries write them.
 * race: none
 */
#include "races.h"
#include <linux/futex.h>
#include <sys/syscall.h>

static atomic_int word;
static int x;

static void lock(void)
{
    int none = 0;
    if (atomic_compare_exchange_strong_explicit(&word, &none, 1, memory_order_acquire, memory_order_relaxed))
        return;
    while (atomic_exchange_explicit(&word, 2, memory_order_acquire) != 0)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void unlock(void)
{
    if (atomic_exchange_explicit(&word, 0, memory_order_release) == 2)
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *one(void *unused)
{
    for (int i = 0; i < 20; i++) {
        lock();
        x++;
        unlock();
    }
    return NULL;
}

int main(void)
{
    both(one, one);
    return x != 40;
}
