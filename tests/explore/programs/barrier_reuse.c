/* A barrier whose waiters wait for the count to be 0: the fastest arrives again before they look.
 * bug: barrier reuse
 * depth: 2
 * fails: lost-wakeup
 * place: A
 */
#include "catalogue.h"

enum { THREADS = 2 };
static pthread_mutex_t m = LOCK;
static pthread_cond_t all_here = WAITER;
static int arrived, round_number;

static void barrier(void)
{
    lock(&m);
    int mine = round_number;
    if (++arrived == THREADS) {
        arrived = 0;
        round_number++;
        pthread_cond_broadcast(&all_here);
    } else {
#ifdef FIXED
        while (mine == round_number)
#else
        while (mine >= 0 && arrived != 0)
#endif
            pthread_cond_wait(&all_here, &m); /* A */
    }
    unlock(&m);
}

static void *thread(void *unused)
{
    for (int i = 0; i < 2; i++) {
        usleep(3000); /* a round's work */
        barrier();
    }
    return unused;
}

int main(void)
{
    both(thread, thread);
    return 0;
}
