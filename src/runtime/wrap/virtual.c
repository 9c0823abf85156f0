/*
 * Guarantee: what a program is told of its timers agrees with the virtual clock. A function that libc would call in a
 * new thread each time is called in one thread, again and again. Cost: that of runtime/explore/timer.c.
 */
#include "runtime/wrap/virtual.h"

#include <pthread.h>

enum { TIMERS = 1 << 10, FIRST = 0x50540000 };

static const uint64_t second = 1000000000, microsecond = 1000;

static struct {
    clockid_t clock;
    void (*run)(void *);
    void *argument;
} virtual[TIMERS];

static uint64_t of_value(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * second + (uint64_t)time->tv_usec * microsecond;
}
static struct timeval value_of(uint64_t time)
{
    time += microsecond - 1;
    return (struct timeval){(time_t)(time / second), (suseconds_t)(time % second / microsecond)};
}
static uint64_t of_spec(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * second + (uint64_t)time->tv_nsec;
}
static struct timespec spec_of(uint64_t time)
{
    return (struct timespec){(time_t)(time / second), (long)(time % second)};
}
static struct itimerspec both(const struct pt_explore_timer_time *time)
{
    return (struct itimerspec){.it_value = spec_of(time->left), .it_interval = spec_of(time->interval)};
}

/* ---- alarm ---- */

bool pt_virtual_alarm(const struct itimerval *now, struct itimerval *ret_before)
{
    static const struct pt_explore_timer_use use = {
        .what = PT_EXPLORE_TIMER_PROCESS, .signal = SIGALRM, .code = SI_KERNEL};
    struct pt_explore_timer_time before;
    int timer = pt_explore_timer_new(PT_EXPLORE_ALARM, &use);
    if (timer < 0)
        return false;
    uint64_t left = now ? of_value(&now->it_value) : 0;
    if (now)
        pt_explore_timer_set(timer, left ? pt_explore_after(left) : 0, of_value(&now->it_interval), &before);
    else
        pt_explore_timer_get(timer, &before);
    *ret_before = (struct itimerval){.it_value = value_of(before.left), .it_interval = value_of(before.interval)};
    return true;
}

/* ---- timer_create ---- */

static int number_of(timer_t timer)
{
    return (int)((uintptr_t)timer - FIRST);
}

bool pt_virtual_is(timer_t timer)
{
    return pt_explore_on && (uintptr_t)timer >= FIRST && (uintptr_t)timer < FIRST + TIMERS;
}

bool pt_virtual_is_clock(clockid_t clock)
{
    return pt_explore_has_clock() &&
           (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC || clock == CLOCK_BOOTTIME || clock == CLOCK_TAI ||
            clock == CLOCK_REALTIME_ALARM || clock == CLOCK_BOOTTIME_ALARM);
}

static void *run(void *number)
{
    int timer = (int)(intptr_t)number;
    while (pt_explore_timer_await(timer, NULL))
        virtual[timer].run(virtual[timer].argument);
    return NULL;
}

/* With all signals blocked, as libc has it. */
static bool start_thread(int timer)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all;
    sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setsigmask_np(&attributes, &all);
    bool started = pthread_create(&thread, &attributes, run, (void *)(intptr_t)timer) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

static bool use_of(const struct sigevent *how, struct pt_explore_timer_use *use)
{
    *use = (struct pt_explore_timer_use){.what = PT_EXPLORE_TIMER_PROCESS, .signal = SIGALRM, .code = SI_TIMER};
    if (!how)
        return true;
    use->signal = how->sigev_signo;
    use->value = how->sigev_value;
    switch (how->sigev_notify) {
    case SIGEV_SIGNAL:
        return use->signal > 0 && use->signal < NSIG;
    case SIGEV_NONE:
        use->what = PT_EXPLORE_TIMER_NOTHING;
        return true;
    case SIGEV_THREAD:
        use->what = PT_EXPLORE_TIMER_CALL;
        return true;
    case SIGEV_THREAD_ID:
        use->what = PT_EXPLORE_TIMER_THREAD;
        use->slot = pt_explore_slot_of_task((uint32_t)how->_sigev_un._tid);
        return use->signal > 0 && use->signal < NSIG && use->slot != PT_EXPLORE_NO_SLOT;
    default:
        return false;
    }
}

bool pt_virtual_create(clockid_t clock, const struct sigevent *how, void (*run_it)(void *), void *argument,
                       timer_t *timer)
{
    struct pt_explore_timer_use use;
    if (!pt_virtual_is_clock(clock) || !use_of(how, &use))
        return false;
    int number = pt_explore_timer_new(-1, &use);
    if (number < 0 || number >= TIMERS)
        return false;
    virtual[number].clock = clock;
    virtual[number].run = run_it;
    virtual[number].argument = argument;
    if (use.what == PT_EXPLORE_TIMER_CALL && (!run_it || !start_thread(number))) {
        pt_explore_timer_drop(number);
        return false;
    }
    *timer = (timer_t)(uintptr_t)(FIRST + (unsigned)number); /* NOLINT(performance-no-int-to-ptr) */
    return true;
}

static void set(int number, bool absolute, const struct itimerspec *now, struct itimerspec *before)
{
    struct pt_explore_timer_time was;
    uint64_t left = of_spec(&now->it_value), deadline = 0;
    if (left)
        deadline = absolute ? pt_explore_until(virtual[number].clock, &now->it_value) : pt_explore_after(left);
    pt_explore_timer_set(number, deadline, of_spec(&now->it_interval), &was);
    if (before)
        *before = both(&was);
}

void pt_virtual_set(timer_t timer, int flags, const struct itimerspec *now, struct itimerspec *before)
{
    set(number_of(timer), flags & TIMER_ABSTIME, now, before);
}

void pt_virtual_get(timer_t timer, struct itimerspec *to)
{
    struct pt_explore_timer_time now;
    pt_explore_timer_get(number_of(timer), &now);
    *to = both(&now);
}

int pt_virtual_overrun(timer_t timer)
{
    return pt_explore_timer_overrun(number_of(timer));
}

void pt_virtual_delete(timer_t timer)
{
    pt_explore_timer_delete(number_of(timer));
}

/* ---- timerfd ---- */

void pt_virtual_file(int fd, clockid_t clock)
{
    struct pt_explore_timer_use use = {.what = PT_EXPLORE_TIMER_FILE, .file = fd};
    pt_explore_timer_drop(pt_explore_timer_of_file(fd)); /* of one that was closed */
    int number = pt_explore_timer_new(-1, &use);
    if (number >= 0 && number < TIMERS)
        virtual[number].clock = clock;
    else
        pt_explore_outside();
}

bool pt_virtual_set_file(int fd, int flags, const struct itimerspec *now, struct itimerspec *before)
{
    int number = pt_explore_on ? pt_explore_timer_of_file(fd) : -1;
    if (number >= 0)
        set(number, flags & TIMER_ABSTIME, now, before);
    return number >= 0;
}

bool pt_virtual_get_file(int fd, struct itimerspec *to)
{
    int number = pt_explore_on ? pt_explore_timer_of_file(fd) : -1;
    struct pt_explore_timer_time now;
    if (number < 0)
        return false;
    pt_explore_timer_get(number, &now);
    *to = both(&now);
    return true;
}
