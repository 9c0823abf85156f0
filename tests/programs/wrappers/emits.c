/* A parent that forks a child, and does nothing itself that properties speak of: the arguments are the user events that
 * the child makes. With a program as the first argument, the child becomes that. */
#include <portent.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Names of user events are known only where they stand in the call. */
static void emit(const char *name)
{
    if (strcmp(name, "open") == 0)
        portent_event("open");
    if (strcmp(name, "close") == 0)
        portent_event("close");
    if (strcmp(name, "shut") == 0)
        portent_event("shut");
}

int main(int count, char **list)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (count > 1 && strchr(list[1], '/')) {
            execv(list[1], list + 1);
            _exit(127);
        }
        for (int i = 1; i < count; i++)
            emit(list[i]);
        _exit(0);
    }
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
