/*
 * After the schedule. A run that has come to the predicted place proves little while the others mend at once what is
 * wrong: so whoever did the last event goes on alone, as far as it can. It has the floor; the others are held at
 * whatever instrumented access, lock or user event comes next in them, wherever the schedule has left them. The
 * observer sees what threads do (`doing`, `steps`, and the kernel), and gives the floor to the next one when the thread
 * that has it has ended or is blocked.
 *
 * One thing cannot wait for the observer: a thread that is blocked in a lock which the thread with the floor gives up.
 * If it is the one that did the last event, it has the floor again before the other one does anything more.
 *
 * Guarantee: from the last event on, until the gate opens, no two threads go on at a time past an access, but for
 * those in code that is not instrumented, and for one that gets a new clock in the same moment (slow_down). Cost: two
 * loads and an addition per access of the thread that has the floor.
 */
#include "runtime/channel/gate_impl.h"

#include "runtime/channel/self.h"
#include "runtime/sys/sys.h"

static uint32_t leader; /* who did the last event: its number plus 1 */

static void give_floor(uint32_t thread)
{
    /* release: partner of the acquire in pt_gate_wait_floor; what was done on the floor is seen by the next */
    atomic_store_explicit(&pt_gate->floor, thread, memory_order_release);
    pt_sys_wake_all(&pt_gate->floor);
}

/* A thread that is fast does not stop before accesses. It may be about to be fast once more with a clock that it has
 * just got: then it stops when it has the next one. */
static void slow_down(void *context, const struct pt_thread *thread)
{
    (void)context;
    __atomic_store_n((uint64_t *)(uintptr_t)&thread->shadow.fast, PT_NOT_FAST, __ATOMIC_RELAXED);
}

void pt_gate_take_floor(void)
{
    if (!atomic_exchange(&pt_shadow_steps, true))
        pt_thread_each(slow_down, NULL);
    uint32_t role = pt_gate_entries(pt_gate)[pt_gate->count - 1].role;
    leader = atomic_load_explicit(&pt_gate_actors(pt_gate)[role].number, memory_order_relaxed);
    uint32_t none = 0;
    atomic_compare_exchange_strong(&pt_gate->floor, &none, leader);
}

bool pt_gate_wait_floor(struct pt_thread *self)
{
    /* acquire, both: partners of the releases in pt_gate_count and give_floor; the floor was taken before the last
     * entry was counted */
    if (pt_gate_is_open() || !pt_gate_is_played(atomic_load_explicit(&pt_gate->turn, memory_order_acquire)))
        return false;
    struct pt_gate_thread *slot = pt_gate_slot(self);
    uint32_t floor = atomic_load_explicit(&pt_gate->floor, memory_order_acquire), own = pt_thread_number(self) + 1;
    if (!slot || !floor)
        return true;
    if (floor == own && self->channel->gate_yields) {
        self->channel->gate_yields = false;
        give_floor(leader);
        floor = leader;
    }
    if (floor != own) {
        uint32_t before = pt_gate_say(slot, PT_GATE_WAITS_TURN);
        while (floor != own && !pt_gate_is_open()) {
            pt_sys_wait(&pt_gate->floor, floor, GATE_SLICE_NS);
            floor = atomic_load_explicit(&pt_gate->floor, memory_order_acquire);
        }
        pt_gate_say(slot, before);
    }
    atomic_fetch_add_explicit(&slot->steps, 1, memory_order_relaxed);
    return true;
}

void pt_gate_note_given(struct pt_thread *self, uint64_t lock)
{
    uint32_t own = pt_thread_number(self) + 1;
    if (!leader || leader == own || leader > PT_GATE_THREADS ||
        atomic_load_explicit(&pt_gate->floor, memory_order_relaxed) != own)
        return;
    struct pt_gate_thread *waits = &pt_gate_threads(pt_gate)[leader - 1];
    if (atomic_load(&waits->doing) == PT_GATE_WAITS_LOCK && atomic_load(&waits->object) == lock)
        self->channel->gate_yields = true;
}
