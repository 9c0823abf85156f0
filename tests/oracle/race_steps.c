/*
 * The turns of the programs that run_race_programs.py makes. Compiled by clang alone, and its futex calls are made by
 * hand: nothing that looks at a program's memory, atomic operations or calls can know that the steps come one after the
 * other.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>

enum { THREADS = 16 };
static atomic_int now;
static pthread_t threads[THREADS];

static void futex(int operation, int value)
{
#ifdef __x86_64__
    register long timeout __asm__("r10") = 0;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_futex), "D"(&now), "S"((long)operation), "d"((long)value), "r"(timeout)
                     : "rcx", "r11", "memory");
#else
    (void)operation, (void)value;
    sched_yield();
#endif
}

/* Waits for the step of this number; done() ends it. */
void step(int number)
{
    for (int value = atomic_load(&now); value != number; value = atomic_load(&now))
        futex(FUTEX_WAIT_PRIVATE, value);
}

void done(void)
{
    atomic_fetch_add(&now, 1);
    futex(FUTEX_WAKE_PRIVATE, THREADS);
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
