/*
 * Signals. A handler must not run while its thread is inside the runtime: it would find granules locked by itself and
 * clocks half changed. So the handlers of the program are called through one of ours. If that one finds its thread
 * busy, it sends the signal to the thread once more and returns with all signals blocked; when the thread leaves the
 * runtime it gets back the mask that it had, and the kernel delivers what is pending: on the handler's own stack, with
 * its mask, and with a context that the handler may change. Of several real-time signals that were queued for one
 * thread, the one that is deferred comes after those that were pending with it.
 *
 * A fault of the access itself (a guard page, a null pointer) cannot wait. Its handler runs at once, outside of the
 * runtime: what the thread has locked is unlocked before and locked again after, and a signal that was deferred is not
 * any more, so that the handler may also leave by siglongjmp. The way there uses little stack, and none but the
 * handler's own, which may be a small one for overflows.
 *
 * libc cancels a thread of asynchronous type by a signal of its own, which is deferred like any other.
 *
 * Sending a signal, or setting its handler, comes before the handler, and before whoever waits for it (wrap/signal.c).
 *
 * Guarantee: no handler of the program runs inside the runtime, none is lost, and none leaves a signal blocked. Cost:
 * nothing, until a signal comes; three system calls for one that is deferred.
 */
#include "runtime/thread/signal.h"

#include <string.h>
#include <ucontext.h>

#include "runtime/shadow/granule.h"
#include "runtime/shadow/owned.h"
#include "runtime/shadow/path.h"
#include "runtime/shadow/silence.h"
#include "runtime/shadow/slow.h"
#include "runtime/sys/sys.h"
#include "runtime/thread/thread.h"

enum { SIGNALS = 65, ROOM = 64 << 10 };

/* What the program has asked for. It never changes and is never freed, so a handler that looks at it while another
 * thread asks for something else sees one or the other. */
struct action {
    struct sigaction asked;
    struct action *older; /* of the same signal: each is there once, however often it is asked for */
};
static struct {
    struct pt_spin lock; /* for those who ask; signals are blocked while they have it */
    struct action *_Atomic now[SIGNALS];
    struct action *all[SIGNALS];
    struct action *room;
    size_t left;
} actions = {.lock = PT_SPIN(PT_RANK_SIGNAL)};

static const uint64_t faults = PT_SIGNAL_BIT(SIGSEGV) | PT_SIGNAL_BIT(SIGBUS) | PT_SIGNAL_BIT(SIGFPE) |
                               PT_SIGNAL_BIT(SIGILL) | PT_SIGNAL_BIT(SIGTRAP) | PT_SIGNAL_BIT(SIGSYS);

static bool is_fault(int signal, const siginfo_t *info)
{
    return info->si_code > 0 && faults & PT_SIGNAL_BIT(signal);
}

static uint64_t mask_of(const sigset_t *set)
{
    uint64_t mask;
    memcpy(&mask, set, sizeof mask);
    return mask;
}

/* --- on their way --- */

enum { LANES = 64 }; /* for threads; lane 0 is the process's */

static struct way {
    uint64_t object; /* stands for it */
    _Atomic bool used;
} ways[SIGNALS][1 + LANES];

const void *pt_signal_way(int signal, const pthread_t *thread, bool puts)
{
    if (signal < 1 || signal >= SIGNALS)
        return NULL;
    uint64_t lane = thread ? 1 + ((uint64_t)*thread * UINT64_C(0x9e3779b97f4a7c15) >> 32) % LANES : 0;
    struct way *way = &ways[signal][lane];
    if (puts)
        atomic_store_explicit(&way->used, true, memory_order_relaxed);
    return atomic_load_explicit(&way->used, memory_order_relaxed) ? &way->object : NULL;
}

/* Outside of the runtime. A fault is its thread's own doing. In a thread that is not known, the child of a fork for
 * instance, there is nobody who could know of the sender. */
static void take_signal(int signal)
{
    pthread_t self = pthread_self();
    if (!pt_thread_now())
        return;
    const void *objects[] = {pt_signal_way(signal, NULL, false), pt_signal_way(signal, &self, false)};
    for (int i = 0; i < 2; i++)
        if (objects[i])
            pt_slow_sync(objects[i], PT_KIND_WAIT, NULL);
}

/* --- handlers --- */

/* acquire: partner of the release in pt_signal_set_handler */
static const struct sigaction *asked_for(int signal)
{
    return &atomic_load_explicit(&actions.now[signal], memory_order_acquire)->asked;
}

/* One that is to be called once. The kernel must not know, or it would forget our handler when it calls it, and a
 * signal that is deferred would end the program. */
static void on_signal(int signal, siginfo_t *info, void *context);
static bool is_used_up(int signal, const siginfo_t *info)
{
    struct pt_sys_action standard = {0}, before;
    if (!pt_sys_signal_action(signal, &standard, &before) || before.handler == on_signal)
        return false;
    /* another thread was first, or has asked for something else: that holds for this signal */
    pt_sys_signal_action(signal, &before, NULL);
    pt_sys_queue_signal(signal, info);
    return true;
}

static void call_handler(int signal, siginfo_t *info, void *context)
{
    const struct sigaction *asked = asked_for(signal);
    if (asked->sa_flags & (int)SA_RESETHAND && is_used_up(signal, info))
        return;
    if (pt_is_active() && !is_fault(signal, info))
        take_signal(signal);
    if (asked->sa_flags & SA_SIGINFO)
        asked->sa_sigaction(signal, info, context);
    else
        asked->sa_handler(signal);
}

/* False when the kernel has no room: the handler then runs now, and its accesses are not recorded. */
static bool is_deferred(struct pt_thread *self, int signal, const siginfo_t *info, ucontext_t *context)
{
    uint64_t blocked = ~faults | PT_SIGNAL_BIT(signal);
    uint64_t during = pt_sys_swap_signal_mask(blocked); /* or it would come at once, if it is SA_NODEFER */
    if (!pt_sys_queue_signal(signal, info)) {
        pt_sys_swap_signal_mask(during);
        return false;
    }
    self->signal_mask = mask_of(&context->uc_sigmask);
    memcpy(&context->uc_sigmask, &blocked, sizeof blocked);
    self->shadow.attention |= PT_ATTEND_SIGNAL;
    return true;
}

/* What was deferred is delivered now, if the mask with which the fault's handler runs allows it. It came before the
 * fault if the context has all signals blocked, with libc's own as only we do it: then the thread's mask is the one
 * that was kept, and goes into the context. Else it came at the beginning of our handler, whose mask was kept. */
static void undefer(struct pt_thread *self, int signal, ucontext_t *context)
{
    const struct sigaction *asked = asked_for(signal);
    uint64_t mask = self->signal_mask;
    self->shadow.attention &= ~(uint32_t)PT_ATTEND_SIGNAL;
    if (mask_of(&context->uc_sigmask) & PT_SIGNAL_BIT(PT_SIGNAL_CANCEL)) {
        memcpy(&context->uc_sigmask, &mask, sizeof mask);
        mask |= mask_of(&asked->sa_mask) | (asked->sa_flags & (int)SA_NODEFER ? 0 : PT_SIGNAL_BIT(signal));
    }
    pt_sys_swap_signal_mask(mask);
}

static void run_fault_handler(struct pt_thread *thread, int signal, siginfo_t *info, ucontext_t *context)
{
    struct pt_shadow_self *self = &thread->shadow;
    struct pt_locked_range *locked = self->locked;
    uint32_t busy = self->busy, open = self->open_count;
    bool stores = atomic_load_explicit(&self->storing, memory_order_relaxed); /* in silence */
    _Atomic uint64_t *word = locked || stores ? NULL : self->locked_word;
    struct pt_reading *reading = locked || stores ? NULL : self->reading;
    bool disturbed = self->disturbed || word || reading; /* before: the same access has faulted again */
    bool racing = self->racing, owned = pt_owned_suspend(self), kept = pt_kept_suspend(self);
    uint64_t owned_at = self->owned_at;
    uintptr_t store_at = self->store_at;
    uint32_t store_size = self->store_size;
    uint32_t race_cells = racing ? self->race->locked_count : 0;
    if (racing)
        pt_race_suspend(self->race);
    self->racing = false;
    pt_slow_suspend(locked);
    if (reading)
        atomic_store_explicit(&reading->busy, 0, memory_order_release);
    if (word && !kept) {
        pt_rank_give(PT_RANK_GRANULE);
        atomic_fetch_and_explicit(word, ~PT_SHADOW_LOCKED, memory_order_release);
    }
    self->locked = NULL;
    self->reading = NULL;
    self->disturbed = false; /* accesses of the handler are none of this one's */
    atomic_store_explicit(&self->storing, 0, memory_order_release);
    self->busy = self->open_count = 0;
    if (self->attention & PT_ATTEND_SIGNAL)
        undefer(thread, signal, context);
    call_handler(signal, info, context);
    pt_sys_swap_signal_mask(~faults); /* until the kernel takes the context's: what comes meanwhile is deferred then */
    self->busy = busy;
    self->racing = racing;
    if (racing)
        pt_race_resume(self->race, race_cells);
    self->open_count = open;
    self->locked = locked;
    pt_slow_resume(self, locked);
    if (word)
        pt_granule_collect(self, pt_granule_lock(word));
    self->locked_word = word;
    self->owned_at = owned_at;
    self->store_at = store_at;
    self->store_size = store_size;
    if (owned)
        pt_owned_resume(self);
    self->disturbed = disturbed || owned || (stores && pt_silence_resume(self));
}

static void on_signal(int signal, siginfo_t *info, void *context)
{
    struct pt_thread *self = pt_thread_now();
    if (!self || (!self->shadow.busy && !self->shadow.racing))
        call_handler(signal, info, context);
    else if (is_fault(signal, info))
        run_fault_handler(self, signal, info, context);
    else if (!is_deferred(self, signal, info, context))
        call_handler(signal, info, context);
}

void pt_thread_attend(struct pt_shadow_self *self)
{
    struct pt_thread *thread = pt_thread_of(self);
    if (self->racing) /* when that is over */
        return;
    if (self->attention & PT_ATTEND_SIGNAL) {
        self->attention &= ~(uint32_t)PT_ATTEND_SIGNAL; /* everything is blocked here */
        pt_sys_swap_signal_mask(thread->signal_mask);
    }
    if (self->attention & PT_ATTEND_PATHS && !self->locked) {
        self->attention &= ~(uint32_t)PT_ATTEND_PATHS;
        pt_enter(self);
        pt_path_follow(self);
        pt_leave(self);
    }
    if (self->attention & PT_ATTEND_VIOLATION) {
        self->attention &= ~(uint32_t)PT_ATTEND_VIOLATION;
        pt_thread_hooks.violated(thread);
    }
}

/* --- what the program asks for --- */

static bool is_same(const struct sigaction *a, const struct sigaction *b)
{
    return a->sa_sigaction == b->sa_sigaction && a->sa_flags == b->sa_flags &&
           mask_of(&a->sa_mask) == mask_of(&b->sa_mask);
}

/* Under the lock; NULL when there is no memory. */
static struct action *find(int signal, const struct sigaction *asked)
{
    struct action *action = actions.all[signal];
    while (action && !is_same(&action->asked, asked))
        action = action->older;
    if (action)
        return action;
    if (actions.left < sizeof *action) {
        actions.room = pt_sys_reserve(ROOM);
        actions.left = actions.room ? ROOM : 0;
        if (!actions.room)
            return NULL;
    }
    action = actions.room++;
    actions.left -= sizeof *action;
    *action = (struct action){*asked, actions.all[signal]};
    return actions.all[signal] = action;
}

static int set_handler(pt_signal_action *real, int signal, const struct sigaction *action, struct sigaction *before)
{
    struct sigaction ours, was;
    struct action *known = atomic_load_explicit(&actions.now[signal], memory_order_relaxed), *found = NULL;
    if (action && action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)
        found = find(signal, action);
    if (action)
        ours = *action;
    if (found) { /* before the kernel calls ours for it; release: what it points to is there */
        atomic_store_explicit(&actions.now[signal], found, memory_order_release);
        ours.sa_sigaction = on_signal;
        ours.sa_flags = (action->sa_flags | SA_SIGINFO) & ~(int)SA_RESETHAND;
    }
    int result = real(signal, action ? &ours : NULL, &was);
    if (result != 0)
        atomic_store_explicit(&actions.now[signal], known, memory_order_release);
    else if (before)
        *before = known && was.sa_sigaction == on_signal ? known->asked : was;
    return result;
}

int pt_signal_set_handler(pt_signal_action *real, int signal, const struct sigaction *action, struct sigaction *before)
{
    if (!pt_channel || signal < 1 || signal >= SIGNALS)
        return real(signal, action, before);
    uint64_t mask = pt_sys_swap_signal_mask(~faults); /* a handler may ask for another, too */
    pt_spin_lock(&actions.lock);
    int result = set_handler(real, signal, action, before);
    pt_spin_unlock(&actions.lock);
    pt_sys_swap_signal_mask(mask);
    return result;
}

void pt_signal_forked(void)
{
    pt_spin_reset(&actions.lock);
}

/* libc sets its handler when it cancels the first thread. Until then the signal is as the process found it: ignored, if
 * posix_spawn has started it. */
static bool is_handled(const struct pt_sys_action *action)
{
    return (uintptr_t)action->handler != (uintptr_t)SIG_DFL && (uintptr_t)action->handler != (uintptr_t)SIG_IGN;
}

bool pt_signal_guard_cancellation(void (*provoke)(void))
{
    struct pt_sys_action action;
    if (!pt_sys_signal_action(PT_SIGNAL_CANCEL, NULL, &action))
        return false;
    if (!is_handled(&action))
        provoke();
    uint64_t mask = pt_sys_swap_signal_mask(~faults);
    pt_spin_lock(&actions.lock);
    bool done = pt_sys_signal_action(PT_SIGNAL_CANCEL, NULL, &action) && is_handled(&action);
    if (done && action.handler != on_signal) {
        struct sigaction libcs = {.sa_sigaction = action.handler, .sa_flags = SA_SIGINFO};
        struct action *found = find(PT_SIGNAL_CANCEL, &libcs);
        atomic_store_explicit(&actions.now[PT_SIGNAL_CANCEL], found, memory_order_release);
        action.handler = on_signal;
        done = found && pt_sys_signal_action(PT_SIGNAL_CANCEL, &action, NULL);
    }
    pt_spin_unlock(&actions.lock);
    pt_sys_swap_signal_mask(mask);
    return done;
}
