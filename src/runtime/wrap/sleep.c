/* Sleeping and yielding: of interest for the event stream alone. */
#include <sched.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"

#define STATED(returns, name, parameters, arguments, state)                                                            \
    PT_WRAP(returns, name, parameters)                                                                                 \
    {                                                                                                                  \
        pt_wrap_active(state, 0);                                                                                      \
        returns result = PT_REAL(name) arguments;                                                                      \
        pt_wrap_active(PT_STATE_RUNNING, 0);                                                                           \
        return result;                                                                                                 \
    }

STATED(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left), PT_STATE_SLEEP)
STATED(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *left),
       (clock, flags, time, left), PT_STATE_SLEEP)
STATED(int, usleep, (useconds_t time), (time), PT_STATE_SLEEP)
STATED(unsigned, sleep, (unsigned seconds), (seconds), PT_STATE_SLEEP)
STATED(int, thrd_sleep, (const struct timespec *time, struct timespec *left), (time, left), PT_STATE_SLEEP)
STATED(int, sched_yield, (void), (), PT_STATE_READY)
