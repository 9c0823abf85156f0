/* The worker says that it is done, and touches its job once more; main has freed it.
 * bug: use after free
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static _Atomic int done;

static void *worker(void *argument)
{
    struct object *job = argument;
    use_object(job);
#ifndef FIXED
    done = 1;
#endif
    use_object(job); /* A */
#ifdef FIXED
    done = 1;
#endif
    return NULL;
}

int main(void)
{
    struct object *job = make_object();
    pthread_t thread = start(worker, job);
    while (!done)
        sched_yield();
    free_object(job);
    join(thread);
    return 0;
}
