/*
 * Timers: who sets one comes before the handler of its signal, or the thread that libc starts for it. (A timerfd is a
 * descriptor: put.c.)
 *
 * Guarantee: what they do and return is the real functions'. Of at most TIMERS at a time the signal or function is
 * known; of those beyond that, the order is missing. A function that several timers have with the same value is one
 * object. Cost: a load and a branch without an observer; with one, a lock for each timer that is made, set or deleted.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "runtime/explore/explore.h"
#include "runtime/race/race.h"
#include "runtime/sys/sys.h"
#include "runtime/wrap/fill.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"
#include "runtime/wrap/signal.h"
#include "runtime/wrap/timer.h"
#include "runtime/wrap/virtual.h"

enum { TIMERS = 1 << 12, CALLS = 1 << 12, MILLION = 1000000, HALF = MILLION / 2 };

/* What libc calls in a thread of its own. Never freed: such a thread may be late. */
struct call {
    uint64_t object; /* stands for the timers that have it */
    void (*function)(union sigval);
    union sigval value;
    const void *cause; /* NULL: a timer */
};

static struct {
    struct pt_spin lock;
    struct timer {
        bool used;
        timer_t id;
        int signal;        /* or 0 */
        struct call *call; /* or NULL */
    } timers[TIMERS];
    struct call *calls;
    uint32_t count;
} table = {.lock = PT_SPIN(PT_RANK_DESCRIPTOR)};

/* No handler runs meanwhile. NULL: the table is not for the caller. */
static struct pt_thread *lock(void)
{
    struct pt_thread *self = pt_is_watching() ? pt_thread_self() : NULL;
    if (!self || self->shadow.busy)
        return NULL;
    pt_thread_enter(self);
    pt_spin_lock(&table.lock);
    return self;
}

static void unlock(struct pt_thread *self)
{
    pt_spin_unlock(&table.lock);
    pt_thread_leave(self);
}

/* --- functions of timers --- */

static void run_known(void *argument)
{
    struct call *call = argument;
    if (pt_is_active())
        pt_wrap_sync(&call->object, PT_KIND_WAIT, NULL);
    if (pt_is_active() && call->cause)
        pt_wrap_sync(call->cause, PT_KIND_WAIT, NULL);
    call->function(call->value);
}

static void run_call(union sigval value)
{
    if (pt_is_active()) /* this is the first that is seen of the thread */
        pt_thread_introduce_ordered();
    run_known(value.sival_ptr);
}

/* NULL when there are too many. */
static struct call *call_of(void (*function)(union sigval), union sigval value, const void *cause)
{
    struct call *found = NULL;
    struct pt_thread *self = lock();
    if (!self)
        return NULL;
    if (!table.calls)
        table.calls = pt_sys_reserve(sizeof *table.calls * CALLS);
    for (uint32_t i = 0; i < table.count && !found; i++)
        if (table.calls[i].function == function && table.calls[i].value.sival_ptr == value.sival_ptr &&
            table.calls[i].cause == cause)
            found = &table.calls[i];
    if (!found && table.calls && table.count < CALLS) {
        found = &table.calls[table.count++];
        *found = (struct call){.function = function, .value = value, .cause = cause};
    }
    unlock(self);
    return found;
}

static struct call *call_for(const struct sigevent *how, const void *cause, struct sigevent *ret_ours)
{
    bool threads = how && how->sigev_notify == SIGEV_THREAD && pt_is_watching();
    struct call *call = threads ? call_of(how->sigev_notify_function, how->sigev_value, cause) : NULL;
    *ret_ours = how ? *how : (struct sigevent){0};
    if (call) {
        ret_ours->sigev_notify_function = run_call;
        ret_ours->sigev_value.sival_ptr = call;
    }
    return call;
}

const void *pt_timer_thread(const struct sigevent *how, const void *cause, struct sigevent *ret_ours)
{
    struct call *call = call_for(how, cause, ret_ours);
    return call ? &call->object : NULL;
}

void pt_timer_expect_threads(void)
{
    pt_wrap_expect_several();
    if (pt_races_wanted)
        pt_race_expect_threads();
}

/* --- the table --- */

static void note(timer_t id, int signal, struct call *call)
{
    struct pt_thread *self = lock();
    if (!self)
        return;
    for (uint32_t i = 0; i < TIMERS; i++) {
        struct timer *timer = &table.timers[i];
        if (timer->used && timer->id != id)
            continue;
        *timer = (struct timer){true, id, signal, call};
        break;
    }
    unlock(self);
}

static struct timer look_up(timer_t id, bool deletes)
{
    struct timer found = {0};
    struct pt_thread *self = lock();
    for (uint32_t i = 0; self && i < TIMERS && !found.used; i++)
        if (table.timers[i].used && table.timers[i].id == id) {
            found = table.timers[i];
            table.timers[i].used = !deletes;
        }
    if (self)
        unlock(self);
    return found;
}

/* --- the functions --- */

PT_WRAP(int, timer_create, (clockid_t clock, struct sigevent *how, timer_t *timer))
{
    const struct pt_site *site = pt_call_take_fill();
    struct sigevent ours;
    struct call *call = call_for(how, NULL, &ours);
    bool played =
        __builtin_expect(pt_explore_on, 0) && pt_virtual_create(clock, how, call ? run_known : NULL, call, timer);
    if (!played && pt_explore_on)
        pt_explore_outside();
    int result = played ? 0 : PT_REAL(timer_create)(clock, call ? &ours : how, timer);
    if (result == 0 && pt_is_watching()) {
        bool signals = !how || how->sigev_notify == SIGEV_SIGNAL || how->sigev_notify == SIGEV_THREAD_ID;
        if (call && !played)
            pt_timer_expect_threads();
        note(*timer, !signals ? 0 : how ? how->sigev_signo : SIGALRM, call);
        pt_fill(site, timer, sizeof *timer);
    }
    return result;
}

PT_WRAP(int, timer_settime, (timer_t timer, int flags, const struct itimerspec *time, struct itimerspec *before))
{
    const struct pt_site *site = pt_call_take_fill();
    struct timer set = pt_is_active() ? look_up(timer, false) : (struct timer){0};
    if (set.signal)
        pt_signal_put(set.signal, PT_EFFECT(timer_settime), site);
    if (set.call) {
        if (pt_call_wanted)
            pt_wrap_name(&set.call->object, "timer");
        pt_wrap_sync_kernel(&set.call->object, PT_EFFECT(timer_settime), site);
    }
    bool played = pt_virtual_is(timer);
    if (played)
        pt_virtual_set(timer, flags, time, before);
    int result = played ? 0 : PT_REAL(timer_settime)(timer, flags, time, before);
    if (result == 0)
        pt_fill(site, before, sizeof *before);
    return result;
}

PT_WRAP(int, timer_gettime, (timer_t timer, struct itimerspec *to))
{
    const struct pt_site *site = pt_call_take_fill();
    bool played = pt_virtual_is(timer);
    if (played)
        pt_virtual_get(timer, to);
    int result = played ? 0 : PT_REAL(timer_gettime)(timer, to);
    if (result == 0)
        pt_fill(site, to, sizeof *to);
    return result;
}

PT_WRAP(int, timer_getoverrun, (timer_t timer))
{
    return pt_virtual_is(timer) ? pt_virtual_overrun(timer) : PT_REAL(timer_getoverrun)(timer);
}

PT_WRAP(int, timer_delete, (timer_t timer))
{
    if (pt_is_watching())
        look_up(timer, true);
    if (pt_virtual_is(timer)) {
        pt_virtual_delete(timer);
        return 0;
    }
    return PT_REAL(timer_delete)(timer);
}

static int signal_of(int which)
{
    return which == ITIMER_REAL ? SIGALRM : which == ITIMER_VIRTUAL ? SIGVTALRM : SIGPROF;
}

/* On the virtual clock, where threads are scheduled and it is a timer of real time. */
static bool explored(int which, const struct itimerval *now, struct itimerval *before)
{
    if (__builtin_expect(!pt_explore_on, 1))
        return false;
    bool played = which == ITIMER_REAL && pt_virtual_alarm(now, before);
    if (!played && now)
        pt_explore_outside();
    return played;
}

PT_WRAP(int, setitimer, (__itimer_which_t which, const struct itimerval *from, struct itimerval *before))
{
    const struct pt_site *site = pt_call_take_fill();
    struct itimerval was;
    pt_signal_put(signal_of((int)which), PT_EFFECT(setitimer), site);
    bool played = from && explored((int)which, from, &was);
    if (played && before)
        *before = was;
    int result = played ? 0 : PT_REAL(setitimer)(which, from, before);
    if (result == 0)
        pt_fill(site, before, sizeof *before);
    return result;
}

PT_WRAP(int, getitimer, (__itimer_which_t which, struct itimerval *to))
{
    const struct pt_site *site = pt_call_take_fill();
    int result = explored((int)which, NULL, to) ? 0 : PT_REAL(getitimer)(which, to);
    if (result == 0)
        pt_fill(site, to, sizeof *to);
    return result;
}

PT_WRAP(unsigned, alarm, (unsigned seconds))
{
    struct itimerval was;
    pt_signal_put(SIGALRM, PT_EFFECT(alarm), pt_call_take_fill());
    if (!explored(ITIMER_REAL, &(struct itimerval){.it_value.tv_sec = seconds}, &was))
        return PT_REAL(alarm)(seconds);
    bool up = was.it_value.tv_usec >= HALF || (!was.it_value.tv_sec && was.it_value.tv_usec); /* as the kernel does */
    return (unsigned)was.it_value.tv_sec + up;
}

PT_WRAP(useconds_t, ualarm, (useconds_t value, useconds_t interval))
{
    struct itimerval was,
        now = {.it_value = {value / MILLION, value % MILLION}, .it_interval = {interval / MILLION, interval % MILLION}};
    pt_signal_put(SIGALRM, PT_EFFECT(ualarm), pt_call_take_fill());
    if (!explored(ITIMER_REAL, &now, &was))
        return PT_REAL(ualarm)(value, interval);
    return (useconds_t)(was.it_value.tv_sec * MILLION + was.it_value.tv_usec);
}

void pt_timer_restart(void)
{
    pt_spin_reset(&table.lock);
    memset(table.timers, 0, sizeof table.timers); /* a child has none of its parent's */
}
