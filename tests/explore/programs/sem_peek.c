/* Two threads see one permit, and both go to take it for good.
 * bug: check-then-act
 * depth: 2
 * fails: lost-wakeup|deadlock
 * place: A
 */
#include "catalogue.h"

static sem_t s;

static void *taker(void *unused)
{
#ifdef FIXED
    sem_trywait(&s);
#else
    int permits;
    sem_getvalue(&s, &permits);
    if (permits > 0)
        sem_wait(&s); /* A */
#endif
    return unused;
}

int main(void)
{
    sem_init(&s, 0, 1);
    both(taker, taker);
    return 0;
}
