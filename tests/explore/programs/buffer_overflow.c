/* Whether the buffer has room is asked before the lock is taken.
 * bug: check-then-act
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

enum { SIZE = 2 };
static int slots[SIZE];
static _Atomic int used = SIZE - 1;
static pthread_mutex_t m = LOCK;

static void *producer(void *unused)
{
#ifdef FIXED
    lock(&m);
    if (used < SIZE)
        slots[used++] = 1;
    unlock(&m);
#else
    if (used < SIZE) {
        lock(&m); /* A */
        assert(used < SIZE);
        slots[used++] = 1;
        unlock(&m);
    }
#endif
    return unused;
}

int main(void)
{
    both(producer, producer);
    return slots[SIZE - 1] == 1 ? 0 : 98;
}
