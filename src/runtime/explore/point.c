/*
 * A scheduling point: the thread says what it is about to do, whoever has the turn decides, and when it is taken it
 * goes back to do it. While no other thread is there that was not joined there are no points, unless the thread would
 * have to wait.
 *
 * The thread itself looks what the memory has before its step, since that may fault as the access would.
 *
 * Guarantee: between the return and the thread's next point no other thread under control runs. Cost: turn.c.
 */
#include "runtime/explore/impl.h"

#include <string.h>

#include "runtime/shadow/self.h"
#include "runtime/sys/sys.h"
#include "runtime/sys/task.h"

#define PT_EXPLORE_AGAIN (UINT32_MAX - 1) /* of wait_for_turn */

void pt_announce(uint32_t slot, const struct pt_explore_op *op)
{
    enum { MOST = 255 };
    struct pt_explore_slot *self = &pt_run.slots[slot];
    struct pt_explore_thread *thread = &pt_run.threads[slot];
    struct pt_explore_step *next = &pt_run.next[slot];
    bool large = op->size > MOST;
    next->kind = (uint16_t)op->kind;
    next->size = (uint8_t)(large ? MOST : op->size);
    next->flags = 0;
    next->object = (uintptr_t)op->object;
    next->other = large ? op->size : (uintptr_t)op->other;
    next->value = 0;
    next->place = pt_place_of(op->site);
    self->what = op->what;
    self->deadline = op->deadline;
    if (op->kind == PT_EXPLORE_YIELD)
        self->yielded_at = pt_run.result->step_count + 1;
    thread->kind = next->kind;
    thread->object = next->object;
    thread->other = next->other;
    thread->deadline = op->deadline;
    thread->place = next->place;
    thread->owner = PT_EXPLORE_NO_SLOT;
    self->state = PT_EXPLORE_READY;
    thread->state = PT_EXPLORE_READY;
}

static uint64_t value_at(const struct pt_explore_op *op)
{
    uint64_t value = 0;
    bool memory = op->size && op->size <= sizeof value && pt_explore_space(op->kind) == PT_EXPLORE_MEMORY;
    if (memory && op->kind != PT_EXPLORE_FREE)
        memcpy(&value, op->object, op->size);
    return value;
}

/* What is known of the step only now that it is about to be done. */
static void begin_step(uint32_t slot, const struct pt_explore_op *op)
{
    struct pt_explore_result *result = pt_run.result;
    const struct pt_explore_step *step = &pt_run.next[slot];
    uint64_t number = result->step_count, value = value_at(op);
    if (pt_run.input->wishes & PT_EXPLORE_LOGS && number <= pt_run.file->steps_max)
        pt_run.steps[number - 1].value = value;
    uint64_t key = step->place ? pt_run.places[step->place].key : 0;
    result->values = pt_mix64(result->values * 31 + (key ^ pt_mix64(value + step->kind)));
    pt_explore_spin_note(slot, step, value);
    pt_run.slots[slot].quiet = 0;
    if (step->kind != PT_EXPLORE_YIELD)
        pt_run.slots[slot].quiets = 0;
    pt_explore_stop_here();
}

/* The turn was given for a handler: false. */
static bool is_for_itself(uint32_t slot)
{
    struct pt_explore_slot *self = &pt_run.slots[slot];
    uint64_t number = pt_run.result->step_count;
    if (self->handles) {
        self->handles = false;
        pt_flight_arrive(slot);
        return false;
    }
    if (self->waits_on) {
        self->waits_on = false;
        return false;
    }
    if (!self->signalled)
        return true;
    self->signalled = false;
    self->interrupted = self->restarts = true;
    if (pt_run.input->wishes & PT_EXPLORE_LOGS && number <= pt_run.file->steps_max) {
        pt_run.steps[number - 1].kind = PT_EXPLORE_HANDLE;
        pt_run.steps[number - 1].object = slot;
        pt_run.steps[number - 1].other = pt_run.steps[number - 1].size = 0;
    }
    return false;
}

static uint32_t wait_for_turn(uint32_t slot, const struct pt_explore_op *op)
{
    pt_spin_lock(&pt_run.lock);
    if (pt_run.slots[slot].state == PT_EXPLORE_AWAY)
        pt_run.away--;
    pt_announce(slot, op);
    if (pt_self && pt_self->attention & PT_ATTEND_SIGNAL) /* one came while it was in the runtime */
        pt_run.slots[slot].signalled = true;
    if (pt_run.turn == slot || pt_run.turn == PT_EXPLORE_NO_SLOT) {
        pt_turn_decide();
        pt_turn_pass(slot);
    } else { /* it was away, and somebody else runs */
        pt_spin_unlock(&pt_run.lock);
        pt_turn_await(slot);
    }
    if (!is_for_itself(slot)) {
        pt_explore_stop_here();
        return PT_EXPLORE_AGAIN;
    }
    begin_step(slot, op);
    return pt_run.slots[slot].answer;
}

/* Alone it goes on without a step, as long as it need not wait for anything. */
static bool goes_on_alone(uint32_t slot, const struct pt_explore_op *op)
{
    if (pt_run.several || op->deadline)
        return false;
    if (!pt_explore_kind_blocks(op->kind))
        return true;
    pt_announce(slot, op);
    bool can = pt_wait_look() && !(pt_run.next[slot].flags & PT_EXPLORE_SPURIOUS);
    pt_run.slots[slot].state = PT_EXPLORE_RUNS;
    pt_run.threads[slot].state = PT_EXPLORE_RUNS;
    if (can)
        pt_wait_take(slot);
    return can;
}

/* A handler has run: whether that ends the wait. A sleep it ends at once; another wait if the thread could not go on
 * when it was taken for it. */
static bool is_ended(uint32_t slot, const struct pt_explore_op *op)
{
    struct pt_explore_slot *self = &pt_run.slots[slot];
    bool ends = op->interrupts == PT_EXPLORE_IS_ENDED || (op->interrupts == PT_EXPLORE_MAY_RESTART && !self->restarts);
    bool struck = self->interrupted && (op->kind == PT_EXPLORE_SLEEP || self->held);
    if (op->kind != PT_EXPLORE_PAUSED)
        self->interrupted = false;
    return ends && struck;
}

/* Inside of the runtime, which it leaves. */
static uint32_t wait_through(uint32_t slot, const struct pt_explore_op *op)
{
    struct pt_shadow_self *self = pt_self;
    for (;;) {
        uint32_t answer = wait_for_turn(slot, op);
        if (self)
            pt_leave(self); /* handlers run here */
        if (answer != PT_EXPLORE_AGAIN)
            return answer;
        if (is_ended(slot, op))
            return PT_EXPLORE_INTERRUPTED;
        if (self)
            pt_enter(self);
    }
}

/* Inside of the runtime, so that handlers of signals run when the thread has its turn. A wait that a handler may end is
 * two steps: one that runs before the first does not. */
static __attribute__((noinline)) uint32_t come_to(const struct pt_explore_op *op)
{
    uint32_t slot = pt_explore_slot();
    struct pt_shadow_self *self = pt_self;
    if (slot == PT_EXPLORE_NO_SLOT)
        return PT_EXPLORE_FREE_TO_GO;
    if (goes_on_alone(slot, op))
        return 0;
    if (op->kind == PT_EXPLORE_LOCK && op->what == PT_EXPLORE_IS_RWLOCK && pt_object_prefers_writers(op->object))
        pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_ASK, .object = op->object, .site = op->site});
    if (op->interrupts != PT_EXPLORE_GOES_ON && op->kind != PT_EXPLORE_SLEEP && !op->mask && pt_run.handled)
        pt_explore_point(&(struct pt_explore_op){
            .kind = PT_EXPLORE_PAUSE, .object = (const void *)(uintptr_t)slot, .site = op->site});
    uint64_t before = 0;
    bool masks = op->mask && self;
    if (self)
        pt_enter(self);
    if (masks) /* what it lets through is noticed in the same step in which the thread begins to wait */
        before = pt_sys_swap_signal_mask(*op->mask);
    uint32_t answer = wait_through(slot, op);
    if (masks)
        pt_sys_swap_signal_mask(before);
    return answer;
}

/* With next to nothing in its own frame, which is part of the thread's state. */
uint32_t pt_explore_point(const struct pt_explore_op *op)
{
    if (__builtin_expect(pt_run.spun > PT_RECUR_AFTER, 0) && pt_explore_slot() != PT_EXPLORE_NO_SLOT)
        pt_recur_note(pt_explore_slot(), op);
    return come_to(op);
}

void pt_explore_failed(void)
{
    uint32_t slot = pt_explore_slot();
    uint64_t number = pt_run.result->step_count;
    if (slot == PT_EXPLORE_NO_SLOT || !pt_run.several || !number)
        return;
    pt_run.slots[slot].tries = true;
    if (pt_run.input->wishes & PT_EXPLORE_LOGS && number <= pt_run.file->steps_max)
        pt_run.steps[number - 1].flags |= PT_EXPLORE_FAILED;
}

/* ---- memory ---- */

enum { QUIET = 100000 }; /* so many accesses without a point, and the thread may wait for another in a loop */

static bool is_ruled(void)
{
    return pt_run.several && pt_explore_slot() != PT_EXPLORE_NO_SLOT && pt_self && !pt_self->busy;
}

/* Time passes about as it does for them; more and more where the thread goes on like that: it may wait for a timer. */
static void count_quiet(const struct pt_site *site)
{
    enum { QUIET_NS = 1000 * 1000, EACH = 8, MOST = 8 };
    struct pt_explore_slot *self = &pt_run.slots[pt_explore_slot()];
    if (++self->quiet < QUIET)
        return;
    uint32_t times = self->quiets++ / EACH;
    pt_run.clock += (uint64_t)QUIET_NS << (times < MOST ? times : MOST);
    pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_YIELD, .site = site});
}

void pt_explore_access(const void *address, size_t size, unsigned kind, const struct pt_site *site)
{
    if (!is_ruled())
        return;
    uint32_t place = pt_place_of(site);
    bool plain = kind == PT_EXPLORE_LOAD || kind == PT_EXPLORE_STORE;
    if (!plain || pt_place_flags(place) & PT_EXPLORE_SHARED)
        pt_explore_point(&(struct pt_explore_op){.kind = kind, .object = address, .size = size, .site = site});
    else
        count_quiet(site);
    if (kind == PT_EXPLORE_STORE)
        pt_run.slots[pt_explore_slot()].stores++;
    if (pt_run.several && size)
        pt_shared_note((uintptr_t)address, size, kind != PT_EXPLORE_LOAD && kind != PT_EXPLORE_ATOMIC_LOAD, place);
}

/* Where a block is freed is not known; so whether that is a point follows from who has used it, and where. */
void pt_explore_freed(const void *memory, size_t size)
{
    if (!is_ruled())
        return;
    if (pt_shared_is_used((uintptr_t)memory, size))
        pt_explore_point(
            &(struct pt_explore_op){.kind = PT_EXPLORE_FREE, .object = memory, .other = (const void *)size});
    if (pt_run.several)
        pt_shared_free((uintptr_t)memory, size);
}

void pt_explore_allocated(const void *memory, size_t size)
{
    if (is_ruled())
        pt_shared_forget((uintptr_t)memory, (uintptr_t)memory + size);
}

/* ---- waiting for signals ---- */

/* With a mask it is one step. Without one a handler may run right before the thread begins to wait, and it waits for
 * another signal. */
bool pt_explore_pause(const uint64_t *mask, const struct pt_site *site)
{
    uint32_t slot = pt_explore_slot();
    struct pt_explore_op op = {.kind = PT_EXPLORE_PAUSE, .object = (void *)(uintptr_t)slot, .site = site};
    if (slot == PT_EXPLORE_NO_SLOT || !pt_self)
        return false;
    if (!mask)
        pt_explore_point(&op);
    op.kind = PT_EXPLORE_PAUSED;
    op.mask = mask;
    pt_run.slots[slot].interrupted = false;
    pt_explore_point(&op);
    return true;
}

bool pt_explore_await_signals(uint64_t signals, uint64_t deadline, bool *ret_late, const struct pt_site *site)
{
    uint32_t slot = pt_explore_slot();
    if (slot == PT_EXPLORE_NO_SLOT)
        return false;
    pt_run.slots[slot].pending_seen = 0;
    uint32_t answer = pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_PAUSED,
                                                               .what = PT_EXPLORE_IS_SIGNALS,
                                                               .object = (const void *)(uintptr_t)slot,
                                                               .other = (const void *)(uintptr_t)signals,
                                                               .deadline = deadline,
                                                               .site = site});
    *ret_late = answer & PT_EXPLORE_TIMED_OUT;
    return answer != PT_EXPLORE_FREE_TO_GO && !pt_run.slots[slot].cancelled;
}

/* ---- calls that are not played ---- */

void pt_explore_away(const struct pt_site *site)
{
    uint32_t slot = pt_explore_slot();
    if (slot == PT_EXPLORE_NO_SLOT || !pt_run.several)
        return;
    pt_flight_flush(slot); /* it may wait for them there */
    pt_spin_lock(&pt_run.lock);
    pt_run.threads[slot].place = pt_place_of(site);
    pt_run.threads[slot].kind = PT_EXPLORE_FOREIGN;
    pt_run.threads[slot].state = PT_EXPLORE_AWAY;
    pt_run.slots[slot].state = PT_EXPLORE_AWAY;
    pt_run.away++;
    pt_timer_lend();
    if (pt_run.turn != slot) {
        pt_spin_unlock(&pt_run.lock);
        return;
    }
    pt_turn_decide();
    pt_turn_give();
}

void pt_explore_back(const struct pt_site *site)
{
    uint32_t slot = pt_explore_slot();
    if (slot == PT_EXPLORE_NO_SLOT || pt_run.slots[slot].state != PT_EXPLORE_AWAY)
        return;
    pt_explore_lost(PT_EXPLORE_LOST_OUTSIDE, site);
    pt_spin_lock(&pt_run.lock);
    pt_timer_take_back();
    pt_spin_unlock(&pt_run.lock);
    pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_FOREIGN, .site = site});
}
