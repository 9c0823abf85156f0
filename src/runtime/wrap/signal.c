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
int __real_pthread_cancel(pthread_t thread);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
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
    pt_thread_forget();                                        /* it is no thread of the program */
    pt_sys_swap_signal_mask(~PT_SIGNAL_BIT(PT_SIGNAL_CANCEL)); /* all others are the program's */
    for (;;)
        pause();
    return unused;
}

static void cancel_a_thread(void)
{
    pthread_t thread;
    if (PT_REAL(pthread_create)(&thread, NULL, wait_for_the_end, NULL) == 0) {
        PT_REAL(pthread_cancel)(thread);
        PT_REAL(pthread_join)(thread, NULL);
    }
}

/* True: cancellation at any instruction does not strike inside the runtime. It has to be so before the program cancels
 * its first thread, or libc might set its handler in place of ours; and one thread at a time sees to it, for the same
 * reason. The caller is itself not cancelled meanwhile, and runs no handlers. */
static bool is_guarded(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static _Atomic bool done;
    int state;
    if (!pt_channel || atomic_load_explicit(&done, memory_order_acquire)) /* partner: the release below */
        return true;
    uint64_t mask = pt_sys_swap_signal_mask(~(uint64_t)0);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    PT_REAL(pthread_mutex_lock)(&lock);
    bool guarded = atomic_load_explicit(&done, memory_order_relaxed) || pt_signal_guard_cancellation(cancel_a_thread);
    atomic_store_explicit(&done, guarded, memory_order_release);
    PT_REAL(pthread_mutex_unlock)(&lock);
    pt_sys_swap_signal_mask(mask);
    pthread_setcancelstate(state, NULL);
    return guarded;
}

PT_WRAP(int, pthread_cancel, (pthread_t thread))
{
    is_guarded();
    return PT_REAL(pthread_cancel)(thread);
}

/* Where it cannot be guarded, the thread is cancelled at its next cancellation point. */
PT_WRAP(int, pthread_setcanceltype, (int type, int *before))
{
    const struct pt_site *site = pt_call_take_fill();
    bool as_asked = type != PTHREAD_CANCEL_ASYNCHRONOUS || is_guarded();
    int error = PT_REAL(pthread_setcanceltype)(as_asked ? type : PTHREAD_CANCEL_DEFERRED, before);
    if (error == 0)
        pt_fill(site, before, sizeof *before);
    return error;
}
