/* OpenMP: openmp critical | named | barrier | region. `a` is written by one thread, `b` by another; a pipe makes the
 * actual order certain. */
#include <string.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <omp.h>

#include "hooks.h"

_Alignas(16) int a;
_Alignas(16) int b;
static int pipes[2];

static void told(void)
{
    if (syscall(SYS_write, pipes[1], "", 1) != 1)
        abort();
}
static void heard(void)
{
    char c;
    if (syscall(SYS_read, pipes[0], &c, 1) != 1)
        abort();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (pipe(pipes) != 0)
        return 1;
    omp_set_dynamic(0);
    if (strcmp(what, "region") == 0) {
#pragma omp parallel num_threads(2)
        if (omp_get_thread_num() == 1)
            ST4(&a, 1);
        ST4(&b, 1);
        return 0;
    }
#pragma omp parallel num_threads(2) firstprivate(what)
    if (strcmp(what, "barrier") == 0) {
        if (omp_get_thread_num() == 1)
            ST4(&a, 1);
#pragma omp barrier
        if (omp_get_thread_num() == 0)
            ST4(&b, 1);
    } else if (omp_get_thread_num() == 1) {
        if (strcmp(what, "critical") == 0) {
#pragma omp critical
            ST4(&a, 1);
        } else if (strcmp(what, "named") == 0) {
#pragma omp critical(name)
            ST4(&a, 1);
        } else {
            ST4(&a, 1);
        }
        told();
    } else {
        heard();
        if (strcmp(what, "critical") == 0) {
#pragma omp critical
            ST4(&b, 1);
        } else if (strcmp(what, "named") == 0) {
#pragma omp critical(name)
            ST4(&b, 1);
        } else {
            ST4(&b, 1);
        }
    }
    return 0;
}
