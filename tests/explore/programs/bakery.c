/* Lamport's bakery without the sign that says "is choosing": two customers have one number, and the later overtakes.
 * bug: mutual exclusion
 * depth: 3
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static _Atomic int number[2], inside;
#ifdef FIXED
static _Atomic int choosing[2];
#endif

static void *customer(void *argument)
{
    int me = *(int *)argument, other = 1 - me;
#ifdef FIXED
    choosing[me] = 1;
#endif
    int seen = number[other];
    number[me] = seen + 1; /* A */
#ifdef FIXED
    choosing[me] = 0;
    while (choosing[other])
        sched_yield();
#endif
    for (;;) {
        int his = number[other];
        if (his == 0 || his > seen + 1 || (his == seen + 1 && me < other))
            break;
        sched_yield();
    }
    assert(atomic_fetch_add(&inside, 1) == 0);
    inside--;
    number[me] = 0;
    return NULL;
}

int main(void)
{
    static int ids[] = {0, 1};
    pthread_t one = start(customer, &ids[0]), two = start(customer, &ids[1]);
    join(one);
    join(two);
    return 0;
}
