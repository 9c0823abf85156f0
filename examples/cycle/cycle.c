/*
 * A control loop with a cycle of 20 ms that once, in the middle of its time, takes much longer: a file that is written
 * while nobody thinks of the cycle, say.
 *
 * usage: cycle SECONDS
 */
#include <portent.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { CYCLE_MS = 20, STALL_MS = 900 };

static double seconds;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void rest(long ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void *control(void *unused)
{
    int stalled = 0;
    for (double start = now(); now() - start < seconds;) {
        portent_event("cycle");
        if (!stalled && now() - start > seconds / 2) {
            stalled = 1;
            rest(STALL_MS);
        }
        rest(CYCLE_MS);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    seconds = argc > 1 ? atof(argv[1]) : 2;
    if (pthread_create(&thread, NULL, control, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    return 0;
}
