/*
 * Who can go on. Nobody blocks in the kernel: a thread that is about to take a lock is looked at from outside, by what
 * libc keeps in the lock itself (its layout is part of the ABI). Conditions, barriers and futexes are played: who waits
 * is in the slots, a signal is a token that one of those takes who waited when it came.
 *
 * Tokens of one object are in order of age, and the threads that may take one are all that waited then and still do; a
 * newer one has all those of an older one and perhaps more. So there is a thread for each as long as there are no more
 * tokens than waiting threads: a signal beyond that has nobody to wake, and is lost, as it would be.
 *
 * Guarantee: a thread that is said to be able to go on does not block when it does; nobody else is left out. Cost: some
 * instructions for each thread that has not ended; a system call for each that waits for a descriptor.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>

#include "runtime/explore/impl.h"
#include "runtime/sys/sys.h"
#include "runtime/sys/task.h"

static int spin_free; /* what an unlocked spin lock holds */

void pt_wait_start(void)
{
    pthread_spinlock_t lock;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    spin_free = (int)lock;
}

/* ---- objects of libc ---- */

static bool has_ended(uint32_t tid)
{
    uint32_t slot = pt_explore_slot_of_task(tid);
    return slot != PT_EXPLORE_NO_SLOT && pt_run.slots[slot].state == PT_EXPLORE_ENDED;
}

/* The owner is in the low bits of a lock that the kernel knows, else 1 or 2; above it a ceiling of priorities, which
 * stays when nobody has it, or that the owner has died, of which the next one is told. */
static bool mutex_lets(const pthread_mutex_t *mutex, uint32_t tid)
{
    enum { OWNER_DIED = 0x40000000, OWNER = 0x3fffffff, ROBUST = 16, PRIORITY_PROTECT = 64, TYPE = 3 };
    enum { CEILING = 0xfff80000 };
    unsigned lock = (unsigned)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED);
    int kind = mutex->__data.__kind;
    if (kind & PRIORITY_PROTECT)
        lock &= ~(unsigned)CEILING;
    if (!lock || lock & OWNER_DIED)
        return true;
    if (kind & ROBUST && has_ended(lock & OWNER))
        return true; /* the kernel says so when that thread has gone, which who takes the lock waits for */
    bool answered = (kind & TYPE) == PTHREAD_MUTEX_RECURSIVE_NP || (kind & TYPE) == PTHREAD_MUTEX_ERRORCHECK_NP;
    return answered && (uint32_t)mutex->__data.__owner == tid;
}

enum { RWLOCK_WRITER = 2, RWLOCK_READER_AT = 3 }; /* in __readers */

static bool rwlock_lets(const pthread_rwlock_t *lock, bool write, uint32_t tid)
{
    unsigned readers = __atomic_load_n(&lock->__data.__readers, __ATOMIC_RELAXED);
    if (readers & RWLOCK_WRITER)
        return (uint32_t)lock->__data.__cur_writer == tid; /* it is told so */
    return !write || !(readers >> RWLOCK_READER_AT);
}

static bool lock_lets(uint32_t slot, const void *object, bool write)
{
    uint32_t tid = pt_run.slots[slot].tid;
    switch (pt_run.slots[slot].what) {
    case PT_EXPLORE_IS_MUTEX:
        return mutex_lets(object, tid);
    case PT_EXPLORE_IS_RWLOCK:
        return rwlock_lets(object, write, tid);
    case PT_EXPLORE_IS_SPIN:
        return __atomic_load_n((const int *)object, __ATOMIC_RELAXED) == spin_free;
    default:
        return true;
    }
}

static bool semaphore_lets(const void *semaphore)
{
    return (uint32_t)__atomic_load_n((const uint64_t *)semaphore, __ATOMIC_RELAXED) != 0;
}

static bool once_lets(const void *control)
{
    enum { RUNNING = 1, STATE = 3 };
    return (__atomic_load_n((const int *)control, __ATOMIC_ACQUIRE) & STATE) != RUNNING;
}

/* ---- tokens ---- */

static struct pt_explore_token *token_for(uint32_t slot, const void *object)
{
    for (uint32_t i = 0; i < pt_run.token_count; i++)
        if (pt_run.tokens[i].object == object && pt_explore_has(&pt_run.tokens[i].who, slot))
            return &pt_run.tokens[i];
    return NULL;
}

static void drop_token(struct pt_explore_token *token)
{
    struct pt_explore_token *end = &pt_run.tokens[--pt_run.token_count];
    for (; token < end; token++)
        token[0] = token[1];
}

/* It waits no longer: nothing is left for it. */
static void stop_waiting(uint32_t slot)
{
    pt_run.slots[slot].waits = false;
    for (uint32_t i = pt_run.token_count; i-- > 0;) {
        pt_explore_drop(&pt_run.tokens[i].who, slot);
        if (pt_explore_is_empty(&pt_run.tokens[i].who))
            drop_token(&pt_run.tokens[i]);
    }
}

void pt_explore_waits(const void *object)
{
    uint32_t slot = pt_explore_slot();
    if (slot == PT_EXPLORE_NO_SLOT)
        return;
    pt_spin_lock(&pt_run.lock);
    pt_run.slots[slot].waits = true;
    pt_run.slots[slot].woken = false;
    pt_run.next[slot].object = (uintptr_t)object; /* what its next step will have, too */
    pt_spin_unlock(&pt_run.lock);
}

static bool is_waiting(uint32_t slot, const void *object)
{
    const struct pt_explore_slot *it = &pt_run.slots[slot];
    return pt_explore_has(&pt_run.used, slot) && it->waits && !it->woken &&
           pt_run.next[slot].object == (uintptr_t)object;
}

static struct pt_explore_set waiters_of(const void *object)
{
    struct pt_explore_set set = {0};
    for (uint32_t slot = 0; slot < pt_run.slot_count; slot++)
        if (is_waiting(slot, object))
            pt_explore_add(&set, slot);
    return set;
}

static uint32_t count_of(const struct pt_explore_set *set)
{
    uint32_t count = 0;
    for (unsigned i = 0; i < PT_EXPLORE_WORDS; i++)
        count += (uint32_t)__builtin_popcountll(set->words[i]);
    return count;
}

/* All of them: no token is needed. */
static void wake_all(const struct pt_explore_set *waiting)
{
    for (uint32_t slot = 0; slot < pt_run.slot_count; slot++)
        if (pt_explore_has(waiting, slot)) {
            stop_waiting(slot);
            pt_run.slots[slot].waits = true;
            pt_run.slots[slot].woken = true;
        }
}

uint32_t pt_explore_wakes(const void *object, uint32_t count)
{
    pt_spin_lock(&pt_run.lock);
    struct pt_explore_set waiting = waiters_of(object);
    uint32_t there = count_of(&waiting), promised = 0, woken = 0;
    for (uint32_t i = 0; i < pt_run.token_count; i++)
        promised += pt_run.tokens[i].object == object;
    if (count >= there - promised) {
        woken = there - promised;
        wake_all(&waiting);
    }
    for (; woken < count && woken + promised < there; woken++)
        pt_run.tokens[pt_run.token_count++] = (struct pt_explore_token){object, waiting};
    pt_spin_unlock(&pt_run.lock);
    return woken;
}

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

bool pt_explore_arrives(const void *barrier, uint32_t count)
{
    pt_spin_lock(&pt_run.lock);
    struct pt_explore_set waiting = waiters_of(barrier);
    bool last = count_of(&waiting) + 1 >= count;
    uint32_t slot = pt_explore_slot();
    if (last)
        wake_all(&waiting);
    pt_run.slots[slot].waits = true;
    pt_run.slots[slot].woken = last;
    pt_run.next[slot].object = (uintptr_t)barrier;
    pt_spin_unlock(&pt_run.lock);
    return last;
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

/* What a child may do something about: a signal, or an object that processes share. */
static bool is_child_able(uint32_t slot)
{
    enum { SHARED = 128 }; /* of libc's mutexes and semaphores */
    const struct semaphore {
        uint64_t value;
        int shared;
    } *semaphore = (const void *)pt_run.next[slot].object;
    switch ((enum pt_explore_kind)pt_run.next[slot].kind) {
    case PT_EXPLORE_PAUSED:
        return true;
    case PT_EXPLORE_SEM_WAIT:
        return semaphore->shared;
    case PT_EXPLORE_LOCK:
    case PT_EXPLORE_READ_LOCK:
        if (pt_run.slots[slot].what == PT_EXPLORE_IS_RWLOCK)
            return ((const pthread_rwlock_t *)pt_run.next[slot].object)->__data.__shared;
        return pt_run.slots[slot].what == PT_EXPLORE_IS_MUTEX &&
               ((const pthread_mutex_t *)pt_run.next[slot].object)->__data.__kind & SHARED;
    default:
        return false;
    }
}

bool pt_wait_is_outside(uint32_t slot)
{
    const struct pt_explore_step *next = &pt_run.next[slot];
    unsigned count = 0;
    if (pt_run.result->losses >> PT_EXPLORE_LOST_FORKED & 1 && is_child_able(slot))
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
            (kind == PT_EXPLORE_WAKE && mutex_lets((const void *)pt_run.next[slot].other, pt_run.slots[slot].tid)));
}

bool pt_wait_prefers_writers(const void *lock)
{
    return ((const pthread_rwlock_t *)lock)->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

/* A reader of a lock that lets writers go first waits behind a writer that waits for other readers, even if it is one
 * of them; whether the writer has begun to when the reader comes is its step before (ASK). */
static bool is_behind_writer(uint32_t slot, const void *object)
{
    const pthread_rwlock_t *lock = object;
    if (!pt_wait_prefers_writers(lock) ||
        !(__atomic_load_n(&lock->__data.__readers, __ATOMIC_RELAXED) >> RWLOCK_READER_AT))
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
        return lock_lets(slot, object, true);
    case PT_EXPLORE_READ_LOCK:
        return lock_lets(slot, object, false) && !(it->what == PT_EXPLORE_IS_RWLOCK && is_behind_writer(slot, object));
    case PT_EXPLORE_WAKE:
        return (it->woken || token_for(slot, object)) && mutex_lets((const void *)next->other, it->tid);
    case PT_EXPLORE_SEM_WAIT:
        return semaphore_lets(object);
    case PT_EXPLORE_LEAVE:
        return it->woken;
    case PT_EXPLORE_FUTEX_WOKEN:
        return it->woken || token_for(slot, object);
    case PT_EXPLORE_ONCE:
        return once_lets(object);
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
    return next->kind != PT_EXPLORE_WAKE || mutex_lets((const void *)next->other, pt_run.slots[slot].tid);
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
    if (!it->waits)
        return;
    struct pt_explore_token *token = it->woken ? NULL : token_for(slot, (const void *)next->object);
    if (token && !next->flags)
        drop_token(token);
    stop_waiting(slot);
}

/* ---- for reports ---- */

uint32_t pt_explore_slot_of_task(uint32_t tid)
{
    for (uint32_t slot = 0; tid && slot < pt_run.slot_count; slot++)
        if (pt_run.slots[slot].tid == tid)
            return slot;
    return PT_EXPLORE_NO_SLOT;
}

uint32_t pt_wait_owner(uint32_t slot)
{
    const struct pt_explore_step *next = &pt_run.next[slot];
    const void *object = (const void *)next->object;
    bool mutex = pt_run.slots[slot].what == PT_EXPLORE_IS_MUTEX;
    switch ((enum pt_explore_kind)next->kind) {
    case PT_EXPLORE_JOIN:
        return next->object < PT_EXPLORE_THREADS ? (uint32_t)next->object : PT_EXPLORE_NO_SLOT;
    case PT_EXPLORE_LOCK:
    case PT_EXPLORE_READ_LOCK:
        if (mutex)
            return pt_explore_slot_of_task((uint32_t)((const pthread_mutex_t *)object)->__data.__owner);
        if (pt_run.slots[slot].what == PT_EXPLORE_IS_RWLOCK)
            return pt_explore_slot_of_task((uint32_t)((const pthread_rwlock_t *)object)->__data.__cur_writer);
        return PT_EXPLORE_NO_SLOT;
    case PT_EXPLORE_WAKE: /* it was signalled, and waits for the mutex */
        if (pt_run.slots[slot].woken || token_for(slot, object))
            return pt_explore_slot_of_task((uint32_t)((const pthread_mutex_t *)next->other)->__data.__owner);
        return PT_EXPLORE_NO_SLOT;
    default:
        return PT_EXPLORE_NO_SLOT;
    }
}
