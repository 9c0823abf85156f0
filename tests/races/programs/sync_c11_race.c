/* Threads of C11 that have no lock in common.
 * race: x w:A w:B
 * tsan: nothing, it does not know threads of C11
 */
#include "races.h"
#include <threads.h>

static mtx_t lock;
static int x;

static int one(void *unused)
{
    mtx_lock(&lock);
    x = 1; /* A */
    mtx_unlock(&lock);
    return 0;
}

static int two(void *unused)
{
    x = 2; /* B */
    return 0;
}

int main(void)
{
    thrd_t a, b;
    mtx_init(&lock, mtx_plain);
    NEED(thrd_create(&a, one, NULL) == thrd_success);
    NEED(thrd_create(&b, two, NULL) == thrd_success);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    return x == 0;
}
