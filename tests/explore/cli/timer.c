/* Whether a timer is over when a thread looks is a matter of real time: abort, if it is between two stores. */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>

static atomic_int state;
static int timer;

static void *change(void *unused)
{
    state = 1;
    state = 2;
    return unused;
}

static void *look(void *unused)
{
    struct pollfd poll_timer = {timer, POLLIN, 0};
    if (poll(&poll_timer, 1, 0) == 1 && state == 1)
        abort();
    return unused;
}

static void *read_clock(void *unused)
{
    time(NULL);
    return unused;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc == 1) {
        timer = timerfd_create(CLOCK_MONOTONIC, 0);
        timerfd_settime(timer, 0, &(struct itimerspec){.it_value.tv_nsec = 500000}, NULL);
    }
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, change, NULL);
    pthread_create(&threads[1], NULL, argc == 1 ? look : read_clock, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
