/* Every primitive of POSIX threads, used rightly: status 0 under every schedule. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

#define NEED(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            exit(__LINE__ & 127);                                                                                      \
    } while (0)

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, recursive, checked;
static pthread_spinlock_t spin;
static pthread_rwlock_t shared = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t permits, turn;
static int count, spun, ready, begun, arrived, limited;

static void initialise(void)
{
    begun++;
}

static struct timespec in_a_while(void)
{
    struct timespec limit;
    NEED(clock_gettime(CLOCK_REALTIME, &limit) == 0);
    limit.tv_sec += 3600;
    return limit;
}

static void use_locks(void)
{
    NEED(pthread_mutex_lock(&plain) == 0);
    count++;
    NEED(pthread_mutex_unlock(&plain) == 0);
    NEED(pthread_mutex_lock(&recursive) == 0 && pthread_mutex_lock(&recursive) == 0);
    NEED(pthread_mutex_unlock(&recursive) == 0 && pthread_mutex_unlock(&recursive) == 0);
    NEED(pthread_mutex_lock(&checked) == 0 && pthread_mutex_lock(&checked) == EDEADLK);
    NEED(pthread_mutex_unlock(&checked) == 0);
    NEED(pthread_spin_lock(&spin) == 0);
    spun++;
    NEED(pthread_spin_unlock(&spin) == 0);
    int tried = pthread_mutex_trylock(&plain);
    NEED(tried == 0 || tried == EBUSY);
    if (tried == 0)
        NEED(pthread_mutex_unlock(&plain) == 0);
}

static void use_time(void)
{
    struct timespec limit = in_a_while(), past = {0};
    int result = pthread_mutex_timedlock(&plain, &limit);
    NEED(result == 0 || result == ETIMEDOUT);
    if (result == 0)
        NEED(pthread_mutex_unlock(&plain) == 0);
    result = pthread_rwlock_timedwrlock(&shared, &limit);
    NEED(result == 0 || result == ETIMEDOUT);
    if (result == 0)
        NEED(pthread_rwlock_unlock(&shared) == 0);
    NEED(sem_timedwait(&permits, &past) == 0 || errno == ETIMEDOUT);
    sem_post(&permits);
    NEED(pthread_mutex_lock(&plain) == 0);
    result = pthread_cond_timedwait(&changed, &plain, &limit);
    limited += result == ETIMEDOUT;
    NEED(result == 0 || result == ETIMEDOUT);
    NEED(pthread_mutex_unlock(&plain) == 0);
}

static void *work(void *unused)
{
    NEED(pthread_once(&once, initialise) == 0 && begun == 1);
    use_locks();
    NEED(pthread_rwlock_rdlock(&shared) == 0);
    NEED(pthread_rwlock_unlock(&shared) == 0);
    NEED(pthread_rwlock_wrlock(&shared) == 0);
    NEED(pthread_rwlock_tryrdlock(&shared) != 0);
    NEED(pthread_rwlock_unlock(&shared) == 0);
    NEED(sem_wait(&permits) == 0);
    use_time();
    NEED(sem_post(&permits) == 0);
    NEED(pthread_mutex_lock(&plain) == 0);
    ready++;
    NEED(pthread_cond_broadcast(&changed) == 0);
    while (ready < 2)
        NEED(pthread_cond_wait(&changed, &plain) == 0);
    NEED(pthread_mutex_unlock(&plain) == 0);
    __atomic_fetch_add(&arrived, 1, __ATOMIC_SEQ_CST);
    int last = pthread_barrier_wait(&barrier);
    NEED(last == 0 || last == PTHREAD_BARRIER_SERIAL_THREAD);
    NEED(__atomic_load_n(&arrived, __ATOMIC_SEQ_CST) == 2);
    if (last)
        NEED(sem_post(&turn) == 0);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checked, &kind);
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_barrier_init(&barrier, NULL, 2);
    sem_init(&permits, 0, 1);
    sem_init(&turn, 0, 0);
    for (int i = 0; i < 2; i++)
        NEED(pthread_create(&threads[i], NULL, work, NULL) == 0);
    NEED(sem_wait(&turn) == 0 && sem_trywait(&turn) == -1 && errno == EAGAIN);
    for (int i = 0; i < 2; i++)
        NEED(pthread_join(threads[i], NULL) == 0);
    return 0;
}
