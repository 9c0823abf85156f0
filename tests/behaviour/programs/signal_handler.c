/* A handler writes, by raise and by kill, with and without SA_SIGINFO.
 * holds: x >= 0 && x <= 40
 * violated: x != 35
 * ordered: yes
 */
#include "say.h"

static volatile int x;

static void plain(int number)
{
    (void)number;
    SAY(x, x + 1);
}

static void with_info(int number, siginfo_t *info, void *context)
{
    (void)number, (void)context;
    NEED(info->si_pid == getpid());
    SAY(x, x + 5);
}

int main(void)
{
    struct sigaction action = {.sa_sigaction = with_info, .sa_flags = SA_SIGINFO};
    signal(SIGUSR1, plain);
    sigaction(SIGUSR2, &action, NULL);
    for (int i = 0; i < 5; i++) {
        raise(SIGUSR1);
        kill(getpid(), SIGUSR2);
        SAY(x, x + 1);
    }
    printf("%d\n", x);
    return 0;
}
