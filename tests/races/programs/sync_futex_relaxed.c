/* A futex is woken for which nobody waits, and its word is relaxed: nothing orders what was written.
 * race: x w:A w:B
 */
#include "races.h"
#include <linux/futex.h>
#include <sys/syscall.h>

static atomic_int word;
static int x;

static void *one(void *unused)
{
    x = 1; /* A */
    atomic_store_explicit(&word, 1, memory_order_relaxed);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    NEED(atomic_load_explicit(&word, memory_order_relaxed));
    x = 2; /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
