/* _Fork and the bare system call: the child ends by itself, the parent is observed as before.
 * holds: x <= 9
 * violated: x != 3
 * ordered: yes
 * optional: children
 * status: 67, without exec
 */
#include "say.h"
#include <sys/syscall.h>
#include <sys/wait.h>

static int x;

static int ended(pid_t child)
{
    int status;
    NEED(waitpid(child, &status, 0) == child);
    return WEXITSTATUS(status);
}

int main(void)
{
    SAY(x, 1);
    pid_t child = _Fork();
    if (child == 0) {
        x = 7;
        _exit(x);
    }
    int first = ended(child);
    SAY(x, 2);
    child = (pid_t)syscall(SYS_fork);
    if (child == 0) {
        x = 8;
        _exit(x);
    }
    int second = ended(child);
    SAY(x, 3);
    printf("%d %d\n", first, second);
    return 0;
}
