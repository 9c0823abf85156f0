/* A variable that only one thread writes and nobody reads: that others come in between matters to a property alone. */
#include <pthread.h>
#include <stdatomic.h>

int busy;
atomic_int count;

static void *worker(void *unused)
{
    busy = 1;
    count++;
    busy = 0;
    return unused;
}

static void *other(void *unused)
{
    count++;
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, worker, NULL);
    pthread_create(&threads[1], NULL, other, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
