/* A case in a process of its own, whose peak memory the parent reads. Shared by the benchmarks of nets and models. */
#ifndef PT_BENCH_CHILD_H
#define PT_BENCH_CHILD_H

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Of this process, in seconds. */
static inline double cpu_time(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/* Calls `work`, which fills the `size` bytes at `ret`, in a child; they are here afterwards, too. The child's peak
 * memory in megabytes. A child that fails ends the program. */
static inline double measure_in_child(void (*work)(void *context), void *context, void *ret, size_t size)
{
    struct rusage usage;
    int ends[2], status;
    if (pipe(ends) != 0)
        exit(2);
    pid_t child = fork();
    if (child == 0) {
        work(context);
        _exit(write(ends[1], ret, size) == (ssize_t)size ? 0 : 2);
    }
    close(ends[1]);
    if (child < 0 || read(ends[0], ret, size) != (ssize_t)size || wait4(child, &status, 0, &usage) != child) {
        fprintf(stderr, "a case failed\n");
        exit(2);
    }
    close(ends[0]);
    return (double)usage.ru_maxrss / 1024;
}

#endif
