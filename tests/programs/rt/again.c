/*
 * A number in a shadow word that comes to mean another clock between a thread's look at the word and its exchange. The
 * thread is stopped there by a signal, if there are enough of them, while the number's owner goes through its ring
 * again and again and writes the same variable, at last with the same number in one of some hundred cases.
 *
 *   again ROUNDS
 *
 * The values written are the counts of the writer's events; so the reader's clock must have what `told` says.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "hooks.h"

enum { VARIABLES = 64, MORE = 200 };

uint64_t told;
static _Alignas(64) uint64_t variables[VARIABLES];
static _Atomic int wanted,
    done; /* requests to the writer: all variables, or the one that the reader is at, many times */
static volatile int at = -1;
static timer_t timer;

static void rest(void)
{
    static __thread unsigned turn;
    if (++turn % 1000 == 0)
        syscall(SYS_sched_yield);
}

static void ask(int what)
{
    int before = done;
    wanted = what;
    while (done == before)
        rest();
}

/* The next signal comes a moment later, at any instruction. */
static void set_timer(void)
{
    static long shift;
    struct itimerspec once = {.it_value = {.tv_nsec = 2000 + (shift = (shift + 777) % 10000)}};
    timer_settime(timer, 0, &once, NULL);
}

static void on_signal(int number)
{
    (void)number;
    if (at >= 0)
        ask(2);
    set_timer();
}

static void *write_them(void *context)
{
    uint64_t count = 0, random = 88172645463325252u;
    for (;;) {
        int what = wanted;
        if (!what) {
            rest();
            continue;
        }
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        long times = what == 1 ? VARIABLES : (long)(MORE + random % MORE);
        for (long i = 0; i < times && what < 3; i++) {
            portent_event("e");
            ST8(&variables[what == 1 ? i : at], ++count);
        }
        wanted = 0;
        done++;
        if (what == 3)
            return context;
    }
}

static void start_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    signal(SIGUSR1, on_signal);
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        abort();
    set_timer();
}

static uint64_t look(int i)
{
    at = i;
    uint64_t value = (uint64_t)LD8(&variables[i]);
    at = -1;
    return value;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    long rounds = argc > 1 ? atol(argv[1]) : 0;
    pthread_create(&thread, NULL, write_them, NULL);
    start_timer();
    for (long round = 0; round < rounds; round++) {
        ask(1);
        uint64_t most = look(VARIABLES - 1);
        for (int i = 0; i < VARIABLES - 1; i++) {
            uint64_t value = look(i);
            most = value > most ? value : most;
        }
        ST8(&told, most);
    }
    signal(SIGUSR1, SIG_IGN);
    ask(3);
    pthread_join(thread, NULL);
    return 0;
}
