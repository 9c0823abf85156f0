/* vfork and exec of the program itself and of true and false.
 * holds: x <= 8
 * violated: x != 8
 * ordered: yes
 */
#include "say.h"
#include <sys/wait.h>

static int x;

static int start(const char *path, const char *argument)
{
    int status;
    pid_t child = vfork();
    if (child == 0) {
        execlp(path, path, argument, (char *)NULL);
        _exit(98);
    }
    NEED(waitpid(child, &status, 0) == child);
    return WEXITSTATUS(status);
}

int main(int count, char **arguments)
{
    if (count > 1 && arguments[1]) {
        SAY(x, 8);
        return 5;
    }
    SAY(x, 1);
    int ends[] = {start("true", NULL), start("false", NULL), start("./program", "again")};
    SAY(x, 2);
    printf("%d %d %d\n", ends[0], ends[1], ends[2]);
    return 0;
}
