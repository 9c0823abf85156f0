/*
 * The turns of the programs that run_race_programs.py makes. Compiled by clang alone, and its futex calls are made by
 * hand: nothing that looks at a program's memory, atomic operations or calls can know that the steps come one after the
 * other.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "hidden_futex.h"

enum { THREADS = 16 };
static atomic_int now;
static pthread_t threads[THREADS];

/* Waits for the step of this number; done() ends it. */
void step(int number)
{
    for (int value = atomic_load(&now); value != number; value = atomic_load(&now))
        futex(&now, FUTEX_WAIT_PRIVATE, value);
}

void done(void)
{
    atomic_fetch_add(&now, 1);
    futex(&now, FUTEX_WAKE_PRIVATE, THREADS);
}

void restart(void)
{
    atomic_store(&now, 0);
}

void make(int number, void *(*function)(void *))
{
    if (pthread_create(&threads[number], NULL, function, NULL) != 0)
        __builtin_trap();
}

void join(int number)
{
    pthread_join(threads[number], NULL);
}
