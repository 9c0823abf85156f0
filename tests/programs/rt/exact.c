/*
 * Two pinned threads on one watched variable: random stores, updates and loads; what a load gave is told in a variable
 * of the thread's own. exact MODE SIZE OFFSET COUNT, MODE plain, atomic or range.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "hooks.h"

_Alignas(64) unsigned char x[64];
_Alignas(64) uint64_t seen1;
_Alignas(64) uint64_t seen2;
_Alignas(64) uint64_t noise[8];
static char mode;
static int size, offset;
static long count;

#define OF_SIZE(n, type)                                                                                               \
    static uint64_t load##n(void)                                                                                      \
    {                                                                                                                  \
        return mode == 'a' ? __portent_atomic_load##n(x + offset, __ATOMIC_ACQUIRE, SITE)                              \
                           : __portent_load##n(x + offset, SITE);                                                      \
    }                                                                                                                  \
    static void store##n(uint64_t value)                                                                               \
    {                                                                                                                  \
        if (mode == 'a')                                                                                               \
            __portent_atomic_store##n(x + offset, (type)value, __ATOMIC_RELEASE, SITE);                                \
        else                                                                                                           \
            __portent_store##n(x + offset, (type)value, SITE);                                                         \
    }
OF_SIZE(1, uint8_t)
OF_SIZE(2, uint16_t)
OF_SIZE(4, uint32_t)
OF_SIZE(8, uint64_t)

static uint64_t load(void)
{
    uint64_t value = 0;
    if (mode == 'r') {
        __portent_begin_read(x + offset, (size_t)size, SITE);
        memcpy(&value, x + offset, (size_t)size);
        __portent_end_read(x + offset, (size_t)size, SITE);
        return value;
    }
    return size == 1 ? load1() : size == 2 ? load2() : size == 4 ? load4() : load8();
}

static void store(uint64_t value)
{
    if (mode == 'r')
        __portent_memcpy(x + offset, &value, (size_t)size, SITE, SITE);
    else if (size == 1)
        store1(value);
    else if (size == 2)
        store2(value);
    else if (size == 4)
        store4(value);
    else
        store8(value);
}

static void *run(void *context)
{
    long who = (long)context;
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET((size_t)who % 2, &cpus);
    pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
    uint64_t random = 88172645463325252u + (uint64_t)who;
    for (long i = 0; i < count; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        if (random % 4 == 0)
            store(random >> 8);
        else if (random % 4 == 1 && mode == 'a' && size == 4)
            ADD4(x + offset, 1);
        else
            ST8(who ? &seen2 : &seen1, load());
        if (random % 16 == 5)
            ST8(&noise[random >> 20 & 7], LD8(&noise[random >> 24 & 7]));
    }
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argc;
    mode = argv[1][0];
    size = atoi(argv[2]);
    offset = atoi(argv[3]);
    count = atol(argv[4]);
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (long i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
