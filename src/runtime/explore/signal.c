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

/* As in the kernel, a signal that is on its way already is one; those for real-time are queued. */
static bool is_there(const struct pt_explore_slot *receiver, int signal)
{
    enum { REAL_TIME = 34 };
    for (uint32_t i = 0; i < receiver->flight_count && signal < REAL_TIME; i++)
        if (receiver->flight[i].signal == signal)
            return true;
    return false;
}

bool pt_explore_send(uint32_t slot, int signal, const union sigval *value)
{
    if (slot == PT_EXPLORE_NO_SLOT || slot == pt_explore_slot() || pt_explore_slot() == PT_EXPLORE_NO_SLOT ||
        !pt_run.several || !is_ordinary(signal))
        return false;
    struct pt_explore_slot *receiver = &pt_run.slots[slot];
    struct pt_explore_flight flight = {signal, value != NULL, {0}};
    if (value)
        flight.value = *value;
    pt_spin_lock(&pt_run.lock);
    bool there = is_there(receiver, signal);
    bool flies = pt_explore_has(&pt_run.used, slot) && receiver->state == PT_EXPLORE_READY && receiver->tid &&
                 (there || receiver->flight_count < PT_EXPLORE_FLIGHT);
    if (flies && !there)
        receiver->flight[receiver->flight_count++] = flight;
    pt_spin_unlock(&pt_run.lock);
    return flies;
}

static void arrive(struct pt_explore_slot *receiver)
{
    struct pt_explore_flight flight = receiver->flight[0];
    siginfo_t info = {.si_signo = flight.signal, .si_code = flight.has_value ? SI_QUEUE : SI_TKILL};
    info.si_pid = (pid_t)pt_sys_process();
    info.si_uid = pt_sys_user();
    if (flight.has_value)
        info.si_value = flight.value;
    receiver->flight_count--;
    for (uint32_t i = 0; i < receiver->flight_count; i++)
        receiver->flight[i] = receiver->flight[i + 1];
    (void)pt_sys_queue_signal_to(receiver->tid, flight.signal, &info);
}

/* Inside of the runtime: its handler is deferred until the thread leaves, unless it is blocked, or ignored. */
void pt_flight_arrive(uint32_t slot)
{
    struct pt_explore_slot *self = &pt_run.slots[slot];
    if (self->flight_count)
        arrive(self);
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

void pt_explore_outside(void)
{
    pt_run.outside = true;
}
