/* many N: so many threads that all live at once, and write the same variable one after the other. many -N: one after
 * the other. */
#include <pthread.h>
#include <stdlib.h>

int x;
static pthread_barrier_t all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int at_once;

static void *work(void *unused)
{
    if (at_once)
        pthread_barrier_wait(&all);
    pthread_mutex_lock(&lock);
    x++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 1;
    at_once = count > 0;
    count = abs(count);
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_barrier_init(&all, NULL, (unsigned)count);
    for (int i = 0; i < count; i++) {
        if (pthread_create(&threads[i], &small, work, NULL))
            return 4;
        if (!at_once)
            pthread_join(threads[i], NULL);
    }
    for (int i = 0; at_once && i < count; i++)
        pthread_join(threads[i], NULL);
    free(threads);
    return x != count;
}
