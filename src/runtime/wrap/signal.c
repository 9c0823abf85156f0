/*
 * The functions by which programs set handlers of signals, send and await them, and choose when they are cancelled.
 *
 * Guarantee: who sends a signal to this process, or sets its handler, comes before the handler, and before who waits
 * for it; raise() needs no order, as its handler is in the same thread. Signals to one thread may be taken for those to
 * another with the same number, as there are 64 objects for them. Cost: a load and a branch without an observer.
 */
#include "runtime/wrap/signal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "runtime/explore/explore.h"
#include "runtime/sys/sys.h"
#include "runtime/thread/signal.h"
#include "runtime/thread/thread.h"
#include "runtime/wrap/fill.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"

#ifdef PT_RT_STATIC
int __real_sigaction(int signal, const struct sigaction *action, struct sigaction *before);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);
int __real_pthread_join(pthread_t thread, void **value);
int __real_pthread_cancel(pthread_t thread);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_sigtimedwait(const sigset_t *set, siginfo_t *to, const struct timespec *limit);
#endif

/* --- on their way --- */

static void name_way(int signal, bool thread, const void *way)
{
    static _Atomic bool named[65][2];
    char text[32] = "signal ";
    size_t at = strlen(text);
    if (!pt_call_wanted || !pt_thread_now() || atomic_exchange(&named[signal][thread], true))
        return;
    if (signal > 9)
        text[at++] = (char)('0' + signal / 10);
    text[at++] = (char)('0' + signal % 10);
    strcpy(text + at, thread ? " to thread" : "");
    pt_wrap_name(way, text);
}

static void sync_way(int signal, const pthread_t *thread, bool puts, int kind, const struct pt_site *site)
{
    const void *way = pt_is_active() ? pt_signal_way(signal, thread, puts) : NULL;
    if (!way)
        return;
    name_way(signal, thread != NULL, way);
    pt_wrap_sync_kernel(way, kind, site);
}

void pt_signal_put(int signal, int kind, const struct pt_site *site)
{
    sync_way(signal, NULL, true, kind, site);
}

void pt_signal_take(int signal, int kind, const struct pt_site *site)
{
    pthread_t self = pthread_self();
    sync_way(signal, NULL, false, kind, site);
    sync_way(signal, &self, false, kind, site);
}

/* To this process, or to a group that it may be in. */
static void sends(pid_t process, int signal, int kind, const struct pt_site *site)
{
    if (pt_is_active() && (process <= 0 || (uint64_t)process == pt_sys_process()))
        pt_signal_put(signal, kind, site);
}

/* Where threads are scheduled. A handler is a step of the receiver's. */
static uint32_t slot_of(const pthread_t *thread)
{
    const struct pt_thread *receiver = thread ? pt_thread_find(*thread) : NULL;
    return receiver && receiver->explored ? receiver->explored - 1 : PT_EXPLORE_NO_SLOT;
}
static void explore(int signal, const pthread_t *thread, const struct pt_site *site)
{
    if (__builtin_expect(pt_explore_on, 0) && signal)
        pt_explore_point(&(struct pt_explore_op){
            .kind = PT_EXPLORE_SEND, .object = (const void *)(uintptr_t)slot_of(thread), .site = site});
}
/* It is on its way, and comes when the receiver is taken for it. */
static bool is_sent_later(int signal, const pthread_t *thread, const union sigval *value)
{
    return __builtin_expect(pt_explore_on, 0) && thread && pt_explore_send(slot_of(thread), signal, value);
}
static void sent(int signal, const pthread_t *thread)
{
    if (__builtin_expect(pt_explore_on, 0) && signal)
        pt_explore_sent(slot_of(thread));
}
#define SENDING(name, parameters, arguments, target, value, put)                                                       \
    PT_WRAP(int, name, parameters)                                                                                     \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        explore(signal, target, site);                                                                                 \
        put;                                                                                                           \
        if (is_sent_later(signal, target, value))                                                                      \
            return 0;                                                                                                  \
        int result = PT_REAL(name) arguments;                                                                          \
        sent(signal, target);                                                                                          \
        return result;                                                                                                 \
    }
SENDING(kill, (pid_t process, int signal), (process, signal), NULL, NULL, sends(process, signal, PT_EFFECT(kill), site))
SENDING(killpg, (pid_t group, int signal), (group, signal), NULL, NULL, sends(0, signal, PT_EFFECT(killpg), site))
SENDING(sigqueue, (pid_t process, int signal, const union sigval value), (process, signal, value), NULL, NULL,
        sends(process, signal, PT_EFFECT(sigqueue), site))
/* A thread by its number in the kernel: it is among those that take what goes to the process. */
SENDING(tgkill, (pid_t process, pid_t thread, int signal), (process, thread, signal), NULL, NULL,
        sends(process, signal, PT_EFFECT(tgkill), site))
SENDING(pthread_kill, (pthread_t thread, int signal), (thread, signal), &thread, NULL,
        sync_way(signal, &thread, true, PT_EFFECT(pthread_kill), site))
SENDING(pthread_sigqueue, (pthread_t thread, int signal, const union sigval value), (thread, signal, value), &thread,
        &value, sync_way(signal, &thread, true, PT_EFFECT(pthread_sigqueue), site))

/* --- awaited --- */

/* Where threads are scheduled: waits until one is there, and takes it, or until the time is over (EAGAIN). False: it is
 * not under control. */
static bool explored_wait(const sigset_t *set, siginfo_t *to, uint64_t deadline, int *ret_result,
                          const struct pt_site *site)
{
    static const struct timespec none;
    uint64_t signals;
    bool late;
    memcpy(&signals, set, sizeof signals);
    do {
        if (!pt_explore_await_signals(signals, deadline, &late, site))
            return false;
        *ret_result = PT_REAL(sigtimedwait)(set, to, &none);
    } while (*ret_result < 0 && !late);
    return true;
}
static bool is_explored(void)
{
    return __builtin_expect(pt_explore_on, 0) && pt_explore_has_clock();
}

PT_WRAP(int, sigwait, (const sigset_t *set, int *number))
{
    const struct pt_site *site = pt_call_take_fill();
    int result = 0, signal;
    if (is_explored() && explored_wait(set, NULL, 0, &signal, site)) {
        *number = signal;
    } else {
        pt_turn_away(site);
        result = PT_REAL(sigwait)(set, number);
        pt_turn_back(site);
    }
    if (result == 0) {
        pt_signal_take(*number, PT_EFFECT(sigwait), site);
        pt_fill(site, number, sizeof *number);
    }
    return result;
}
static void awaited(int signal, int kind, const siginfo_t *to, const struct pt_site *site)
{
    if (signal <= 0)
        return;
    pt_signal_take(signal, kind, site);
    pt_fill(site, to, sizeof *to);
}
#define AWAITING(name, parameters, arguments, until)                                                                   \
    PT_WRAP(int, name, parameters)                                                                                     \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take_fill();                                                              \
        int result;                                                                                                    \
        if (!is_explored() || !explored_wait(set, to, until, &result, site)) {                                         \
            pt_turn_away(site);                                                                                        \
            result = PT_REAL(name) arguments;                                                                          \
            pt_turn_back(site);                                                                                        \
        }                                                                                                              \
        awaited(result, PT_EFFECT(name), to, site);                                                                    \
        return result;                                                                                                 \
    }
AWAITING(sigwaitinfo, (const sigset_t *set, siginfo_t *to), (set, to), 0)
AWAITING(sigtimedwait, (const sigset_t *set, siginfo_t *to, const struct timespec *limit), (set, to, limit),
         limit ? pt_explore_after((uint64_t)limit->tv_sec * 1000000000 + (uint64_t)limit->tv_nsec) : 0)

/* Where threads are scheduled: true, a handler has run. A thread that is cancelled there goes to libc for that. */
static bool explored_pause(const uint64_t *mask, const struct pt_site *site)
{
    return __builtin_expect(pt_explore_on, 0) && pt_explore_pause(mask, site) && !pt_explore_is_cancelled();
}

PT_WRAP(int, pause, (void))
{
    const struct pt_site *site = pt_call_take_fill();
    if (!explored_pause(NULL, site))
        return PT_REAL(pause)();
    errno = EINTR;
    return -1;
}

PT_WRAP(int, sigsuspend, (const sigset_t *set))
{
    const struct pt_site *site = pt_call_take_fill();
    uint64_t mask;
    memcpy(&mask, set, sizeof mask);
    if (!explored_pause(&mask, site))
        return PT_REAL(sigsuspend)(set);
    errno = EINTR;
    return -1;
}

/* --- handlers --- */

static void explored_handler(sighandler_t handler)
{
    if (__builtin_expect(pt_explore_on, 0) && handler != SIG_DFL && handler != SIG_IGN)
        pt_explore_handles();
}

PT_WRAP(int, sigaction, (int signal, const struct sigaction *action, struct sigaction *before))
{
    const struct pt_site *site = pt_call_take_fill();
    if (action)
        explored_handler(action->sa_handler);
    if (action)
        pt_signal_put(signal, PT_EFFECT(sigaction), site);
    int result = pt_signal_set_handler(PT_REAL(sigaction), signal, action, before);
    if (result == 0)
        pt_fill(site, before, sizeof *before);
    return result;
}

PT_WRAP(sighandler_t, signal, (int number, sighandler_t handler))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    explored_handler(handler);
    pt_signal_put(number, PT_EFFECT(signal), NULL);
    return pt_signal_set_handler(PT_REAL(sigaction), number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

/* libc sets its handler for cancellation only when a thread is cancelled for the first time: so one is. */
static void *wait_for_the_end(void *unused)
{
    pt_thread_forget();                                        /* it is no thread of the program */
    pt_sys_swap_signal_mask(~PT_SIGNAL_BIT(PT_SIGNAL_CANCEL)); /* all others are the program's */
    for (;;)
        PT_REAL(pause)();
    return unused;
}

static void cancel_a_thread(void)
{
    pthread_t thread;
    pt_wrap_look_for_strangers(); /* from here on libc has had threads, for a known reason */
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

/* A thread may wait for its end in a loop of these. */
PT_WRAP(void, pthread_testcancel, (void))
{
    if (__builtin_expect(pt_explore_on, 0))
        pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_YIELD});
    PT_REAL(pthread_testcancel)();
}

PT_WRAP(int, pthread_cancel, (pthread_t thread))
{
    is_guarded();
    if (__builtin_expect(pt_explore_on, 0))
        pt_explore_point(&(struct pt_explore_op){
            .kind = PT_EXPLORE_SEND, .object = (const void *)(uintptr_t)slot_of(&thread), .other = (const void *)1});
    int result = PT_REAL(pthread_cancel)(thread);
    if (__builtin_expect(pt_explore_on, 0) && result == 0)
        pt_explore_cancels(slot_of(&thread));
    return result;
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
