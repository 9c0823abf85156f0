/* Two locks, taken in both orders.
 * bug: deadlock
 * depth: 2
 * fails: deadlock
 * place: A
 */
#include "catalogue.h"

static pthread_mutex_t a = LOCK, b = LOCK;
static int x, y;

static void *one(void *unused)
{
    lock(&a);
    lock(&b); /* A */
    x = ++y;
    unlock(&b);
    unlock(&a);
    return unused;
}

static void *two(void *unused)
{
#ifdef FIXED
    lock(&a);
    lock(&b);
#else
    lock(&b);
    lock(&a);
#endif
    y = ++x;
    unlock(&a);
    unlock(&b);
    return unused;
}

int main(void)
{
    both(one, two);
    return 0;
}
