/* Blocked signals are pending, and come when they are unblocked, real-time ones in order with their values.
 * holds: x <= 105
 * violated: x != 103
 * ordered: yes
 */
#include "say.h"

static volatile int x;

static void on_value(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    SAY(x, info->si_value.sival_int);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = on_value, .sa_flags = SA_SIGINFO};
    sigset_t set, old, pending;
    sigaction(SIGRTMIN + 3, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 3);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    for (int i = 101; i <= 105; i++) {
        union sigval value = {.sival_int = i};
        sigqueue(getpid(), SIGRTMIN + 3, value);
        SAY(x, i - 100);
    }
    sigpending(&pending);
    printf("%d %d ", x, sigismember(&pending, SIGRTMIN + 3));
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    printf("%d\n", x);
    return 0;
}
