/*
 * Slots of threads. They are given in order of creation; when all were used, those of threads that have ended and were
 * joined or detached are used again. A thread is among those that can be taken from its creation on; it waits for its
 * first turn when it gets so far.
 *
 * Guarantee: the same schedule gives the same thread the same slot. A thread that has given up its last turn has left
 * the kernel's list of tasks before another one goes on, so that what libc does at its end is a part of that step.
 * Cost: of a thread's end, a system call or two more.
 */
#include <string.h>

#include "runtime/explore/impl.h"
#include "runtime/sys/runtime.h"
#include "runtime/sys/sys.h"
#include "runtime/sys/task.h"

static __thread uint32_t own_slot __attribute__((tls_model("initial-exec"))); /* 1 + slot */

uint32_t pt_explore_slot(void)
{
    return own_slot ? own_slot - 1 : PT_EXPLORE_NO_SLOT;
}

/* ---- several, or alone ---- */

static void become_several(void)
{
    static bool pinned;
    if (!pinned && pt_run.input->wishes & PT_EXPLORE_PINS)
        pt_task_pin(pt_run.input->processor);
    pinned = true;
    pt_run.several = true;
    pt_runtime_activate(PT_ACTIVE_EXPLORES);
}

void pt_explore_settle(void)
{
    bool wanted = pt_run.unjoined > 1 || pt_run.timer_next != UINT64_MAX;
    if (wanted && !pt_run.several)
        become_several();
    if (wanted || !pt_run.several)
        return;
    pt_run.several = false;
    for (uint32_t slot = 0; slot < pt_run.slot_count; slot++) /* it has no scheduling points any more */
        if (pt_explore_has(&pt_run.used, slot))
            pt_flight_flush(slot);
    pt_runtime_deactivate(PT_ACTIVE_EXPLORES);
    pt_shared_reset();
}

static void count_out(void)
{
    pt_run.unjoined--;
    pt_explore_settle();
}

/* ---- slots ---- */

static uint32_t free_slot(void)
{
    if (pt_run.slot_count < PT_EXPLORE_THREADS)
        return pt_run.slot_count;
    for (uint32_t slot = 0; slot < PT_EXPLORE_THREADS; slot++)
        if (pt_run.slots[slot].state == PT_EXPLORE_ENDED && pt_run.slots[slot].released)
            return slot;
    return PT_EXPLORE_NO_SLOT;
}

static void take_slot(uint32_t slot, uint32_t parent, uint64_t start)
{
    static uint32_t numbers;
    struct pt_explore_slot *self = &pt_run.slots[slot];
    struct pt_explore_thread *thread = &pt_run.threads[slot];
    uint64_t line = 0;
    if (parent != PT_EXPLORE_NO_SLOT)
        line = pt_explore_line(pt_run.threads[parent].line, pt_run.slots[parent].children++);
    if (slot == pt_run.slot_count)
        pt_run.slot_count++;
    memset(self, 0, sizeof *self);
    *thread = (struct pt_explore_thread){.line = line,
                                         .parent = parent,
                                         .start = start,
                                         .owner = PT_EXPLORE_NO_SLOT,
                                         .number = parent == PT_EXPLORE_NO_SLOT ? (numbers = 0) : ++numbers};
    pt_run.result->thread_count = pt_run.slot_count;
    pt_explore_add(&pt_run.used, slot);
    pt_run.unjoined++;
    pt_explore_pick_thread(&pt_run.picker, slot, parent, line);
    pt_announce(slot, &(struct pt_explore_op){.kind = PT_EXPLORE_BEGIN, .object = (void *)(uintptr_t)parent});
}

/* The first thread has the turn. */
void pt_explore_thread_start(void)
{
    take_slot(0, PT_EXPLORE_NO_SLOT, 0);
    own_slot = 1;
    pt_run.turn = pt_run.current = 0;
    static uint32_t tid; /* the same in all runs of a process */
    if (!tid)
        tid = pt_sys_thread();
    pt_run.slots[0].tid = pt_run.threads[0].tid = tid;
    pt_run.threads[0].reported = 1;
    pt_run.slots[0].state = PT_EXPLORE_RUNS;
    pt_run.threads[0].state = PT_EXPLORE_RUNS;
}

/* ---- threads of others ---- */

static uint64_t count_own(void)
{
    uint64_t count = atomic_load(&pt_runtime_threads);
    count += pt_run.leaving != 0; /* it has no slot any more, and is still a task */
    for (unsigned i = 0; i < PT_EXPLORE_WORDS; i++)
        count += (uint64_t)__builtin_popcountll(pt_run.used.words[i]);
    return count;
}

/* One that has ended may be a task for a moment longer. */
bool pt_explore_has_strangers(void)
{
    enum { LOOKS = 20, PAUSE_NS = 1000 * 1000 };
    for (unsigned i = 0; i < LOOKS && !pt_run.strangers; i++) {
        if (pt_sys_thread_count() <= count_own())
            return false;
        pt_sys_sleep(PAUSE_NS);
    }
    pt_explore_meets();
    return true;
}

/* Where there are some since before main it may be one of these. */
void pt_explore_meets(void)
{
    pt_run.strangers = true;
    if (!pt_run.early)
        pt_explore_lost(PT_EXPLORE_LOST_STRANGER, NULL);
}

/* ---- lives ---- */

uint32_t pt_explore_create(uint64_t start, const struct pt_site *site)
{
    uint32_t parent = pt_explore_slot();
    if (parent == PT_EXPLORE_NO_SLOT)
        return PT_EXPLORE_NO_SLOT;
    pt_explore_point(
        &(struct pt_explore_op){.kind = PT_EXPLORE_CREATE, .object = (void *)(uintptr_t)free_slot(), .site = site});
    pt_spin_lock(&pt_run.lock);
    uint32_t slot = free_slot();
    uint64_t number = pt_run.result->step_count;
    if (pt_run.several && number && pt_run.input->wishes & PT_EXPLORE_LOGS && number <= pt_run.file->steps_max)
        pt_run.steps[number - 1].object = slot; /* others may have created some since it was announced */
    if (slot != PT_EXPLORE_NO_SLOT)
        take_slot(slot, parent, start);
    if (!pt_run.several)
        become_several();
    pt_spin_unlock(&pt_run.lock);
    if (slot == PT_EXPLORE_NO_SLOT)
        pt_explore_lost(PT_EXPLORE_LOST_CROWD, site);
    return slot;
}

static void mark_ended(uint32_t slot)
{
    pt_run.slots[slot].state = PT_EXPLORE_ENDED;
    pt_run.threads[slot].state = PT_EXPLORE_ENDED;
    pt_explore_drop(&pt_run.used, slot);
}

void pt_explore_not_created(uint32_t slot)
{
    if (slot == PT_EXPLORE_NO_SLOT)
        return;
    pt_spin_lock(&pt_run.lock);
    mark_ended(slot);
    pt_run.slots[slot].released = true;
    count_out();
    pt_spin_unlock(&pt_run.lock);
}

void pt_explore_begin(uint32_t slot, uint32_t tid, uint32_t number, uintptr_t stack_low, uintptr_t stack_high)
{
    enum { STACK_TOP = 128 };
    if (slot == PT_EXPLORE_NO_SLOT)
        return;
    own_slot = slot + 1;
    pt_run.slots[slot].tid = pt_run.threads[slot].tid = tid;
    pt_run.threads[slot].reported = number;
    /* what called this calls the program's function next, from about there */
    pt_run.slots[slot].stack_top = (uintptr_t)__builtin_frame_address(0) + STACK_TOP;
    pt_turn_await(slot);
    pt_explore_stop_here();
    pt_shared_forget(stack_low, stack_high);
}

void pt_explore_end(void)
{
    uint32_t slot = pt_explore_slot();
    if (slot == PT_EXPLORE_NO_SLOT)
        return;
    pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_END, .object = (void *)(uintptr_t)slot});
    own_slot = 0;
    pt_spin_lock(&pt_run.lock);
    mark_ended(slot);
    pt_flight_leave(slot);
    if (pt_run.slots[slot].released)
        count_out();
    if (pt_run.turn != slot) { /* it was taken for asleep, and somebody else runs */
        pt_spin_unlock(&pt_run.lock);
        return;
    }
    pt_run.leaving = pt_run.slots[slot].tid;
    pt_run.result->leaving = slot + 1;
    pt_turn_decide();
    pt_turn_give();
}

/* Others that the program has no more of may still be about to take their last step: it is theirs before libc ends the
 * process, which it does in the thread that it sees end last. */
void pt_explore_last(void)
{
    uint32_t own = pt_explore_slot();
    for (uint32_t slot = 0; slot < pt_run.slot_count && own != PT_EXPLORE_NO_SLOT; slot++)
        if (slot != own && pt_explore_has(&pt_run.used, slot))
            pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_JOIN, .object = (const void *)(uintptr_t)slot});
}

void pt_explore_released(uint32_t slot)
{
    if (slot == PT_EXPLORE_NO_SLOT || pt_run.slots[slot].released)
        return;
    pt_spin_lock(&pt_run.lock);
    pt_run.slots[slot].released = true;
    if (pt_run.slots[slot].state == PT_EXPLORE_ENDED)
        count_out();
    pt_spin_unlock(&pt_run.lock);
}

void pt_explore_exits(void)
{
    if (pt_explore_on && pt_explore_slot() != PT_EXPLORE_NO_SLOT && pt_run.several)
        pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_EXITS});
}

void pt_explore_forks(void)
{
    if (pt_explore_slot() != PT_EXPLORE_NO_SLOT)
        pt_explore_lost(PT_EXPLORE_LOST_FORKED, NULL);
}

bool pt_explore_has_forked(void)
{
    return pt_run.result->losses >> PT_EXPLORE_LOST_FORKED & 1;
}

/* The only thread of the copy goes its own way. */
void pt_explore_forked(void)
{
    own_slot = 0;
    pt_explore_on = false;
}

void pt_explore_named(uint32_t slot, const char *name)
{
    if (slot != PT_EXPLORE_NO_SLOT)
        strncpy(pt_run.threads[slot].name, name, sizeof pt_run.threads[slot].name - 1);
}
