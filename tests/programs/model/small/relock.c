/* expect: reader true, stuck true */
/* note: relock\.c:\d+: a mutex that this thread already holds is locked here: taken as a deadlock */
#include <pthread.h>

#include "portent.h"

/* A mutex of one thread only; who locks it twice stays there, and its writes never come. */
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *stuck(void *arg)
{
    portent_begin("stuck");
    x++;
    pthread_mutex_lock(&own);
    pthread_mutex_lock(&own);
    x++;
    pthread_mutex_unlock(&own);
    portent_end("stuck");
    return arg;
}

static void *reader(void *arg)
{
    portent_begin("reader");
    int first = x;
    portent_end("reader");
    return first ? arg : 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, stuck, 0);
    pthread_create(&b, 0, reader, 0);
    pthread_join(b, 0);
    return pthread_join(a, 0);
}
