/*
 * Who can go on. Nobody blocks in the kernel: a thread that is about to take a lock is looked at from outside, by what
 * libc keeps in the lock itself (object.c). Conditions, barriers and futexes are played (token.c).
 *
 * Guarantee: a thread that is said to be able to go on does not block when it does; nobody else is left out. Cost: some
 * instructions for each thread that has not ended; a system call for each that waits for a descriptor.
 */
#include <poll.h>

#include "runtime/explore/impl.h"
#include "runtime/sys/sys.h"
#include "runtime/sys/task.h"

/* ---- cancelling ---- */

void pt_explore_cancels(uint32_t slot)
{
    if (slot != PT_EXPLORE_NO_SLOT)
        pt_run.slots[slot].cancelled = true;
}

bool pt_explore_is_cancelled(void)
{
    uint32_t slot = pt_explore_slot();
    return slot != PT_EXPLORE_NO_SLOT && pt_run.slots[slot].cancelled && !pt_run.slots[slot].cancel_off;
}

void pt_explore_cancel_state(bool off)
{
    uint32_t slot = pt_explore_slot();
    if (slot != PT_EXPLORE_NO_SLOT)
        pt_run.slots[slot].cancel_off = off;
}

/* ---- looking ---- */

static struct pollfd *list_of(uint32_t slot, unsigned *ret_count)
{
    *ret_count = (unsigned)pt_run.next[slot].other;
    return (struct pollfd *)pt_run.next[slot].object;
}

/* Without events it does not wait. */
static bool is_ready(uint32_t slot)
{
    const struct pt_explore_step *next = &pt_run.next[slot];
    struct pollfd one = {.fd = (int)next->object, .events = (short)next->other}, *list = &one;
    unsigned count = 1;
    if (pt_run.slots[slot].what == PT_EXPLORE_IS_POLL)
        list = list_of(slot, &count);
    else if (!one.events)
        return true;
    return pt_sys_poll(list, count, 0) != 0;
}

bool pt_wait_is_outside(uint32_t slot)
{
    const struct pt_explore_step *next = &pt_run.next[slot];
    unsigned count = 0;
    if (next->kind == PT_EXPLORE_PAUSED && pt_explore_has_forked())
        return true; /* a child may send a signal */
    if (pt_explore_is_shared(next->kind, pt_run.slots[slot].what, (const void *)next->object))
        return true;
    if (next->kind != PT_EXPLORE_DESCRIPTOR)
        return false;
    if (pt_run.slots[slot].what != PT_EXPLORE_IS_POLL)
        return !pt_file_is_own((int)next->object, 0);
    const struct pollfd *list = list_of(slot, &count);
    for (unsigned i = 0; i < count; i++)
        if (list[i].fd >= 0 && !pt_file_is_own(list[i].fd, 0))
            return true;
    return false;
}

/* A wait in which a thread may be cancelled, and is. */
static bool is_cancelled(uint32_t slot)
{
    enum pt_explore_kind kind = pt_run.next[slot].kind;
    return pt_run.slots[slot].cancelled && !pt_run.slots[slot].cancel_off &&
           (kind == PT_EXPLORE_SEM_WAIT || kind == PT_EXPLORE_PAUSED || kind == PT_EXPLORE_SLEEP ||
            kind == PT_EXPLORE_DESCRIPTOR || kind == PT_EXPLORE_JOIN ||
            (kind == PT_EXPLORE_WAKE &&
             pt_object_mutex_lets((const void *)pt_run.next[slot].other, pt_run.slots[slot].tid)));
}

/* A reader of a lock that lets writers go first waits behind a writer that waits for other readers, even if it is one
 * of them; whether the writer has begun to when the reader comes is its step before (ASK). */
static bool is_behind_writer(uint32_t slot, const void *object)
{
    if (!pt_object_prefers_writers(object) || !pt_object_has_readers(object))
        return false;
    for (uint32_t other = 0; other < PT_EXPLORE_THREADS; other++)
        if (other != slot && pt_explore_has(&pt_run.used, other) && pt_run.slots[other].state == PT_EXPLORE_READY &&
            pt_run.next[other].kind == PT_EXPLORE_LOCK && pt_run.next[other].object == (uintptr_t)object)
            return true;
    return false;
}

/* Of a signal that is pending nobody is told: who may have one is looked at when there is news of signals. */
static bool is_pending(uint32_t slot, uint64_t signals)
{
    struct pt_explore_slot *it = &pt_run.slots[slot];
    uint64_t blocked, pending = 0;
    if (it->pending_seen == pt_run.signal_news + 1)
        return false;
    (void)pt_task_signals(it->tid, &blocked, &pending);
    bool there = (pending & signals) != 0;
    it->pending_seen = there ? 0 : pt_run.signal_news + 1;
    return there;
}

static bool is_signalled(uint32_t slot)
{
    const struct pt_explore_slot *it = &pt_run.slots[slot];
    switch (it->what) {
    case PT_EXPLORE_IS_TIMER:
        return pt_wait_timer((uint32_t)pt_run.next[slot].other);
    case PT_EXPLORE_IS_SIGNALS:
        return is_pending(slot, pt_run.next[slot].other);
    default:
        return it->interrupted;
    }
}

/* It has what it waits for. */
static bool has_all(uint32_t slot)
{
    const struct pt_explore_step *next = &pt_run.next[slot];
    const struct pt_explore_slot *it = &pt_run.slots[slot];
    const void *object = (const void *)next->object;
    switch ((enum pt_explore_kind)next->kind) {
    case PT_EXPLORE_JOIN:
        return next->object >= PT_EXPLORE_THREADS || pt_run.slots[next->object].state == PT_EXPLORE_ENDED;
    case PT_EXPLORE_LOCK:
        return pt_object_lock_lets(slot, object, true);
    case PT_EXPLORE_READ_LOCK:
        return pt_object_lock_lets(slot, object, false) &&
               !(it->what == PT_EXPLORE_IS_RWLOCK && is_behind_writer(slot, object));
    case PT_EXPLORE_WAKE:
        return (it->woken || pt_token_for(slot, object)) && pt_object_mutex_lets((const void *)next->other, it->tid);
    case PT_EXPLORE_SEM_WAIT:
        return pt_object_semaphore_lets(object);
    case PT_EXPLORE_LEAVE:
        return it->woken;
    case PT_EXPLORE_FUTEX_WOKEN:
        return it->woken || pt_token_for(slot, object);
    case PT_EXPLORE_ONCE:
        return pt_object_once_lets(object);
    case PT_EXPLORE_DESCRIPTOR:
        return is_ready(slot);
    case PT_EXPLORE_PAUSED:
        return is_signalled(slot);
    case PT_EXPLORE_SLEEP:
        return pt_run.clock >= it->deadline;
    default:
        return true;
    }
}

/* Without what it waits for; the mutex of a condition it needs even so. */
static bool can_give_up(uint32_t slot)
{
    const struct pt_explore_step *next = &pt_run.next[slot];
    return next->kind != PT_EXPLORE_WAKE || pt_object_mutex_lets((const void *)next->other, pt_run.slots[slot].tid);
}

enum { FAIR = 5000 };

static void enable(uint32_t slot, uint8_t flag)
{
    struct pt_explore_step *next = &pt_run.next[slot];
    next->flags = flag;
    pt_explore_add(&pt_run.enabled, slot);
    /* one that goes on and on may wait for another in a loop that nobody can see yet */
    bool tired = slot == pt_run.current && pt_run.in_row >= FAIR;
    bool polite =
        pt_run.slots[slot].yielded_at == pt_run.result->step_count + 1 && !(pt_run.input->wishes & PT_EXPLORE_EXACT);
    if (polite || tired || pt_explore_spins(slot))
        pt_explore_add(&pt_run.yields, slot);
    if (pt_place_flags(next->place) & PT_EXPLORE_CHOSEN)
        pt_explore_add(&pt_run.chosen, slot);
}

/* A time-out, or a wake-up without a cause. */
static void consider(uint32_t slot, uint32_t *earliest)
{
    const struct pt_explore_slot *it = &pt_run.slots[slot];
    uint8_t out = pt_run.next[slot].kind == PT_EXPLORE_SLEEP ? 0 : PT_EXPLORE_TIMED_OUT;
    if (!can_give_up(slot))
        return;
    /* a signal on its way comes before the end of the wait, which it may end */
    bool late = pt_run.input->wishes & PT_EXPLORE_LATE || it->flight_count;
    if (it->deadline && !late)
        enable(slot, out);
    else if (pt_run.next[slot].kind == PT_EXPLORE_WAKE && pt_run.result->spurious < pt_run.input->spurious)
        enable(slot, PT_EXPLORE_SPURIOUS);
    else if (it->deadline && (*earliest == PT_EXPLORE_NO_SLOT || it->deadline < pt_run.slots[*earliest].deadline))
        *earliest = slot;
}

/* It can be taken to handle one, whether it could go on or not. */
static void consider_signal(uint32_t slot)
{
    pt_explore_add(&pt_run.signals, slot);
    if (pt_explore_has(&pt_run.enabled, slot))
        return;
    enable(slot, 0);
    pt_explore_add(&pt_run.bound, slot);
}

/* Fills the sets; returns who waits for the earliest time of those for whom that has not come. */
static uint32_t look(void)
{
    uint32_t earliest = PT_EXPLORE_NO_SLOT;
    pt_run.enabled = pt_run.yields = pt_run.chosen = pt_run.signals = pt_run.bound = (struct pt_explore_set){0};
    for (uint32_t slot = 0; slot < pt_run.slot_count; slot++) {
        if (!pt_explore_has(&pt_run.used, slot) || pt_run.slots[slot].state != PT_EXPLORE_READY)
            continue;
        bool has = has_all(slot), signalled = pt_run.slots[slot].signalled;
        pt_run.slots[slot].held = !has;
        if (signalled || has || is_cancelled(slot))
            enable(slot, 0);
        else
            consider(slot, &earliest);
        if (pt_run.slots[slot].flight_count)
            consider_signal(slot);
    }
    if (pt_run.spun > PT_RECUR_AFTER)
        pt_recur_leave_out();
    return earliest;
}

/* Timers that are over before the earliest time that a thread waits for come first; not without end, where they come
 * again and again and nobody takes notice. */
bool pt_wait_look(void)
{
    enum { MOST = 1000 };
    uint32_t earliest = look();
    for (unsigned i = 0; i < MOST && pt_explore_is_empty(&pt_run.enabled) && earliest != PT_EXPLORE_NO_SLOT &&
                         pt_run.timer_next < pt_run.slots[earliest].deadline;
         i++) {
        if (pt_run.clock < pt_run.timer_next)
            pt_run.clock = pt_run.timer_next;
        pt_timer_expire();
        earliest = look();
    }
    if (pt_explore_is_empty(&pt_run.enabled) && earliest != PT_EXPLORE_NO_SLOT)
        enable(earliest, pt_run.next[earliest].kind == PT_EXPLORE_SLEEP ? 0 : PT_EXPLORE_TIMED_OUT);
    return !pt_explore_is_empty(&pt_run.enabled);
}

void pt_wait_take(uint32_t slot)
{
    struct pt_explore_slot *it = &pt_run.slots[slot];
    struct pt_explore_step *next = &pt_run.next[slot];
    if (it->signalled)
        return; /* it is to wait again */
    bool by_time = next->flags & PT_EXPLORE_TIMED_OUT || next->kind == PT_EXPLORE_SLEEP;
    if (by_time && pt_run.clock < it->deadline && pt_run.timer_next < it->deadline) {
        if (pt_run.clock < pt_run.timer_next)
            pt_run.clock = pt_run.timer_next; /* what a timer does comes first: it waits on */
        it->waits_on = true;
        return;
    }
    if (by_time && pt_run.clock < it->deadline)
        pt_run.clock = it->deadline;
    pt_run.result->time_outs += (next->flags & PT_EXPLORE_TIMED_OUT) != 0;
    pt_run.result->spurious += (next->flags & PT_EXPLORE_SPURIOUS) != 0;
    pt_token_take(slot);
}
