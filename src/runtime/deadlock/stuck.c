/*
 * Every thread waits, without a circle of locks: for a condition that nobody signals, a semaphore that nobody posts, a
 * barrier at which too few are left, the end of such a thread, or a lock whose owner has ended. It is called a lost
 * wake-up.
 *
 * That is certain only if nobody is left who could act. So:
 * - every known thread is among those that wait as long as it takes, and nothing that they wait for is shared with
 *   other processes;
 * - the kernel lists no other task of the process, whoever made it, but those that have ended;
 * - no signal has a handler, which could post a semaphore;
 * - each of the threads sleeps in a futex of what it waits for, by the kernel's own word. One that was signalled,
 *   posted or given its lock is awake from that moment on, or sleeps elsewhere: a condition's waiter on the mutex, for
 *   instance. One that is still on its way to sleep, or that is looking as this one does, is not there yet;
 * - they do so all at one moment: every task is looked at twice, one round after the other, and has slept from the
 *   first time to the second, since the kernel has not counted another sleep of it;
 * - the thread that looks will indeed wait: its lock is taken, not by itself if libc answers that, its semaphore is 0,
 * it is not the last at its barrier, and nobody waits for the mutex that its waiting will release. While that is not so
 * this thread looks again a little later, until it is, or somebody has moved; who moves looks for itself when it waits
 * next.
 *
 * Guarantee: as above. Cost: nothing, unless all threads wait; then some twenty system calls for each of them, and
 * for each of the 64 signals one.
 */
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "runtime/channel/gate.h"
#include "runtime/deadlock/impl.h"
#include "runtime/pool/pool.h"
#include "runtime/sys/sys.h"
#include "runtime/thread/signal.h"

enum {
    TURNS = 1000,          /* how often it looks again, ... */
    TURN_NS = 1000 * 1000, /* ... after so long, ... */
    FIRST_NS = 20 * 1000,  /* ... at first sooner, ... */
    QUICK_TURNS = 6,       /* ... and without asking the kernel: most have moved by then */
    STRANGER_TURNS = 20,   /* while there is a task that is not known, ... */
    STRANGERS = 8,         /* ... and so often at most, in the life of the process */
    TASKS = 256,           /* more are not looked at */
    SIGNALS = 64,
};

/* What was seen of those that wait. */
struct picture {
    uint64_t moves; /* changes when one of them has stopped waiting */
    uint32_t count;
    bool looking; /* another one looks, too, and so does not sleep where it will */
    bool wakes;   /* one of them waits for something that a thread would have to do */
    struct picture_item {
        struct pt_thread *thread;
        uint32_t tid;
        struct pt_wait wait;
        uint64_t sleeps; /* how often it has gone to sleep, when it was last looked at */
    } items[TASKS];
};

/* ---- objects ---- */

/* libc's own layout, which its ABI has fixed. */
struct barrier {
    uint32_t in, round, count;
    int shared;
};
struct semaphore {
    uint64_t value; /* and waiters above */
    int shared;
};

static bool is_private(const struct pt_wait *wait)
{
    enum { PROCESS_SHARED = 128, CONDITION_SHARED = 1 };
    switch (wait->kind) {
    case PT_WAIT_MUTEX:
        return !(((const pthread_mutex_t *)wait->object)->__data.__kind & PROCESS_SHARED);
    case PT_WAIT_READ:
    case PT_WAIT_WRITE:
        return !((const pthread_rwlock_t *)wait->object)->__data.__shared;
    case PT_WAIT_CONDITION:
        return !(((const pthread_cond_t *)wait->object)->__data.__wrefs & CONDITION_SHARED) &&
               !(((const pthread_mutex_t *)wait->mutex)->__data.__kind & PROCESS_SHARED);
    case PT_WAIT_SEMAPHORE:
        return !((const struct semaphore *)wait->object)->shared;
    case PT_WAIT_BARRIER:
        return !((const struct barrier *)wait->object)->shared;
    case PT_WAIT_END:
        return wait->thread;
    default: /* it spins, or waits for a time */
        return false;
    }
}

/* The owner is in the low bits of a lock that the kernel knows, or 1 or 2; above it a ceiling of priorities, which
 * stays when nobody has it, or that the owner has died, of which the lock's next one is told. */
static bool mutex_will_wait(const void *mutex, const struct pt_thread *self)
{
    enum { OWNER_DIED = 0x40000000, PRIORITY_PROTECT = 64, CEILING = 0xfff80000 };
    const pthread_mutex_t *m = mutex;
    unsigned lock = (unsigned)__atomic_load_n(&m->__data.__lock, __ATOMIC_RELAXED);
    if (m->__data.__kind & PRIORITY_PROTECT)
        lock &= ~(unsigned)CEILING;
    return lock && !(lock & OWNER_DIED) && !pt_deadlock_is_answered(mutex, self);
}

/* The thread that looks has not gone to sleep: would it? */
static bool will_wait(const struct pt_wait *wait, const struct pt_thread *self)
{
    const struct barrier *barrier = wait->object;
    switch (wait->kind) {
    case PT_WAIT_MUTEX:
        return mutex_will_wait(wait->object, self);
    case PT_WAIT_CONDITION: /* nobody is awake to signal it */
    case PT_WAIT_END:
        return true;
    case PT_WAIT_SEMAPHORE:
        return (uint32_t)__atomic_load_n((const uint64_t *)wait->object, __ATOMIC_RELAXED) == 0;
    case PT_WAIT_BARRIER:
        return __atomic_load_n(&barrier->in, __ATOMIC_RELAXED) - __atomic_load_n(&barrier->round, __ATOMIC_RELAXED) +
                   1 <
               barrier->count;
    default:
        return false;
    }
}

/* ---- the kernel ---- */

static bool is_handled(void)
{
    for (int signal = 1; signal <= SIGNALS; signal++) {
        struct pt_sys_action action;
        if (signal == PT_SIGNAL_CANCEL || signal == PT_SIGNAL_IDENTITY)
            continue; /* libc's own, which need a thread that sends them */
        if (pt_sys_signal_action(signal, NULL, &action) && (uintptr_t)action.handler != (uintptr_t)SIG_DFL &&
            (uintptr_t)action.handler != (uintptr_t)SIG_IGN)
            return true;
    }
    return false;
}

/* What a file of a task says; false: it cannot be read. */
static bool read_task(const char *tid, const char *file, char *text, size_t room)
{
    char path[64] = "/proc/self/task/";
    size_t at = strlen(path), len = strlen(tid);
    if (len > 20)
        return false;
    memcpy(path + at, tid, len);
    memcpy(path + at + len, file, strlen(file) + 1);
    int fd = pt_sys_open(path);
    if (fd < 0)
        return false;
    size_t got = pt_sys_read_at(fd, text, room - 1, 0);
    pt_sys_close(fd);
    text[got] = 0;
    return got;
}

/* What the kernel counts as status of a task. The letter is R from the moment something has woken it: unlike what
 * `syscall` says, which is still the futex when another processor has not taken it up yet. */
struct status {
    char letter;
    uint64_t sleeps;
};

static bool read_status(const char *tid, struct status *status)
{
    static const char state[] = "\nState:\t", sleeps[] = "\nvoluntary_ctxt_switches:\t";
    char text[4096];
    if (!read_task(tid, "/status", text, sizeof text))
        return false;
    const char *at = strstr(text, state), *digit = strstr(text, sleeps);
    *status = (struct status){.letter = '?'};
    if (!at || !digit)
        return true; /* a user of hundreds of groups: cut off, and not known */
    status->letter = at[sizeof state - 1];
    for (digit += sizeof sleeps - 1; *digit >= '0' && *digit <= '9'; digit++)
        status->sleeps = status->sleeps * 10 + (uint64_t)(*digit - '0');
    return true;
}

/* Z and X have ended, and what is not there any more. */
static bool has_ended(const char *tid)
{
    struct status status;
    return !read_status(tid, &status) || status.letter == 'Z' || status.letter == 'X';
}

/* The address of the futex that a task sleeps in: "202 0x5581 ..."; 0: it is awake, or sleeps otherwise. */
static uintptr_t futex_of(const char *tid)
{
    char text[128];
    uintptr_t address = 0;
    if (!read_task(tid, "/syscall", text, sizeof text) || strncmp(text, "202 0x", 6) != 0)
        return 0;
    for (const char *digit = text + 6; *digit && *digit != ' '; digit++)
        address = address * 16 + (uintptr_t)(*digit <= '9' ? *digit - '0' : *digit - 'a' + 10);
    return address;
}

static bool is_in(uintptr_t address, const void *object, size_t bytes)
{
    return address - (uintptr_t)object < bytes;
}

enum tasks { ASLEEP, AWAKE, STRANGER, WOKEN };

/* A condition's waiter that was signalled sleeps on the mutex. That is all one, unless the thread that looks is about
 * to release it. */
static enum tasks judge_sleep(const struct pt_wait *wait, uintptr_t futex, const struct pt_wait *own)
{
    switch (wait->kind) {
    case PT_WAIT_MUTEX:
        return is_in(futex, wait->object, sizeof(pthread_mutex_t)) ? ASLEEP : AWAKE;
    case PT_WAIT_READ:
    case PT_WAIT_WRITE:
        return is_in(futex, wait->object, sizeof(pthread_rwlock_t)) ? ASLEEP : AWAKE;
    case PT_WAIT_CONDITION:
        if (is_in(futex, wait->mutex, sizeof(pthread_mutex_t)))
            return own && own->mutex == wait->mutex ? WOKEN : ASLEEP;
        return is_in(futex, wait->object, sizeof(pthread_cond_t)) ? ASLEEP : AWAKE;
    case PT_WAIT_SEMAPHORE:
        return is_in(futex, wait->object, sizeof(sem_t)) ? ASLEEP : AWAKE;
    case PT_WAIT_BARRIER:
        return is_in(futex, wait->object, sizeof(pthread_barrier_t)) ? ASLEEP : AWAKE;
    case PT_WAIT_END: /* in what libc keeps of the other thread */
        return is_in(futex, (const void *)wait->thread->handle, 4096) ? ASLEEP : AWAKE;
    default:
        return AWAKE;
    }
}

/* `again`: it must have slept since it was looked at last. Its status is read on both sides of its futex: a task that
 * has been awake, and is about to sleep again without having been counted, is waited for by the file of the latter. */
static enum tasks judge_known(struct picture_item *item, const struct pt_wait *own, const char *tid, bool again)
{
    struct status before, after;
    if (!read_status(tid, &before) || before.letter != 'S' || (again && before.sleeps != item->sleeps))
        return AWAKE;
    uintptr_t futex = futex_of(tid);
    if (!read_status(tid, &after) || after.letter != 'S' || after.sleeps != before.sleeps)
        return AWAKE;
    item->sleeps = before.sleeps;
    return judge_sleep(&item->wait, futex, own);
}

static enum tasks judge_task(struct picture *picture, const struct pt_wait *own, const char *name, bool again)
{
    uint32_t tid = 0, i = 0;
    for (const char *digit = name; *digit >= '0' && *digit <= '9'; digit++)
        tid = tid * 10 + (uint32_t)(*digit - '0');
    if (!tid || tid == pt_sys_thread() || pt_wrap_is_own_thread(tid))
        return ASLEEP;
    while (i < picture->count && picture->items[i].tid != tid)
        i++;
    if (i == picture->count)
        return has_ended(name) ? ASLEEP : STRANGER;
    return judge_known(&picture->items[i], own, name, again);
}

/* All tasks of the process. `own`: what the thread that looks is about to wait for; NULL: it ends. */
static enum tasks look_round(struct picture *picture, const struct pt_wait *own, bool again)
{
    struct entry {
        uint64_t number, offset;
        uint16_t bytes;
        uint8_t type;
        char name[];
    };
    _Alignas(8) char entries[2048];
    enum tasks worst = ASLEEP;
    int fd = pt_sys_open("/proc/self/task");
    long got = fd < 0 ? -1 : 1;
    while (got > 0 && (got = pt_sys_list(fd, entries, sizeof entries)) > 0) {
        for (long at = 0; at < got; at += ((struct entry *)(entries + at))->bytes) {
            enum tasks judged = judge_task(picture, own, ((struct entry *)(entries + at))->name, again);
            worst = judged > worst ? judged : worst;
        }
    }
    if (fd >= 0)
        pt_sys_close(fd);
    return got < 0 ? STRANGER : worst;
}

static enum tasks judge_tasks(struct picture *picture, const struct pt_wait *own)
{
    enum tasks tasks = look_round(picture, own, false);
    return tasks == ASLEEP ? look_round(picture, own, true) : tasks;
}

/* ---- all together ---- */

/* Does this wait end by itself, or by what others than our threads do? `self` looks, and is about to wait or to end. */
static bool may_end(const struct pt_thread *self, bool ends, const struct pt_thread *thread)
{
    const struct pt_wait *wait = &thread->deadlock->wait, *own = &self->deadlock->wait;
    if (!is_private(wait))
        return true;
    if (wait->kind == PT_WAIT_END &&
        ((ends && wait->thread == self) || atomic_load(&wait->thread->state) == PT_THREAD_ENDED))
        return true;
    if (ends)
        return false;
    if (thread == self)
        return !will_wait(wait, self);
    return own->kind == PT_WAIT_CONDITION && wait->object == own->mutex;
}

/* False: somebody does not wait, or for what may end. */
static bool take_picture(struct pt_thread *self, bool ends, struct picture *picture)
{
    picture->moves = picture->count = 0;
    picture->looking = picture->wakes = false;
    pt_deadlock_lock(self);
    bool still = pt_deadlocks.waiting_count >= pt_thread_live() && pt_deadlocks.waiting_count <= TASKS &&
                 (ends || self->deadlock->waits);
    for (struct pt_thread *thread = pt_deadlocks.waiting; still && thread; thread = thread->deadlock->next) {
        const struct pt_deadlock_self *d = thread->deadlock;
        still = !may_end(self, ends, thread);
        picture->moves += d->waits_count;
        picture->looking |= thread != self && d->looks;
        picture->wakes |=
            d->wait.kind == PT_WAIT_CONDITION || d->wait.kind == PT_WAIT_SEMAPHORE || d->wait.kind == PT_WAIT_BARRIER;
        picture->items[picture->count].thread = thread;
        picture->items[picture->count].tid = thread->tid;
        picture->items[picture->count++].wait = d->wait;
    }
    pt_deadlock_unlock();
    return still;
}

static void set_looks(struct pt_thread *self, bool looks)
{
    pt_deadlock_lock(self);
    self->deadlock->looks = looks;
    pt_deadlock_unlock();
}

static void report(struct pt_thread *self, const struct picture *picture)
{
    struct pt_thread *threads[PT_FOUND_SIDES];
    uint32_t count = picture->count < PT_FOUND_SIDES ? picture->count : PT_FOUND_SIDES;
    for (uint32_t i = 0; i < count; i++)
        threads[i] = picture->items[i].thread;
    pt_deadlock_observed(self, threads, count, picture->wakes ? "lost wake-up" : "abandoned lock");
}

/* Perhaps somebody sleeps on the mutex that the thread will release when it waits for its condition. */
static bool may_wake(const struct pt_wait *own)
{
    return own && own->kind == PT_WAIT_CONDITION &&
           __atomic_load_n(&((const pthread_mutex_t *)own->mutex)->__data.__lock, __ATOMIC_RELAXED) > 1;
}

static bool is_same(struct pt_thread *self, bool ends, const struct picture *first, struct picture *now)
{
    return take_picture(self, ends, now) && now->moves == first->moves && now->count == first->count;
}

/* Looks until it is certain: true; or until it is not so, or cannot be known. */
static bool is_certain(struct pt_thread *self, bool ends, struct picture *first, struct picture *now)
{
    static _Atomic uint32_t strangers;
    const struct pt_wait *own = ends ? NULL : &self->deadlock->wait;
    bool same = take_picture(self, ends, first) && take_picture(self, ends, now);
    for (uint32_t turn = 0; turn < TURNS && same; turn++) {
        bool quick = turn < QUICK_TURNS && !may_wake(own);
        enum tasks tasks = quick || now->looking ? AWAKE : judge_tasks(now, own);
        if (tasks == ASLEEP)
            return is_same(self, ends, first, now) && !now->looking && !is_handled();
        if (tasks == WOKEN)
            return false;
        if (tasks == STRANGER && (turn >= STRANGER_TURNS || atomic_load(&strangers) >= STRANGERS)) {
            atomic_fetch_add(&strangers, 1);
            return false;
        }
        pt_sys_sleep(turn < QUICK_TURNS ? (uint64_t)FIRST_NS << turn : TURN_NS);
        same = is_same(self, ends, first, now);
    }
    return false;
}

void pt_deadlock_stuck(struct pt_thread *self, bool ends)
{
    if (pt_sys_is_quiet() || pt_gate)
        return;
    struct picture *pictures = pt_pool_take(pt_thread_pool(self), 2 * sizeof *pictures); /* too large for a stack */
    if (!pictures)
        return;
    set_looks(self, true);
    bool certain = is_certain(self, ends, &pictures[0], &pictures[1]);
    set_looks(self, false);
    if (certain)
        report(self, &pictures[1]);
    pt_pool_give(pt_thread_pool(self), pictures);
}
