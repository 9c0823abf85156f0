/*
 * What recording everything costs: two threads that take one of 16 locks, update a few elements of a shared array, and
 * then some of their own. Prints the CPU time of each thread and of the process, which includes the runtime's writer.
 *
 *   build/bin/portent cc -O2 -g -pthread bench/record.c -o record && PORTENT_OPTIONS=record=x.rec ./record 400000
 *   build/bench/trace_speed x.rec
 *
 * Compile it with -fsanitize=thread to compare. A round is 11 events on average.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { SHARED = 1024, LOCKS = 16, OWN = 64 };

static long shared[SHARED];
static pthread_mutex_t locks[LOCKS];
static long rounds = 200000;

static double cpu_time(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void *work(void *argument)
{
    unsigned seed = (unsigned)(size_t)argument;
    long own[OWN] = {0};
    for (long i = 0; i < rounds; i++) {
        seed = seed * 1103515245 + 12345;
        unsigned chosen = seed >> 16;
        pthread_mutex_lock(&locks[chosen % LOCKS]);
        for (unsigned j = chosen % LOCKS; j < SHARED; j += SHARED / 4)
            shared[j] += own[j % OWN];
        pthread_mutex_unlock(&locks[chosen % LOCKS]);
        for (unsigned j = 0; j < 8; j++)
            own[(chosen + j) % OWN] += j;
    }
    printf("thread: %.3f s\n", cpu_time(CLOCK_THREAD_CPUTIME_ID));
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t threads[2];
    if (count > 1)
        rounds = atol(arguments[1]);
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&locks[i], NULL);
    for (size_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("process: %.3f s\n", cpu_time(CLOCK_PROCESS_CPUTIME_ID));
    return 0;
}
