/* A semaphore that is used as a lock begins with two permits.
 * bug: mutual exclusion
 * depth: 2
 * fails: status
 * place: A
 */
#include "catalogue.h"

static sem_t s;
static _Atomic int count;

static void *add(void *unused)
{
    sem_wait(&s);
    int seen = count;
    count = seen + 1; /* A */
    sem_post(&s);
    return unused;
}

int main(void)
{
#ifdef FIXED
    sem_init(&s, 0, 1);
#else
    sem_init(&s, 0, 2);
#endif
    pthread_t one = start(add, NULL), two = start(add, NULL), three = start(add, NULL);
    join(one);
    join(two);
    join(three);
    return count == 3 ? 0 : 1;
}
