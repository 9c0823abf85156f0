/*
 * Starting, joining and detaching threads, POSIX and C11; and the names they are given.
 *
 * Guarantee: what a parent did before it starts a child comes before all of the child, and what a child did comes
 * before the return of the join. Cost: one hook for each; the start goes through a function of ours.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#include "runtime/explore/explore.h"
#include "runtime/sys/delay.h"
#include "runtime/sys/module.h"
#include "runtime/sys/runtime.h"
#include "runtime/sys/sys.h"
#include "runtime/thread/call.h"
#include "runtime/thread/thread.h"
#include "runtime/wrap/cancel.h"
#include "runtime/wrap/fill.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"
#include "runtime/wrap/memory.h"

static struct pt_thread *recorder(void)
{
    struct pt_thread *self = pt_channel ? pt_thread_self() : NULL;
    return self && !self->shadow.busy ? self : NULL;
}

/* While races are looked for and one thread alone is there, as far as anybody has seen, functions run without hooks:
 * one that was made behind our back would not be met. libc knows of it (glibc 2.32; where it says nothing, nobody
 * does). */
extern char __libc_single_threaded __attribute__((weak));
static _Atomic bool several; /* from here on whoever does something is met, or threads are there for a known reason */

void pt_wrap_expect_several(void)
{
    atomic_store_explicit(&several, true, memory_order_relaxed);
}

void pt_wrap_look_for_strangers(void)
{
    if (atomic_exchange(&several, true) || !pt_races_wanted || !&__libc_single_threaded || __libc_single_threaded)
        return;
    pt_runtime_lost_stranger();
}

static struct pt_thread *new_child(void)
{
    struct pt_thread *self = recorder(), *child = NULL;
    if (self) {
        pt_wrap_look_for_strangers();
        pt_thread_enter(self);
        child = pt_thread_new(self);
        pt_thread_leave(self);
    }
    return child;
}

/* A thread reports whom it starts, and what that runs, before the child can do anything: threads are numbered in the
 * order in which they were started, however late each of them begins. */
static void report_fork(struct pt_thread *child, const struct pt_site *site)
{
    struct pt_thread *self = pt_thread_now();
    if (!self)
        return;
    pt_thread_enter(self);
    pt_thread_hooks.forked(self, child, site);
    pt_thread_leave(self);
}

/* It was not started after all, and is none of those that run the function. */
static void take_back(struct pt_thread *child)
{
    struct pt_thread *self = pt_thread_now();
    if (self) {
        pt_thread_enter(self);
        pt_thread_hooks.not_forked(self, child);
        pt_thread_leave(self);
    }
    pt_thread_discard(child);
}

/* How large the stack of the child will be; not more than that. */
static size_t stack_size(const pthread_attr_t *attributes)
{
    pthread_attr_t standard;
    size_t size = 0;
    if (attributes) {
        pthread_attr_getstacksize(attributes, &size);
    } else if (pthread_attr_init(&standard) == 0) {
        pthread_attr_getstacksize(&standard, &size);
        pthread_attr_destroy(&standard);
    }
    return size;
}

/* Whether the attributes name memory for it. Where they do not, the address is as if the stack ended at 0. */
static bool is_stack_given(const pthread_attr_t *attributes)
{
    void *low;
    size_t size;
    return attributes && pthread_attr_getstack(attributes, &low, &size) == 0 && (uintptr_t)low + size != 0;
}

/* The child begins with all signals blocked, and takes its mask when it is known: a handler that runs before would be
 * taken for another thread. Attributes with a mask of their own are not ours to change. Returns the caller's mask. */
static uint64_t block_signals(struct pt_thread *child, const pthread_attr_t *attributes)
{
    sigset_t own;
    uint64_t mask = pt_sys_swap_signal_mask(~(uint64_t)0);
    child->signal_mask = mask;
    if (attributes && pthread_attr_getsigmask_np(attributes, &own) == 0)
        memcpy(&child->signal_mask, &own, sizeof child->signal_mask);
    return mask;
}

/* It may begin, or go on after it has been started, late. */
static void linger(void)
{
    if (pt_delay_on)
        pt_delay_life();
}

/* Where threads are scheduled: a slot for the child, and its first turn. */
static void explore_child(struct pt_thread *child, const struct pt_site *site)
{
    if (__builtin_expect(pt_explore_on, 0))
        child->explored = 1 + pt_explore_create(child->runs, site);
}
static void explore_begin(struct pt_thread *self)
{
    if (__builtin_expect(pt_explore_on, 0) && self->explored)
        pt_explore_begin(self->explored - 1, self->tid, pt_thread_number(self) + 1,
                         self->stack_size ? pt_thread_stack_low(self) : 0,
                         self->stack_size ? (uintptr_t)pthread_self() : 0);
}
static uint32_t slot_of(const struct pt_thread *thread)
{
    return thread && thread->explored ? thread->explored - 1 : PT_EXPLORE_NO_SLOT;
}

/* It was not started, or nobody will join it. */
static void explore_gone(const struct pt_thread *child, bool failed)
{
    if (failed)
        pt_explore_not_created(slot_of(child));
    else
        pt_explore_released(slot_of(child));
}

static void *run_posix(void *context)
{
    struct pt_thread *self = context;
    pt_thread_begin(self);
    explore_begin(self);
    linger();
    return self->start(self->argument);
}

static int run_c11(void *context)
{
    struct pt_thread *self = context;
    pt_thread_begin(self);
    explore_begin(self);
    linger();
    return self->start_c11(self->argument);
}

PT_WRAP(int, pthread_create,
        (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument))
{
    const struct pt_site *site = pt_call_take(thread);
    struct pt_thread *child = new_child();
    if (!child)
        return PT_REAL(pthread_create)(thread, attributes, start, argument);
    int detached = PTHREAD_CREATE_JOINABLE;
    if (attributes)
        pthread_attr_getdetachstate(attributes, &detached);
    child->start = start;
    child->runs = pt_module_callable((uintptr_t)start, argument);
    child->argument = argument;
    child->stack_size = stack_size(attributes);
    child->stack_given = is_stack_given(attributes);
    atomic_store(&child->releases, detached == PTHREAD_CREATE_DETACHED);
    atomic_store(&child->detached, detached == PTHREAD_CREATE_DETACHED);
    explore_child(child, site);
    report_fork(child, site);
    linger();
    uint64_t mask = block_signals(child, attributes);
    pt_memory_of_the_ended = true;
    int result = PT_REAL(pthread_create)(thread, attributes, run_posix, child);
    pt_memory_of_the_ended = false;
    pt_sys_swap_signal_mask(mask);
    if (__builtin_expect(pt_explore_on, 0) && (result != 0 || detached == PTHREAD_CREATE_DETACHED))
        explore_gone(child, result != 0);
    if (result == 0)
        pt_thread_created(child, thread);
    else
        take_back(child);
    if (result == 0)
        pt_fill(site, thread, sizeof *thread);
    return result;
}

PT_WRAP(int, thrd_create, (thrd_t * thread, thrd_start_t start, void *argument))
{
    const struct pt_site *site = pt_call_take(thread);
    struct pt_thread *child = new_child();
    if (!child)
        return PT_REAL(thrd_create)(thread, start, argument);
    child->start_c11 = start;
    child->runs = (uintptr_t)start;
    child->argument = argument;
    child->stack_size = stack_size(NULL);
    explore_child(child, site);
    report_fork(child, site);
    linger();
    uint64_t mask = block_signals(child, NULL);
    pt_memory_of_the_ended = true;
    int result = PT_REAL(thrd_create)(thread, run_c11, child);
    pt_memory_of_the_ended = false;
    pt_sys_swap_signal_mask(mask);
    if (__builtin_expect(pt_explore_on, 0) && result != thrd_success)
        explore_gone(child, true);
    if (result == thrd_success)
        pt_thread_created(child, thread);
    else
        take_back(child);
    if (result == thrd_success)
        pt_fill(site, thread, sizeof *thread);
    return result;
}

/* A join that is cancelled leaves the thread to somebody else. */
static void stop_joining(void *joined)
{
    pt_memory_of_the_ended = false;
    pt_wrap_waited(PT_WAIT_END);
    pt_wrap_blocks(NULL, PT_GATE_RUNS);
    pt_wrap_active(PT_STATE_RUNNING, 0);
    if (joined)
        pt_thread_unclaim(joined);
}

/* Where threads are scheduled: waits for its end. False: the time is over, or it would have to wait and may not. */
static bool explore_join(uint32_t slot, uint64_t deadline, const struct pt_site *site)
{
    uint32_t answer = pt_explore_point(&(struct pt_explore_op){
        .kind = PT_EXPLORE_JOIN, .object = (void *)(uintptr_t)slot, .deadline = deadline, .site = site});
    return answer == PT_EXPLORE_FREE_TO_GO || !(answer & PT_EXPLORE_TIMED_OUT);
}

/* Before the join the handle is surely this thread's. One that was made behind our back may not have been met yet: then
 * it has afterwards. */
#define JOIN(name, parameters, arguments, handle, wait, until, success, late)                                          \
    PT_WRAP(int, name, parameters)                                                                                     \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take((const void *)handle);                                               \
        struct pt_thread *self = recorder();                                                                           \
        struct pt_thread *joined = self ? pt_thread_claim((pthread_t)handle, false) : NULL;                            \
        uint32_t slot = slot_of(joined);                                                                               \
        if (slot != PT_EXPLORE_NO_SLOT && !explore_join(slot, until, site)) {                                          \
            pt_thread_unclaim(joined);                                                                                 \
            return late;                                                                                               \
        }                                                                                                              \
        if (self)                                                                                                      \
            pt_wrap_active(PT_STATE_JOIN, joined ? pt_thread_number(joined) : UINT64_MAX);                             \
        pt_wrap_blocks((void *)(uintptr_t)(joined ? pt_thread_number(joined) : UINT32_MAX), PT_GATE_WAITS_END);        \
        pt_wrap_awaits_end(wait, joined, site);                                                                        \
        int result;                                                                                                    \
        pt_memory_of_the_ended = true;                                                                                 \
        PT_CANCELLABLE(result, PT_REAL(name) arguments, stop_joining, joined);                                         \
        pt_memory_of_the_ended = false;                                                                                \
        pt_wrap_waited(wait);                                                                                          \
        pt_wrap_blocks(NULL, PT_GATE_RUNS);                                                                            \
        if (self)                                                                                                      \
            pt_wrap_active(PT_STATE_RUNNING, 0);                                                                       \
        if (joined && result != success)                                                                               \
            pt_thread_unclaim(joined);                                                                                 \
        if (!self || result != success)                                                                                \
            return result;                                                                                             \
        pt_explore_released(slot);                                                                                     \
        if (!joined)                                                                                                   \
            joined = pt_thread_claim((pthread_t)handle, true);                                                         \
        if (joined)                                                                                                    \
            pt_thread_joined(self, joined, site);                                                                      \
        pt_fill(site, value, sizeof *value);                                                                           \
        return result;                                                                                                 \
    }

JOIN(pthread_join, (pthread_t thread, void **value), (thread, value), thread, PT_WAIT_END, 0, 0, 0)
JOIN(pthread_tryjoin_np, (pthread_t thread, void **value), (thread, value), thread, PT_WAIT_NONE, pt_explore_after(0),
     0, EBUSY)
JOIN(pthread_timedjoin_np, (pthread_t thread, void **value, const struct timespec *limit), (thread, value, limit),
     thread, PT_WAIT_NONE, pt_explore_until(CLOCK_REALTIME, limit), 0, ETIMEDOUT)
JOIN(pthread_clockjoin_np, (pthread_t thread, void **value, clockid_t clock, const struct timespec *limit),
     (thread, value, clock, limit), thread, PT_WAIT_NONE, pt_explore_until(clock, limit), 0, ETIMEDOUT)
JOIN(thrd_join, (thrd_t thread, int *value), (thread, value), thread, PT_WAIT_END, 0, thrd_success, thrd_error)

PT_WRAP(int, pthread_detach, (pthread_t thread))
{
    struct pt_thread *known = recorder() ? pt_thread_find(thread) : NULL;
    int result = PT_REAL(pthread_detach)(thread);
    if (known && result == 0)
        pt_explore_released(slot_of(known));
    if (known && result == 0)
        pt_thread_detached(known);
    return result;
}

PT_WRAP(int, thrd_detach, (thrd_t thread))
{
    struct pt_thread *known = recorder() ? pt_thread_find((pthread_t)thread) : NULL;
    int result = PT_REAL(thrd_detach)(thread);
    if (known && result == thrd_success)
        pt_explore_released(slot_of(known));
    if (known && result == thrd_success)
        pt_thread_detached(known);
    return result;
}

PT_WRAP(int, pthread_setname_np, (pthread_t thread, const char *name))
{
    struct pt_thread *self = recorder(), *named = self ? pt_thread_find(thread) : NULL;
    int result = PT_REAL(pthread_setname_np)(thread, name);
    if (result != 0 || !named)
        return result;
    pt_thread_enter(self);
    pt_thread_label(named, name);
    pt_explore_named(slot_of(named), name);
    pt_thread_hooks.named(self, named, name);
    pt_thread_leave(self);
    return result;
}

/* Threads of the runtime's own: one for the event stream, one that writes a recording. */
static _Atomic uint32_t own_threads[4];
static _Atomic uint32_t own_made;

bool pt_wrap_is_own_thread(uint32_t tid)
{
    for (uint32_t i = 0; i < sizeof own_threads / sizeof *own_threads; i++)
        if (atomic_load_explicit(&own_threads[i], memory_order_relaxed) == tid)
            return true;
    return false;
}

/*
 * libc ends the process when its last thread has ended, with exit(0) in that thread; it counts ours, and would wait for
 * ever. So it is done here, after all destructors of the thread's keys, where libc would do it. Others that have ended
 * may not be gone yet, and some the runtime may not know: they are waited for.
 */
void pt_wrap_last_ends(void)
{
    const uint64_t pause = 1000 * 1000, most = 20 * pause;
    if (__builtin_expect(pt_explore_on, 0))
        pt_explore_last();
    uint32_t own = atomic_load(&pt_runtime_threads);
    for (uint64_t turn = 1; own; turn++) {
        if (pt_sys_thread_count() <= own + UINT64_C(1)) /* or it is not known */
            exit(0);
        pt_sys_sleep(turn * pause < most ? turn * pause : most);
    }
}

void pt_wrap_own_restart(void)
{
    memset(own_threads, 0, sizeof own_threads);
    atomic_store(&own_made, 0);
    atomic_store(&pt_runtime_threads, 0);
    atomic_store(&several, !&__libc_single_threaded || !__libc_single_threaded); /* of the parent's; it has none here */
}

static void *run_own(void *start)
{
    uint32_t at = atomic_fetch_add_explicit(&own_made, 1, memory_order_relaxed);
    if (at < sizeof own_threads / sizeof *own_threads)
        atomic_store_explicit(&own_threads[at], pt_sys_thread(), memory_order_relaxed);
    void *result = ((void *(*)(void *))start)(NULL);
    atomic_fetch_sub(&pt_runtime_threads, 1);
    return result;
}

bool pt_wrap_start_thread(void *(*start)(void *), const char *name)
{
    pthread_t thread;
    pt_wrap_look_for_strangers();
    atomic_fetch_add(&pt_runtime_threads, 1);
    if (PT_REAL(pthread_create)(&thread, NULL, run_own, (void *)start) != 0) {
        atomic_fetch_sub(&pt_runtime_threads, 1);
        return false;
    }
    PT_REAL(pthread_setname_np)(thread, name);
    return true;
}
