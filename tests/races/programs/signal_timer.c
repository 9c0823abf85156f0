/* What was written before a timer was armed is there for the thread that it starts.
 * race: none
 */
#include "races.h"
#include <time.h>

static int x;
static sem_t done;

static void expired(union sigval value)
{
    ++*(int *)value.sival_ptr;
    sem_post(&done);
}

int main(void)
{
    struct sigevent how = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = expired, .sigev_value.sival_ptr = &x};
    struct itimerspec when = {.it_value.tv_nsec = 1000000};
    timer_t timer;
    sem_init(&done, 0, 0);
    NEED(timer_create(CLOCK_MONOTONIC, &how, &timer) == 0);
    x = 1;
    NEED(timer_settime(timer, 0, &when, NULL) == 0);
    sem_wait(&done);
    return x != 2;
}
