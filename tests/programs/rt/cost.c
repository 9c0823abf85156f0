/* Nanoseconds of CPU time per hook without contention, against the plain access: run with and without a channel. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "hooks.h"

_Alignas(64) int a;
static uint64_t memory[512];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
enum { TIMES = 20000000 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define MEASURE(name, ...)                                                                                             \
    do {                                                                                                               \
        double start = now();                                                                                          \
        for (long i = 0; i < TIMES; i++) {                                                                             \
            __VA_ARGS__;                                                                                               \
        }                                                                                                              \
        printf("%-28s %6.2f ns\n", name, (now() - start) / TIMES);                                                     \
    } while (0)

static void all(const char *when)
{
    printf("%s\n", when);
    MEASURE("plain load", (void)*(volatile uint64_t *)&memory[i & 511]);
    MEASURE("plain store", *(volatile uint64_t *)&memory[i & 511] = (uint64_t)i);
    MEASURE("load hook", (void)LD8(&memory[i & 511]));
    MEASURE("store hook", ST8(&memory[i & 511], i));
    MEASURE("load hook, 4 bytes", (void)LD4((char *)memory + (i & 1023) * 4));
    MEASURE("store hook, 4 bytes", ST4((char *)memory + (i & 1023) * 4, i));
    MEASURE("atomic add hook", __portent_atomic_rmw8(&memory[i & 511], 1, PT_RMW_ADD, 5, SITE));
    MEASURE("lock and unlock", pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex));
}

static void *reader(void *context)
{
    ST4(&a, 2);
    for (int i = 0; i < 512; i++)
        (void)LD8(&memory[i]);
    return context;
}

int main(void)
{
    all("with empty clocks");
    ST4(&a, 1);
    all("after a relevant event");
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    pthread_join(thread, NULL);
    ST4(&a, 3);
    MEASURE("load hook, after reader", (void)LD8(&memory[i & 511]));
    puts("with an event every 512 accesses, so that each one finds an older clock");
    MEASURE("load hook", (void)LD8(&memory[i & 511]); if ((i & 511) == 511) ST4(&a, i));
    MEASURE("store hook", ST8(&memory[i & 511], i); if ((i & 511) == 511) ST4(&a, i));
    return 0;
}
