/* SA_RESETHAND, SA_NODEFER, and what sigaction and signal say was there before.
 * holds: x <= 6
 * violated: x != 5
 * ordered: yes
 */
#include "say.h"

static volatile int x, depth;

static void nested(int number)
{
    SAY(x, x + 1);
    if (++depth < 3)
        raise(number);
}

static void once(int number)
{
    (void)number;
    SAY(x, x + 1);
}

int main(void)
{
    struct sigaction action = {.sa_handler = nested, .sa_flags = SA_NODEFER}, old;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    action.sa_handler = once;
    action.sa_flags = SA_RESETHAND;
    sigaction(SIGUSR1, &action, &old);
    printf("%d %d ", old.sa_handler == nested, (old.sa_flags & SA_NODEFER) != 0);
    raise(SIGUSR1);
    sigaction(SIGUSR1, NULL, &old);
    printf("%d ", old.sa_handler == SIG_DFL);
    printf("%d ", signal(SIGUSR2, once) == SIG_DFL);
    printf("%d\n", signal(SIGUSR2, SIG_IGN) == once);
    raise(SIGUSR2);
    signal(SIGUSR1, once);
    raise(SIGUSR1);
    fflush(stdout);
    signal(SIGUSR1, SIG_DFL);
    raise(SIGUSR1);
    return 0;
}
