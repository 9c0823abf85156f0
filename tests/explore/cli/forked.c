/*
 * What two processes share: forked WAY [early]. A thread waits for what the child does later; `early`: it waits before
 * there is a child. Status 0.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    pthread_barrier_t barrier;
    sem_t semaphore;
    int ready;
    unsigned word;
} * shared;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *wait_condition(void *unused)
{
    pthread_mutex_lock(&shared->mutex);
    while (!shared->ready)
        pthread_cond_wait(&shared->condition, &shared->mutex);
    pthread_mutex_unlock(&shared->mutex);
    return unused;
}
static void do_condition(void)
{
    pthread_mutex_lock(&shared->mutex);
    shared->ready = 1;
    pthread_cond_signal(&shared->condition);
    pthread_mutex_unlock(&shared->mutex);
}

static void *wait_barrier(void *unused)
{
    pthread_barrier_wait(&shared->barrier);
    return unused;
}
static void do_barrier(void)
{
    pthread_barrier_wait(&shared->barrier);
}

static void *wait_semaphore(void *unused)
{
    sem_wait(&shared->semaphore);
    return unused;
}
static void do_semaphore(void)
{
    sem_post(&shared->semaphore);
}

static void *wait_futex(void *unused)
{
    while (!__atomic_load_n(&shared->word, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &shared->word, FUTEX_WAIT, 0, NULL, NULL, 0);
    return unused;
}
static void do_futex(void)
{
    __atomic_store_n(&shared->word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &shared->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void *wait_mutex(void *unused)
{
    pthread_mutex_lock(&shared->mutex);
    pthread_mutex_unlock(&shared->mutex);
    return unused;
}
static void do_mutex(void)
{
    pthread_mutex_lock(&shared->mutex);
    usleep(10000);
    pthread_mutex_unlock(&shared->mutex);
}

static void *work(void *unused)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&own);
        count++;
        pthread_mutex_unlock(&own);
    }
    return unused;
}

static const struct way {
    const char *name;
    void *(*waits)(void *);
    void (*acts)(void);
} ways[] = {
    {"condition", wait_condition, do_condition},
    {"barrier", wait_barrier, do_barrier},
    {"semaphore", wait_semaphore, do_semaphore},
    {"futex", wait_futex, do_futex},
    {"mutex", wait_mutex, do_mutex},
};

static void share(void)
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t condition;
    pthread_barrierattr_t barrier;
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &mutex);
    pthread_condattr_init(&condition);
    pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->condition, &condition);
    pthread_barrierattr_init(&barrier);
    pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&shared->barrier, &barrier, 2);
    sem_init(&shared->semaphore, 1, 0);
}

int main(int argc, char **argv)
{
    const struct way *way = ways;
    while (argc > 1 && strcmp(way->name, argv[1]) != 0)
        way++;
    share();
    pthread_t threads[2];
    for (int early = 1; early >= 0; early--) {
        if (early == (argc > 2)) {
            pthread_create(&threads[0], NULL, way->waits, NULL);
            pthread_create(&threads[1], NULL, work, NULL);
            usleep(1000);
        }
        if (!early)
            break;
        if (fork() == 0) {
            usleep(10000);
            way->acts();
            _exit(0);
        }
    }
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    wait(NULL);
    return count != 3;
}
