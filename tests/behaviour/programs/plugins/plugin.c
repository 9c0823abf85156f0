/* The plug-in of memory_plugin.c: it writes what is watched, by itself and by a thread. */
#include "say.h"

extern int x;

__attribute__((constructor)) static void opened(void)
{
    SAY(x, 1);
}

__attribute__((destructor)) static void closed(void)
{
    SAY(x, 2);
}

static void *thread(void *given)
{
    SAY(x, *(int *)given + 3);
    return NULL;
}

int work(int number)
{
    pthread_t started;
    SAY(x, number);
    NEED(pthread_create(&started, NULL, thread, &number) == 0);
    pthread_join(started, NULL);
    return x;
}
