/* A signal handler takes the lock that its own thread holds.
 * bug: signal handler
 * depth: 2
 * fails: deadlock
 * place: A
 */
#include "catalogue.h"

static pthread_mutex_t m = LOCK;
static int count;
static pthread_t main_thread;

static void handler(int number)
{
    (void)number;
    lock(&m); /* A */
    count++;
    unlock(&m);
}

static void *sender(void *unused)
{
    pthread_kill(main_thread, SIGUSR1);
    return unused;
}

static void guard(int how)
{
#ifdef FIXED
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(how, &set, NULL);
#else
    (void)how;
#endif
}

int main(void)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
    main_thread = pthread_self();
    pthread_t thread = start(sender, NULL);
    for (int i = 0; i < 2; i++) {
        guard(SIG_BLOCK);
        lock(&m);
        count++;
        unlock(&m);
        guard(SIG_UNBLOCK);
    }
    join(thread);
    return 0;
}
