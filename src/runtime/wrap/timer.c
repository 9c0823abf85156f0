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

enum { TIMERS = 1 << 12, CALLS = 1 << 12 };

/* What libc calls in a thread of its own. Never freed: such a thread may be late. */
struct call {
    uint64_t object; /* stands for the timers that have it */
    void (*function)(union sigval);
    union sigval value;
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

static void run_call(union sigval value)
{
    struct call *call = value.sival_ptr;
    if (pt_is_active()) { /* this is the first that is seen of the thread */
        pt_thread_introduce_ordered();
        pt_wrap_sync(&call->object, PT_KIND_WAIT, NULL);
    }
    call->function(call->value);
}

/* NULL when there are too many. */
static struct call *call_of(void (*function)(union sigval), union sigval value)
{
    struct call *found = NULL;
    struct pt_thread *self = lock();
    if (!self)
        return NULL;
    if (!table.calls)
        table.calls = pt_sys_reserve(sizeof *table.calls * CALLS);
    for (uint32_t i = 0; i < table.count && !found; i++)
        if (table.calls[i].function == function && table.calls[i].value.sival_ptr == value.sival_ptr)
            found = &table.calls[i];
    if (!found && table.calls && table.count < CALLS) {
        found = &table.calls[table.count++];
        *found = (struct call){.function = function, .value = value};
    }
    unlock(self);
    return found;
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
    bool threads = how && how->sigev_notify == SIGEV_THREAD;
    struct call *call = threads && pt_is_watching() ? call_of(how->sigev_notify_function, how->sigev_value) : NULL;
    struct sigevent ours = how ? *how : (struct sigevent){0};
    if (call) {
        ours.sigev_notify_function = run_call;
        ours.sigev_value.sival_ptr = call;
    }
    if (__builtin_expect(pt_explore_on, 0))
        pt_explore_outside();
    int result = PT_REAL(timer_create)(clock, call ? &ours : how, timer);
    if (result == 0 && pt_is_watching()) {
        bool signals = !how || how->sigev_notify == SIGEV_SIGNAL || how->sigev_notify == SIGEV_THREAD_ID;
        if (call && pt_races_wanted)
            pt_race_expect_threads(); /* nobody will see them start */
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
    int result = PT_REAL(timer_settime)(timer, flags, time, before);
    if (result == 0)
        pt_fill(site, before, sizeof *before);
    return result;
}

PT_WRAP(int, timer_delete, (timer_t timer))
{
    if (pt_is_watching())
        look_up(timer, true);
    return PT_REAL(timer_delete)(timer);
}

static int signal_of(int which)
{
    return which == ITIMER_REAL ? SIGALRM : which == ITIMER_VIRTUAL ? SIGVTALRM : SIGPROF;
}

PT_WRAP(int, setitimer, (__itimer_which_t which, const struct itimerval *from, struct itimerval *before))
{
    if (__builtin_expect(pt_explore_on, 0))
        pt_explore_outside();
    const struct pt_site *site = pt_call_take_fill();
    pt_signal_put(signal_of((int)which), PT_EFFECT(setitimer), site);
    int result = PT_REAL(setitimer)(which, from, before);
    if (result == 0)
        pt_fill(site, before, sizeof *before);
    return result;
}

PT_WRAP(unsigned, alarm, (unsigned seconds))
{
    if (__builtin_expect(pt_explore_on, 0))
        pt_explore_outside();
    pt_signal_put(SIGALRM, PT_EFFECT(alarm), pt_call_take_fill());
    return PT_REAL(alarm)(seconds);
}

PT_WRAP(useconds_t, ualarm, (useconds_t value, useconds_t interval))
{
    if (__builtin_expect(pt_explore_on, 0))
        pt_explore_outside();
    pt_signal_put(SIGALRM, PT_EFFECT(ualarm), pt_call_take_fill());
    return PT_REAL(ualarm)(value, interval);
}

void pt_timer_restart(void)
{
    pt_spin_reset(&table.lock);
    memset(table.timers, 0, sizeof table.timers); /* a child has none of its parent's */
}
