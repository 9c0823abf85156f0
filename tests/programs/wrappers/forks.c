/* Makes a copy of itself in the way that the first argument says; parent and child count `level` on, each for itself.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int level;
static char stack[1 << 16] __attribute__((aligned(16)));

static void count(int times)
{
    for (int i = 0; i < times; i++)
        level++;
}

/* With the memory shared it may call nothing of libc. */
static int child(void *unused)
{
    (void)unused;
    count(1000);
    return 0;
}

static pid_t make(const char *how)
{
    if (strcmp(how, "fork") == 0 || strcmp(how, "exec") == 0)
        return fork();
    if (strcmp(how, "_Fork") == 0)
        return _Fork();
    if (strcmp(how, "raw") == 0)
        return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (strcmp(how, "clone") == 0)
        return clone(child, stack + sizeof stack, SIGCHLD, NULL);
    if (strcmp(how, "thread") == 0)
        return clone(child, stack + sizeof stack, CLONE_VM | CLONE_FS | CLONE_FILES | SIGCHLD, NULL);
    return -1;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int status = 0;
    count(2);
    fflush(stdout);
    pid_t pid = strcmp(how, "vfork") == 0 ? vfork() : make(how); /* whoever calls vfork must not return */
    if (pid == 0 && (strcmp(how, "exec") == 0 || strcmp(how, "vfork") == 0)) {
        execl("/bin/true", "true", (char *)NULL);
        _exit(127);
    }
    if (pid == 0) {
        count(1000);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    count(3);
    printf("level %d, status %d\n", level, status);
    return 0;
}
