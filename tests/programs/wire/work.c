/*
 * A program to be watched: work.c MODE [COUNT].
 *   tour      every kind of event once, in a known order
 *   flood     two threads make COUNT user events each, as fast as they can
 *   beat      main makes an event every millisecond until COUNT of them
 *   halves    the same, then after another line COUNT more
 *   locks     two threads take one lock COUNT times each and count a watched variable under it
 *   threads   COUNT threads, one after another
 *   crash     COUNT events, and after another line abort()
 *   fork      a child that makes events, too, then COUNT events of the parent
 *   exec      events, then the program again as `beat`
 *   closing   closes all descriptors but the first three, then COUNT events
 *   waiting   main joins a thread that waits for a condition, until another line comes
 *   crowd     COUNT threads wait for another line, then each says which it is
 *   late      main joins a thread that takes its time to begin (late.c)
 *   watched   hooks called by hand, as instrumented code calls them
 * It waits for a line on standard input before it begins, so that readers can connect, and prints what it has done.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "portent.h"

static pthread_mutex_t lock_a = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static mtx_t mutex11;
static int go;
static pid_t worker_id;
static atomic_int worker_at; /* the last place of `tour` where it has to wait */
extern int late_threads __attribute__((weak));
static long count, shared;

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
}

/* The state of a thread, as the kernel gives it: S, it sleeps. Neither this nor raw calls are events. */
static char state_of(pid_t thread)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    close(fd);
    const char *name_end = length > 0 ? strrchr(text, ')') : NULL;
    return name_end && name_end[1] ? name_end[2] : 0;
}

/* Pauses until the worker has got to this station and sleeps there, for as long as that takes on this machine. */
static void await_worker(int station)
{
    pause_ms(1);
    for (int seen = 0; seen < 5;) {
        bool there = atomic_load(&worker_at) == station && state_of(worker_id) == 'S';
        seen = there ? seen + 1 : 0;
        syscall(SYS_nanosleep, &(struct timespec){0, 2000000}, NULL);
    }
}

static void *worker(void *argument)
{
    (void)argument;
    worker_id = (pid_t)syscall(SYS_gettid);
    pthread_mutex_lock(&lock_a);
    atomic_store(&worker_at, 1);
    while (!go)
        pthread_cond_wait(&condition, &lock_a);
    pthread_mutex_unlock(&lock_a);
    pthread_barrier_wait(&barrier);
    atomic_store(&worker_at, 2);
    sem_wait(&semaphore);
    atomic_store(&worker_at, 3);
    pthread_mutex_lock(&lock_a);
    portent_event("in");
    pthread_mutex_unlock(&lock_a);
    return NULL;
}

static void tour(void)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    sem_init(&semaphore, 0, 0);
    mtx_init(&mutex11, mtx_plain);
    pthread_create(&thread, NULL, worker, NULL);
    await_worker(1); /* it waits for the condition */
    pthread_mutex_lock(&lock_a);
    go = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&lock_a);
    pthread_barrier_wait(&barrier);
    await_worker(2); /* for the semaphore */
    pthread_mutex_lock(&lock_a);
    sem_post(&semaphore);
    await_worker(3); /* for the lock */
    pthread_mutex_unlock(&lock_a);
    pthread_join(thread, NULL);
    pthread_rwlock_rdlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    pthread_rwlock_wrlock(&rwlock);
    pthread_rwlock_unlock(&rwlock);
    mtx_lock(&mutex11);
    mtx_unlock(&mutex11);
    portent_begin("transfer");
    portent_internal("busy", -3);
    portent_end("transfer");
    pthread_setname_np(pthread_self(), "captain");
    portent_event("<script>");
    sched_yield();
}

static void *flood(void *name)
{
    for (long i = 0; i < count; i++)
        portent_event(name);
    return NULL;
}

static void *locker(void *argument)
{
    (void)argument;
    for (long i = 0; i < count; i++) {
        pthread_mutex_lock(&lock_a);
        portent_internal("at", ++shared);
        pthread_mutex_unlock(&lock_a);
    }
    return NULL;
}

static void *nothing(void *argument)
{
    return argument;
}

static void two(void *(*start)(void *))
{
    pthread_t threads[2];
    static char names[2][8] = {"left", "right"};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, start, names[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void beat(long beats)
{
    for (long i = 0; i < beats; i++) {
        portent_event("beat");
        pause_ms(1);
    }
}

#ifdef HOOKS
#include "core/hooks.h"
#include "core/site.h"

static int level = 7;
static char text[16] = "start";

void __portent_store4(void *address, unsigned value, const struct pt_site *site);
void __portent_store8(void *address, unsigned long value, const struct pt_site *site);
unsigned __portent_atomic_rmw4(void *address, unsigned operand, int op, int order, const struct pt_site *site);

static void name_objects(void)
{
    portent_watch(&level, sizeof level, PORTENT_INT, "level");
    portent_watch(text, sizeof text, PORTENT_CHARS, "text");
}

static void watched(void)
{
    static const struct pt_site site = {"by_hand.c", "watched", "level", 11, 1};
    for (unsigned i = 0; i < (unsigned)count; i++)
        __portent_store4(&level, i, &site);
    __portent_store8(text, 0x646e65, &site);
    __portent_atomic_rmw4(&level, 100, PT_RMW_ADD, __ATOMIC_SEQ_CST, &site);
}
#endif

static void *waiter(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&lock_a);
    while (!go)
        pthread_cond_wait(&condition, &lock_a);
    pthread_mutex_unlock(&lock_a);
    return NULL;
}

static void *poster(void *argument)
{
    (void)argument;
    getchar();
    pthread_mutex_lock(&lock_a);
    go = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&lock_a);
    return NULL;
}

static void wait_for_a_line(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, waiter, NULL);
    pthread_create(&threads[1], NULL, poster, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

static void *sleeper(void *which)
{
    pthread_mutex_lock(&lock_a);
    while (!go)
        pthread_cond_wait(&condition, &lock_a);
    portent_internal("which", (long)which);
    pthread_mutex_unlock(&lock_a);
    return NULL;
}

static void crowd(void)
{
    pthread_t threads[64];
    for (long i = 0; i < count && i < 64; i++)
        pthread_create(&threads[i], NULL, sleeper, (void *)(i + 1));
    puts("created");
    getchar();
    pthread_mutex_lock(&lock_a);
    go = 1;
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&lock_a);
    for (long i = 0; i < count && i < 64; i++)
        pthread_join(threads[i], NULL);
}

static void *latecomer(void *argument)
{
    portent_event("late");
    return argument;
}

static void wait_for_a_latecomer(void)
{
    pthread_t thread;
    if (&late_threads)
        late_threads = 1;
    pthread_create(&thread, NULL, latecomer, NULL);
    pthread_join(thread, NULL);
}

static void fork_and_beat(void)
{
    pid_t child = fork();
    if (child == 0) {
        portent_event("child");
        pthread_mutex_lock(&lock_a);
        pthread_mutex_unlock(&lock_a);
        exit(3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("child %d\n", WEXITSTATUS(status));
    beat(count);
}

static void run(const char *mode, char **arguments)
{
    pthread_t thread;
    if (strcmp(mode, "tour") == 0)
        tour();
    else if (strcmp(mode, "flood") == 0)
        two(flood);
    else if (strcmp(mode, "locks") == 0)
        two(locker);
#ifdef HOOKS
    else if (strcmp(mode, "watched") == 0)
        watched();
#endif
    else if (strcmp(mode, "beat") == 0)
        beat(count);
    else if (strcmp(mode, "halves") == 0) {
        beat(count);
        getchar();
        beat(count);
    } else if (strcmp(mode, "waiting") == 0)
        wait_for_a_line();
    else if (strcmp(mode, "crowd") == 0)
        crowd();
    else if (strcmp(mode, "late") == 0)
        wait_for_a_latecomer();
    else if (strcmp(mode, "fork") == 0)
        fork_and_beat();
    else if (strcmp(mode, "closing") == 0) {
        close_range(3, ~0U, 0);
        beat(count);
    } else if (strcmp(mode, "exec") == 0) {
        beat(count);
        execl("/proc/self/exe", arguments[0], "beat", "20", (char *)NULL);
    } else if (strcmp(mode, "crash") == 0) {
        beat(count);
        getchar();
        abort();
    } else if (strcmp(mode, "threads") == 0)
        for (long i = 0; i < count; i++) {
            pthread_create(&thread, NULL, nothing, NULL);
            pthread_join(thread, NULL);
        }
}

int main(int argc, char **argv)
{
    struct timespec from, to;
    setvbuf(stdout, NULL, _IOLBF, 0);
    count = argc > 2 ? atol(argv[2]) : 0;
#ifdef HOOKS
    name_objects();
#endif
    if (argc < 4) {
        puts("ready");
        getchar();
    }
    clock_gettime(CLOCK_MONOTONIC, &from);
    run(argc > 1 ? argv[1] : "", argv);
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("done %.6f\n", (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9);
    return 0;
}
