// Fork and join: in each phase new threads go over an array, each over the part that another one had before. They live
// too briefly for clock numbers of their own, and every granule has a clock of an earlier phase. Arguments: phases,
// threads. Prints a checksum that does not depend on the schedule.
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 64, PART = 1 << 15 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t array[MOST][PART];
static long phase, threads;
long done; // watched

static void *worker(void *number)
{
    uint64_t *part = array[((intptr_t)number + phase) % threads];
    pthread_mutex_lock(&lock);
    done++;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < PART; i++)
        part[i] = part[i] * 31 + (uint64_t)i;
    return NULL;
}

int main(int argc, char **argv)
{
    const long phases = argc > 1 ? atol(argv[1]) : 10;
    pthread_t thread[MOST];
    uint64_t sum = 0;
    threads = argc > 2 ? atol(argv[2]) : 2;
    if (phases < 1 || threads < 1 || threads > MOST)
        return 2;
    for (phase = 0; phase < phases; phase++) {
        for (intptr_t i = 0; i < threads; i++)
            if (pthread_create(&thread[i], NULL, worker, (void *)i) != 0)
                return 2;
        for (long i = 0; i < threads; i++)
            pthread_join(thread[i], NULL);
    }
    for (long t = 0; t < threads; t++)
        for (int i = 0; i < PART; i++)
            sum = sum * 31 + array[t][i];
    return printf("%016" PRIx64 "\n", sum) < 0 ? 1 : 0;
}
