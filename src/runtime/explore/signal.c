/*
 * Signals of threads to each other. One that is sent is on its way until the receiver is taken for it, whatever that
 * does before: then it sends it to itself. So when it comes is a part of the schedule, and nothing is left to the
 * kernel. One that a thread sends to itself, or to the process, comes at once, and so does one to a thread that is in
 * the kernel without the turn.
 *
 * Guarantee: a handler runs no earlier than the signal was sent, and not after its thread has begun to wait in a call
 * that is not played. Cost: a system call for each.
 */
#include "runtime/explore/impl.h"
#include "runtime/shadow/self.h"
#include "runtime/sys/sys.h"
#include "runtime/sys/task.h"

/* ---- on their way ---- */

static bool is_ordinary(int signal)
{
    enum { LIBCS = 32, LIBCS_LAST = 33, LAST = 64 }; /* libc's own */
    return signal > 0 && signal <= LAST && (signal < LIBCS || signal > LIBCS_LAST);
}

/* As in the kernel, a signal that is on its way already is one; those for real-time are queued, but of a timer there is
 * one at a time. */
static bool is_there(const struct pt_explore_slot *receiver, const struct pt_explore_flight *flight)
{
    enum { REAL_TIME = 34 };
    for (uint32_t i = 0; i < receiver->flight_count; i++) {
        const struct pt_explore_flight *other = &receiver->flight[i];
        bool same_timer =
            flight->code == SI_TIMER && other->code == SI_TIMER && flight->value.sival_ptr == other->value.sival_ptr;
        if (other->signal == flight->signal && (flight->signal < REAL_TIME || same_timer))
            return true;
    }
    return false;
}

/* With the lock held. False: it is not to be taken for that. */
static bool put_flight(uint32_t slot, const struct pt_explore_flight *flight)
{
    struct pt_explore_slot *receiver = &pt_run.slots[slot];
    bool there = is_there(receiver, flight);
    bool flies = pt_explore_has(&pt_run.used, slot) && receiver->state == PT_EXPLORE_READY && receiver->tid &&
                 (there || receiver->flight_count < PT_EXPLORE_FLIGHT);
    if (flies && !there)
        receiver->flight[receiver->flight_count++] = *flight;
    return flies;
}

bool pt_explore_send(uint32_t slot, int signal, const union sigval *value)
{
    if (slot == PT_EXPLORE_NO_SLOT || slot == pt_explore_slot() || pt_explore_slot() == PT_EXPLORE_NO_SLOT ||
        !pt_run.several || !is_ordinary(signal))
        return false;
    struct pt_explore_flight flight = {.signal = signal, .code = value ? SI_QUEUE : SI_TKILL, .has_value = value};
    if (value)
        flight.value = *value;
    pt_spin_lock(&pt_run.lock);
    bool flies = put_flight(slot, &flight);
    pt_spin_unlock(&pt_run.lock);
    return flies;
}

/* To the thread, or to the process where that does not let it through any more, and need not. */
static void hand_to_kernel(uint32_t tid, const struct pt_explore_flight *flight)
{
    siginfo_t info = {.si_signo = flight->signal, .si_code = flight->code};
    uint64_t blocked = 0;
    info.si_pid = (pid_t)pt_sys_process();
    info.si_uid = pt_sys_user();
    if (flight->has_value)
        info.si_value = flight->value;
    bool process = flight->to_process &&
                   (!tid || (pt_task_signals(tid, &blocked, NULL) && blocked & PT_SIGNAL_BIT(flight->signal)));
    if (info.si_code > 0 && (process || tid != pt_sys_thread()))
        info.si_code = SI_TIMER; /* who is not the kernel may not say that it is, but to itself */
    if (process)
        (void)pt_task_queue_signal(flight->signal, &info);
    else
        (void)pt_sys_queue_signal_to(tid, flight->signal, &info);
    pt_run.signal_news++;
}

static struct pt_explore_flight take_flight(struct pt_explore_slot *receiver)
{
    struct pt_explore_flight flight = receiver->flight[0];
    receiver->flight_count--;
    for (uint32_t i = 0; i < receiver->flight_count; i++)
        receiver->flight[i] = receiver->flight[i + 1];
    return flight;
}

static void arrive(struct pt_explore_slot *receiver)
{
    struct pt_explore_flight flight = take_flight(receiver);
    hand_to_kernel(receiver->tid, &flight);
}

void pt_flight_put(uint32_t slot, const struct pt_explore_flight *flight)
{
    if (slot == PT_EXPLORE_NO_SLOT || !put_flight(slot, flight))
        hand_to_kernel(slot == PT_EXPLORE_NO_SLOT ? 0 : pt_run.slots[slot].tid, flight);
}

void pt_flight_leave(uint32_t slot)
{
    struct pt_explore_slot *self = &pt_run.slots[slot];
    while (self->flight_count) {
        struct pt_explore_flight flight = take_flight(self);
        if (flight.to_process)
            pt_flight_put(pt_flight_receiver(flight.signal), &flight);
    }
}

uint32_t pt_flight_receiver(int signal)
{
    for (uint32_t slot = 0; slot < pt_run.slot_count; slot++) {
        uint64_t blocked = ~(uint64_t)0;
        if (pt_explore_has(&pt_run.used, slot) && pt_run.slots[slot].tid &&
            pt_task_signals(pt_run.slots[slot].tid, &blocked, NULL) && !(blocked & PT_SIGNAL_BIT(signal)))
            return slot;
    }
    return PT_EXPLORE_NO_SLOT;
}

/* Inside of the runtime: its handler is deferred until the thread leaves, unless it is blocked, or ignored. */
void pt_flight_arrive(uint32_t slot)
{
    struct pt_explore_slot *self = &pt_run.slots[slot];
    struct pt_sys_action action = {0};
    if (self->flight_count) {
        (void)pt_sys_signal_action(self->flight[0].signal, NULL, &action);
        self->restarts = action.flags & SA_RESTART;
        arrive(self);
    }
    if (pt_self && pt_self->attention & PT_ATTEND_SIGNAL)
        self->interrupted = true;
}

void pt_flight_flush(uint32_t slot)
{
    while (pt_run.slots[slot].flight_count)
        arrive(&pt_run.slots[slot]);
}

/* ---- by the kernel ---- */

static bool is_noticed(uint32_t receiver)
{
    if (receiver != PT_EXPLORE_NO_SLOT)
        return pt_run.slots[receiver].signalled || pt_run.slots[receiver].state != PT_EXPLORE_READY;
    for (uint32_t slot = 0; slot < pt_run.slot_count; slot++)
        if (pt_run.slots[slot].signalled)
            return true;
    return false;
}

/* A thread may have gone to sleep after the signal had come, without having noticed it: who waits looks once more. */
static void poke(uint32_t receiver)
{
    for (uint32_t slot = 0; slot < pt_run.slot_count; slot++)
        if (pt_explore_has(&pt_run.used, slot) && (receiver == slot || receiver == PT_EXPLORE_NO_SLOT))
            pt_task_wake(&pt_run.slots[slot].go);
}

/* The kernel interrupts who waits, and that has noticed the signal before anything else happens: so the step in which
 * it may be handled does not depend on when the kernel gets to it. One that is blocked is noticed later, or never. */
void pt_explore_sent(uint32_t receiver)
{
    enum { YIELDS = 200, SHORT = 20 * 1000 };
    if (pt_explore_slot() == PT_EXPLORE_NO_SLOT || !pt_run.several || receiver == pt_explore_slot())
        return;
    for (unsigned turn = 0; turn < YIELDS && !is_noticed(receiver); turn++) {
        if (turn < YIELDS / 2)
            pt_task_yield();
        else
            pt_sys_sleep(SHORT);
        poke(receiver);
    }
}

void pt_explore_handles(void)
{
    pt_run.handled = true;
}

void pt_explore_outside(void)
{
    pt_run.outside = true;
}
