// measure FILE COMMAND [ARGS]: runs the command, passes its status through, and appends one line to FILE: elapsed and
// CPU seconds (user and system, of the command and of all children it waited for), and the largest of their peaks of
// memory in KB.
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

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: measure FILE COMMAND [ARGS]\n");
        return 2;
    }
    const double start = now();
    const pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    int status;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) < 0) {
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
