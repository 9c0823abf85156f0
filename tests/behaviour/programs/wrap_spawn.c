/* posix_spawn of the program itself, with its output to a pipe.
 * holds: x <= 8
 * violated: x != 7
 * ordered: yes
 */
#include "say.h"
#include <spawn.h>
#include <sys/wait.h>

static int x;
extern char **environ;

int main(int count, char **arguments)
{
    if (count > 1) {
        SAY(x, 7);
        puts("from the child");
        return 6;
    }
    char *again[] = {arguments[0], (char *)"again", NULL}, text[100] = "";
    int ends[2], status;
    pid_t child;
    posix_spawn_file_actions_t actions;
    SAY(x, 1);
    NEED(pipe(ends) == 0);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    NEED(posix_spawn(&child, "./program", &actions, NULL, again, environ) == 0);
    close(ends[1]);
    NEED(read(ends[0], text, sizeof text - 1) > 0);
    NEED(waitpid(child, &status, 0) == child);
    SAY(x, 2);
    printf("%d %s", WEXITSTATUS(status), text);
    return 0;
}
