// What the five programs share: a small random generator, so that every build works on the same data, a checksum, and
// the two worker threads. The checksum of each program does not depend on the schedule: run.py compares it across
// builds.
#ifndef PT_BENCH_OVERHEAD_WORK_H
#define PT_BENCH_OVERHEAD_WORK_H

#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef WORKERS /* bench/quiet.py has more */
enum { WORKERS = 2 };
#endif

// xorshift64*: state in a register of its caller, hence nothing to instrument.
static inline uint64_t random_next(uint64_t state)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state;
}

static inline uint64_t random_value(uint64_t state)
{
    return state * 0x2545F4914F6CDD1DULL;
}

static inline uint64_t mix(uint64_t sum, uint64_t value)
{
    return (sum ^ value) * 0x100000001B3ULL;
}

// The size given on the command line, or the default one.
static inline long size_argument(int argc, char **argv, long otherwise)
{
    char *end = NULL;
    long size = argc > 1 ? strtol(argv[1], &end, 10) : otherwise;
    if (size <= 0 || (end != NULL && *end != '\0')) {
        fprintf(stderr, "%s: the size must be a positive number\n", argv[0]);
        exit(2);
    }
    return size;
}

static inline void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory == NULL) {
        perror("calloc");
        exit(2);
    }
    return memory;
}

// Runs the worker in each thread with its number, from 0, and waits for all.
static inline void run_workers(void *(*worker)(void *))
{
    pthread_t thread[WORKERS];
    for (intptr_t i = 0; i < WORKERS; i++) {
        if (pthread_create(&thread[i], NULL, worker, (void *)i) != 0) {
            perror("pthread_create");
            exit(2);
        }
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(thread[i], NULL);
}

// Adds the peak memory of this process and its CPU time so far, in seconds, to the file that run.py names. The peak is
// from /proc rather than from getrusage, whose figure includes what the parent had before exec.
static inline void tell_peak(void)
{
    const char *name = getenv("OVERHEAD_PEAK");
    FILE *to = name != NULL ? fopen(name, "a") : NULL;
    FILE *from = to != NULL ? fopen("/proc/self/status", "r") : NULL;
    char line[128];
    while (from != NULL && fgets(line, sizeof line, from) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0)
            fputs(line + 6, to);
    }
    if (from != NULL)
        fclose(from);
    if (to != NULL)
        fprintf(to, "%.6f\n", (double)clock() / CLOCKS_PER_SEC);
    if (to != NULL)
        fclose(to);
}

// The end of each program: its checksum, and its exit status.
static inline int print_sum(uint64_t sum)
{
    tell_peak();
    return printf("%016" PRIx64 "\n", sum) < 0 ? 1 : 0;
}

#endif
