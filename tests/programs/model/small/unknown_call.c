/* expect: twice unknown, twice unknown, single true, single true, own true, own true, global unknown, global unknown */
/* unknown: touch */
/* A function without arguments may still touch memory of its own, and what another file can name. */
#include <pthread.h>

#include "portent.h"

extern void touch(void);
int global;
static int own;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *run(void *arg)
{
    portent_begin("twice");
    touch();
    touch();
    portent_end("twice");
    portent_begin("single");
    touch();
    portent_end("single");
    portent_begin("own");
    pthread_mutex_lock(&mutex);
    own++;
    pthread_mutex_unlock(&mutex);
    portent_end("own");
    portent_begin("global");
    pthread_mutex_lock(&mutex);
    global++;
    pthread_mutex_unlock(&mutex);
    portent_end("global");
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
