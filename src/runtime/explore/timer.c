/*
 * Timers on the virtual clock: alarm, setitimer, timer_create, timerfd. One is over when virtual time has come to it:
 * by steps, by sleeps and time limits of threads, by long stretches without a step. When nobody can go on, or whoever
 * can only spins, the clock moves on to the next that can help. The signal is on its way from then on: it comes when
 * its receiver is taken for it (signal.c).
 *
 * The receiver of a signal to the process is the first thread that does not block it, as in the kernel; where all do it
 * waits in the kernel, for who takes it there. While something outside of the process is waited for, virtual time
 * passes as real time does; for a thread that is in the kernel without the turn, the timer of alarm is the kernel's.
 *
 * Guarantee: in the same schedule the same timer is over at the same step. Cost: a comparison for each step; some
 * system calls for each that is over.
 */
#include "runtime/explore/impl.h"
#include "runtime/sys/sys.h"
#include "runtime/sys/task.h"

static struct pt_explore_timer *timer_at(int timer)
{
    return timer >= 0 && timer < PT_EXPLORE_TIMERS && pt_run.timers[timer].used ? &pt_run.timers[timer] : NULL;
}

/* When the next is over; and how many are to come, for the tool. */
static void look_ahead(void)
{
    uint32_t armed = 0;
    pt_run.timer_next = UINT64_MAX;
    for (uint32_t i = 0; i < PT_EXPLORE_TIMERS; i++) {
        const struct pt_explore_timer *it = &pt_run.timers[i];
        if (!it->used || !it->deadline)
            continue;
        armed++;
        if (it->deadline < pt_run.timer_next)
            pt_run.timer_next = it->deadline;
    }
    pt_run.result->timers = armed;
}

void pt_timer_start(void)
{
    for (uint32_t i = 0; i < PT_EXPLORE_TIMERS; i++)
        pt_run.timers[i].deadline = 0;
    look_ahead();
}

/* ---- what happens then ---- */

static void fire_signal(struct pt_explore_timer *it)
{
    uint32_t slot = it->what == PT_EXPLORE_TIMER_THREAD ? it->slot : pt_flight_receiver(it->signal);
    pt_flight_put(slot, &(struct pt_explore_flight){.signal = it->signal,
                                                    .code = it->code,
                                                    .has_value = true,
                                                    .to_process = it->what == PT_EXPLORE_TIMER_PROCESS,
                                                    .value = it->value});
}

static void fire(struct pt_explore_timer *it)
{
    uint64_t more = it->interval ? (pt_run.clock - it->deadline) / it->interval : 0;
    it->overrun = (uint32_t)more;
    it->deadline = it->interval ? it->deadline + (more + 1) * it->interval : 0;
    switch (it->what) {
    case PT_EXPLORE_TIMER_PROCESS:
    case PT_EXPLORE_TIMER_THREAD:
        fire_signal(it);
        break;
    case PT_EXPLORE_TIMER_FILE:
        it->expired += more + 1;
        if (!pt_task_expire_file(it->file, it->expired)) /* it was closed */
            it->used = false;
        break;
    case PT_EXPLORE_TIMER_CALL:
        it->expired = 1;
        break;
    case PT_EXPLORE_TIMER_NOTHING:
        break;
    }
}

void pt_timer_expire(void)
{
    if (pt_run.clock < pt_run.timer_next)
        return;
    for (uint32_t i = 0; i < PT_EXPLORE_TIMERS; i++)
        if (pt_run.timers[i].used && pt_run.timers[i].deadline && pt_run.timers[i].deadline <= pt_run.clock)
            fire(&pt_run.timers[i]);
    look_ahead();
}

/* One that only ends the process helps nobody who waits: they are stuck, and were before. */
static bool can_help(const struct pt_explore_timer *it)
{
    struct pt_sys_action action = {0};
    if (it->what == PT_EXPLORE_TIMER_NOTHING)
        return false;
    if (it->what == PT_EXPLORE_TIMER_FILE || it->what == PT_EXPLORE_TIMER_CALL)
        return true;
    if (!pt_sys_signal_action(it->signal, NULL, &action) || (uintptr_t)action.handler == (uintptr_t)SIG_IGN)
        return false;
    return action.handler || pt_flight_receiver(it->signal) == PT_EXPLORE_NO_SLOT;
}

bool pt_timer_jump(void)
{
    const struct pt_explore_timer *next = NULL;
    for (uint32_t i = 0; i < PT_EXPLORE_TIMERS; i++) {
        const struct pt_explore_timer *it = &pt_run.timers[i];
        if (it->used && it->deadline && (!next || it->deadline < next->deadline) && can_help(it))
            next = it;
    }
    if (!next)
        return false;
    if (pt_run.clock < next->deadline)
        pt_run.clock = next->deadline;
    pt_timer_expire();
    return true;
}

void pt_timer_pass(uint64_t nanoseconds)
{
    if (pt_run.timer_next != UINT64_MAX)
        pt_run.clock += nanoseconds;
}

/* ---- while the caller is in the kernel ---- */

void pt_timer_lend(void)
{
    struct pt_explore_timer *alarm = &pt_run.timers[PT_EXPLORE_ALARM];
    if (pt_run.alarm_lent || !alarm->used || !alarm->deadline)
        return;
    uint64_t left = pt_explore_left(alarm->deadline);
    pt_run.alarm_lent = left;
    alarm->deadline = 0;
    look_ahead();
    pt_task_alarm(left, alarm->interval);
}

void pt_timer_take_back(void)
{
    struct pt_explore_timer *alarm = &pt_run.timers[PT_EXPLORE_ALARM];
    if (!pt_run.alarm_lent)
        return;
    uint64_t left = pt_task_alarm(0, 0);
    pt_run.clock += left < pt_run.alarm_lent ? pt_run.alarm_lent - left : 0;
    pt_run.alarm_lent = 0;
    alarm->deadline = left ? pt_run.clock + left : 0;
    look_ahead();
}

/* ---- for the wrappers ---- */

int pt_explore_timer_new(int at, const struct pt_explore_timer_use *use)
{
    if (!pt_explore_has_clock())
        return -1;
    pt_spin_lock(&pt_run.lock);
    int found = at;
    for (int i = PT_EXPLORE_ALARM + 1; i < PT_EXPLORE_TIMERS && found < 0; i++)
        if (!pt_run.timers[i].used)
            found = i;
    if (found >= 0 && !(at >= 0 && pt_run.timers[at].used))
        pt_run.timers[found] = (struct pt_explore_timer){.used = true,
                                                         .what = use->what,
                                                         .signal = use->signal,
                                                         .code = use->code,
                                                         .value = use->value,
                                                         .slot = use->slot,
                                                         .file = use->file};
    pt_spin_unlock(&pt_run.lock);
    return found;
}

int pt_explore_timer_of_file(int fd)
{
    for (int i = 0; i < PT_EXPLORE_TIMERS; i++)
        if (pt_run.timers[i].used && pt_run.timers[i].what == PT_EXPLORE_TIMER_FILE && pt_run.timers[i].file == fd)
            return i;
    return -1;
}

void pt_explore_timer_delete(int timer)
{
    struct pt_explore_timer *it = timer_at(timer);
    if (!it)
        return;
    pt_spin_lock(&pt_run.lock);
    it->deadline = 0;
    it->deleted = true;
    it->used = it->what == PT_EXPLORE_TIMER_CALL; /* its thread is told */
    look_ahead();
    pt_explore_settle();
    pt_spin_unlock(&pt_run.lock);
}

void pt_explore_timer_drop(int timer)
{
    pt_explore_timer_delete(timer);
    if (timer_at(timer))
        pt_run.timers[timer].used = false;
}

static void tell(const struct pt_explore_timer *it, struct pt_explore_timer_time *to)
{
    to->left = it->deadline ? pt_explore_left(it->deadline) : 0;
    to->interval = it->interval;
}

void pt_explore_timer_set(int timer, uint64_t deadline, uint64_t interval, struct pt_explore_timer_time *before)
{
    struct pt_explore_timer *it = timer_at(timer);
    *before = (struct pt_explore_timer_time){0};
    if (!it)
        return;
    pt_spin_lock(&pt_run.lock);
    tell(it, before);
    it->deadline = deadline;
    it->interval = interval;
    it->expired = it->overrun = 0;
    pt_run.result->times |= deadline ? PT_EXPLORE_TIMER_SET : 0;
    look_ahead();
    pt_explore_settle();
    pt_spin_unlock(&pt_run.lock);
}

void pt_explore_timer_get(int timer, struct pt_explore_timer_time *to)
{
    const struct pt_explore_timer *it = timer_at(timer);
    *to = (struct pt_explore_timer_time){0};
    if (it)
        tell(it, to);
}

int pt_explore_timer_overrun(int timer)
{
    const struct pt_explore_timer *it = timer_at(timer);
    return it ? (int)it->overrun : 0;
}

void pt_explore_timer_read(int fd)
{
    int timer = pt_explore_timer_of_file(fd);
    if (timer >= 0)
        pt_run.timers[timer].expired = 0;
}

bool pt_wait_timer(uint32_t timer)
{
    return pt_run.timers[timer].expired || pt_run.timers[timer].deleted;
}

bool pt_explore_timer_await(int timer, const struct pt_site *site)
{
    uint32_t slot = pt_explore_slot();
    struct pt_explore_timer *it = timer_at(timer);
    if (!it || slot == PT_EXPLORE_NO_SLOT)
        return false;
    pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_PAUSED,
                                             .what = PT_EXPLORE_IS_TIMER,
                                             .object = (const void *)(uintptr_t)slot,
                                             .other = (const void *)(intptr_t)timer,
                                             .site = site});
    it->expired = 0;
    if (it->deleted)
        it->used = false;
    return !it->deleted;
}
