/* The signal comes between the look at its flag and pause().
 * bug: lost wake-up
 * depth: 2
 * fails: lost-wakeup|deadlock|timeout
 * place: A
 */
#include "catalogue.h"

static _Atomic int came;
static pthread_t main_thread;

static void handler(int number)
{
    (void)number;
    came = 1;
}

static void *sender(void *unused)
{
    pthread_kill(main_thread, SIGUSR1);
    return unused;
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler};
    sigset_t block, open;
    sigemptyset(&block);
    sigaddset(&block, SIGUSR1);
#ifdef FIXED
    pthread_sigmask(SIG_BLOCK, &block, &open);
#else
    (void)open;
#endif
    sigaction(SIGUSR1, &action, NULL);
    main_thread = pthread_self();
    pthread_t thread = start(sender, NULL);
    while (!came) {
#ifdef FIXED
        sigsuspend(&open);
#else
        pause(); /* A */
#endif
    }
    join(thread);
    return 0;
}
