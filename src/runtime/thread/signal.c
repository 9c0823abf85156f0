/*
 * Signals. A handler must not run while its thread is inside the runtime: it would find granules locked by itself and
 * clocks half changed. So the handlers of the program are called through one of ours, which defers a signal while the
 * thread is busy. All signals are then blocked until the thread leaves the runtime, where the handler runs with the
 * mask the kernel would have given it; so one place for a pending signal is enough, and the kernel keeps the queue.
 *
 * A fault of the access itself (a guard page, a null pointer) cannot wait. Its handler runs at once, outside of the
 * runtime: what the thread has locked is unlocked before and locked again after, so that it may also leave by
 * siglongjmp.
 *
 * Guarantee: no handler of the program runs inside the runtime, and none is lost. Cost: nothing, until a signal comes.
 */
#include "runtime/thread/signal.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

#include "runtime/shadow/granule.h"
#include "runtime/shadow/slow.h"
#include "runtime/sys/sys.h"
#include "runtime/thread/thread.h"

enum { SIGNALS = 65, PENDING = PT_ATTEND_SIGNAL, CANCEL = PT_ATTEND_CANCEL };

struct pt_deferred_signal {
    int signal;
    siginfo_t info;
    ucontext_t context;
};
_Static_assert(sizeof(struct pt_deferred_signal) <= 4096, "released as one page in thread.c");

static struct sigaction handlers[SIGNALS];

static bool is_fault(int signal, const siginfo_t *info)
{
    return info->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL ||
                                 signal == SIGTRAP || signal == SIGSYS);
}

static void call_handler(int signal, siginfo_t *info, void *context)
{
    if (handlers[signal].sa_flags & SA_SIGINFO)
        handlers[signal].sa_sigaction(signal, info, context);
    else
        handlers[signal].sa_handler(signal);
}

/* False when there is no room: the handler then runs now, and its accesses are not recorded. */
static bool deferred(struct pt_thread *self, int signal, const siginfo_t *info, ucontext_t *context)
{
    if (self->shadow.attention & PENDING)
        return false;
    if (!self->deferred)
        self->deferred = pt_sys_reserve(4096);
    if (!self->deferred)
        return false;
    self->deferred->signal = signal;
    self->deferred->info = *info;
    self->deferred->context = *context;
    sigset_t all;
    sigfillset(&all);
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&all, faults[i]);
    memcpy(&context->uc_sigmask, &all, 8);
    self->shadow.attention |= PENDING;
    return true;
}

static void run_fault_handler(struct pt_thread *thread, int signal, siginfo_t *info, void *context)
{
    struct pt_shadow_self *self = &thread->shadow;
    struct pt_locked_range *locked = self->locked;
    uint32_t busy = self->busy, open = self->open_count;
    _Atomic uint64_t *word = locked ? NULL : self->locked_word;
    struct pt_reading *reading = locked ? NULL : self->reading;
    bool disturbed = self->disturbed || word || reading; /* before: the same access has faulted again */
    pt_slow_suspend(locked);
    if (reading)
        atomic_store_explicit(&reading->busy, 0, memory_order_release);
    if (word)
        atomic_fetch_and_explicit(word, ~PT_SHADOW_LOCKED, memory_order_release);
    self->locked = NULL;
    self->reading = NULL;
    self->disturbed = false; /* accesses of the handler are none of this one's */
    self->busy = self->open_count = 0;
    call_handler(signal, info, context);
    self->busy = busy;
    self->open_count = open;
    self->locked = locked;
    pt_slow_resume(self, locked);
    if (word)
        pt_granule_collect(self, pt_granule_lock(word));
    self->locked_word = word;
    self->disturbed = disturbed;
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    struct pt_thread *self = pt_thread_now();
    if (!self || !self->shadow.busy)
        call_handler(signal, info, context);
    else if (is_fault(signal, info))
        run_fault_handler(self, signal, info, context);
    else if (!deferred(self, signal, info, context))
        call_handler(signal, info, context);
}

void pt_thread_attend(struct pt_shadow_self *self)
{
    struct pt_thread *thread = pt_thread_of(self);
    if (self->attention & PENDING) {
        /* everything is blocked here; a copy, because the next signal may be deferred while this one is handled */
        struct pt_deferred_signal now = *thread->deferred;
        self->attention &= ~(uint32_t)PENDING;
        sigset_t mask = now.context.uc_sigmask, before = mask;
        const struct sigaction *handler = &handlers[now.signal];
        for (int i = 1; i < SIGNALS; i++)
            if (sigismember(&handler->sa_mask, i) == 1)
                sigaddset(&mask, i);
        if (!(handler->sa_flags & SA_NODEFER))
            sigaddset(&mask, now.signal);
        pt_sys_set_signal_mask(&mask);
        call_handler(now.signal, &now.info, &now.context);
        pt_sys_set_signal_mask(&before);
    }
    if (self->attention & PT_ATTEND_VIOLATION) {
        self->attention &= ~(uint32_t)PT_ATTEND_VIOLATION;
        pt_thread_hooks.violated(thread);
    }
    if (self->attention & CANCEL)
        pthread_testcancel();
}

int pt_signal_set_handler(pt_signal_action *real, int signal, const struct sigaction *action, struct sigaction *before)
{
    if (!pt_channel || signal < 1 || signal >= SIGNALS)
        return real(signal, action, before);
    struct sigaction ours, was, known = handlers[signal];
    if (action) {
        ours = *action;
        if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN) {
            handlers[signal] = *action;
            ours.sa_sigaction = on_signal;
            ours.sa_flags |= SA_SIGINFO;
        }
    }
    int result = real(signal, action ? &ours : NULL, &was);
    if (result != 0) {
        handlers[signal] = known;
        return result;
    }
    if (before)
        *before = was.sa_sigaction == on_signal ? known : was;
    return 0;
}
