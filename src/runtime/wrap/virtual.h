/* Timers of programs whose threads are scheduled: they are on the virtual clock (runtime/explore/timer.c). Each
 * function says whether it was: else the caller does what it would do otherwise, by the kernel's clock. Without control
 * each costs a load and a branch. */
#ifndef PT_RUNTIME_WRAP_VIRTUAL_H
#define PT_RUNTIME_WRAP_VIRTUAL_H

#include <signal.h>
#include <stdbool.h>
#include <sys/time.h>
#include <time.h>

#include "runtime/explore/explore.h"

/* alarm, setitimer and getitimer; `now` NULL: it is only asked. */
bool pt_virtual_alarm(const struct itimerval *now, struct itimerval *ret_before);
/* `run`: what a thread of a timer with a function does with `argument`, each time it is over. */
bool pt_virtual_create(clockid_t clock, const struct sigevent *how, void (*run)(void *), void *argument,
                       timer_t *timer);
bool pt_virtual_is(timer_t timer);
void pt_virtual_set(timer_t timer, int flags, const struct itimerspec *now, struct itimerspec *before);
void pt_virtual_get(timer_t timer, struct itimerspec *to);
int pt_virtual_overrun(timer_t timer);
void pt_virtual_delete(timer_t timer);
/* timerfd: `fd` was made by the kernel, of CLOCK_REALTIME, and is never set there but when it is over. */
bool pt_virtual_is_clock(clockid_t clock);
void pt_virtual_file(int fd, clockid_t clock);
bool pt_virtual_set_file(int fd, int flags, const struct itimerspec *now, struct itimerspec *before);
bool pt_virtual_get_file(int fd, struct itimerspec *to);

#endif
