/*
 * Functions that fill memory with what became of children, signals and threads; those that the runtime stands in front
 * of for another reason are in thread.c, signal.c and sleep.c.
 *
 * Guarantee: what they return and how they end is the real functions'. Cost: that of fill.c.
 */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "runtime/wrap/fill.h"

static void fixed(const struct pt_site *site, const void *memory, size_t size, bool done)
{
    if (done)
        pt_fill(site, memory, size);
}

/* WNOHANG may find nobody. */
PT_FILLING_LATE(pid_t, wait, (int *status), (status), fixed(site, status, sizeof *status, result > 0))
PT_FILLING_LATE(pid_t, waitpid, (pid_t child, int *status, int options), (child, status, options),
                fixed(site, status, sizeof *status, result > 0))
static void ended(const struct pt_site *site, const int *status, const struct rusage *usage, bool done)
{
    fixed(site, status, sizeof *status, done);
    fixed(site, usage, sizeof *usage, done);
}
PT_FILLING_LATE(pid_t, wait3, (int *status, int options, struct rusage *usage), (status, options, usage),
                ended(site, status, usage, result > 0))
PT_FILLING_LATE(pid_t, wait4, (pid_t child, int *status, int options, struct rusage *usage),
                (child, status, options, usage), ended(site, status, usage, result > 0))
PT_FILLING_LATE(int, waitid, (idtype_t type, id_t id, siginfo_t *to, int options), (type, id, to, options),
                fixed(site, to, sizeof *to, result == 0))

/* Of a set the kernel writes as much as it has signals. */
enum { SET = (_NSIG - 1) / 8 };
PT_FILLING(int, sigprocmask, (int how, const sigset_t *set, sigset_t *before), (how, set, before),
           fixed(site, before, SET, result == 0))
PT_FILLING(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *before), (how, set, before),
           fixed(site, before, SET, result == 0))
PT_FILLING(int, sigpending, (sigset_t * to), (to), fixed(site, to, SET, result == 0))

PT_FILLING(int, sem_getvalue, (sem_t * semaphore, int *value), (semaphore, value),
           fixed(site, value, sizeof *value, result == 0))
PT_FILLING(int, pthread_setcancelstate, (int state, int *before), (state, before),
           fixed(site, before, sizeof *before, result == 0);
           if (result == 0 && __builtin_expect(pt_explore_on, 0))
               pt_explore_cancel_state(state == PTHREAD_CANCEL_DISABLE))
PT_FILLING(int, pthread_getname_np, (pthread_t thread, char *name, size_t size), (thread, name, size),
           if (result == 0) pt_fill_text(site, name))
static void scheduled(const struct pt_site *site, const int *policy, const struct sched_param *priority, int result)
{
    fixed(site, policy, sizeof *policy, result == 0);
    fixed(site, priority, sizeof *priority, result == 0);
}
PT_FILLING(int, pthread_getschedparam, (pthread_t thread, int *policy, struct sched_param *priority),
           (thread, policy, priority), scheduled(site, policy, priority, result))
