/* The program starts itself with an empty environment; there it does its work.
 * holds: x <= 5
 * violated: x != 1
 * ordered: yes
 * optional: children
 */
#include "say.h"
#include <sys/wait.h>

static int x;

int main(int count, char **arguments)
{
    char *again[] = {arguments[0], (char *)"again", NULL}, *nothing[] = {NULL};
    int status;
    if (count > 1) {
        SAY(x, 5);
        puts(getenv("PATH") ? "PATH is set" : "nothing is set");
        return 3;
    }
    SAY(x, 1);
    pid_t child = fork();
    if (child == 0) {
        execve("./program", again, nothing);
        _exit(98);
    }
    NEED(waitpid(child, &status, 0) == child);
    SAY(x, 2);
    printf("%d\n", WEXITSTATUS(status));
    return 0;
}
