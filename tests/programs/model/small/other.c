/* expect: unknown false, unknown false, once false, once false, read false, read false */
/* note: other.c:22: what 'consume' does is not known: taken to write all of x */
/* Functions without a body, reader-writer locks, pthread_once. */
#include <pthread.h>

#include "portent.h"

extern void consume(int *);
static int x, y, z;
static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void init(void)
{
    y = 1;
    y = 2;
}

static void *run(void *arg)
{
    portent_begin("unknown");
    consume(&x);
    consume(&x);
    portent_end("unknown");
    portent_begin("once");
    pthread_once(&once, init);
    z = y;
    portent_end("once");
    portent_begin("read");
    pthread_rwlock_rdlock(&rw);
    z++;
    pthread_rwlock_unlock(&rw);
    portent_end("read");
    return arg;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, NULL, run, NULL);
    pthread_create(&b, NULL, run, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
