/*
 * What libc keeps in its objects, whose layout is part of the ABI: whether a lock can be taken, who has it, and whether
 * other processes may have it, too. Looked at from outside, by whoever decides who goes on.
 *
 * Guarantee: a thread of which it is said that a lock lets it does not wait for it, unless another process takes it in
 * between. Cost: some instructions; of what processes share, a look at the list of mappings.
 */
#include <pthread.h>
#include <semaphore.h>

#include "runtime/explore/impl.h"
#include "runtime/sys/task.h"

static int spin_free; /* what an unlocked spin lock holds */

void pt_object_start(void)
{
    pthread_spinlock_t lock;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    spin_free = (int)lock;
}

static bool has_ended(uint32_t tid)
{
    uint32_t slot = pt_explore_slot_of_task(tid);
    return slot != PT_EXPLORE_NO_SLOT && pt_run.slots[slot].state == PT_EXPLORE_ENDED;
}

/* The owner is in the low bits of a lock that the kernel knows, else 1 or 2; above it a ceiling of priorities, which
 * stays when nobody has it, or that the owner has died, of which the next one is told. */
bool pt_object_mutex_lets(const void *object, uint32_t tid)
{
    const pthread_mutex_t *mutex = object;
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

bool pt_object_lock_lets(uint32_t slot, const void *object, bool write)
{
    uint32_t tid = pt_run.slots[slot].tid;
    switch (pt_run.slots[slot].what) {
    case PT_EXPLORE_IS_MUTEX:
        return pt_object_mutex_lets(object, tid);
    case PT_EXPLORE_IS_RWLOCK:
        return rwlock_lets(object, write, tid);
    case PT_EXPLORE_IS_SPIN:
        return __atomic_load_n((const int *)object, __ATOMIC_RELAXED) == spin_free;
    default:
        return true;
    }
}

bool pt_object_semaphore_lets(const void *semaphore)
{
    return (uint32_t)__atomic_load_n((const uint64_t *)semaphore, __ATOMIC_RELAXED) != 0;
}

bool pt_object_once_lets(const void *control)
{
    enum { RUNNING = 1, STATE = 3 };
    return (__atomic_load_n((const int *)control, __ATOMIC_ACQUIRE) & STATE) != RUNNING;
}

bool pt_object_prefers_writers(const void *lock)
{
    return ((const pthread_rwlock_t *)lock)->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP;
}

bool pt_object_has_readers(const void *lock)
{
    return __atomic_load_n(&((const pthread_rwlock_t *)lock)->__data.__readers, __ATOMIC_RELAXED) >> RWLOCK_READER_AT;
}

/* ---- other processes ---- */

static bool is_lock_shared(enum pt_explore_what what, const void *lock)
{
    enum { SHARED = 128 };
    switch (what) {
    case PT_EXPLORE_IS_MUTEX:
        return ((const pthread_mutex_t *)lock)->__data.__kind & SHARED;
    case PT_EXPLORE_IS_RWLOCK:
        return ((const pthread_rwlock_t *)lock)->__data.__shared;
    default:
        return what == PT_EXPLORE_IS_SPIN; /* nobody knows: the memory decides */
    }
}

bool pt_explore_is_shared(enum pt_explore_kind kind, enum pt_explore_what what, const void *object)
{
    enum { CONDITION_SHARED = 1 };
    const struct {
        uint64_t value;
        int shared;
    } *semaphore = object;
    const struct {
        uint32_t in, round, count, shared;
    } *barrier = object;
    bool shared = false;
    switch (kind) {
    case PT_EXPLORE_SEM_WAIT:
        shared = semaphore->shared;
        break;
    case PT_EXPLORE_LOCK:
    case PT_EXPLORE_READ_LOCK:
        shared = is_lock_shared(what, object);
        break;
    case PT_EXPLORE_WAKE:
        shared = ((const pthread_cond_t *)object)->__data.__wrefs & CONDITION_SHARED;
        break;
    case PT_EXPLORE_LEAVE:
        shared = barrier->shared;
        break;
    case PT_EXPLORE_FUTEX_WOKEN:
        shared = true; /* by its operation, which is not known here */
        break;
    default:
        break;
    }
    return shared && pt_task_shares(object);
}

/* ---- for reports ---- */

uint32_t pt_explore_slot_of_task(uint32_t tid)
{
    for (uint32_t slot = 0; tid && slot < pt_run.slot_count; slot++)
        if (pt_run.slots[slot].tid == tid)
            return slot;
    return PT_EXPLORE_NO_SLOT;
}

uint32_t pt_object_owner(uint32_t slot)
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
        if (pt_run.slots[slot].woken || pt_token_for(slot, object))
            return pt_explore_slot_of_task((uint32_t)((const pthread_mutex_t *)next->other)->__data.__owner);
        return PT_EXPLORE_NO_SLOT;
    default:
        return PT_EXPLORE_NO_SLOT;
    }
}
