/* expect: maybe true, maybe true */
/* note: paths.c:21: a way leads here on which the mutex was not locked: taken as impossible */
/* Two tests of one condition: the model follows no values, and cuts the ways that do not fit. */
#include <pthread.h>

#include "portent.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x, threaded;

static void *run(void *arg)
{
    int lock = threaded;
    if (lock)
        pthread_mutex_lock(&m);
    if (lock) {
        portent_begin("maybe");
        x++;
        x++;
        portent_end("maybe");
        pthread_mutex_unlock(&m);
    }
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    threaded = argc > 1;
    pthread_create(&a, NULL, run, argv);
    pthread_create(&b, NULL, run, argv);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
