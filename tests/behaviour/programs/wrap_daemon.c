/* The program becomes a daemon, whose work is waited for through a pipe.
 * holds: x <= 20
 * violated: x != 1
 * ordered: yes
 * optional: children
 * status: 67, without exec
 */
#include "say.h"
#include <sys/stat.h>
#include <sys/wait.h>

static int x;

int main(void)
{
    int ends[2], number = 0;
    NEED(pipe(ends) == 0);
    SAY(x, 1);
    pid_t child = fork();
    if (child == 0) {
        NEED(setsid() > 0);
        if (fork() > 0)
            _exit(0);
        NEED(chdir("/") == 0);
        umask(0);
        for (int i = 0; i < 3; i++)
            close(i);
        SAY(x, 20);
        int twenty = x;
        _exit(write(ends[1], &twenty, sizeof twenty) != sizeof twenty);
    }
    close(ends[1]);
    waitpid(child, NULL, 0);
    NEED(read(ends[0], &number, sizeof number) == sizeof number);
    NEED(read(ends[0], &number, sizeof number) == 0);
    SAY(x, 2);
    printf("%d\n", number);
    return 0;
}
