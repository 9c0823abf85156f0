// Settings that all threads read again and again and one seldom writes, while every thread has relevant events of its
// own, so that each read is by a clock that the variable has not met. Arguments: rounds in all, threads. Prints a
// checksum that does not depend on the schedule.
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64, SETTINGS = 8, EVENT_EVERY = 64, WRITE_EVERY = 65536 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile uint64_t settings[SETTINGS]; // each in a granule of its own
static uint64_t sums[MOST][16];
static long rounds_each;
long done; // watched

static void report(long round, intptr_t me)
{
    pthread_mutex_lock(&lock);
    done++;
    if (me == 0 && round % WRITE_EVERY == 0)
        for (uint64_t i = 0; i < SETTINGS; i++)
            settings[i] = i + 1; // what it was, so that sums do not depend on when it is read
    pthread_mutex_unlock(&lock);
}

static void *worker(void *number)
{
    const intptr_t me = (intptr_t)number;
    uint64_t sum = 0;
    for (long i = 0; i < rounds_each; i++) {
        for (int k = 0; k < SETTINGS; k++)
            sum = sum * 31 + settings[k];
        if (i % EVENT_EVERY == 0)
            report(i, me);
    }
    sums[me][0] = sum;
    return NULL;
}

int main(int argc, char **argv)
{
    const long rounds = argc > 1 ? atol(argv[1]) : 1000000, threads = argc > 2 ? atol(argv[2]) : 2;
    pthread_t thread[MOST];
    uint64_t sum = 0;
    if (rounds < 1 || threads < 1 || threads > MOST)
        return 2;
    rounds_each = rounds / threads;
    for (uint64_t i = 0; i < SETTINGS; i++)
        settings[i] = i + 1;
    for (intptr_t i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, worker, (void *)i) != 0)
            return 2;
    for (long i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        sum += sums[i][0];
    }
    return printf("%016" PRIx64 "\n", sum) < 0 ? 1 : 0;
}
