/* A handler of the thread's own signal is part of that thread.
 * race: none
 */
#include "races.h"

static int x;

static void handle(int number)
{
    x++;
}

static void *one(void *unused)
{
    x = 1;
    raise(SIGUSR1);
    x++;
    return NULL;
}

int main(void)
{
    signal(SIGUSR1, handle);
    pthread_join(start(one, NULL), NULL);
    return x != 3;
}
