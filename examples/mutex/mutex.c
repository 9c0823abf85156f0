/*
 * Mutual exclusion without locks, for two threads: Peterson's algorithm, and (argument `bug`) an attempt that looks
 * whether the other thread is inside before it says that it wants to go there itself. Both work on an account inside.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <portent.h>

enum { TIMES = 20 };

static atomic_bool wants[2];
static atomic_int turn;
static bool bug;
static volatile int account;
static int pipes[2][2];

/* Once, at the worst moment, each thread waits for the other; through pipes, by bare system calls, which are unseen. */
static void meet(int me)
{
    static bool met[2];
    char byte;
    if (met[me])
        return;
    met[me] = true;
    if (syscall(SYS_write, pipes[me][1], "", 1) != 1 || syscall(SYS_read, pipes[1 - me][0], &byte, 1) != 1)
        abort();
}

static void enter(int me)
{
    int other = 1 - me;
    if (bug) {
        while (wants[other])
            sched_yield();
        meet(me);
        wants[me] = true; /* too late: the other one may have looked just before */
    } else {
        wants[me] = true;
        turn = other;
        while (wants[other] && turn == other)
            sched_yield();
    }
    portent_internal("critical", 1);
}

static void leave(int me)
{
    portent_internal("critical", 0);
    wants[me] = false;
}

static void work(int me)
{
    for (int i = 0; i < TIMES; i++) {
        enter(me);
        account = account + 1;
        leave(me);
    }
}

static void *left(void *unused)
{
    work(0);
    return unused;
}

static void *right(void *unused)
{
    work(1);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    bug = argc > 1 && strcmp(argv[1], "bug") == 0;
    if (pipe(pipes[0]) != 0 || pipe(pipes[1]) != 0)
        return 1;
    if (pthread_create(&a, NULL, left, NULL) != 0 || pthread_create(&b, NULL, right, NULL) != 0)
        return 1;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    puts("done");
    return 0;
}
