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
 * where nobody observes two loads and branches beside the call.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include "runtime/shadow/slow.h"
#include "runtime/thread/call.h"
#include "runtime/thread/thread.h"
#include "runtime/wrap/cancel.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"

/* Of what these three macros make, only semaphores have `sync`: who posts comes before who takes, and nothing else is
 * ordered by them (contract 10). */
#define TAKES(name) (PT_EFFECT(name) == PT_KIND_SYNC ? PT_KIND_WAIT : PT_EFFECT(name))
#define GIVES(name) (PT_EFFECT(name) == PT_KIND_SYNC ? PT_KIND_NOTIFY : PT_EFFECT(name))

/* Something that has happened to the object once the call succeeded. */
#define AFTER(name, parameters, arguments, object, succeeded)                                                          \
    PT_WRAP(int, name, parameters)                                                                                     \
    {                                                                                                                  \
        if (pt_wrap_is_idle())                                                                                         \
            return PT_REAL(name) arguments;                                                                            \
        const struct pt_site *site = pt_call_take(object);                                                             \
        int result = PT_REAL(name) arguments;                                                                          \
        if (succeeded)                                                                                                 \
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
#define BLOCKING(name, parameters, arguments, object, attempt, busy, blocked, wait, succeeded)                         \
    static __attribute__((noinline)) int seen_##name parameters;                                                       \
    PT_WRAP(int, name, parameters)                                                                                     \
    {                                                                                                                  \
        return pt_wrap_is_idle() ? PT_REAL(name) arguments : seen_##name arguments;                                    \
    }                                                                                                                  \
    static int seen_##name parameters                                                                                  \
    {                                                                                                                  \
        const struct pt_site *site = pt_call_take((const void *)object);                                               \
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
#define BEFORE(name, type)                                                                                             \
    PT_WRAP(int, name, (type * object))                                                                                \
    {                                                                                                                  \
        if (pt_wrap_is_idle())                                                                                         \
            return PT_REAL(name)(object);                                                                              \
        pt_wrap_sync_order(object, PT_EFFECT(name), GIVES(name), pt_call_take(object), false);                         \
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

#define WAITED(name, parameters, arguments, condition, mutex, wait, success)                                           \
    PT_WRAP(int, name, parameters)                                                                                     \
    {                                                                                                                  \
        if (pt_wrap_is_idle())                                                                                         \
            return PT_REAL(name) arguments;                                                                            \
        struct pt_call call = pt_call_take_both(condition);                                                            \
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
#define LOCKED (result == 0 || (result == EOWNERDEAD && (pt_thread_after_ended(), true)))
#define TIME   const struct timespec *limit

/* Who holds it, as the kernel counts threads: what libc itself keeps in the lock. */
#define MUTEX_OWNER(mutex) (uint32_t) __atomic_load_n(&((pthread_mutex_t *)(mutex))->__data.__owner, __ATOMIC_RELAXED)
#define LOCK_OWNER(lock)   (uint32_t) __atomic_load_n(&(lock)->__data.__cur_writer, __ATOMIC_RELAXED)
#define MUTEX(name, parameters, arguments, wait)                                                                       \
    BLOCKING(name, parameters, arguments, mutex, pthread_mutex_trylock, result == EBUSY,                               \
             pt_wrap_hooks.contended(mutex, MUTEX_OWNER(mutex)), wait, LOCKED)
#define SEMAPHORE(name, parameters, arguments, wait)                                                                   \
    BLOCKING(name, parameters, arguments, semaphore, sem_trywait, result != 0 && errno == EAGAIN,                      \
             pt_wrap_active(PT_STATE_SEMAPHORE, (uintptr_t)semaphore), wait, result == 0)
#define MTX(name, parameters, arguments, wait)                                                                         \
    BLOCKING(name, parameters, arguments, mutex, mtx_trylock, result == thrd_busy,                                     \
             pt_wrap_hooks.contended(mutex, MUTEX_OWNER(mutex)), wait, result == thrd_success)

AFTER(pthread_mutex_trylock, (pthread_mutex_t * mutex), (mutex), mutex, LOCKED)
MUTEX(pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex), PT_WAIT_MUTEX)
MUTEX(pthread_mutex_timedlock, (pthread_mutex_t * mutex, TIME), (mutex, limit), PT_WAIT_NONE)
MUTEX(pthread_mutex_clocklock, (pthread_mutex_t * mutex, clockid_t clock, TIME), (mutex, clock, limit), PT_WAIT_NONE)
BEFORE(pthread_mutex_unlock, pthread_mutex_t)

AFTER(pthread_spin_trylock, (pthread_spinlock_t * lock), (lock), (const void *)lock, result == 0)
BLOCKING(pthread_spin_lock, (pthread_spinlock_t * lock), (lock), lock, pthread_spin_trylock, result == EBUSY,
         pt_wrap_hooks.contended((const void *)lock, 0), PT_WAIT_SPIN, result == 0)
PT_WRAP(int, pthread_spin_unlock, (pthread_spinlock_t * lock))
{
    if (pt_wrap_is_idle())
        return PT_REAL(pthread_spin_unlock)(lock);
    pt_wrap_sync((const void *)lock, PT_EFFECT(pthread_spin_unlock), pt_call_take((const void *)lock));
    return PT_REAL(pthread_spin_unlock)(lock);
}

WAITED(pthread_cond_wait, (pthread_cond_t * condition, pthread_mutex_t *mutex), (condition, mutex), condition, mutex,
       PT_WAIT_CONDITION, 0)
WAITED(pthread_cond_timedwait, (pthread_cond_t * condition, pthread_mutex_t *mutex, TIME), (condition, mutex, limit),
       condition, mutex, PT_WAIT_CONDITION_TIMED, 0)
WAITED(pthread_cond_clockwait, (pthread_cond_t * condition, pthread_mutex_t *mutex, clockid_t clock, TIME),
       (condition, mutex, clock, limit), condition, mutex, PT_WAIT_CONDITION_TIMED, 0)
BEFORE(pthread_cond_signal, pthread_cond_t)
BEFORE(pthread_cond_broadcast, pthread_cond_t)

AFTER(sem_trywait, (sem_t * semaphore), (semaphore), semaphore, result == 0)
SEMAPHORE(sem_wait, (sem_t * semaphore), (semaphore), PT_WAIT_SEMAPHORE)
SEMAPHORE(sem_timedwait, (sem_t * semaphore, TIME), (semaphore, limit), PT_WAIT_NONE)
SEMAPHORE(sem_clockwait, (sem_t * semaphore, clockid_t clock, TIME), (semaphore, clock, limit), PT_WAIT_NONE)
BEFORE(sem_post, sem_t)

AFTER(mtx_trylock, (mtx_t * mutex), (mutex), mutex, result == thrd_success)
MTX(mtx_lock, (mtx_t * mutex), (mutex), PT_WAIT_MUTEX)
MTX(mtx_timedlock, (mtx_t * mutex, TIME), (mutex, limit), PT_WAIT_NONE)
BEFORE(mtx_unlock, mtx_t)
WAITED(cnd_wait, (cnd_t * condition, mtx_t *mutex), (condition, mutex), condition, mutex, PT_WAIT_CONDITION,
       thrd_success)
WAITED(cnd_timedwait, (cnd_t * condition, mtx_t *mutex, TIME), (condition, mutex, limit), condition, mutex,
       PT_WAIT_CONDITION_TIMED, thrd_success)
BEFORE(cnd_signal, cnd_t)
BEFORE(cnd_broadcast, cnd_t)

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
#define READ_LOCK(name, parameters, arguments, wait)                                                                   \
    BLOCKING(name, parameters, arguments, lock, pthread_rwlock_tryrdlock, result == EBUSY,                             \
             pt_wrap_hooks.contended(lock, LOCK_OWNER(lock)), wait, result == 0)
#define WRITE_LOCK(name, parameters, arguments, wait)                                                                  \
    BLOCKING(name, parameters, arguments, lock, pthread_rwlock_trywrlock, result == EBUSY,                             \
             pt_wrap_hooks.contended(lock, LOCK_OWNER(lock)), wait, NOTED)

AFTER(pthread_rwlock_tryrdlock, (pthread_rwlock_t * lock), (lock), lock, result == 0)
AFTER(pthread_rwlock_trywrlock, (pthread_rwlock_t * lock), (lock), lock, NOTED)
READ_LOCK(pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock), PT_WAIT_READ)
READ_LOCK(pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, TIME), (lock, limit), PT_WAIT_NONE)
READ_LOCK(pthread_rwlock_clockrdlock, (pthread_rwlock_t * lock, clockid_t clock, TIME), (lock, clock, limit),
          PT_WAIT_NONE)
WRITE_LOCK(pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock), PT_WAIT_WRITE)
WRITE_LOCK(pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, TIME), (lock, limit), PT_WAIT_NONE)
WRITE_LOCK(pthread_rwlock_clockwrlock, (pthread_rwlock_t * lock, clockid_t clock, TIME), (lock, clock, limit),
           PT_WAIT_NONE)

PT_WRAP(int, pthread_rwlock_unlock, (pthread_rwlock_t * lock))
{
    if (pt_wrap_is_idle())
        return PT_REAL(pthread_rwlock_unlock)(lock);
    pt_wrap_sync(lock, was_write_lock(lock) ? PT_EFFECT(pthread_rwlock_unlock) : PT_KIND_RREL, pt_call_take(lock));
    return PT_REAL(pthread_rwlock_unlock)(lock);
}

/* The initialiser's effects must be on the object before anyone returns from once, so they are put there right after
 * it. */
static __thread struct {
    void (*initialise)(void);
    const void *object;
    const struct pt_site *site;
    int kind;
} once __attribute__((tls_model("initial-exec")));

static void initialise_once(void)
{
    const void *object = once.object;
    const struct pt_site *site = once.site;
    int kind = once.kind;
    once.initialise();
    pt_wrap_sync(object, kind, site);
}

PT_WRAP(int, pthread_once, (pthread_once_t * control, void (*initialise)(void)))
{
    if (!pt_is_active() && !pt_wrap_streaming())
        return PT_REAL(pthread_once)(control, initialise);
    const struct pt_site *site = pt_call_take(control);
    __typeof__(once) outer = once;
    once.initialise = initialise;
    once.object = control;
    once.kind = PT_EFFECT(pthread_once);
    once.site = site;
    int result = PT_REAL(pthread_once)(control, initialise_once);
    once = outer;
    pt_wrap_sync(control, PT_EFFECT(pthread_once), site);
    return result;
}

PT_WRAP(void, call_once, (once_flag * flag, void (*initialise)(void)))
{
    if (!pt_is_active() && !pt_wrap_streaming()) {
        PT_REAL(call_once)(flag, initialise);
        return;
    }
    const struct pt_site *site = pt_call_take(flag);
    __typeof__(once) outer = once;
    once.initialise = initialise;
    once.object = flag;
    once.kind = PT_EFFECT(call_once);
    once.site = site;
    PT_REAL(call_once)(flag, initialise_once);
    once = outer;
    pt_wrap_sync(flag, PT_EFFECT(call_once), site);
}
