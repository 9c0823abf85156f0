/*
 * The turn. Who has it decides who is next, writes the step down and wakes that thread by its own futex; nobody else
 * runs. All of that is under one lock, for the few who look without the turn: threads that come back from the kernel,
 * and those that find that the turn's owner sleeps there in a call that nobody knows of.
 *
 * Guarantee: one thread at a time is between two points, unless it was taken for asleep (LOST_STOLEN). Cost: of a point
 * after which the same thread goes on no system call; of a switch two.
 */
#include "runtime/explore/impl.h"
#include "runtime/shadow/self.h"
#include "runtime/sys/sys.h"
#include "runtime/sys/task.h"

struct pt_explore_run pt_run;

enum { LOOK_NS = 20 * 1000 * 1000, OUTSIDE_NS = 1000 * 1000 };

/* ---- writing down ---- */

static void write_stretch(uint32_t who)
{
    struct pt_explore_result *result = pt_run.result;
    struct pt_explore_stretch *last = result->taken_count ? &pt_run.taken[result->taken_count - 1] : NULL;
    result->schedule = pt_mix64(result->schedule * 31 + who + 1);
    if (last && (last->who & ~PT_EXPLORE_HANDLES) == who) {
        last->steps++;
        return;
    }
    if (result->taken_count >= pt_run.file->taken_max)
        pt_end(PT_EXPLORE_FULL);
    pt_run.taken[result->taken_count] = (struct pt_explore_stretch){who, 1};
    result->taken_count++;
}

/* What it is about to do stays what it is about to do. */
static void make_handle(struct pt_explore_step *step)
{
    step->kind = PT_EXPLORE_HANDLE;
    step->object = step->who;
    step->other = step->size = 0;
    step->flags = (step->flags & PT_EXPLORE_FORCED) | PT_EXPLORE_HANDLED;
}

static void write_step(uint32_t slot)
{
    struct pt_explore_result *result = pt_run.result;
    struct pt_explore_step *next = &pt_run.next[slot];
    next->who = slot;
    next->own = pt_run.threads[slot].steps++;
    next->enabled = pt_run.enabled;
    next->yields = pt_run.yields;
    next->signals = pt_run.signals;
    next->bound = pt_run.bound;
    pt_run.threads[slot].chosen += pt_explore_has(&pt_run.chosen, slot);
    if (pt_run.input->wishes & PT_EXPLORE_LOGS && result->step_count < pt_run.file->steps_max) {
        pt_run.steps[result->step_count] = *next;
        if (pt_run.slots[slot].handles)
            make_handle(&pt_run.steps[result->step_count]);
    }
    result->step_count++;
    if (pt_run.input->step_limit && result->step_count > pt_run.input->step_limit)
        pt_end(PT_EXPLORE_LIMIT);
}

static bool is_idle(uint32_t slot)
{
    enum pt_explore_kind kind = pt_run.next[slot].kind;
    return kind == PT_EXPLORE_SLEEP || kind == PT_EXPLORE_YIELD || pt_explore_spins(slot);
}

static bool can_anyone_else(void)
{
    for (uint32_t slot = 0; slot < pt_run.slot_count; slot++)
        if (pt_explore_has(&pt_run.enabled, slot) && !is_idle(slot))
            return true;
    return false;
}

static bool is_anyone_asleep(void)
{
    for (unsigned i = 0; i < PT_EXPLORE_WORDS; i++)
        if (pt_run.enabled.words[i] & pt_run.picker.sleep.words[i])
            return true;
    return false;
}

/* They may wait for a timer: its time comes. One of the kernel's needs real time. Whoever does not do the same again
 * and again may come to an end, and is given time for it. */
static void spin_on(uint32_t limit)
{
    enum { FEW = 10, PAUSE_NS = 1000 * 1000, MANY = 200 };
    if (pt_timer_jump()) {
        pt_run.spun = 0;
        return;
    }
    if (!pt_run.outside && pt_recur_all())
        pt_end(PT_EXPLORE_LIVELOCK);
    if (!pt_run.outside && pt_run.spun > (uint64_t)limit * MANY)
        pt_end(PT_EXPLORE_LIMIT);
    if (!pt_run.outside)
        return;
    pt_explore_lost(PT_EXPLORE_LOST_OUTSIDE, NULL);
    pt_sys_sleep(PAUSE_NS);
    pt_run.spun = limit > FEW ? limit - FEW : 0;
}

/* Threads that only spin while nobody else can go on are stuck in the end. Those that spin while whoever could end that
 * is in the sleep set never get on in this run: what comes after one of these was explored, and turns of a loop that
 * have no effect make no other order. Some more turns are made, to see whether the loop ends by itself; many, where
 * nothing but yielding is seen of it. */
static void count_spins(uint32_t slot)
{
    enum { ENOUGH = 30, SLEEPS = 40 }; /* a loop that sleeps may do so a number of times, and give up */
    uint32_t limit = pt_run.input->spin_limit ? pt_run.input->spin_limit : 10000;
    bool idle = is_idle(slot);
    pt_run.slept = (pt_run.slept && pt_run.spun) || pt_run.next[slot].kind == PT_EXPLORE_SLEEP;
    pt_run.result->spins += idle;
    pt_run.idled = idle ? pt_run.idled + 1 : 0;
    if (pt_run.idled > (pt_explore_spins(slot) ? ENOUGH : limit) && !pt_run.picker.forced && is_anyone_asleep())
        pt_end(PT_EXPLORE_REDUNDANT);
    if (idle ? can_anyone_else() : pt_explore_kind_writes(pt_run.next[slot].kind))
        pt_run.spun = 0;
    else if (idle && ++pt_run.spun > limit * (pt_run.slept ? SLEEPS : 1))
        spin_on(limit);
}

static void count_writes(enum pt_explore_kind kind)
{
    switch (kind) {
    case PT_EXPLORE_LOCK:
    case PT_EXPLORE_READ_LOCK:
    case PT_EXPLORE_TRY_LOCK:
    case PT_EXPLORE_TRY_READ_LOCK:
    case PT_EXPLORE_SEM_TRY:
    case PT_EXPLORE_ASK:
        break;
    case PT_EXPLORE_UNLOCK:
        pt_run.unlocks++;
        break;
    default:
        pt_run.writes += pt_explore_kind_writes(kind);
    }
}

static void commit(uint32_t who)
{
    uint32_t slot = who & ~PT_EXPLORE_HANDLES, before = pt_run.current;
    if (before != PT_EXPLORE_NO_SLOT && before != slot && pt_explore_has(&pt_run.enabled, before) &&
        !pt_explore_has(&pt_run.yields, before))
        pt_run.result->preemptions++;
    struct pt_explore_step *next = &pt_run.next[slot];
    bool handles = pt_run.slots[slot].handles = (who & PT_EXPLORE_HANDLES) != 0;
    if (handles) {
        pt_run.spun = 0;
    } else {
        count_spins(slot);
        pt_wait_take(slot);
    }
    pt_run.slots[slot].answer = next->flags;
    next->flags |= pt_explore_has(&pt_run.yields, slot) ? PT_EXPLORE_SPUN : 0;
    next->flags |= pt_run.picker.forced ? PT_EXPLORE_FORCED : 0;
    write_stretch(who);
    write_step(slot);
    pt_run.signal_news += handles || next->kind == PT_EXPLORE_SEND;
    count_writes(handles ? PT_EXPLORE_HANDLE : next->kind);
    pt_run.clock += pt_run.input->clock_step ? pt_run.input->clock_step : 1000;
    pt_run.result->clock = pt_run.clock;
    pt_run.result->diverged_at = pt_run.picker.diverged_at;
    pt_run.slots[slot].state = PT_EXPLORE_RUNS;
    pt_run.threads[slot].state = PT_EXPLORE_RUNS;
    pt_run.in_row = before == slot ? pt_run.in_row + 1 : 1;
    pt_run.turn = pt_run.current = slot;
}

/* ---- deciding ---- */

/* Who waits for the end of a thread that is scheduled, or for a lock that one has, gets that from nobody else. */
static bool is_anyone_open(void)
{
    for (uint32_t slot = 0; slot < pt_run.slot_count; slot++)
        if (pt_explore_has(&pt_run.used, slot) && pt_run.slots[slot].state == PT_EXPLORE_READY &&
            pt_object_owner(slot) == PT_EXPLORE_NO_SLOT)
            return true;
    return false;
}

/* Somebody in the kernel may come back, or a descriptor become ready: what is outside decides when. */
static bool is_awaited(void)
{
    if (pt_run.away || pt_run.outside)
        return true;
    for (uint32_t slot = 0; slot < pt_run.slot_count; slot++)
        if (pt_explore_has(&pt_run.used, slot) && pt_run.slots[slot].state == PT_EXPLORE_READY &&
            pt_wait_is_outside(slot))
            return true;
    return pt_explore_has_strangers() && is_anyone_open();
}

/* Nobody can go on: one that is over may change that. Where something outside may, too, time is not made to pass. */
static bool wait_for_timers(void)
{
    enum { MOST = 1000 }; /* of timers that come again and again, and nobody takes notice of */
    for (unsigned i = 0; i < MOST && !is_awaited() && pt_timer_jump(); i++)
        if (pt_wait_look())
            return true;
    return false;
}

/* The schedule that is followed has a thread next that is in the kernel, or waits for what comes from outside: in the
 * run that it is of, that one came back first. Not for ever, since this may be another run. */
static bool is_next_awaited(void)
{
    enum { LOOKS = 3000 }; /* of OUTSIDE_NS */
    uint32_t slot = pt_explore_pick_next(&pt_run.picker);
    if (slot >= pt_run.slot_count || !pt_explore_has(&pt_run.used, slot) || pt_explore_has(&pt_run.enabled, slot))
        return false;
    enum pt_explore_state state = pt_run.slots[slot].state;
    bool outside = state == PT_EXPLORE_AWAY || (state == PT_EXPLORE_READY && pt_wait_is_outside(slot));
    return outside && pt_run.awaited++ < LOOKS;
}

/* With the lock held. Nobody: the turn is given up, and who comes back, or finds its descriptor ready, decides. */
void pt_turn_decide(void)
{
    pt_timer_expire();
    if (!pt_wait_look() && !wait_for_timers()) {
        if (!is_awaited())
            pt_end(PT_EXPLORE_STUCK);
        pt_run.turn = PT_EXPLORE_NO_SLOT;
        return;
    }
    if (is_next_awaited()) {
        pt_run.turn = PT_EXPLORE_NO_SLOT;
        return;
    }
    pt_run.awaited = 0;
    struct pt_explore_view view = {&pt_run.enabled,           &pt_run.yields, &pt_run.chosen,
                                   &pt_run.signals,           pt_run.next,    pt_run.current,
                                   pt_run.result->step_count, &pt_run.bound};
    uint32_t who = pt_explore_pick(&pt_run.picker, &view);
    if (who == PT_EXPLORE_NO_SLOT) {
        pt_run.result->diverged_at = pt_run.picker.diverged_at;
        pt_end(pt_run.picker.why);
    }
    commit(who);
}

/* ---- waiting ---- */

void pt_explore_holds(bool holds)
{
    if (holds)
        atomic_fetch_add_explicit(&pt_run.holds, 1, memory_order_relaxed);
    else
        atomic_fetch_sub_explicit(&pt_run.holds, 1, memory_order_relaxed);
}

/* The turn's owner sleeps in the kernel, in a call that nobody knows of, and has done so for two looks. */
static void take_from_sleeper(uint64_t *seen, uint32_t *looks)
{
    if (pt_run.input->wishes & PT_EXPLORE_PATIENT || pt_run.turn == PT_EXPLORE_NO_SLOT ||
        atomic_load_explicit(&pt_run.holds, memory_order_relaxed))
        return;
    if (*seen != pt_run.result->step_count) {
        *seen = pt_run.result->step_count;
        *looks = 0;
    }
    struct pt_explore_slot *owner = &pt_run.slots[pt_run.turn];
    if (atomic_load_explicit(&owner->go, memory_order_relaxed))
        return; /* it has yet to wake up */
    char state = pt_task_state(owner->tid);
    if ((state != 'S' && state != 'D') || ++*looks < 2)
        return;
    pt_explore_lost(PT_EXPLORE_LOST_STOLEN, NULL);
    owner->state = PT_EXPLORE_AWAY;
    pt_run.threads[pt_run.turn].state = PT_EXPLORE_AWAY;
    pt_run.away++;
    pt_turn_decide();
}

/* Gives up the lock. The turn is somebody else's, or nobody's. */
static void hand_over(void)
{
    struct pt_explore_slot *next = pt_run.turn == PT_EXPLORE_NO_SLOT ? NULL : &pt_run.slots[pt_run.turn];
    if (next && pt_run.watcher == pt_run.turn + 1)
        pt_run.watcher = 0; /* who gives the turn and waits is next */
    if (next)
        atomic_store_explicit(&next->go, 1, memory_order_release); /* partner: the acquire in pt_turn_await */
    pt_spin_unlock(&pt_run.lock);
    if (next)
        pt_task_wake(&next->go);
}

/* Time has passed, and nobody had the turn to give: what was not ready may be. */
static void look_again(uint64_t *seen, uint32_t *looks)
{
    pt_spin_lock(&pt_run.lock);
    uint32_t before = pt_run.turn;
    uint64_t step = pt_run.result->step_count;
    if (before == PT_EXPLORE_NO_SLOT) {
        pt_timer_pass(OUTSIDE_NS);
        pt_run.signal_news++; /* from outside */
        pt_turn_decide();
        if (pt_run.turn != PT_EXPLORE_NO_SLOT)
            pt_explore_lost(PT_EXPLORE_LOST_OUTSIDE, NULL);
    } else {
        take_from_sleeper(seen, looks);
    }
    if (step != pt_run.result->step_count)
        hand_over();
    else
        pt_spin_unlock(&pt_run.lock);
}

/* A signal came, and its handler was deferred, since the thread is inside of the runtime: it can be taken for that. */
static void notice_signal(uint32_t slot)
{
    if (!pt_self || !(pt_self->attention & PT_ATTEND_SIGNAL) || pt_run.slots[slot].signalled)
        return;
    pt_spin_lock(&pt_run.lock);
    pt_run.slots[slot].signalled = pt_run.slots[slot].state == PT_EXPLORE_READY;
    pt_spin_unlock(&pt_run.lock);
}

/* One of those that wait does so with a time limit, which costs some, and looks whether the turn's owner sleeps. Never
 * the owner itself, though it may have got the turn just now: then nobody would look. */
static bool becomes_watcher(uint32_t slot)
{
    uint32_t watcher = atomic_load_explicit(&pt_run.watcher, memory_order_relaxed);
    if (watcher)
        return watcher == slot + 1;
    pt_spin_lock(&pt_run.lock);
    if (!pt_run.watcher && !atomic_load_explicit(&pt_run.slots[slot].go, memory_order_relaxed))
        pt_run.watcher = slot + 1;
    watcher = pt_run.watcher;
    pt_spin_unlock(&pt_run.lock);
    return watcher == slot + 1;
}

void pt_turn_await(uint32_t slot)
{
    struct pt_explore_slot *self = &pt_run.slots[slot];
    uint64_t seen = 0;
    uint32_t looks = 0;
    /* acquire: what was done in other turns is seen */
    while (!atomic_load_explicit(&self->go, memory_order_acquire)) {
        bool idle = pt_run.turn == PT_EXPLORE_NO_SLOT, watches = becomes_watcher(slot);
        uint64_t time = !watches ? PT_TASK_FOR_EVER : idle ? OUTSIDE_NS : LOOK_NS;
        if (!pt_task_wait(&self->go, 0, time))
            look_again(&seen, &looks);
        notice_signal(slot);
    }
    atomic_store_explicit(&self->go, 0, memory_order_relaxed);
    uint32_t leaving = pt_run.leaving;
    if (leaving) { /* until it has gone, what libc does at its end would be beside ours */
        pt_run.leaving = 0;
        pt_task_await_end(leaving);
        pt_run.result->leaving = 0;
    }
}

void pt_turn_pass(uint32_t slot)
{
    if (pt_run.turn == slot) {
        pt_spin_unlock(&pt_run.lock);
        return;
    }
    hand_over();
    pt_turn_await(slot);
}

/* Who has the turn may have been the watcher, and the caller does not wait: one of those that sleep has to. */
static uint32_t appoint(void)
{
    uint32_t next = pt_run.turn;
    if (pt_run.watcher && pt_run.watcher != next + 1)
        return PT_EXPLORE_NO_SLOT;
    for (uint32_t slot = 0; slot < pt_run.slot_count; slot++)
        if (slot != next && pt_explore_has(&pt_run.used, slot) && pt_run.slots[slot].state == PT_EXPLORE_READY) {
            pt_run.watcher = slot + 1;
            return slot;
        }
    return PT_EXPLORE_NO_SLOT;
}

void pt_turn_give(void)
{
    uint32_t watcher = appoint();
    hand_over();
    if (watcher != PT_EXPLORE_NO_SLOT)
        pt_task_wake(&pt_run.slots[watcher].go);
}
