/*
 * Threads that make many clocks: what they use must be used again.
 *
 *   rings generations N   N threads, one after the other, with many clocks that are joins of two others', none its own
 *   rings alive N         one thread with N clocks that all stay in use
 *   rings long N          two threads with N clocks each, on variables that both read and write
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hooks.h"

enum { CLOCKS = 400, PAGE = 4096 };

static _Atomic pid_t id; /* of the thread, as soon as it works */
static uint64_t left[CLOCKS], right[CLOCKS];

static void *fill(void *context)
{
    uint64_t *to = context;
    id = (pid_t)syscall(SYS_gettid);
    for (int i = 0; i < CLOCKS; i++) {
        portent_event("e");
        ST8(&to[i], i);
    }
    return NULL;
}

static void *look(void *context)
{
    id = (pid_t)syscall(SYS_gettid);
    for (int i = 0; i < CLOCKS; i++) {
        (void)LD8(&left[i]);
        (void)LD8(&right[i]);
    }
    return context;
}

/* Awaits its end without joining it: main learns nothing, and so do the next ones from it. */
static void in_thread(void *(*start)(void *), void *context)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, start, context) != 0)
        abort();
    pthread_detach(thread);
    while (!id || syscall(SYS_tgkill, getpid(), id, 0) == 0)
        usleep(50);
    id = 0;
}

static long resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        abort();
    fclose(file);
    return pages;
}

static int generations(long count)
{
    in_thread(fill, left);
    in_thread(fill, right);
    long before = 0;
    for (long i = 0; i < count; i++) {
        in_thread(look, NULL);
        if (i == count / 4)
            before = resident();
    }
    long more = (resident() - before) * PAGE >> 10;
    printf("%ld KiB more\n", more);
    return more < 4096 ? 0 : 1;
}

static long operations;
static uint64_t shared[64];

static void *use(void *context)
{
    uint64_t random = (uintptr_t)context + 88172645463325252u;
    for (long i = 0; i < operations; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        portent_event("e");
        if (random >> 40 & 3)
            (void)LD8(&shared[random % 64]);
        else
            ST8(&shared[random % 64], i);
    }
    return NULL;
}

static void use_both(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, use, NULL) != 0)
        abort();
    use(&thread);
    pthread_join(thread, NULL);
}

static int lasts(long count)
{
    operations = count / 4;
    use_both();
    long before = resident();
    operations = count - count / 4;
    use_both();
    long more = (resident() - before) * PAGE >> 10;
    printf("%ld KiB more\n", more);
    return more < 4096 ? 0 : 1;
}

static int alive(long count)
{
    uint64_t *memory = malloc((size_t)count * sizeof *memory);
    for (long i = 0; i < count; i++) {
        portent_event("e");
        ST8(&memory[i], i);
    }
    return memory[count - 1] == (uint64_t)count - 1 ? 0 : 1;
}

int main(int argc, char **argv)
{
    long count = argc > 2 ? atol(argv[2]) : 0;
    if (count < 1)
        return 2;
    return argv[1][0] == 'g' ? generations(count) : argv[1][0] == 'a' ? alive(count) : lasts(count);
}
