/* expect: last unknown */
/* unknown: destructor finish */
/* A destructor runs in the thread that exits, while others go on. */
#include <pthread.h>

#include "portent.h"

static int x;

static void *run(void *arg)
{
    x = 1;
    return arg;
}

__attribute__((destructor)) static void finish(void)
{
    portent_begin("last");
    x++;
    portent_end("last");
}

int main(void)
{
    pthread_t thread;
    return pthread_create(&thread, NULL, run, NULL);
}
