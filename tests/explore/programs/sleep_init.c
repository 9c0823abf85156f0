/* main sleeps for a while instead of waiting for the worker's initialisation.
 * bug: sleep as synchronisation
 * depth: 1
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static _Atomic int ready;
static sem_t done;

static void *worker(void *unused)
{
    ready = 1;
    sem_post(&done);
    return unused;
}

int main(void)
{
    sem_init(&done, 0, 0);
    pthread_t thread = start(worker, NULL);
#ifdef FIXED
    sem_wait(&done);
#else
    usleep(20000); /* A */
#endif
    assert(ready);
    join(thread);
    return 0;
}
