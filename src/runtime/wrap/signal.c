/* The functions by which programs set handlers of signals, and choose when they are cancelled. */
#include <pthread.h>
#include <signal.h>

#include "runtime/thread/signal.h"
#include "runtime/thread/thread.h"
#include "runtime/wrap/fill.h"
#include "runtime/wrap/interpose.h"

#ifdef PT_RT_STATIC
int __real_sigaction(int signal, const struct sigaction *action, struct sigaction *before);
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

/* Cancellation at any instruction could strike inside the runtime. The thread is cancelled where it leaves the runtime
 * instead, and at every cancellation point. */
PT_WRAP(int, pthread_setcanceltype, (int type, int *before))
{
    const struct pt_site *site = pt_call_take_fill();
    struct pt_thread *self = pt_channel ? pt_thread_self() : NULL;
    if (!self || (type != PTHREAD_CANCEL_ASYNCHRONOUS && type != PTHREAD_CANCEL_DEFERRED))
        return PT_REAL(pthread_setcanceltype)(type, before);
    if (before)
        *before = self->shadow.attention & PT_ATTEND_CANCEL ? PTHREAD_CANCEL_ASYNCHRONOUS : PTHREAD_CANCEL_DEFERRED;
    pt_fill(site, before, sizeof *before);
    if (type == PTHREAD_CANCEL_ASYNCHRONOUS)
        self->shadow.attention |= PT_ATTEND_CANCEL;
    else
        self->shadow.attention &= ~(uint32_t)PT_ATTEND_CANCEL;
    pt_shadow_refresh(&self->shadow);
    return 0;
}
