/* A barrier of atomics that its last thread resets, while another still looks at the old count.
 * bug: barrier reuse
 * depth: 2
 * fails: livelock|timeout|deadlock
 * place: A
 */
#include "catalogue.h"

enum { THREADS = 2 };
static _Atomic int arrived, round_number;

static void barrier(void)
{
    int mine = round_number;
    if (++arrived == THREADS) {
        arrived = 0;
        round_number++;
        return;
    }
#ifdef FIXED
    while (round_number == mine)
        sched_yield();
#else
    while (mine >= 0 && arrived != 0) /* A */
        sched_yield();
#endif
}

static void *thread(void *unused)
{
    for (int i = 0; i < 2; i++) {
        barrier();
        usleep(3000); /* a round's work */
    }
    return unused;
}

int main(void)
{
    both(thread, thread);
    return 0;
}
