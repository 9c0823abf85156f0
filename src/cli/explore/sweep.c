/*
 * A process that SIGKILL ends cannot remove its files. So another one waits for its end, which it sees by a pipe whose
 * other side only this one has, and removes them then. It has nothing else open, and is in a session of its own, so
 * that nobody waits for it and Ctrl-C is none of its business.
 */
#include "cli/explore/sweep.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/explore/recorded.h"

static int side = -1;
static pid_t sweeper;

static void remove_all(char *const *names)
{
    for (; *names; names++)
        pt_explore_recorded_remove(*names);
}

/* The program dies a moment after its tool, and may write until then. */
static _Noreturn void sweep(int from, char *const *names)
{
    static const struct timespec moment = {.tv_nsec = 300 * 1000 * 1000};
    char byte;
    (void)setsid();
    (void)prctl(PR_SET_NAME, "portent-sweep");
    (void)dup2(from, 0);
    (void)close_range(1, ~0u, 0);
    while (read(0, &byte, 1) > 0)
        ;
    remove_all(names);
    nanosleep(&moment, NULL);
    remove_all(names);
    _exit(0);
}

void pt_explore_sweep_start(void)
{
    char *names[PT_EXPLORE_JOBS + 2] = {0};
    int sides[2];
    if (side >= 0 || pipe2(sides, O_CLOEXEC) != 0)
        return;
    for (uint32_t i = 0; i <= PT_EXPLORE_JOBS; i++) /* of this process, not of the one that removes them */
        names[i] = pt_explore_recorded_name(i);
    sweeper = fork();
    if (sweeper == 0) {
        close(sides[1]);
        sweep(sides[0], names);
    }
    close(sides[0]);
    side = sides[1];
    for (uint32_t i = 0; i <= PT_EXPLORE_JOBS; i++)
        free(names[i]);
}

void pt_explore_sweep_end(void)
{
    if (side < 0)
        return;
    if (sweeper > 0) {
        (void)kill(sweeper, SIGKILL); /* what there was is removed already */
        (void)waitpid(sweeper, NULL, 0);
    }
    close(side);
    side = -1;
}
