/* Peterson's mutual exclusion with its first two writes in the wrong order.
 * bug: mutual exclusion
 * depth: 3
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static _Atomic int wants[2], turn, inside;

static void *thread(void *argument)
{
    int me = *(int *)argument, other = 1 - me;
#ifdef FIXED
    wants[me] = 1;
    turn = other;
#else
    turn = other;
    wants[me] = 1; /* A */
#endif
    while (wants[other] && turn == other)
        sched_yield();
    assert(atomic_fetch_add(&inside, 1) == 0);
    inside--;
    wants[me] = 0;
    return NULL;
}

int main(void)
{
    static int ids[] = {0, 1};
    pthread_t one = start(thread, &ids[0]), two = start(thread, &ids[1]);
    join(one);
    join(two);
    return 0;
}
