/*
 * Noise for the programs of the catalogue, without Portent: they are compiled with -fsanitize=thread, and linked with
 * this instead of ThreadSanitizer's runtime. Before each access of memory and each call that synchronises, a thread
 * sleeps now and then for a random while; sleeps and timed waits end early now and then, and with SHAKE_SPURIOUS
 * condition variables wake without a cause. So each failure is one that the program can have by itself.
 *
 * SHAKE=SEED in the environment fixes the random numbers (not the run). Link with --wrap=NAME for each WRAPPED name.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { RARE = 4, LONGEST_US = 400 };
static uint64_t seed;
static int spurious;
static _Atomic uint64_t threads;
static _Thread_local uint64_t state;

static uint64_t draw(void)
{
    if (!state)
        state = (seed + 1) * 0x9e3779b97f4a7c15u + ++threads * 0xbf58476d1ce4e5b9u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state >> 20;
}

static void pause_us(long us)
{
    int kept = errno;
    struct timespec span = {us / 1000000, us % 1000000 * 1000};
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &span, NULL); /* no cancellation point */
    errno = kept;
}

static void shake(void)
{
    if (draw() % RARE == 0)
        pause_us((long)(draw() % LONGEST_US));
}

static int early(void)
{
    return draw() % 3 == 0;
}

void __tsan_init(void)
{
    const char *given = getenv("SHAKE");
    seed = given ? strtoull(given, NULL, 10) : 0;
    spurious = getenv("SHAKE_SPURIOUS") != NULL;
}

#define HOOK(name)                                                                                                     \
    void name(void *at)                                                                                                \
    {                                                                                                                  \
        (void)at;                                                                                                      \
        shake();                                                                                                       \
    }
#define NOTHING(name)                                                                                                  \
    void name(void *at)                                                                                                \
    {                                                                                                                  \
        (void)at;                                                                                                      \
    }
HOOK(__tsan_read1)
HOOK(__tsan_read2)
HOOK(__tsan_read4)
HOOK(__tsan_read8)
HOOK(__tsan_read16)
HOOK(__tsan_write1)
HOOK(__tsan_write2)
HOOK(__tsan_write4)
HOOK(__tsan_write8)
HOOK(__tsan_write16)
HOOK(__tsan_unaligned_read2)
HOOK(__tsan_unaligned_read4)
HOOK(__tsan_unaligned_read8)
HOOK(__tsan_unaligned_read16)
HOOK(__tsan_unaligned_write2)
HOOK(__tsan_unaligned_write4)
HOOK(__tsan_unaligned_write8)
HOOK(__tsan_unaligned_write16)
HOOK(__tsan_read_write1)
HOOK(__tsan_read_write4)
HOOK(__tsan_read_write8)
NOTHING(__tsan_func_entry)
NOTHING(__tsan_vptr_read)

void __tsan_func_exit(void)
{
}

void __tsan_vptr_update(void *at, void *value)
{
    (void)at, (void)value;
}

void __tsan_read_range(void *at, unsigned long size)
{
    (void)at, (void)size;
    shake();
}

void __tsan_write_range(void *at, unsigned long size)
{
    (void)at, (void)size;
    shake();
}

void *__tsan_memcpy(void *to, const void *from, size_t size)
{
    shake();
    return memcpy(to, from, size);
}

void *__tsan_memset(void *to, int value, size_t size)
{
    shake();
    return memset(to, value, size);
}

void *__tsan_memmove(void *to, const void *from, size_t size)
{
    shake();
    return memmove(to, from, size);
}

#define UPDATE(bits, type, name)                                                                                       \
    type __tsan_atomic##bits##_fetch_##name(volatile type *at, type value, int order)                                  \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        shake();                                                                                                       \
        return __atomic_fetch_##name(at, value, __ATOMIC_SEQ_CST);                                                     \
    }
#define ATOMICS(bits, type)                                                                                            \
    type __tsan_atomic##bits##_load(const volatile type *at, int order)                                                \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        shake();                                                                                                       \
        return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                                  \
    }                                                                                                                  \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order)                                         \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        shake();                                                                                                       \
        __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                                 \
    }                                                                                                                  \
    type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order)                                      \
    {                                                                                                                  \
        (void)order;                                                                                                   \
        shake();                                                                                                       \
        return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                                       \
    }                                                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *seen, type value, int order, int fail)  \
    {                                                                                                                  \
        (void)order, (void)fail;                                                                                       \
        shake();                                                                                                       \
        return __atomic_compare_exchange_n(at, seen, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                    \
    }                                                                                                                  \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *seen, type value, int order, int fail)    \
    {                                                                                                                  \
        return __tsan_atomic##bits##_compare_exchange_strong(at, seen, value, order, fail);                            \
    }                                                                                                                  \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type seen, type value, int order, int fail)     \
    {                                                                                                                  \
        __tsan_atomic##bits##_compare_exchange_strong(at, &seen, value, order, fail);                                  \
        return seen;                                                                                                   \
    }                                                                                                                  \
    UPDATE(bits, type, add)                                                                                            \
    UPDATE(bits, type, sub) UPDATE(bits, type, and) UPDATE(bits, type, or) UPDATE(bits, type, xor)
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)

void __tsan_atomic_thread_fence(int order)
{
    (void)order;
}

/* WRAPPED: a pause before it. */
#define WRAPPED(name, parameters, ...)                                                                                 \
    int __real_##name parameters;                                                                                      \
    int __wrap_##name parameters                                                                                       \
    {                                                                                                                  \
        shake();                                                                                                       \
        return __real_##name(__VA_ARGS__);                                                                             \
    }
WRAPPED(pthread_mutex_lock, (pthread_mutex_t * m), m)
WRAPPED(pthread_mutex_trylock, (pthread_mutex_t * m), m)
WRAPPED(pthread_mutex_unlock, (pthread_mutex_t * m), m)
WRAPPED(pthread_rwlock_rdlock, (pthread_rwlock_t * l), l)
WRAPPED(pthread_rwlock_wrlock, (pthread_rwlock_t * l), l)
WRAPPED(pthread_rwlock_unlock, (pthread_rwlock_t * l), l)
WRAPPED(pthread_spin_lock, (pthread_spinlock_t * s), s)
WRAPPED(pthread_spin_unlock, (pthread_spinlock_t * s), s)
WRAPPED(pthread_cond_signal, (pthread_cond_t * c), c)
WRAPPED(pthread_cond_broadcast, (pthread_cond_t * c), c)
WRAPPED(pthread_barrier_wait, (pthread_barrier_t * b), b)
WRAPPED(pthread_join, (pthread_t thread, void **result), thread, result)
WRAPPED(pthread_kill, (pthread_t thread, int number), thread, number)
WRAPPED(pthread_cancel, (pthread_t thread), thread)
WRAPPED(sem_wait, (sem_t * s), s)
WRAPPED(sem_trywait, (sem_t * s), s)
WRAPPED(sem_getvalue, (sem_t * s, int *value), s, value)
WRAPPED(sem_post, (sem_t * s), s)
WRAPPED(mtx_lock, (mtx_t * m), m)
WRAPPED(mtx_unlock, (mtx_t * m), m)
WRAPPED(cnd_wait, (cnd_t * c, mtx_t *m), c, m)
WRAPPED(cnd_signal, (cnd_t * c), c)
WRAPPED(thrd_join, (thrd_t thread, int *result), thread, result)
WRAPPED(pause, (void))
WRAPPED(close, (int file), file)

int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*f)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*f)(void *), void *argument)
{
    int status = __real_pthread_create(thread, attributes, f, argument);
    if (early())
        pause_us((long)(draw() % LONGEST_US));
    return status;
}

int __real_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    shake();
    if (!spurious || !early())
        return __real_pthread_cond_wait(c, m);
    __real_pthread_mutex_unlock(m);
    shake();
    return __real_pthread_mutex_lock(m);
}

int __real_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until)
{
    shake();
    if (!early())
        return __real_pthread_cond_timedwait(c, m, until);
    __real_pthread_mutex_unlock(m);
    shake();
    __real_pthread_mutex_lock(m);
    return ETIMEDOUT;
}

int __real_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until);
int __wrap_pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
    shake();
    if (!early())
        return __real_pthread_mutex_timedlock(m, until);
    return __real_pthread_mutex_trylock(m) ? ETIMEDOUT : 0;
}

int __real_sem_timedwait(sem_t *s, const struct timespec *until);
int __wrap_sem_timedwait(sem_t *s, const struct timespec *until)
{
    shake();
    if (!early())
        return __real_sem_timedwait(s, until);
    if (__real_sem_trywait(s) == 0)
        return 0;
    errno = ETIMEDOUT;
    return -1;
}

int __wrap_usleep(useconds_t us)
{
    pause_us(early() ? (long)(draw() % LONGEST_US) : (long)us);
    return 0;
}

int __wrap_thrd_sleep(const struct timespec *span, struct timespec *rest)
{
    (void)rest;
    return __wrap_usleep((useconds_t)(span->tv_nsec / 1000));
}

ssize_t __real_read(int file, void *to, size_t size);
ssize_t __wrap_read(int file, void *to, size_t size)
{
    shake();
    return __real_read(file, to, size);
}

ssize_t __real_write(int file, const void *from, size_t size);
ssize_t __wrap_write(int file, const void *from, size_t size)
{
    shake();
    return __real_write(file, from, size);
}
