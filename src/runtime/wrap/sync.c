/*
 * Synchronisation as accesses of its object (contract 3): taking a lock is recorded after it was taken, giving it up
 * before, and both are writes, so what one holder did comes before what the next one does. Only what succeeded counts.
 * Which event each makes is in its row of core/sync.def.
 *
 * While somebody listens to the event stream, a lock is tried before it is waited for: so it is known whether it was
 * contended, by whom, and when the thread blocks and runs again. The same while deadlocks are looked for: who has to
 * wait, and would do so as long as it takes, says what for.
 *
 * Guarantee: an event is recorded only while the calling thread has what it is about, or before it gives it up. Cost:
 * where nobody observes three loads and branches beside the call; in a gap of sampling 33 instructions for a lock, and
 * 15 for its release.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <threads.h>

#include "runtime/explore/explore.h"
#include "runtime/shadow/slow.h"
#include "runtime/sys/sys.h"
#include "runtime/thread/call.h"
#include "runtime/thread/thread.h"
#include "runtime/wrap/cancel.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"

/* Of what these three macros make, only semaphores have `sync`: who posts comes before who takes, and nothing else is
 * ordered by them (contract 10). */
#define TAKES(name) (PT_EFFECT(name) == PT_KIND_SYNC ? PT_KIND_WAIT : PT_EFFECT(name))
#define GIVES(name) (PT_EFFECT(name) == PT_KIND_SYNC ? PT_KIND_NOTIFY : PT_EFFECT(name))

/* Where threads are scheduled, before what others see. */
static void explore(enum pt_explore_kind kind, const void *object, const struct pt_site *site)
{
    if (__builtin_expect(pt_explore_on, 0))
        pt_explore_point(&(struct pt_explore_op){.kind = kind, .object = object, .site = site});
}
/* The same before a call that may block: it does not when this has returned. True: the time is over. */
static bool explore_until(enum pt_explore_kind kind, enum pt_explore_what what, const void *object,
                          const struct pt_site *site, uint64_t deadline)
{
    uint32_t answer = pt_explore_point(
        &(struct pt_explore_op){.kind = kind, .what = what, .object = object, .site = site, .deadline = deadline});
    return answer != PT_EXPLORE_FREE_TO_GO && answer & PT_EXPLORE_TIMED_OUT;
}
static bool explored(bool done)
{
    if (!done && __builtin_expect(pt_explore_on, 0))
        pt_explore_failed();
    return done;
}
/* A lock that was taken in a gap of sampling, which is over, or ends now. */
static __attribute__((noinline)) int follow(const void *object, int kind, int order, int result)
{
    pt_wrap_sync_order(object, kind, order, pt_call_take(object), true);
    return result;
}
#define FOR_EVER     0
#define UNTIL(clock) pt_explore_until(clock, limit)

/* Libc's function, once seen_##name was called for the first time: asking for it in the wrapper itself would have that
 * save registers for the call. */
#ifdef PT_RT_STATIC
#define REMEMBERS(name) PT_HAS_ROW(name)
#define KNOWN(name)     __real_##name
#define IS_KNOWN(name)  true
#define REMEMBER(name)  (void)0
#else
#define REMEMBERS(name) static __typeof__(&name) _Atomic known_##name
#define KNOWN(name)     atomic_load_explicit(&known_##name, memory_order_relaxed)
#define IS_KNOWN(name)  __builtin_expect(KNOWN(name) != NULL, 1)
#define REMEMBER(name)  atomic_store_explicit(&known_##name, PT_REAL(name), memory_order_relaxed)
#endif

/* A robust mutex; here, since its caller then need not keep the result meanwhile. */
static __attribute__((noinline, cold)) int after_ended(int result)
{
    pt_thread_after_ended();
    return result;
}

/* Something that has happened to the object once the call succeeded. `step`: what it is where threads are scheduled. */
#define AFTER(name, parameters, arguments, object, step, succeeded)                                                    \
    PT_WRAP(int, name, parameters)                                                                                     \
    {                                                                                                                  \
        if (pt_wrap_is_idle())                                                                                         \
            return PT_REAL(name) arguments;                                                                            \
        const struct pt_site *site = pt_call_take(object);                                                             \
        explore(PT_EXPLORE_##step, object, site);                                                                      \
        int result = PT_REAL(name) arguments;                                                                          \
        if (explored(succeeded))                                                                                       \
            pt_wrap_sync_order(object, PT_EFFECT(name), TAKES(name), site, false);                                     \
        return result;                                                                                                 \
    }
/* Of these only semaphores let a thread be cancelled while it waits. */
static void stop_blocking(void *context)
{
    (void)context;
    pt_wrap_waited(PT_WAIT_SEMAPHORE);
}

/* The same where the call may block; `attempt` is the call that does not, `wait` what it does as long as it takes. */
#define BLOCKING(name, parameters, arguments, object, attempt, busy, blocked, wait, step, is, until, late, succeeded)  \
    REMEMBERS(name);                                                                                                   \
    static __attribute__((noinline)) int seen_##name parameters;                                                       \
    static __attribute__((noinline)) int sampled_##name parameters;                                                    \
    PT_WRAP(int, name, parameters)                                                                                     \
    {                                                                                                                  \
        if (pt_race_passes && IS_KNOWN(name))                                                                          \
            return sampled_##name arguments;                                                                           \
        if (pt_wrap_is_idle() && IS_KNOWN(name))                                                                       \
            return KNOWN(name) arguments;                                                                              \
        return seen_##name arguments;                                                                                  \
    }                                                                                                                  \
    static int sampled_##name parameters                                                                               \
    {                                                                                                                  \
        int result = KNOWN(name) arguments;                                                                            \
        if ((succeeded) && !pt_call_passes())                                                                          \
            return follow((const void *)object, PT_EFFECT(name), TAKES(name), result);                                 \
        return result;                                                                                                 \
    }                                                                                                                  \
    static int seen_##name parameters                                                                                  \
    {                                                                                                                  \
        REMEMBER(name);                                                                                                \
        const struct pt_site *site = pt_call_take((const void *)object);                                               \
        if (__builtin_expect(pt_explore_on, 0) &&                                                                      \
            explore_until(PT_EXPLORE_##step, PT_EXPLORE_IS_##is, (const void *)object, site, until))                   \
            return late;                                                                                               \
        pt_wrap_blocks_at((const void *)object,                                                                        \
                          PT_EFFECT(name) == PT_KIND_SYNC ? PT_GATE_WAITS_OTHER : PT_GATE_WAITS_LOCK, site);           \
        pt_slow_expect((const void *)object);                                                                          \
        bool streams = pt_wrap_streaming() == PT_STREAM_ON;                                                            \
        bool tries = streams || (pt_wrap_looks && wait != PT_WAIT_NONE);                                               \
        int result = tries ? PT_REAL(attempt)(object) : 0;                                                             \
        bool waits = tries && (busy);                                                                                  \
        if (waits && streams)                                                                                          \
            blocked;                                                                                                   \
        if (waits)                                                                                                     \
            pt_wrap_waits(wait, (const void *)object, NULL, site);                                                     \
        if (waits && wait == PT_WAIT_SEMAPHORE)                                                                        \
            PT_CANCELLABLE(result, PT_REAL(name) arguments, stop_blocking, NULL);                                      \
        else if (waits || !tries)                                                                                      \
            result = PT_REAL(name) arguments;                                                                          \
        if (waits)                                                                                                     \
            pt_wrap_waited(wait);                                                                                      \
        if (waits && streams)                                                                                          \
            pt_wrap_active(PT_STATE_RUNNING, 0);                                                                       \
        pt_wrap_blocks(NULL, PT_GATE_RUNS);                                                                            \
        if (succeeded)                                                                                                 \
            pt_wrap_sync_order((const void *)object, PT_EFFECT(name), TAKES(name), site, wait != PT_WAIT_NONE);        \
        return result;                                                                                                 \
    }
/* Something others may see as soon as the call is under way. */
#define BEFORE(name, type, step)                                                                                       \
    REMEMBERS(name);                                                                                                   \
    static __attribute__((noinline)) int seen_##name(type *object);                                                    \
    PT_WRAP(int, name, (type * object))                                                                                \
    {                                                                                                                  \
        if ((pt_race_passes ? pt_call_passes_back() : pt_wrap_is_idle()) && IS_KNOWN(name))                            \
            return KNOWN(name)(object);                                                                                \
        return seen_##name(object);                                                                                    \
    }                                                                                                                  \
    static int seen_##name(type *object)                                                                               \
    {                                                                                                                  \
        REMEMBER(name);                                                                                                \
        const struct pt_site *site = pt_call_take(object);                                                             \
        explore(PT_EXPLORE_##step, object, site);                                                                      \
        pt_wrap_sync_order(object, PT_EFFECT(name), GIVES(name), site, false);                                         \
        return PT_REAL(name)(object);                                                                                  \
    }
/* A wait that is cancelled has taken the mutex again when the program's cleanup handlers run. */
struct waiting {
    const void *mutex;
    const struct pt_site *site;
    enum pt_wait_kind kind;
};

static void run_again(enum pt_wait_kind kind)
{
    pt_wrap_waited(kind);
    pt_wrap_blocks(NULL, PT_GATE_RUNS);
    pt_wrap_active(PT_STATE_RUNNING, 0);
}

static void stop_waiting(void *context)
{
    const struct waiting *waiting = context;
    run_again(waiting->kind);
    pt_wrap_sync_as(waiting->mutex, PT_KIND_ACQ, waiting->site, true);
}

#ifdef PT_RT_STATIC
void __real_pthread_testcancel(void);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __real_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
#endif
/* A process with which the condition is shared wakes those who wait really; the caller does, without the turn. One with
 * a time limit is played even so: it ends. */
static int wait_outside(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct pt_call *call)
{
    pt_explore_away(call->site);
    int error = PT_REAL(pthread_cond_wait)(condition, mutex);
    pt_explore_back(call->site);
    pt_wrap_sync(condition, PT_KIND_WAIT, call->site);
    pt_wrap_sync_as(mutex, PT_KIND_ACQ, call->mutex, true);
    return error;
}

/* The wait as scheduled threads do it: the mutex is given up, and taken again in the step in which the thread is woken,
 * times out, or neither. */
static int play_wait(const void *condition, pthread_mutex_t *mutex, const struct pt_call *call, uint64_t deadline,
                     int success, int late)
{
    pt_explore_point(
        &(struct pt_explore_op){.kind = PT_EXPLORE_WAIT, .object = condition, .other = mutex, .site = call->site});
    pt_wrap_sync(mutex, PT_KIND_REL, call->mutex);
    if (!deadline && pt_explore_is_shared(PT_EXPLORE_WAKE, PT_EXPLORE_IS_MUTEX, condition))
        return wait_outside((pthread_cond_t *)(uintptr_t)condition, mutex, call);
    pt_explore_waits(condition); /* before a thread that nobody schedules can have the mutex, and signal */
    int error = PT_REAL(pthread_mutex_unlock)(mutex);
    if (error) {
        pt_explore_waits_not();
        return error;
    }
    uint32_t answer = pt_explore_point(&(struct pt_explore_op){.kind = PT_EXPLORE_WAKE,
                                                               .what = PT_EXPLORE_IS_MUTEX,
                                                               .object = condition,
                                                               .other = mutex,
                                                               .site = call->site,
                                                               .deadline = deadline});
    error = PT_REAL(pthread_mutex_lock)(mutex);
    if (pt_explore_is_cancelled()) { /* with the mutex, as libc does it: the cleanup handlers have it */
        pt_wrap_sync_as(mutex, PT_KIND_ACQ, call->mutex, true);
        PT_REAL(pthread_testcancel)();
        pt_wrap_sync(mutex, PT_KIND_REL, call->mutex); /* it was not to be cancelled after all */
    }
    bool woken = !(answer & (PT_EXPLORE_TIMED_OUT | PT_EXPLORE_SPURIOUS));
    if (woken)
        pt_wrap_sync(condition, PT_KIND_WAIT, call->site);
    pt_wrap_sync_as(mutex, PT_KIND_ACQ, call->mutex, true);
    return error ? error : answer & PT_EXPLORE_TIMED_OUT ? late : success;
}

#define WAITED(name, parameters, arguments, condition, mutex, wait, until, success, late)                              \
    PT_WRAP(int, name, parameters)                                                                                     \
    {                                                                                                                  \
        if (pt_wrap_is_idle())                                                                                         \
            return PT_REAL(name) arguments;                                                                            \
        struct pt_call call = pt_call_take_both(condition);                                                            \
        if (__builtin_expect(pt_explore_on, 0) && pt_explore_slot() != PT_EXPLORE_NO_SLOT)                             \
            return play_wait(condition, (pthread_mutex_t *)mutex, &call, until, success, late);                        \
        pt_wrap_sync(mutex, PT_KIND_REL, call.mutex);                                                                  \
        pt_wrap_active(PT_STATE_CONDITION, (uintptr_t)condition);                                                      \
        pt_wrap_blocks(condition, PT_GATE_WAITS_CONDITION);                                                            \
        struct waiting waiting = {mutex, call.mutex, wait};                                                            \
        pt_wrap_waits(wait, condition, mutex, call.site);                                                              \
        int result;                                                                                                    \
        PT_CANCELLABLE(result, PT_REAL(name) arguments, stop_waiting, &waiting);                                       \
        run_again(wait);                                                                                               \
        if (result == success)                                                                                         \
            pt_wrap_sync(condition, PT_EFFECT(name), call.site);                                                       \
        pt_wrap_sync_as(mutex, PT_KIND_ACQ, call.mutex, true);                                                         \
        return result;                                                                                                 \
    }
#define LOCKED (result == 0 || (result == EOWNERDEAD && (result = after_ended(result), true)))
#define TIME   const struct timespec *limit

/* Who holds it, as the kernel counts threads: what libc itself keeps in the lock. */
#define MUTEX_OWNER(mutex) (uint32_t) __atomic_load_n(&((pthread_mutex_t *)(mutex))->__data.__owner, __ATOMIC_RELAXED)
#define LOCK_OWNER(lock)   (uint32_t) __atomic_load_n(&(lock)->__data.__cur_writer, __ATOMIC_RELAXED)
#define MUTEX(name, parameters, arguments, wait, until)                                                                \
    BLOCKING(name, parameters, arguments, mutex, pthread_mutex_trylock, result == EBUSY,                               \
             pt_wrap_hooks.contended(mutex, MUTEX_OWNER(mutex)), wait, LOCK, MUTEX, until, ETIMEDOUT, LOCKED)
#define SEMAPHORE(name, parameters, arguments, wait, until)                                                            \
    BLOCKING(name, parameters, arguments, semaphore, sem_trywait, result != 0 && errno == EAGAIN,                      \
             pt_wrap_active(PT_STATE_SEMAPHORE, (uintptr_t)semaphore), wait, SEM_WAIT, OTHER, until,                   \
             (errno = ETIMEDOUT, -1), result == 0)
#define MTX(name, parameters, arguments, wait, until)                                                                  \
    BLOCKING(name, parameters, arguments, mutex, mtx_trylock, result == thrd_busy,                                     \
             pt_wrap_hooks.contended(mutex, MUTEX_OWNER(mutex)), wait, LOCK, MUTEX, until, thrd_timedout,              \
             result == thrd_success)

AFTER(pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex), mutex, TRY_LOCK, LOCKED)
MUTEX(pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex), PT_WAIT_MUTEX, FOR_EVER)
MUTEX(pthread_mutex_timedlock, (pthread_mutex_t * mutex, TIME), (mutex, limit), PT_WAIT_NONE, UNTIL(CLOCK_REALTIME))
MUTEX(pthread_mutex_clocklock, (pthread_mutex_t * mutex, clockid_t clock, TIME), (mutex, clock, limit), PT_WAIT_NONE,
      UNTIL(clock))
BEFORE(pthread_mutex_unlock, pthread_mutex_t, UNLOCK)

AFTER(pthread_spin_trylock, (pthread_spinlock_t * lock), (lock), (const void *)lock, TRY_LOCK, result == 0)
BLOCKING(pthread_spin_lock, (pthread_spinlock_t * lock), (lock), lock, pthread_spin_trylock, result == EBUSY,
         pt_wrap_hooks.contended((const void *)lock, 0), PT_WAIT_SPIN, LOCK, SPIN, FOR_EVER, ETIMEDOUT, result == 0)
PT_WRAP(int, pthread_spin_unlock, (pthread_spinlock_t * lock))
{
    if (pt_wrap_is_idle())
        return PT_REAL(pthread_spin_unlock)(lock);
    const struct pt_site *site = pt_call_take((const void *)lock);
    explore(PT_EXPLORE_UNLOCK, (const void *)lock, site);
    pt_wrap_sync((const void *)lock, PT_EFFECT(pthread_spin_unlock), site);
    return PT_REAL(pthread_spin_unlock)(lock);
}

/* Of a condition's clock, which libc keeps in it. */
static clockid_t clock_of(const pthread_cond_t *condition)
{
    enum { MONOTONIC = 2 };
    return condition->__data.__wrefs & MONOTONIC ? CLOCK_MONOTONIC : CLOCK_REALTIME;
}
WAITED(pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex), condition, mutex,
       PT_WAIT_CONDITION, FOR_EVER, 0, ETIMEDOUT)
WAITED(pthread_cond_timedwait, (pthread_cond_t * condition, pthread_mutex_t *mutex, TIME), (condition, mutex, limit),
       condition, mutex, PT_WAIT_CONDITION_TIMED, UNTIL(clock_of(condition)), 0, ETIMEDOUT)
WAITED(pthread_cond_clockwait, (pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock, TIME),
       (condition, mutex, clock, limit), condition, mutex, PT_WAIT_CONDITION_TIMED, UNTIL(clock), 0, ETIMEDOUT)

/* Those who wait are the scheduler's, if they are under control, else libc's. */
#define SIGNALS(name, type, step, count)                                                                               \
    PT_WRAP(int, name, (type * object))                                                                                \
    {                                                                                                                  \
        if (pt_wrap_is_idle())                                                                                         \
            return PT_REAL(name)(object);                                                                              \
        const struct pt_site *site = pt_call_take(object);                                                             \
        explore(PT_EXPLORE_##step, object, site);                                                                      \
        pt_wrap_sync_order(object, PT_EFFECT(name), GIVES(name), site, false);                                         \
        if (__builtin_expect(pt_explore_on, 0))                                                                        \
            pt_explore_wakes(object, count);                                                                           \
        return PT_REAL(name)(object);                                                                                  \
    }
SIGNALS(pthread_cond_signal, pthread_cond_t, SIGNAL, 1)
SIGNALS(pthread_cond_broadcast, pthread_cond_t, BROADCAST, UINT32_MAX)

AFTER(sem_trywait, (sem_t * semaphore), (semaphore), semaphore, SEM_TRY, result == 0)
SEMAPHORE(sem_wait, (sem_t * semaphore), (semaphore), PT_WAIT_SEMAPHORE, FOR_EVER)
SEMAPHORE(sem_timedwait, (sem_t * semaphore, TIME), (semaphore, limit), PT_WAIT_NONE, UNTIL(CLOCK_REALTIME))
SEMAPHORE(sem_clockwait, (sem_t * semaphore, clockid_t clock, TIME), (semaphore, clock, limit), PT_WAIT_NONE,
          UNTIL(clock))
BEFORE(sem_post, sem_t, SEM_POST)

AFTER(mtx_trylock, (mtx_t * mutex), (mutex), mutex, TRY_LOCK, result == thrd_success)
MTX(mtx_lock, (mtx_t * mutex), (mutex), PT_WAIT_MUTEX, FOR_EVER)
MTX(mtx_timedlock, (mtx_t * mutex, TIME), (mutex, limit), PT_WAIT_NONE, UNTIL(CLOCK_REALTIME))
BEFORE(mtx_unlock, mtx_t, UNLOCK)
WAITED(cnd_wait, (cnd_t * condition, mtx_t *mutex), (condition, mutex), condition, mutex, PT_WAIT_CONDITION, FOR_EVER,
       thrd_success, thrd_timedout)
WAITED(cnd_timedwait, (cnd_t * condition, mtx_t *mutex, TIME), (condition, mutex, limit), condition, mutex,
       PT_WAIT_CONDITION_TIMED, UNTIL(CLOCK_REALTIME), thrd_success, thrd_timedout)
SIGNALS(cnd_signal, cnd_t, SIGNAL, 1)
SIGNALS(cnd_broadcast, cnd_t, BROADCAST, UINT32_MAX)

/* Readers read the object, so that they are not ordered with each other; on unlocking one must know which it was. */
static void note_write_lock(const void *lock)
{
    struct pt_thread *self = pt_thread_now();
    if (self && self->write_locks < PT_WRITE_LOCKS)
        self->write_locked[self->write_locks++] = lock;
}

/* True also when so many are held that we cannot know: too much order is safe, too little is not. */
static bool was_write_lock(const void *lock)
{
    struct pt_thread *self = pt_thread_now();
    if (!self)
        return true;
    for (unsigned i = 0; i < self->write_locks; i++) {
        if (self->write_locked[i] == lock) {
            self->write_locked[i] = self->write_locked[--self->write_locks];
            return true;
        }
    }
    return self->write_locks == PT_WRITE_LOCKS;
}

#define NOTED (result == 0 && (note_write_lock(lock), true))
#define READ_LOCK(name, parameters, arguments, wait, until)                                                            \
    BLOCKING(name, parameters, arguments, lock, pthread_rwlock_tryrdlock, result == EBUSY,                             \
             pt_wrap_hooks.contended(lock, LOCK_OWNER(lock)), wait, READ_LOCK, RWLOCK, until, ETIMEDOUT, result == 0)
#define WRITE_LOCK(name, parameters, arguments, wait, until)                                                           \
    BLOCKING(name, parameters, arguments, lock, pthread_rwlock_trywrlock, result == EBUSY,                             \
             pt_wrap_hooks.contended(lock, LOCK_OWNER(lock)), wait, LOCK, RWLOCK, until, ETIMEDOUT, NOTED)

AFTER(pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock), lock, TRY_READ_LOCK, result == 0)
AFTER(pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock), lock, TRY_LOCK, NOTED)
READ_LOCK(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock), PT_WAIT_READ, FOR_EVER)
READ_LOCK(pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, TIME), (lock, limit), PT_WAIT_NONE,
          UNTIL(CLOCK_REALTIME))
READ_LOCK(pthread_rwlock_clockrdlock, (pthread_rwlock_t * lock, clockid_t clock, TIME), (lock, clock, limit),
          PT_WAIT_NONE, UNTIL(clock))
WRITE_LOCK(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock), PT_WAIT_WRITE, FOR_EVER)
WRITE_LOCK(pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, TIME), (lock, limit), PT_WAIT_NONE,
           UNTIL(CLOCK_REALTIME))
WRITE_LOCK(pthread_rwlock_clockwrlock, (pthread_rwlock_t * lock, clockid_t clock, TIME), (lock, clock, limit),
           PT_WAIT_NONE, UNTIL(clock))

PT_WRAP(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock))
{
    if (pt_wrap_is_idle())
        return PT_REAL(pthread_rwlock_unlock)(lock);
    int kind = was_write_lock(lock) ? PT_EFFECT(pthread_rwlock_unlock) : PT_KIND_RREL;
    if (pt_call_passes_back())
        return PT_REAL(pthread_rwlock_unlock)(lock);
    const struct pt_site *site = pt_call_take(lock);
    explore(PT_EXPLORE_UNLOCK, lock, site);
    pt_wrap_sync(lock, kind, site);
    return PT_REAL(pthread_rwlock_unlock)(lock);
}

/* ---- robust mutexes: those that a thread has when it ends are on a list of the kernel's, and given up by it ---- */

static _Atomic bool any_robust; /* by this process */

PT_WRAP(int, pthread_mutexattr_setrobust, (pthread_mutexattr_t * attributes, int robustness))
{
    int result = PT_REAL(pthread_mutexattr_setrobust)(attributes, robustness);
    if (result == 0 && robustness == PTHREAD_MUTEX_ROBUST)
        atomic_store_explicit(&any_robust, true, memory_order_relaxed);
    return result;
}

/* An entry is the address of the next one, in the mutex; its lowest bit says that priority is inherited. */
void pt_wrap_leaves(void)
{
    enum { MOST = 4096 };
    const struct robust_list_head *head = NULL;
    size_t size;
    if (!atomic_load_explicit(&any_robust, memory_order_relaxed) || pt_wrap_is_idle() || pt_sys_is_quiet() ||
        pt_sys_call(SYS_get_robust_list, 0, (long)&head, (long)&size, 0) != 0 || !head)
        return;
    uintptr_t entry = (uintptr_t)head->list.next & ~(uintptr_t)1, next;
    for (unsigned i = 0; i < MOST && entry && entry != (uintptr_t)&head->list; i++, entry = next) {
        next = (uintptr_t)((const struct robust_list *)entry)->next & ~(uintptr_t)1;
        pt_wrap_sync((const void *)(entry - offsetof(pthread_mutex_t, __data.__list.__next)), PT_KIND_REL, NULL);
    }
}
