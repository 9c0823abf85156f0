/*
 * One small program per primitive. Thread 1 (or main) writes `a`, then synchronises; thread 2 synchronises, then writes
 * `b`. Whether the event on b knows of the event on a is what the test asks. A pipe, which the runtime does not see,
 * makes the actual order certain without ordering anything by itself.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hooks.h"

_Alignas(16) int a;
_Alignas(16) int b;
struct {
    int left, right;
} pair = {0, 0};
static _Alignas(8) int flag;
static _Alignas(16) unsigned char halves[16];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static once_flag once11 = ONCE_FLAG_INIT;
static mtx_t mutex11;
static cnd_t condition11;
static int pipes[2];
static int ready;

static void told(void)
{
    char c = 0;
    if (syscall(SYS_write, pipes[1], &c, 1) != 1)
        abort();
}
static void heard(void)
{
    char c;
    if (syscall(SYS_read, pipes[0], &c, 1) != 1)
        abort();
}
static void write_a(void)
{
    ST4(&a, 1);
}
static void write_b(void)
{
    ST4(&b, 1);
}
static struct timespec soon(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += 60;
    return t;
}

#define MUST(condition)                                                                                                \
    if (!(condition))                                                                                                  \
    abort()
#define LD1(p)    __portent_load1(p, SITE)
#define ST1(p, v) __portent_store1(p, v, SITE)

/* name, what the first does, what the second does */
#define CASE(name, first_does, second_does)                                                                            \
    static void *first_##name(void *context)                                                                           \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        first_does;                                                                                                    \
        told();                                                                                                        \
        return NULL;                                                                                                   \
    }                                                                                                                  \
    static void *second_##name(void *context)                                                                          \
    {                                                                                                                  \
        (void)context;                                                                                                 \
        heard();                                                                                                       \
        second_does;                                                                                                   \
        return NULL;                                                                                                   \
    }

/* One line per thread reads better here. */
/* clang-format off */
CASE(none, write_a(), write_b())
CASE(flag, { write_a(); ST4(&flag, 1); }, { (void)LD4(&flag); write_b(); })
CASE(reads, { write_a(); (void)LD4(&flag); }, { (void)LD4(&flag); write_b(); })
CASE(read_write, { write_a(); (void)LD4(&flag); }, { ST4(&flag, 2); write_b(); })
CASE(neighbours, { write_a(); ST4(&halves[0], 1); }, { ST4(&halves[4], 1); write_b(); })
CASE(byte_neighbours, { write_a(); ST1(&halves[1], 1); }, { ST1(&halves[2], 1); write_b(); })
CASE(overlap, { write_a(); ST1(&halves[1], 1); }, { ST4(&halves[0], 1); write_b(); })
CASE(straddle, { write_a(); ST4(&halves[6], 1); }, { (void)LD1(&halves[9]); write_b(); })
CASE(block, { write_a(); __portent_memset(halves, 1, 16, SITE); }, { (void)LD1(&halves[15]); write_b(); })
CASE(failed_cas, { write_a(); __portent_atomic_cas4(&flag, 7, 8, 5, 5, SITE); }, { (void)LD4(&flag); write_b(); })
CASE(good_cas, { write_a(); __portent_atomic_cas4(&flag, 0, 8, 5, 5, SITE); }, { (void)LD4(&flag); write_b(); })
CASE(mutex, { pthread_mutex_lock(&mutex); write_a(); pthread_mutex_unlock(&mutex); },
     { pthread_mutex_lock(&mutex); write_b(); pthread_mutex_unlock(&mutex); })
CASE(trylock, { pthread_mutex_lock(&mutex); write_a(); pthread_mutex_unlock(&mutex); },
     { MUST(pthread_mutex_trylock(&mutex) == 0); write_b(); pthread_mutex_unlock(&mutex); })
CASE(failed_trylock, { pthread_mutex_lock(&mutex); write_a(); },
     { MUST(pthread_mutex_trylock(&mutex) == EBUSY); write_b(); })
CASE(timedlock, { pthread_mutex_lock(&mutex); write_a(); pthread_mutex_unlock(&mutex); },
     { struct timespec t = soon(CLOCK_REALTIME); MUST(pthread_mutex_timedlock(&mutex, &t) == 0); write_b(); })
CASE(clocklock, { pthread_mutex_lock(&mutex); write_a(); pthread_mutex_unlock(&mutex); },
     { struct timespec t = soon(CLOCK_MONOTONIC); MUST(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &t) == 0); write_b(); })
CASE(recursive, { pthread_mutex_lock(&recursive); pthread_mutex_lock(&recursive); write_a(); pthread_mutex_unlock(&recursive); pthread_mutex_unlock(&recursive); },
     { pthread_mutex_lock(&recursive); write_b(); pthread_mutex_unlock(&recursive); })
CASE(read_locks, { pthread_rwlock_rdlock(&rwlock); write_a(); pthread_rwlock_unlock(&rwlock); },
     { pthread_rwlock_rdlock(&rwlock); write_b(); pthread_rwlock_unlock(&rwlock); })
CASE(read_then_write_lock, { pthread_rwlock_rdlock(&rwlock); write_a(); pthread_rwlock_unlock(&rwlock); },
     { pthread_rwlock_wrlock(&rwlock); write_b(); pthread_rwlock_unlock(&rwlock); })
CASE(write_then_read_lock, { pthread_rwlock_wrlock(&rwlock); write_a(); pthread_rwlock_unlock(&rwlock); },
     { MUST(pthread_rwlock_tryrdlock(&rwlock) == 0); write_b(); pthread_rwlock_unlock(&rwlock); })
CASE(spin, { pthread_spin_lock(&spin); write_a(); pthread_spin_unlock(&spin); },
     { MUST(pthread_spin_trylock(&spin) == 0); write_b(); pthread_spin_unlock(&spin); })
CASE(semaphore, { write_a(); sem_post(&semaphore); }, { sem_wait(&semaphore); write_b(); })
CASE(failed_semaphore, write_a(), { MUST(sem_trywait(&semaphore) != 0); write_b(); })
CASE(mtx, { mtx_lock(&mutex11); write_a(); mtx_unlock(&mutex11); },
     { MUST(mtx_trylock(&mutex11) == thrd_success); write_b(); mtx_unlock(&mutex11); })
CASE(once, pthread_once(&once, write_a), { pthread_once(&once, abort); write_b(); })
CASE(call_once, call_once(&once11, write_a), { call_once(&once11, abort); write_b(); })
CASE(event, portent_event("go"), { portent_event("ignored"); portent_event("stop"); })
CASE(
    marks,
    {
        portent_begin("outer");
        portent_begin("inner");
        ST4(&a, 1);
        portent_end("outer"); /* not the innermost: ignored */
        portent_end("inner");
        portent_end("outer");
        portent_end("outer");
    },
    {
        portent_internal("busy", -3);
        ST4(&b, 1);
        portent_internal("busy", 4);
    })
/* clang-format on */

static void *waiter(void *context)
{
    (void)context;
    pthread_mutex_lock(&mutex);
    while (!ready)
        pthread_cond_wait(&condition, &mutex);
    write_b();
    pthread_mutex_unlock(&mutex);
    return NULL;
}
static void *signaller(void *context)
{
    (void)context;
    write_a();
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return NULL;
}
static int waiter11(void *context)
{
    (void)context;
    mtx_lock(&mutex11);
    while (!ready)
        cnd_wait(&condition11, &mutex11);
    write_b();
    mtx_unlock(&mutex11);
    return 0;
}
static int signaller11(void *context)
{
    (void)context;
    write_a();
    mtx_lock(&mutex11);
    ready = 1;
    cnd_broadcast(&condition11);
    mtx_unlock(&mutex11);
    return 0;
}
static void *before_barrier(void *context)
{
    (void)context;
    write_a();
    pthread_barrier_wait(&barrier);
    return NULL;
}
static void *after_barrier(void *context)
{
    (void)context;
    pthread_barrier_wait(&barrier);
    write_b();
    return NULL;
}
static void *only_a(void *context)
{
    write_a();
    return context;
}
static atomic_int may_end;
static void *a_when_told(void *context)
{
    while (!atomic_load(&may_end))
        usleep(100);
    write_a();
    return context;
}
static void *only_b(void *context)
{
    write_b();
    return context;
}
static void *write_field(void *context)
{
    int *field = context;
    ST4(field, 1);
    return NULL;
}
static void *exits(void *context)
{
    write_a();
    pthread_exit(context);
}
static void *is_cancelled(void *context)
{
    write_a();
    told();
    for (;;)
        pause();
    return context;
}
static void *spins_until_cancelled(void *context)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    write_a();
    told();
    for (;;)
        (void)LD4(&flag);
    return context;
}
static void *dies_with_lock(void *context)
{
    pthread_mutex_lock(context);
    write_a();
    told();
    return NULL;
}
static pid_t user;
static void *uses_heap(void *context)
{
    int **kept = context;
    *kept = malloc(sizeof(int) * 16);
    write_a();
    ST4(*kept, 1);
    free(*kept);
    user = (pid_t)syscall(SYS_gettid);
    told();
    return NULL;
}

static void two(void *(*first)(void *), void *(*second)(void *))
{
    pthread_t threads[2];
    pthread_create(&threads[1], NULL, second, NULL);
    pthread_create(&threads[0], NULL, first, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}
static void one(void *(*first)(void *), void *context)
{
    pthread_t thread;
    pthread_create(&thread, NULL, first, context);
    pthread_join(thread, NULL);
}

static int condition_case(const char *argument)
{
    (void)argument;
    two(signaller, waiter);
    return 0;
}
static int condition11_case(const char *argument)
{
    (void)argument;
    thrd_t threads[2];
    thrd_create(&threads[0], waiter11, NULL);
    thrd_create(&threads[1], signaller11, NULL);
    thrd_join(threads[0], NULL);
    thrd_join(threads[1], NULL);
    return 0;
}
static int barrier_case(const char *argument)
{
    (void)argument;
    two(before_barrier, after_barrier);
    return 0;
}
static int fork_order(const char *argument)
{
    (void)argument;
    write_a();
    one(only_b, NULL);
    return 0;
}
/* A fault in the middle of a store: its granule is let go, and the other thread has it before the handler returns. */
static char *guarded;
static atomic_int done;
static void *disturbs(void *context)
{
    heard();
    write_a();
    ST8(guarded, 2);
    atomic_store(&done, 1);
    return context;
}
static void unguard(int signal)
{
    (void)signal;
    mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
    told();
    while (!atomic_load(&done))
        usleep(100);
}
static int disturbed(const char *argument)
{
    (void)argument;
    pthread_t thread;
    guarded = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MUST(guarded != MAP_FAILED && signal(SIGSEGV, unguard) != SIG_ERR);
    MUST(pthread_create(&thread, NULL, disturbs, NULL) == 0);
    ST8(guarded, 1);
    MUST(mprotect(guarded, 4096, PROT_NONE) == 0);
    ST8(guarded, 3);
    write_b();
    pthread_join(thread, NULL);
    return 0;
}
static int join(const char *argument)
{
    (void)argument;
    one(only_a, NULL);
    write_b();
    return 0;
}
static int join_exit(const char *argument)
{
    (void)argument;
    one(exits, NULL);
    write_b();
    return 0;
}
static int join_after_cancel(void *(*start)(void *))
{
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, start, NULL);
    heard();
    usleep(10000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    write_b();
    return result != PTHREAD_CANCELED;
}
static int join_cancelled(const char *argument)
{
    (void)argument;
    return join_after_cancel(is_cancelled);
}
static int join_async_cancelled(const char *argument)
{
    (void)argument;
    return join_after_cancel(spins_until_cancelled);
}
/* A wait that is cancelled ends with the mutex taken again, when the other one gives it up. */
static void write_b_and_unlock(void *unused)
{
    (void)unused;
    write_b();
    pthread_mutex_unlock(&mutex);
}
static void *waits_until_cancelled(void *context)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(write_b_and_unlock, NULL);
    told();
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(0);
    return context;
}
static int cancelled_wait(const char *argument)
{
    (void)argument;
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, waits_until_cancelled, NULL);
    heard();
    pthread_mutex_lock(&mutex);
    pthread_cancel(thread);
    write_a();
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, &result);
    return result != PTHREAD_CANCELED;
}
/* A join that is cancelled leaves the thread to the next who joins it. */
static void *joins(void *thread)
{
    told();
    pthread_join(*(pthread_t *)thread, NULL);
    return NULL;
}
static int cancelled_join(const char *argument)
{
    (void)argument;
    pthread_t first, second;
    void *result;
    pthread_create(&first, NULL, a_when_told, NULL);
    pthread_create(&second, NULL, joins, &first);
    heard();
    usleep(10000);
    pthread_cancel(second);
    pthread_join(second, &result);
    atomic_store(&may_end, 1);
    pthread_join(first, NULL);
    write_b();
    return result != PTHREAD_CANCELED;
}
static int detached(const char *argument)
{
    (void)argument;
    pthread_t thread;
    pthread_create(&thread, NULL, first_none, NULL);
    pthread_detach(thread);
    heard();
    write_b();
    return 0;
}
static int robust(const char *argument)
{
    (void)argument;
    pthread_mutexattr_t attributes;
    pthread_mutex_t lock;
    pthread_t thread;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&lock, &attributes);
    pthread_create(&thread, NULL, dies_with_lock, &lock);
    heard();
    if (pthread_mutex_lock(&lock) != EOWNERDEAD)
        return 1;
    pthread_detach(thread);
    write_b();
    return 0;
}
/* The address of another object's past is a new variable: no order. */
static int heap_reuse(const char *argument)
{
    (void)argument;
    int *kept = NULL;
    pthread_t thread;
    pthread_create(&thread, NULL, uses_heap, &kept);
    heard();
    while (syscall(SYS_tgkill, getpid(), user, 0) == 0) /* as long as it lives, its list of free memory is its own */
        usleep(100);
    ST4(kept, 2);
    write_b();
    pthread_join(thread, NULL);
    return 0;
}
static int adjacent_watched(const char *argument)
{
    (void)argument;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, write_field, &pair.left);
    pthread_create(&threads[1], NULL, write_field, &pair.right);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
static int foreign(const char *argument)
{
    (void)argument;
    ST4(&a, 5);
    a = 6;
    return LD4(&a) != 6 || LD4(&a) != 6;
}
static int watch(const char *argument)
{
    (void)argument;
    for (int i = 0; i < 2; i++) {
        int *p = malloc(sizeof *p);
        *p = 40 + i;
        portent_watch(p, sizeof *p, PORTENT_INT, "balance");
        ST4(p, 50 + i);
        free(p);
        p = malloc(sizeof *p);
        ST4(p, 7); /* the address may be the same, the object is not */
        free(p);
    }
    int *other = malloc(sizeof *other);
    portent_watch(other, sizeof *other, PORTENT_INT, "other");
    ST4(other, 3);
    free(other);
    return 0;
}
static int plugin(const char *argument)
{
#ifdef RT_STATIC
    return argument != NULL;
#else
    void *library = argument ? dlopen(argument, RTLD_NOW) : NULL;
    void (*poke)(int) = library ? (void (*)(int))dlsym(library, "poke") : NULL;
    if (!poke)
        return 1;
    poke(9);
    return 0;
#endif
}
static int names(const char *argument)
{
    (void)argument;
    pthread_setname_np(pthread_self(), "boss");
    write_a();
    return 0;
}

#define PAIR(name)                                                                                                     \
    {                                                                                                                  \
#name, first_##name, second_##name                                                                             \
    }
static const struct {
    const char *name;
    void *(*first)(void *);
    void *(*second)(void *);
} pairs[] = {
    PAIR(none),
    PAIR(flag),
    PAIR(reads),
    PAIR(read_write),
    PAIR(neighbours),
    PAIR(byte_neighbours),
    PAIR(overlap),
    PAIR(straddle),
    PAIR(block),
    PAIR(failed_cas),
    PAIR(good_cas),
    PAIR(mutex),
    PAIR(trylock),
    PAIR(failed_trylock),
    PAIR(timedlock),
    PAIR(clocklock),
    PAIR(recursive),
    PAIR(read_locks),
    PAIR(read_then_write_lock),
    PAIR(write_then_read_lock),
    PAIR(spin),
    PAIR(semaphore),
    PAIR(failed_semaphore),
    PAIR(mtx),
    PAIR(once),
    PAIR(call_once),
    PAIR(event),
    PAIR(marks),
};
static const struct {
    const char *name;
    int (*run)(const char *argument);
} cases[] = {
    {"condition", condition_case},
    {"condition11", condition11_case},
    {"barrier", barrier_case},
    {"fork_order", fork_order},
    {"disturbed", disturbed},
    {"join", join},
    {"join_exit", join_exit},
    {"join_cancelled", join_cancelled},
    {"join_async_cancelled", join_async_cancelled},
    {"cancelled_wait", cancelled_wait},
    {"cancelled_join", cancelled_join},
    {"detached", detached},
    {"robust", robust},
    {"heap_reuse", heap_reuse},
    {"adjacent_watched", adjacent_watched},
    {"foreign", foreign},
    {"watch", watch},
    {"plugin", plugin},
    {"names", names},
};

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (pipe(pipes) != 0)
        return 1;
    pthread_spin_init(&spin, 0);
    sem_init(&semaphore, 0, 0);
    mtx_init(&mutex11, mtx_plain);
    cnd_init(&condition11);
    pthread_barrier_init(&barrier, NULL, 2);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (strcmp(what, pairs[i].name) == 0) {
            two(pairs[i].first, pairs[i].second);
            return 0;
        }
    }
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(what, cases[i].name) == 0)
            return cases[i].run(argc > 2 ? argv[2] : NULL);
    return 2;
}
