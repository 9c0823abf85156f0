/* Reading and writing take the lock, each for itself.
 * bug: lost update
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static int value;
static pthread_mutex_t m = LOCK;

#ifndef FIXED
static int get(void)
{
    lock(&m);
    int seen = value;
    unlock(&m);
    return seen;
}

static void set(int to)
{
    lock(&m);
    value = to; /* A */
    unlock(&m);
}
#endif

static void *add(void *unused)
{
#ifdef FIXED
    lock(&m);
    value += 10;
    unlock(&m);
#else
    set(get() + 10);
#endif
    return unused;
}

int main(void)
{
    both(add, add);
    assert(value == 20);
    return 0;
}
