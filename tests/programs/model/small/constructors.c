/* expect: early true, late false, own true, ready true */
/* Constructors run before main, the smallest priority first; a thread that one starts runs beside all that follows. */
#include <pthread.h>

#include "portent.h"

static int x, ready;

static void *run(void *arg)
{
    x = 1;
    return arg;
}

__attribute__((constructor(201))) static void second(void)
{
    portent_begin("late");
    x++;
    portent_end("late");
    ready = 1;
}

__attribute__((constructor(101))) static void first(void)
{
    pthread_t thread;
    portent_begin("early");
    x++;
    portent_end("early");
    pthread_create(&thread, NULL, run, NULL);
    portent_begin("own");
    ready++;
    portent_end("own");
}

int main(void)
{
    portent_begin("ready");
    ready++;
    portent_end("ready");
    return 0;
}
