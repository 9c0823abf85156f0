/*
 * Two people meet in a corridor. As long as one of them stays where he is, they pass each other. In the second half of
 * the time both are polite: each steps aside, to the same side, again and again. Every thread runs, no lock is held for
 * long, and nothing gets done.
 *
 * usage: corridor SECONDS
 */
#include <portent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { STEP_US = 5000 };

static pthread_barrier_t pace;
static atomic_int side[2]; /* 0: left, 1: right */
static atomic_bool polite, over;
static bool ends, both; /* the same for this step; written between two barriers */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Both take a step at the same time, and both look before either does. */
static void *person(void *number)
{
    int me = (int)(long)number;
    for (;;) {
        if (me == 0) {
            ends = over;
            both = polite;
        }
        pthread_barrier_wait(&pace);
        if (ends)
            return NULL;
        bool blocked = side[0] == side[1];
        pthread_barrier_wait(&pace);
        usleep(STEP_US);
        if (!blocked) {
            side[me] = 0; /* the next one comes */
            if (me == 0)
                portent_event("passed");
        } else if (me == 0 || both) {
            side[me] = !side[me];
            portent_event("aside");
        }
        pthread_barrier_wait(&pace);
    }
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 2;
    pthread_t threads[2];
    pthread_barrier_init(&pace, NULL, 2);
    for (long i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, person, (void *)i) != 0)
            return 1;
    double start = now();
    while (now() - start < seconds) {
        usleep(10000);
        if (now() - start > seconds / 2)
            polite = true;
    }
    over = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
