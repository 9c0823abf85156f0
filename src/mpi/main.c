/*
 * portent-mpi: `portent check` by all processes of one mpirun. `portent check` becomes this program where mpirun has
 * started it several times, so nobody needs to call it; nothing else of Portent links MPI.
 *
 *     portent-mpi [--figures] check ARGUMENTS...
 *     portent-mpi --batch FILE         each line of it is the arguments of one check, without quoting: for tests
 *
 * --figures: what was sent and how much memory was used, a line for each process, on standard error.
 */
#include <inttypes.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/commands.h"
#include "cli/common/diag.h"
#include "cli/common/made.h"
#include "cli/common/together.h"
#include "mpi/group.h"
#include "mpi/guard.h"

static void out_of_memory(void)
{
    static const char message[] = "portent: error: out of memory; --memory-limit or more ranks may help\n";
    ssize_t n = write(STDERR_FILENO, message, sizeof message - 1);
    (void)n; /* nothing is left to try */
    _exit(PT_EXIT_UNKNOWN);
}

/* Process 0 talks for all. What another one has to say of itself is kept until somebody asks (cli/common/together.h).
 */
static void be_silent(const struct pt_group *group, int *ret_held, int *ret_shown)
{
    *ret_held = *ret_shown = STDERR_FILENO;
    if (group->rank == 0)
        return;
    if (!freopen("/dev/null", "w", stdout))
        return; /* then there is more than needed */
    int held = memfd_create("portent-mpi", MFD_CLOEXEC), shown = dup(STDERR_FILENO);
    if (held < 0 || shown < 0 || dup2(held, STDERR_FILENO) < 0)
        return;
    *ret_held = held;
    *ret_shown = shown;
}

/* argv: check ARGUMENTS... All have the status of the first. */
static int check(const struct pt_group *group, int argc, char **argv)
{
    struct pt_parsed parsed;
    int status = PT_EXIT_BAD;
    if (pt_options_parse(&pt_command_check, argc, argv, &parsed)) {
        if (parsed.help) {
            struct pt_buf buf;
            pt_buf_init(&buf);
            pt_options_help(&pt_command_check, &buf);
            status = pt_output(&buf) ? 0 : PT_EXIT_BAD;
            pt_buf_release(&buf);
        } else {
            status = pt_command_check.run(&parsed);
        }
    }
    pt_parsed_release(&parsed);
    group->spread(group->context, 0, &status, sizeof status);
    return status;
}

static int check_line(const struct pt_group *group, char *line)
{
    enum { MOST = 64 };
    static char name[] = "check";
    char *argv[MOST + 1] = {name}, *rest = line;
    int argc = 1;
    for (char *word; argc < MOST && (word = strtok_r(rest, " \n", &rest));)
        argv[argc++] = word;
    return check(group, argc, argv);
}

static int batch(const struct pt_group *group, const char *path)
{
    char *line = NULL;
    size_t cap = 0;
    int worst = 0;
    FILE *file = fopen(path, "re");
    if (!file) {
        perror(path);
        return PT_EXIT_BAD;
    }
    while (getline(&line, &cap, file) > 0) {
        int status = check_line(group, line);
        printf("\nstatus %d\n", status);
        fflush(stdout);
        worst = status > worst ? status : worst;
    }
    fclose(file);
    free(line);
    return worst;
}

static void tell_figures(const struct pt_group *group, const struct pt_mpi_figures *figures, int shown)
{
    enum { BYTES, MESSAGES, CALLS, MEMORY, INSIDE, ALL, COUNT };
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    uint64_t ms = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000 +
                  (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1000;
    const uint64_t mine[COUNT] = {
        figures->bytes, figures->messages, figures->calls, (uint64_t)usage.ru_maxrss, figures->inside_ns / 1000000, ms};
    struct pt_group_bytes *all = pt_group_gather(group, mine, sizeof mine);
    for (uint32_t p = 0; group->rank == 0 && p < group->size; p++) {
        uint64_t of[COUNT];
        memcpy(of, all[p].data, sizeof of);
        dprintf(shown,
                "rank %u: %" PRIu64 " bytes in %" PRIu64 " messages, %" PRIu64 " collective calls, %" PRIu64
                " KiB of memory, %" PRIu64 " ms of processor time, %" PRIu64 " of them in calls\n",
                p, of[BYTES], of[MESSAGES], of[CALLS], of[MEMORY], of[ALL], of[INSIDE]);
    }
    pt_group_bytes_release(all, group->size);
}

static int work(int argc, char **argv, bool with_figures)
{
    struct pt_group group;
    struct pt_mpi_figures figures = {0};
    int provided, held, shown;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    pt_mpi_group_begin(&group, &figures);
    be_silent(&group, &held, &shown);
    pt_together_begin(&group, held, shown);
    uint32_t size = group.size;
    int status = strcmp(argv[1], "check") == 0 ? check(&group, argc - 1, argv + 1) : batch(&group, argv[2]);
    group.size = size; /* see pt_together_part */
    if (with_figures)
        tell_figures(&group, &figures, shown);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD); /* mpirun ends all when one ends with another status than 0: not before it is told */
    MPI_Finalize();
    return status;
}

int main(int argc, char **argv)
{
    pt_set_oom_handler(out_of_memory);
    signal(SIGPIPE, SIG_DFL);
    pt_made_begin(argc, argv);
    bool figures = argc > 1 && strcmp(argv[1], "--figures") == 0;
    argc -= figures;
    argv += figures;
    if (argc < 2 || (strcmp(argv[1], "check") != 0 && (strcmp(argv[1], "--batch") != 0 || argc != 3))) {
        fprintf(stderr, "portent-mpi: does 'check' alone: mpirun -n N portent check ARGUMENTS\n");
        return PT_EXIT_BAD;
    }
    pt_guard();
    /* Who waits for the others lets them work, where processes are more than cores. */
    setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
    return work(argc, argv, figures);
}
