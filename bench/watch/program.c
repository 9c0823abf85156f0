/*
 * The program that bench/watch/run.py watches. Two threads.
 *
 *     program pace RATE SECONDS     RATE user events a second in all, a portion every millisecond
 *     program work COUNT            COUNT rounds each of computing (about a microsecond), a lock, and a user event
 *     program locks COUNT           COUNT rounds each of a lock and nothing else: the worst there is
 *
 * Waits for a line on standard input, then prints how many seconds it took, and how much CPU time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "portent.h"

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static const char *mode;
static long number;
static double seconds;
static volatile unsigned long sink;

static double now(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void pace(const char *name)
{
    long each = number / 2 / 1000, portions = (long)(seconds * 1000);
    double start = now(CLOCK_MONOTONIC);
    for (long i = 0; i < portions; i++) {
        double left = start + (double)i / 1000 - now(CLOCK_MONOTONIC);
        struct timespec time = {0, (long)(left * 1e9)};
        if (left > 0) /* not by nanosleep: that would be two events more */
            syscall(SYS_nanosleep, &time, NULL);
        for (long k = 0; k < each; k++)
            portent_event(name);
    }
}

static void work(int self, const char *name, unsigned long length)
{
    unsigned long sum = 1;
    for (long i = 0; i < number; i++) {
        for (unsigned long k = 0; k < length; k++)
            sum = sum * 6364136223846793005UL + k;
        pthread_mutex_lock(&locks[self]);
        sum++;
        pthread_mutex_unlock(&locks[self]);
        if (length)
            portent_event(name);
    }
    sink = sum;
}

static void *run(void *argument)
{
    int self = argument != NULL;
    const char *name = self ? "r" : "w";
    if (strcmp(mode, "pace") == 0)
        pace(name);
    else
        work(self, name, strcmp(mode, "work") == 0 ? 700 : 0);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    if (argc < 3)
        return 2;
    mode = argv[1];
    number = atol(argv[2]);
    seconds = argc > 3 ? atof(argv[3]) : 0;
    printf("ready\n");
    fflush(stdout);
    getchar();
    double start = now(CLOCK_MONOTONIC), spent = now(CLOCK_PROCESS_CPUTIME_ID);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, (void *)i);
    for (long i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%.6f %.6f\n", now(CLOCK_MONOTONIC) - start, now(CLOCK_PROCESS_CPUTIME_ID) - spent);
    return 0;
}
