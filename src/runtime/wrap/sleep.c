/* Sleeping and yielding: of interest for the event stream, and where threads are scheduled; and how much was left when
 * a signal ended the sleep. */
#include <errno.h>
#include <sched.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "runtime/explore/explore.h"
#include "runtime/wrap/fill.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"

/* Where threads are scheduled: true, it has slept until then. */
static bool explored(uint64_t deadline, const struct pt_site *site)
{
    if (__builtin_expect(!pt_explore_on, 1) || !pt_explore_has_clock())
        return false;
    pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_SLEEP, .deadline = deadline, .site = site});
    return true;
}
static uint64_t after(const struct timespec *time)
{
    return pt_explore_after((uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec);
}
static bool explored_yield(const struct pt_site *site)
{
    if (__builtin_expect(!pt_explore_on, 1))
        return false;
    return pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_YIELD, .site = site}) != PT_EXPLORE_FREE_TO_GO;
}

#define STATED(returns, name, parameters, arguments, state, played, report)                                            \
    PT_WRAP(returns, name, parameters)                                                                                 \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        if (played)                                                                                                    \
            return 0;                                                                                                  \
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
       explored(after(time), site), interrupted(site, left, result == -1 && errno == EINTR))
STATED(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *left),
       (clock, flags, time, left), PT_STATE_SLEEP,
       explored(flags &TIMER_ABSTIME ? pt_explore_until(clock, time) : after(time), site),
       interrupted(site, left, result == EINTR && !(flags & TIMER_ABSTIME)))
STATED(int, usleep, (useconds_t time), (time), PT_STATE_SLEEP, explored(pt_explore_after((uint64_t)time * 1000), site),
       (void)site)
STATED(unsigned, sleep, (unsigned seconds), (seconds), PT_STATE_SLEEP,
       explored(pt_explore_after((uint64_t)seconds * 1000000000), site), (void)site)
STATED(int, thrd_sleep, (const struct timespec *time, struct timespec *left), (time, left), PT_STATE_SLEEP,
       explored(after(time), site), interrupted(site, left, result == -1))
STATED(int, sched_yield, (void), (), PT_STATE_READY, explored_yield(site), (void)site)
