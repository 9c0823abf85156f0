/* A ticket lock whose tickets are drawn in two steps: two threads have one ticket.
 * bug: mutual exclusion
 * depth: 2
 * fails: status
 * place: A
 */
#include "catalogue.h"

static _Atomic int next_ticket, serving, inside, together;

static void *thread(void *unused)
{
#ifdef FIXED
    int mine = next_ticket++;
#else
    int mine = next_ticket;
    next_ticket = mine + 1; /* A */
#endif
    while (serving < mine)
        sched_yield();
    if (inside++ != 0)
        together = 1;
    inside--;
    serving++;
    return unused;
}

int main(void)
{
    both(thread, thread);
    return together || next_ticket != 2;
}
