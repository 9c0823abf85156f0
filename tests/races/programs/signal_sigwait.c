/* A thread that waits for the signal another one sends.
 * race: none
 * tsan: x, it does not know that a signal orders
 */
#include "races.h"

static int x;

static void *two(void *set)
{
    int number;
    NEED(sigwait(set, &number) == 0);
    x++;
    return NULL;
}

int main(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t thread = start(two, &set);
    x = 1;
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
    return x != 2;
}
