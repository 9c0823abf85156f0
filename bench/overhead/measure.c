// measure FILE COMMAND [ARGS]: runs the command, passes its status through, and appends one line to FILE: elapsed and
// CPU seconds (user and system, of the command and of all children it waited for), and the largest of their peaks of
// memory in KB: of whoever starts it, which the kernel counts in until the command is executed, that is a small one.
// SIGTERM is passed on to the command.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static volatile pid_t child;

static void pass_on(int signal)
{
    if (child > 0)
        kill(child, signal);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: measure FILE COMMAND [ARGS]\n");
        return 2;
    }
    const double start = now();
    signal(SIGTERM, pass_on);
    child = fork();
    if (child == 0) {
        signal(SIGTERM, SIG_DFL);
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    while (child < 0 || wait4(child, &status, 0, &usage) < 0)
        if (child < 0 || errno != EINTR) {
            perror("measure");
            return 2;
        }
    const double elapsed = now() - start;
    FILE *to = fopen(argv[1], "a");
    if (to == NULL) {
        perror(argv[1]);
        return 2;
    }
    fprintf(to, "%.6f %.6f %ld\n", elapsed, seconds(usage.ru_utime) + seconds(usage.ru_stime), usage.ru_maxrss);
    if (fclose(to) != 0) {
        perror(argv[1]);
        return 2;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
