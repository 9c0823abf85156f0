/* expect: own true */
/* unknown: consume */
/* qsort keeps no function, so 'consume' cannot find one. */
#include <pthread.h>
#include <stdlib.h>

#include "portent.h"

extern void consume(int *);
static int x, numbers[4];

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static void *run(void *arg)
{
    portent_begin("own");
    x++;
    portent_end("own");
    return arg;
}

int main(void)
{
    pthread_t thread;
    int own = 0;
    pthread_create(&thread, NULL, run, NULL);
    consume(&own);
    qsort(numbers, 4, sizeof *numbers, compare);
    return pthread_join(thread, NULL);
}
