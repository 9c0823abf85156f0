/* A child stops itself and is continued; waitpid tells both.
 * holds: x <= 4
 * violated: x != 3
 * ordered: yes
 * status: 67, without exec
 */
#include "say.h"
#include <sys/wait.h>

static int x;

int main(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        raise(SIGSTOP);
        _exit(4);
    }
    SAY(x, 1);
    NEED(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
    SAY(x, 2);
    kill(child, SIGCONT);
    NEED(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 4);
    SAY(x, 3);
    puts("stopped and continued");
    return 0;
}
