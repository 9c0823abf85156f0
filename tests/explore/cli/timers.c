/* Timers of every kind beside a thread, and what they say of time. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define CHECK(true)                                                                                                    \
    do {                                                                                                               \
        if (!(true)) {                                                                                                 \
            fprintf(stderr, "line %d: %s\n", __LINE__, #true);                                                         \
            exit(3);                                                                                                   \
        }                                                                                                              \
    } while (0)

static volatile sig_atomic_t got;
static int sum, calls, ends[2];
static double began;

static double passed(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9 - began;
}

static void handle(int signal)
{
    (void)signal;
    got++;
}

static void *work(void *unused)
{
    for (int i = 0; i < 5; i++)
        __atomic_fetch_add(&sum, 1, __ATOMIC_SEQ_CST);
    return unused;
}

static void wait_for(int times)
{
    while (got < times)
        usleep(1000);
}

static void do_alarm(void)
{
    CHECK(alarm(1) == 0);
    wait_for(1);
    CHECK(passed() >= 1 && passed() < 1.5 && alarm(0) == 0);
}

static void do_left(void)
{
    alarm(10);
    sleep(3);
    CHECK(alarm(20) == 7 && alarm(0) == 20);
    sleep(30);
    CHECK(!got);
}

static void do_hours(void)
{
    alarm(3600);
    wait_for(1);
    CHECK(passed() >= 3600);
}

static void do_pause(void)
{
    alarm(100);
    while (!got)
        pause();
    CHECK(passed() >= 100 && passed() < 101);
}

static void do_yield(void)
{
    alarm(1);
    while (!got)
        sched_yield();
    CHECK(passed() >= 1);
}

static void do_interval(void)
{
    struct itimerval every = {{0, 10000}, {0, 10000}}, left, off = {{0}, {0}};
    setitimer(ITIMER_REAL, &every, NULL);
    wait_for(5);
    getitimer(ITIMER_REAL, &left);
    CHECK(passed() >= .01 && left.it_interval.tv_usec == 10000 && left.it_value.tv_usec <= 10000);
    setitimer(ITIMER_REAL, &off, &left);
    CHECK(left.it_interval.tv_usec == 10000);
}

static void do_posix(void)
{
    struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec time = {.it_value.tv_sec = 2}, left;
    timer_t timer;
    CHECK(timer_create(CLOCK_MONOTONIC, &how, &timer) == 0 && timer_settime(timer, 0, &time, NULL) == 0);
    CHECK(timer_gettime(timer, &left) == 0 && left.it_value.tv_sec <= 2);
    wait_for(1);
    CHECK(passed() >= 2 && passed() < 2.5 && timer_delete(timer) == 0);
}

static void count(union sigval value)
{
    __atomic_fetch_add((int *)value.sival_ptr, 1, __ATOMIC_SEQ_CST);
}

static void do_call(void)
{
    struct sigevent how = {
        .sigev_notify = SIGEV_THREAD, .sigev_notify_function = count, .sigev_value.sival_ptr = &calls};
    struct itimerspec time = {{0, 100000000}, {1, 0}};
    timer_t timer;
    CHECK(timer_create(CLOCK_REALTIME, &how, &timer) == 0 && timer_settime(timer, 0, &time, NULL) == 0);
    while (__atomic_load_n(&calls, __ATOMIC_SEQ_CST) < 3)
        usleep(10000);
    CHECK(passed() >= 1 && timer_delete(timer) == 0);
}

static void do_file(void)
{
    struct itimerspec time = {{1, 0}, {5, 0}};
    uint64_t times = 0;
    int fd = timerfd_create(CLOCK_MONOTONIC, 0);
    CHECK(timerfd_settime(fd, 0, &time, NULL) == 0);
    CHECK(read(fd, &times, sizeof times) == sizeof times && times == 1);
    CHECK(passed() >= 5 && passed() < 5.5);
    sleep(3);
    CHECK(read(fd, &times, sizeof times) == sizeof times && times == 3);
    close(fd);
}

static void do_epoll(void)
{
    struct itimerspec time = {.it_value.tv_sec = 5};
    struct epoll_event asked = {.events = EPOLLIN}, told;
    uint64_t times = 0;
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK), all = epoll_create1(0);
    CHECK(epoll_ctl(all, EPOLL_CTL_ADD, fd, &asked) == 0 && timerfd_settime(fd, 0, &time, NULL) == 0);
    CHECK(epoll_wait(all, &told, 1, -1) == 1);
    CHECK(read(fd, &times, sizeof times) == sizeof times && times == 1 && passed() >= 5 && passed() < 5.5);
    CHECK(read(fd, &times, sizeof times) == -1 && errno == EAGAIN);
}

static sigset_t only_alarm(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    return set;
}

static void *await(void *set)
{
    int signal;
    CHECK(sigwait(set, &signal) == 0 && signal == SIGALRM);
    __atomic_store_n(&calls, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

static void do_sigwait(void)
{
    sigset_t set = only_alarm();
    pthread_t thread;
    pthread_create(&thread, NULL, await, &set);
    alarm(5);
    while (!__atomic_load_n(&calls, __ATOMIC_SEQ_CST))
        usleep(100000);
    CHECK(passed() >= 5);
    pthread_join(thread, NULL);
}

static void do_late(void)
{
    struct timespec limit = {.tv_sec = 7};
    sigset_t set = only_alarm();
    CHECK(sigtimedwait(&set, NULL, &limit) == -1 && errno == EAGAIN && passed() >= 7);
    alarm(1);
    CHECK(sigwaitinfo(&set, NULL) == SIGALRM && passed() >= 8);
}

static void do_watchdog(void)
{
    signal(SIGALRM, SIG_DFL);
    alarm(60);
    for (int i = 0; i < 1000; i++)
        usleep(1000);
}

static void do_sleep(void)
{
    alarm(2);
    CHECK(sleep(10) == 8 && got && passed() < 3);
}

static void do_read(void)
{
    struct sigaction action = {.sa_handler = handle};
    char byte;
    sigaction(SIGALRM, &action, NULL);
    CHECK(pipe(ends) == 0);
    alarm(2);
    CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR && passed() >= 2);
}

/* The thread may not have come so far. */
static void do_early(void)
{
    alarm(1);
    while (!got)
        usleep(600000);
    CHECK(__atomic_load_n(&sum, __ATOMIC_SEQ_CST) == 5);
}

static void do_stuck(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    signal(SIGALRM, SIG_DFL);
    alarm(60);
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
}

int main(int argument_count, char **arguments)
{
#define WAY(name)                                                                                                      \
    {                                                                                                                  \
#name, do_##name                                                                                               \
    }
    static const struct {
        const char *way;
        void (*function)(void);
    } all[] = {WAY(alarm), WAY(left),     WAY(hours), WAY(pause), WAY(yield), WAY(interval),
               WAY(posix), WAY(call),     WAY(file),  WAY(epoll), WAY(late),  WAY(sigwait),
               WAY(sleep), WAY(watchdog), WAY(read),  WAY(early), WAY(stuck), {"alone", do_alarm}};
    const char *way = argument_count > 1 ? arguments[1] : "";
    pthread_t thread;
    signal(SIGALRM, handle);
    signal(SIGUSR1, handle);
    began = passed();
    if (!strcmp(way, "sigwait") || !strcmp(way, "late"))
        only_alarm();
    if (strcmp(way, "alone") != 0)
        pthread_create(&thread, NULL, work, NULL);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(way, all[i].way))
            all[i].function();
    if (strcmp(way, "alone") != 0)
        pthread_join(thread, NULL);
    return 0;
}
