/* Sleeping and yielding: of interest for the event stream; and how much was left when a signal ended the sleep. */
#include <errno.h>
#include <sched.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "runtime/wrap/fill.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"

#define STATED(returns, name, parameters, arguments, state, report)                                                    \
    PT_WRAP(returns, name, parameters)                                                                                 \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        pt_wrap_active(state, 0);                                                                                      \
        if (state == PT_STATE_SLEEP)                                                                                   \
            pt_wrap_blocks(NULL, PT_GATE_SLEEPS);                                                                      \
        returns result = PT_REAL(name) arguments;                                                                      \
        if (state == PT_STATE_SLEEP)                                                                                   \
            pt_wrap_blocks(NULL, PT_GATE_RUNS);                                                                        \
        pt_wrap_active(PT_STATE_RUNNING, 0);                                                                           \
        report;                                                                                                        \
        return result;                                                                                                 \
    }

/* It was interrupted by a signal. */
static void interrupted(const struct pt_site *site, const struct timespec *left, bool ended)
{
    if (ended)
        pt_fill(site, left, sizeof *left);
}

STATED(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left), PT_STATE_SLEEP,
       interrupted(site, left, result == -1 && errno == EINTR))
STATED(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *left),
       (clock, flags, time, left), PT_STATE_SLEEP, interrupted(site, left, result == EINTR && !(flags & TIMER_ABSTIME)))
STATED(int, usleep, (useconds_t time), (time), PT_STATE_SLEEP, (void)site)
STATED(unsigned, sleep, (unsigned seconds), (seconds), PT_STATE_SLEEP, (void)site)
STATED(int, thrd_sleep, (const struct timespec *time, struct timespec *left), (time, left), PT_STATE_SLEEP,
       interrupted(site, left, result == -1))
STATED(int, sched_yield, (void), (), PT_STATE_READY, (void)site)
