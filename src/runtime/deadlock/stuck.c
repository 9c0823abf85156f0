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
 * - each of the threads sleeps, by the kernel's own word. One that was signalled, posted or given its lock is awake
 *   from that moment on; one that is still on its way to sleep is awake, too. Then this thread looks again a little
 *   later, until the picture is certain or somebody has moved, and who moves looks for itself when it waits next;
 * - the thread that looks will indeed wait: its lock is taken, its semaphore is 0, it is not the last at its barrier.
 *
 * Guarantee: as above. Cost: nothing, unless all threads wait; then two system calls for each of them, and for each of
 * the 64 signals one.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

#include "runtime/deadlock/impl.h"
#include "runtime/shadow/shadow.h"
#include "runtime/sys/sys.h"
#include "runtime/thread/signal.h"

enum {
    TURNS = 400,           /* how often it looks again, ... */
    TURN_NS = 1000 * 1000, /* ... after so long */
    STRANGER_TURNS = 20,   /* while there is a task that is not known, ... */
    STRANGERS = 8,         /* ... and so often at most, in the life of the process */
    TASKS = 1024,          /* more are not looked at */
    SIGNALS = 64,
};

/* What was seen of those that wait. */
struct picture {
    uint64_t moves; /* changes when one of them has stopped waiting */
    uint32_t count; /* all of them, without the one that looks */
    uint32_t tids[TASKS];
    bool wakes; /* one of them waits for something that a thread would have to do */
    struct pt_thread *threads[PT_FOUND_SIDES];
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

/* The thread that looks has not gone to sleep: would it? */
static bool will_wait(const struct pt_wait *wait)
{
    const struct barrier *barrier = wait->object;
    switch (wait->kind) {
    case PT_WAIT_MUTEX:
        return __atomic_load_n(&((const pthread_mutex_t *)wait->object)->__data.__lock, __ATOMIC_RELAXED) != 0;
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

/* The letter of a task's state: S sleeps, R runs or is about to, Z and X have ended; 0: it cannot be read. */
static char state_of(const char *tid)
{
    char path[64] = "/proc/self/task/", text[128];
    size_t at = strlen(path), len = strlen(tid);
    if (len > 20)
        return 0;
    memcpy(path + at, tid, len);
    memcpy(path + at + len, "/stat", sizeof "/stat");
    int fd = pt_sys_open(path);
    if (fd < 0)
        return 0;
    size_t got = pt_sys_read_at(fd, text, sizeof text - 1, 0);
    pt_sys_close(fd);
    while (got > 0 && text[got - 1] != ')')
        got--;
    return got ? text[got + 1] : 0; /* "1 (name) S ..."; a name has at most 15 bytes */
}

static bool has_tid(const struct picture *picture, uint32_t tid)
{
    for (uint32_t i = 0; i < picture->count; i++)
        if (picture->tids[i] == tid)
            return true;
    return false;
}

enum tasks { ASLEEP, AWAKE, STRANGER };

static enum tasks judge_task(const struct picture *picture, const char *name)
{
    uint32_t tid = 0;
    for (const char *digit = name; *digit >= '0' && *digit <= '9'; digit++)
        tid = tid * 10 + (uint32_t)(*digit - '0');
    if (!tid || tid == pt_sys_thread() || pt_wrap_is_own_thread(tid))
        return ASLEEP;
    char state = state_of(name);
    if (state == 'Z' || state == 'X')
        return ASLEEP;
    if (!has_tid(picture, tid))
        return STRANGER;
    return state == 'S' ? ASLEEP : AWAKE;
}

/* All tasks of the process. */
static enum tasks judge_tasks(const struct picture *picture)
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
            enum tasks judged = judge_task(picture, ((struct entry *)(entries + at))->name);
            worst = judged > worst ? judged : worst;
        }
    }
    if (fd >= 0)
        pt_sys_close(fd);
    return got < 0 ? STRANGER : worst;
}

/* ---- all together ---- */

/* False: somebody does not wait, or for what others may end. */
static bool take_picture(struct pt_thread *self, bool ends, struct picture *picture)
{
    bool still = true;
    *picture = (struct picture){0};
    pt_deadlock_lock(self);
    still = pt_deadlocks.waiting_count >= pt_thread_live() && pt_deadlocks.waiting_count < TASKS;
    for (struct pt_thread *thread = pt_deadlocks.waiting; still && thread; thread = thread->deadlock->next) {
        const struct pt_wait *wait = &thread->deadlock->wait;
        bool over = wait->kind == PT_WAIT_END && wait->thread &&
                    ((ends && wait->thread == self) || atomic_load(&wait->thread->state) == PT_THREAD_ENDED);
        still = is_private(wait) && !over && (thread != self || will_wait(wait));
        picture->moves += thread->deadlock->waits_count;
        picture->wakes |=
            wait->kind == PT_WAIT_CONDITION || wait->kind == PT_WAIT_SEMAPHORE || wait->kind == PT_WAIT_BARRIER;
        if (picture->count < PT_FOUND_SIDES)
            picture->threads[picture->count] = thread;
        picture->tids[picture->count++] = thread->tid;
    }
    pt_deadlock_unlock();
    return still && (ends || self->deadlock->waits);
}

/* Whether it is still as it was. */
static bool is_same(struct pt_thread *self, bool ends, const struct picture *picture)
{
    struct picture now;
    return take_picture(self, ends, &now) && now.moves == picture->moves && now.count == picture->count;
}

void pt_deadlock_stuck(struct pt_thread *self, bool ends)
{
    static _Atomic uint32_t strangers;
    struct picture picture;
    if (pt_sys_is_quiet() || pt_shadow_gated || !take_picture(self, ends, &picture) || is_handled())
        return;
    for (uint32_t turn = 0; turn < TURNS && is_same(self, ends, &picture); turn++) {
        enum tasks tasks = judge_tasks(&picture);
        if (tasks == STRANGER && (turn == STRANGER_TURNS || atomic_load(&strangers) >= STRANGERS)) {
            atomic_fetch_add(&strangers, 1);
            return;
        }
        if (tasks == ASLEEP && is_same(self, ends, &picture)) {
            uint32_t count = picture.count < PT_FOUND_SIDES ? picture.count : PT_FOUND_SIDES;
            pt_deadlock_observed(self, picture.threads, count, picture.wakes ? "lost wake-up" : "abandoned lock");
            return;
        }
        pt_sys_sleep(TURN_NS);
    }
}
