/* A spin lock that waits until it is free, and then takes it, in two steps.
 * bug: mutual exclusion
 * depth: 3
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static _Atomic int taken, inside;

static void *thread(void *unused)
{
    for (int i = 0; i < 2; i++) {
#ifdef FIXED
        while (atomic_exchange(&taken, 1))
            sched_yield();
#else
        while (taken)
            sched_yield();
        taken = 1; /* A */
#endif
        assert(atomic_fetch_add(&inside, 1) == 0);
        inside--;
        taken = 0;
    }
    return unused;
}

int main(void)
{
    pthread_t one = start(thread, NULL), two = start(thread, NULL), three = start(thread, NULL);
    join(one);
    join(two);
    join(three);
    return 0;
}
