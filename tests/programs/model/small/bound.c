/* expect: work false, work false */
/* note: bound.c:27: threads are started or joined in a loop whose bound is unknown.* */
/* How many threads there are depends on the command line. */
#include <pthread.h>
#include <stdlib.h>

#include "portent.h"

static int x;

static void *run(void *arg)
{
    portent_begin("work");
    x++;
    portent_end("work");
    return arg;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    int left = count;
    /* joined from the last to the first */
    while (left-- > 0)
        pthread_join(threads[left], NULL);
    return 0;
}
