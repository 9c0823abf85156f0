/* Sleeping and yielding: of interest for the event stream, and where threads are scheduled; and how much was left when
 * a signal ended the sleep. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "runtime/explore/explore.h"
#include "runtime/wrap/fill.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"

#ifdef PT_RT_STATIC
void __real_pthread_testcancel(void);
#endif

/* Where threads are scheduled: true, it has slept until then, or (*ret_left) a handler has ended that before. */
static bool explored(uint64_t deadline, uint64_t *ret_left, const struct pt_site *site)
{
    *ret_left = 0;
    if (__builtin_expect(!pt_explore_on, 1) || !pt_explore_has_clock())
        return false;
    uint32_t answer = pt_explore_point(&(struct pt_explore_op){
        .kind = PT_EXPLORE_SLEEP, .deadline = deadline, .interrupts = PT_EXPLORE_IS_ENDED, .site = site});
    if (pt_explore_is_cancelled())
        PT_REAL(pthread_testcancel)();
    if (answer == PT_EXPLORE_INTERRUPTED)
        *ret_left = pt_explore_left(deadline);
    return true;
}
static const uint64_t second = 1000000000;
static uint64_t after(const struct timespec *time)
{
    return pt_explore_after((uint64_t)time->tv_sec * second + (uint64_t)time->tv_nsec);
}
/* What a function returns that tells how much is left. */
static int told(uint64_t left, struct timespec *to, int interrupted)
{
    if (left && to)
        *to = (struct timespec){(time_t)(left / second), (long)(left % second)};
    if (left)
        errno = EINTR;
    return left ? interrupted : 0;
}
static bool explored_yield(const struct pt_site *site)
{
    if (__builtin_expect(!pt_explore_on, 1))
        return false;
    return pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_YIELD, .site = site}) != PT_EXPLORE_FREE_TO_GO;
}

#define STATED(returns, name, parameters, arguments, state, played, answer, report)                                    \
    PT_WRAP(returns, name, parameters)                                                                                 \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        uint64_t left_over = 0;                                                                                        \
        if (played) {                                                                                                  \
            returns result = answer;                                                                                   \
            report;                                                                                                    \
            return result;                                                                                             \
        }                                                                                                              \
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
       explored(after(time), &left_over, site), told(left_over, left, -1),
       interrupted(site, left, result == -1 && errno == EINTR))
STATED(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *left),
       (clock, flags, time, left), PT_STATE_SLEEP,
       explored(flags &TIMER_ABSTIME ? pt_explore_until(clock, time) : after(time), &left_over, site),
       told(left_over, flags &TIMER_ABSTIME ? NULL : left, EINTR),
       interrupted(site, left, result == EINTR && !(flags & TIMER_ABSTIME)))
STATED(int, usleep, (useconds_t time), (time), PT_STATE_SLEEP,
       explored(pt_explore_after((uint64_t)time * 1000), &left_over, site), told(left_over, NULL, -1), (void)site)
STATED(unsigned, sleep, (unsigned seconds), (seconds), PT_STATE_SLEEP,
       explored(pt_explore_after(seconds *second), &left_over, site), (unsigned)((left_over + second / 2) / second),
       (void)site)
STATED(int, thrd_sleep, (const struct timespec *time, struct timespec *left), (time, left), PT_STATE_SLEEP,
       explored(after(time), &left_over, site), told(left_over, left, -1), interrupted(site, left, result == -1))
STATED(int, sched_yield, (void), (), PT_STATE_READY, explored_yield(site), (int)left_over, (void)site)
