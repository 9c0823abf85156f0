/* expect: own true */
/* unknown: setvbuf */
/* A stream that is lent no buffer touches none. */
#include <pthread.h>
#include <stdio.h>

#include "portent.h"

static int x;

static void *run(void *arg)
{
    puts("");
    return arg;
}

int main(void)
{
    pthread_t thread;
    setvbuf(stdout, NULL, _IONBF, 0);
    pthread_create(&thread, NULL, run, NULL);
    portent_begin("own");
    x++;
    portent_end("own");
    return pthread_join(thread, NULL);
}
