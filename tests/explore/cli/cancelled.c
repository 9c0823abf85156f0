/* Threads that are cancelled while they wait; a mutex whose owner ends; a semaphore that a child posts. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int ends[2], cleaned, stop;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, robust;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_t other;

static void check(int true)
{
    if (!true)
        exit(3);
}

static void *sleeps(void *unused)
{
    for (;;)
        sleep(1000);
    return unused;
}

static void *reads(void *unused)
{
    char byte;
    (void)!read(ends[0], &byte, 1);
    return unused;
}

static void *polls(void *unused)
{
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    poll(&one, 1, -1);
    return unused;
}

static void *joins(void *unused)
{
    pthread_join(other, NULL);
    return unused;
}

static void *tests(void *unused)
{
    for (;;)
        pthread_testcancel();
    return unused;
}

static void clean(void *unused)
{
    (void)unused;
    cleaned++;
    pthread_mutex_unlock(&mutex);
}

static void *waits(void *unused)
{
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(clean, NULL);
    while (!stop)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(1);
    return unused;
}

/* Until it may be. */
static void *off(void *unused)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    sleep(2);
    __atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    return sleeps(unused);
}

static void *keeps(void *unused)
{
    pthread_mutex_lock(&robust);
    return unused;
}

static void take_robust(void)
{
    pthread_t thread;
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_setrobust(&how, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &how);
    pthread_create(&thread, NULL, keeps, NULL);
    int error = pthread_mutex_lock(&robust);
    check(error == 0 || error == EOWNERDEAD);
    if (error)
        pthread_mutex_consistent(&robust);
    pthread_mutex_unlock(&robust);
    pthread_join(thread, NULL);
}

static void wait_for_child(void)
{
    sem_t *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sem_init(shared, 1, 0);
    pid_t child = fork();
    if (child == 0) {
        usleep(20000);
        sem_post(shared);
        _exit(0);
    }
    check(sem_wait(shared) == 0);
    waitpid(child, NULL, 0);
}

int main(int count, char **words)
{
    static const struct {
        const char *way;
        void *(*start)(void *);
    } all[] = {{"sleep", sleeps}, {"read", reads},      {"poll", polls}, {"join", joins},
               {"test", tests},   {"condition", waits}, {"off", off}};
    const char *way = count > 1 ? words[1] : "";
    void *result = NULL;
    pthread_t thread;
    if (!strcmp(way, "robust"))
        take_robust();
    if (!strcmp(way, "child"))
        wait_for_child();
    check(pipe(ends) == 0);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(way, all[i].way) != 0)
            continue;
        if (all[i].start == joins)
            pthread_create(&other, NULL, reads, NULL);
        pthread_create(&thread, NULL, all[i].start, NULL);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        check(result == PTHREAD_CANCELED && cleaned <= 1);
        if (all[i].start == joins) {
            check(write(ends[1], "", 1) == 1);
            pthread_join(other, NULL);
        }
    }
    return 0;
}
