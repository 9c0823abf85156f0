/* Two threads announce that they want to enter and wait while the other does: both may wait for ever.
 * bug: deadlock
 * depth: 2
 * fails: livelock|timeout|deadlock
 * place: A
 */
#include "catalogue.h"

static _Atomic int wants[2], turn, inside;

static void *thread(void *argument)
{
    int me = *(int *)argument, other = 1 - me;
    wants[me] = 1;
#ifdef FIXED
    turn = other;
    while (wants[other] && turn == other)
        sched_yield();
#else
    while (wants[other]) /* A */
        sched_yield();
#endif
    assert(inside++ == 0);
    inside--;
    wants[me] = 0;
    return NULL;
}

int main(void)
{
    static int ids[] = {0, 1};
    turn = 0;
    pthread_t one = start(thread, &ids[0]), two = start(thread, &ids[1]);
    join(one);
    join(two);
    return 0;
}
