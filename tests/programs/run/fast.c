/* Two threads that write as fast as they can, each its own variable. */
#include <pthread.h>
#include <stdlib.h>

volatile long x, y;
static long writes;

static void *first(void *unused)
{
    for (long i = 1; i <= writes; i++)
        x = i;
    return unused;
}

static void *second(void *unused)
{
    for (long i = 1; i <= writes; i++)
        y = i;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread[2];
    writes = argc > 1 ? atol(argv[1]) : 30000;
    pthread_create(&thread[0], NULL, first, NULL);
    pthread_create(&thread[1], NULL, second, NULL);
    pthread_join(thread[0], NULL);
    pthread_join(thread[1], NULL);
    return 0;
}
