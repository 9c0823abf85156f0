/* One thread that sends user events at a pace: pace EVENTS_PER_SECOND SECONDS. For fleet.py. */
#include <portent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BURSTS = 200 }; /* a second */

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    long each = atol(argv[1]) / BURSTS, bursts = atol(argv[2]) * BURSTS;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (long i = 0; i < bursts; i++) {
        for (long k = 0; k < each; k++)
            portent_event("beat");
        next.tv_nsec += 1000000000 / BURSTS;
        if (next.tv_nsec >= 1000000000) {
            next.tv_nsec -= 1000000000;
            next.tv_sec++;
        }
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    return 0;
}
