/* The guard of one rank; see guard.h. */
#include "mpi/guard.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/common/diag.h"

static volatile pid_t worker;
static volatile sig_atomic_t told; /* somebody wants us to end */

static void pass_on(int signal)
{
    told = 1;
    if (worker > 0)
        kill(worker, signal);
}

static const char *or_unknown(const char *text)
{
    return text ? text : "?";
}

/* mpirun ends the others itself, and says so; this is the one that knows why. */
static void tell(int signal)
{
    struct pt_err err;
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    (void)pt_err_set(&err, PT_ELIMIT, "rank %s of %s died (%s), and with it its part of the work: nothing is known",
                     or_unknown(rank ? rank : getenv("PMIX_RANK")), or_unknown(getenv("OMPI_COMM_WORLD_SIZE")),
                     strsignal(signal));
    pt_err_hint(&err, "if memory was short, use more ranks on more machines, or --memory-limit, which ends in order");
    pt_diag_error(&err);
}

static _Noreturn void watch(void)
{
    int status;
    pid_t ended;
    do
        ended = waitpid(worker, &status, 0);
    while (ended < 0 && errno == EINTR);
    if (ended == worker && WIFEXITED(status))
        exit(WEXITSTATUS(status));
    if (ended == worker && !told)
        tell(WTERMSIG(status));
    exit(PT_EXIT_UNKNOWN);
}

void pt_guard(void)
{
    static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    pid_t guard = getpid();
    worker = fork();
    if (worker < 0) {
        perror("portent-mpi: fork");
        exit(PT_EXIT_UNKNOWN);
    }
    if (worker == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != guard) /* it was quicker */
            _exit(PT_EXIT_UNKNOWN);
        return;
    }
    struct sigaction action = {.sa_handler = pass_on};
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++)
        sigaction(passed[i], &action, NULL);
    prctl(PR_SET_NAME, "portent-guard");
    watch();
}
