/*
 * The thread that did the last event of the schedule goes on alone until it can go no further: it has ended, or the
 * kernel says that it sleeps (state S) in a lock, a condition variable, a join, or a call of the kernel; or it has had
 * the floor for FLOOR_NS, since it may wait for the others in a loop. Then the others, one by one, in the same way:
 * first whoever holds the lock that it waits for; the first thread always before the others.
 *
 * Whether a thread is blocked is the kernel's word, not a matter of time: a thread that could run, but has no
 * processor, is not in state S. A pause of the program (sleep) is not blocked: it ends by itself.
 *
 * Guarantee: none but that it ends, within the view's patience. Cost: some system calls each time.
 */
#include "cli/run/after.h"

#include <stdio.h>
#include <string.h>

static const uint64_t blocked_after = 10 * 1000 * 1000; /* so long in state S, in a call that waits for others */
static const uint64_t away_after = 200 * 1000 * 1000;   /* the same in a call of which nothing is known */
static const uint64_t none_after = 300 * 1000 * 1000;   /* so long nobody is held */
static const uint64_t floor_most = 2000 * (uint64_t)1000000;

/* The thread's state in the kernel: 'S' asleep, 'R' running, ...; 0: it is not there, or nothing can be known. */
static char state_of(pid_t process, uint32_t tid)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%ld/task/%lu/stat", (long)process, (unsigned long)tid);
    FILE *file = fopen(path, "re");
    size_t len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[len] = 0;
    const char *end = strrchr(text, ')');
    return end && end[1] == ' ' ? end[2] : 0;
}

static const struct pt_gate_thread *thread_at(const struct pt_after_view *view, uint32_t number)
{
    return number < view->thread_count ? pt_channel_gate_thread(view->reader, number) : NULL;
}

static uint32_t doing(const struct pt_after_view *view, uint32_t number)
{
    const struct pt_gate_thread *thread = thread_at(view, number);
    return thread ? atomic_load(&thread->doing) : PT_GATE_RUNS;
}

/* Whether it has done nothing since `still_since`. */
static void look_at_floor(struct pt_after *after, const struct pt_gate_thread *thread, uint64_t now)
{
    uint64_t steps = atomic_load(&thread->steps), object = atomic_load(&thread->object);
    uint32_t does = atomic_load(&thread->doing);
    if (steps == after->steps && object == after->object && does == after->doing)
        return;
    after->steps = steps;
    after->object = object;
    after->doing = does;
    after->still_since = now;
}

/* Can it go no further, as long as the others are held? */
static bool is_at_end(struct pt_after *after, const struct pt_after_view *view, uint64_t now)
{
    const struct pt_gate_thread *thread = thread_at(view, after->floor - 1);
    if (!thread)
        return true;
    look_at_floor(after, thread, now);
    uint64_t still = now - after->still_since;
    bool long_enough = after->doing == PT_GATE_SLEEPS ? still > view->patience / 2 : true;
    if (after->doing == PT_GATE_ENDED || (now - after->floor_since > floor_most && long_enough))
        return true;
    if (after->doing == PT_GATE_SLEEPS || still < (after->doing == PT_GATE_RUNS ? away_after : blocked_after))
        return false;
    char state = state_of(view->process, atomic_load(&thread->tid));
    if (state && state != 'S') {
        after->still_since = now; /* it only looks as if it stood still */
        return false;
    }
    return true;
}

static bool holds(const struct pt_gate_thread *thread, uint64_t lock)
{
    for (unsigned i = 0; i < PT_GATE_LOCKS; i++)
        if (atomic_load(&thread->locks[i]) == lock)
            return true;
    return false;
}

/* The number of the thread that is to have the floor next, PT_NONE: nobody is held. */
static uint32_t next_thread(const struct pt_after *after, const struct pt_after_view *view)
{
    uint32_t next = PT_NONE;
    bool locked = after->doing == PT_GATE_WAITS_LOCK;
    if (doing(view, after->leader - 1) == PT_GATE_WAITS_TURN)
        return after->leader - 1;
    for (uint32_t i = 0; i < view->thread_count; i++) {
        const struct pt_gate_thread *thread = thread_at(view, i);
        if (!thread || atomic_load(&thread->doing) != PT_GATE_WAITS_TURN)
            continue;
        if (locked && holds(thread, after->object))
            return i;
        if (next == PT_NONE)
            next = i;
    }
    return next;
}

static void begin_floor(struct pt_after *after, uint32_t floor, uint64_t now)
{
    after->floor = floor;
    after->floor_since = after->still_since = now;
    after->none_since = 0;
}

bool pt_after_tick(struct pt_after *after, const struct pt_after_view *view, uint64_t now)
{
    uint32_t floor = pt_channel_floor(view->reader);
    if (!floor)
        return true; /* there was no last event */
    if (!after->since) {
        after->since = now;
        after->leader = floor;
    }
    if (floor != after->floor)
        begin_floor(after, floor, now);
    if (now - after->since > view->patience)
        return true;
    if (!is_at_end(after, view, now))
        return false;
    uint32_t next = next_thread(after, view);
    if (next != PT_NONE && next + 1 != floor) {
        begin_floor(after, next + 1, now);
        pt_channel_give_floor(view->reader, next);
        return false;
    }
    if (!after->none_since)
        after->none_since = now;
    return now - after->none_since > none_after;
}
