/* expect: pointed false, pointed false, harmless true, harmless true, made true, made true */
/* note: pointed.c:19: what is called through this pointer is not known: taken to write all of x */
/* unknown: consume */
/* Functions without a body that are called through a pointer do what they do when they are called by name. */
#include <pthread.h>
#include <stdlib.h>

#include "portent.h"

extern void consume(int *);
static int x;
static void (*use)(int *) = consume;
static int (*distance)(int) = abs;
static void *(*make)(size_t) = malloc;

static void *run(void *arg)
{
    portent_begin("pointed");
    use(&x);
    use(&x);
    portent_end("pointed");
    portent_begin("harmless");
    distance(1);
    distance(2);
    portent_end("harmless");
    portent_begin("made");
    int *own = make(8);
    own[0] = 1;
    own[1] = 2;
    portent_end("made");
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
