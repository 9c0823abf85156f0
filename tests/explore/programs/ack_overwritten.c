/* A thread adds a bit to the state in two steps: the server's answer is overwritten, and the client spins for ever.
 * bug: lost update
 * depth: 2
 * fails: livelock|timeout|deadlock
 * place: A
 */
#include "catalogue.h"

enum { ASKED = 1, ANSWERED = 2, URGENT = 4 };
static _Atomic int state;

static void *client(void *unused)
{
    atomic_fetch_or(&state, ASKED);
    while (!(state & ANSWERED))
        sched_yield();
    return unused;
}

static void *server(void *unused)
{
    while (!(state & ASKED))
        sched_yield();
    atomic_fetch_or(&state, ANSWERED);
    return unused;
}

static void *urge(void *unused)
{
    while (!(state & ASKED))
        sched_yield();
#ifdef FIXED
    atomic_fetch_or(&state, URGENT);
#else
    int seen = state;
    state = seen | URGENT; /* A */
#endif
    return unused;
}

int main(void)
{
    pthread_t one = start(client, NULL), two = start(server, NULL), three = start(urge, NULL);
    join(one);
    join(two);
    join(three);
    return 0;
}
