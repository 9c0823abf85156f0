/* Children end, SIGCHLD's handler reaps them and writes what they ended with.
 * holds: x >= 0 && x <= 9
 * violated: x != 9
 * ordered: yes
 * status: 67, without exec
 */
#include "say.h"
#include <sys/wait.h>

static volatile int x, reaped;

static void on_child(int number)
{
    int status, saved = errno;
    (void)number;
    while (waitpid(-1, &status, WNOHANG) > 0) {
        SAY(x, WEXITSTATUS(status));
        reaped++;
    }
    errno = saved;
}

int main(void)
{
    sigset_t child, none;
    struct sigaction action = {.sa_handler = on_child, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
    sigemptyset(&none);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigaction(SIGCHLD, &action, NULL);
    sigprocmask(SIG_BLOCK, &child, NULL);
    for (int i = 7; i <= 9; i++) {
        int before = reaped;
        if (fork() == 0)
            _exit(i);
        while (reaped == before)
            sigsuspend(&none);
        printf("%d\n", x);
    }
    return 0;
}
