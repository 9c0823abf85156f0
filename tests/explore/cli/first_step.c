/* Fails when the worker runs before main goes on: the last switch is to a thread's first step. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int ready;

static void *worker(void *unused)
{
    if (!ready)
        abort();
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    ready = 1;
    return pthread_join(thread, NULL);
}
