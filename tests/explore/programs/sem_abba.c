/* Two semaphores as locks, taken in both orders.
 * bug: deadlock
 * depth: 2
 * fails: deadlock|lost-wakeup
 * place: A
 */
#include "catalogue.h"

static sem_t a, b;

static void *one(void *unused)
{
    sem_wait(&a);
    sem_wait(&b); /* A */
    sem_post(&b);
    sem_post(&a);
    return unused;
}

static void *two(void *unused)
{
#ifdef FIXED
    return one(unused);
#else
    sem_wait(&b);
    sem_wait(&a);
    sem_post(&a);
    sem_post(&b);
    return unused;
#endif
}

int main(void)
{
    sem_init(&a, 0, 1);
    sem_init(&b, 0, 1);
    both(one, two);
    return 0;
}
