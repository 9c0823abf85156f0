/* The functions by which programs set handlers of signals, and choose when they are cancelled. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "runtime/sys/sys.h"
#include "runtime/thread/signal.h"
#include "runtime/thread/thread.h"
#include "runtime/wrap/fill.h"
#include "runtime/wrap/interpose.h"

#ifdef PT_RT_STATIC
int __real_sigaction(int signal, const struct sigaction *action, struct sigaction *before);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int __real_pthread_join(pthread_t thread, void **value);
#endif

PT_WRAP(int, sigaction, (int signal, const struct sigaction *action, struct sigaction *before))
{
    const struct pt_site *site = pt_call_take_fill();
    int result = pt_signal_set_handler(PT_REAL(sigaction), signal, action, before);
    if (result == 0)
        pt_fill(site, before, sizeof *before);
    return result;
}

PT_WRAP(sighandler_t, signal, (int number, sighandler_t handler))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    return pt_signal_set_handler(PT_REAL(sigaction), number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

/* libc sets its handler for cancellation only when a thread is cancelled for the first time: so one is. */
static void *wait_for_the_end(void *unused)
{
    pt_thread_forget(); /* it is no thread of the program */
    for (;;)
        pause();
    return unused;
}

static void cancel_a_thread(void)
{
    pthread_t thread;
    uint64_t mask = pt_sys_swap_signal_mask(~(uint64_t)0 & ~PT_SIGNAL_BIT(32)); /* all others are the program's */
    bool made = PT_REAL(pthread_create)(&thread, NULL, wait_for_the_end, NULL) == 0;
    pt_sys_swap_signal_mask(mask);
    if (made) {
        pthread_cancel(thread);
        PT_REAL(pthread_join)(thread, NULL);
    }
}

/* Cancellation at any instruction must not strike inside the runtime. Where that cannot be made sure, the thread is
 * cancelled at its next cancellation point. */
PT_WRAP(int, pthread_setcanceltype, (int type, int *before))
{
    const struct pt_site *site = pt_call_take_fill();
    bool guarded = !pt_channel || type != PTHREAD_CANCEL_ASYNCHRONOUS || pt_signal_guard_cancellation(cancel_a_thread);
    int error = PT_REAL(pthread_setcanceltype)(guarded ? type : PTHREAD_CANCEL_DEFERRED, before);
    if (error == 0)
        pt_fill(site, before, sizeof *before);
    return error;
}
