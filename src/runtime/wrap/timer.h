/* Functions that libc calls in threads of its own, for timers and for messages (timer.c). */
#ifndef PT_RUNTIME_WRAP_TIMER_H
#define PT_RUNTIME_WRAP_TIMER_H

#include <signal.h>

/* Such a function, if `how` asks for one: `ret_ours` has one that makes its thread known, and calls it. It comes after
 * what was told on the object that is returned, and on `cause`, which may be NULL. NULL: it does not ask, nobody
 * observes, or there are too many; `ret_ours` is as `how`. */
const void *pt_timer_thread(const struct sigevent *how, const void *cause, struct sigevent *ret_ours);
/* Threads for it will come, and nobody will see them start. */
void pt_timer_expect_threads(void);

#endif
