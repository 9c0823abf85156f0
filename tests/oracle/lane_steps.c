/*
 * The turns of the program that run_lane_programs.py plays: a file of steps, each a thread, what it does, and with
 * what. Compiled by clang alone, and its futex calls are made by hand: nothing that looks at a program's memory, atomic
 * operations or calls can know that the steps come one after the other, nor who has whose handle.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

#include "hidden_futex.h"

enum { STEPS = 1 << 16, THREADS = 512 };
struct step {
    int thread;
    char what;
    int with;
};
static struct step steps[STEPS + 1];
static atomic_int now;
static pthread_t threads[THREADS];

void take_steps(const char *file)
{
    FILE *in = fopen(file, "r");
    int count = 0;
    while (in && count < STEPS &&
           fscanf(in, "%d %c %d", &steps[count].thread, &steps[count].what, &steps[count].with) == 3)
        count++;
    if (!in || fclose(in) != 0 || count == STEPS)
        __builtin_trap();
}

/* Waits for the thread's next step; done() ends it. */
char step(int thread, int *with)
{
    int at = atomic_load(&now);
    for (; steps[at].what && steps[at].thread != thread; at = atomic_load(&now))
        futex(&now, FUTEX_WAIT_PRIVATE, at);
    *with = steps[at].with;
    return steps[at].what;
}

void done(void)
{
    atomic_fetch_add(&now, 1);
    futex(&now, FUTEX_WAKE_PRIVATE, THREADS);
}

void make(int number, void *(*function)(void *))
{
    if (pthread_create(&threads[number], NULL, function, (void *)(long)number) != 0)
        __builtin_trap();
}

void join(int number)
{
    pthread_join(threads[number], NULL);
}

void detach(int number)
{
    pthread_detach(threads[number]);
}
