/* A handler runs on a stack of its own, and uses locals of what it has interrupted.
 * life: none
 */
#include "races.h"

static volatile int *shared;

static void on_signal(int signal)
{
    volatile int local[50];
    local[3] = signal;
    *shared += local[3];
}

int main(void)
{
    volatile int local = 0;
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    shared = &local;
    NEED(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
    for (int i = 0; i < 10; i++)
        raise(SIGUSR1);
    NEED(local == 10 * SIGUSR1);
    return 0;
}
