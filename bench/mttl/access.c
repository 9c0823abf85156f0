// What an access costs as the number of threads grows. Arguments: threads, accesses in all. Every thread reads and
// writes memory of its own, a shared table under locks, and every so often what main last said. Prints nanoseconds of
// processor time per access.
#include <portent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 64, OWN = 256, STRIPES = 64, SHARED_EVERY = 64 };

static struct {
    pthread_mutex_t lock;
    volatile long value;
} table[STRIPES];
volatile long level;
static pthread_mutex_t level_lock = PTHREAD_MUTEX_INITIALIZER;
static long rounds;
static volatile long own[MOST][OWN];

static void *worker(void *argument)
{
    volatile long *mine = own[(long)argument];
    long heard = 0;
    for (long i = 0; i < rounds; i++) {
        for (int k = 0; k < SHARED_EVERY; k++)
            mine[(i + k) % OWN] += 1;
        pthread_mutex_lock(&table[i % STRIPES].lock);
        table[i % STRIPES].value++;
        pthread_mutex_unlock(&table[i % STRIPES].lock);
        if (i % 256 == 0) {
            pthread_mutex_lock(&level_lock);
            heard += level;
            pthread_mutex_unlock(&level_lock);
        }
    }
    return (void *)heard;
}

int main(int argc, char **argv)
{
    long threads = argc > 1 ? atol(argv[1]) : 2, accesses = argc > 2 ? atol(argv[2]) : 10000000;
    pthread_t thread[MOST];
    struct timespec time;
    if (threads < 1 || threads > MOST)
        return 2;
    rounds = accesses / (2 * SHARED_EVERY) / threads;
    for (int i = 0; i < STRIPES; i++)
        pthread_mutex_init(&table[i].lock, NULL);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&thread[i], NULL, worker, (void *)i) != 0)
            return 2;
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&level_lock);
        level = i;
        pthread_mutex_unlock(&level_lock);
        nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
    }
    for (long i = 0; i < threads; i++)
        pthread_join(thread[i], NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    printf("%.3f\n", ((double)time.tv_sec * 1e9 + (double)time.tv_nsec) / (double)accesses);
    return 0;
}
