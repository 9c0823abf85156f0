/*
 * The water tank of the JMPaX paper: one thread measures the level of the water, the other opens the valve. The pauses
 * let the valve be in time. Nothing else does.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { PAUSE_US = 50000 };

static _Atomic int w = 20; /* level of the water */
static _Atomic int v = 40; /* how far the valve is open */

/* Measures at 1, 3 and 5 pauses. */
static void *sensor(void *unused)
{
    static const int levels[] = {24, 27, 31};
    usleep(PAUSE_US);
    for (int i = 0; i < 3; i++) {
        w = levels[i];
        usleep(2 * PAUSE_US);
    }
    return unused;
}

static void open_valve(int target)
{
    while (v < target) {
        v += 10;
        usleep(2 * PAUSE_US);
    }
}

/* Looks at the level at 2 pauses (24) and at 6 (31), and opens the valve a step at a time. */
static void *controller(void *unused)
{
    usleep(2 * PAUSE_US);
    for (int i = 0; i < 2; i++)
        open_valve(w > 30 ? 70 : 60);
    return unused;
}

int main(void)
{
    pthread_t t1, t2;
    if (pthread_create(&t1, NULL, controller, NULL) != 0 || pthread_create(&t2, NULL, sensor, NULL) != 0)
        return 1;
    pthread_join(t1, NULL);
    pthread_join(t2, NULL);
    return 0;
}
