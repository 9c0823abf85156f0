/* timer_create with SIGEV_THREAD: libc starts a thread for each expiry, which writes.
 * holds: x <= 3
 * violated: x != 3
 * races: reported wrongly, since setting a timer is not known to come before its thread
 * ordered: yes
 */
#include "say.h"
#include <semaphore.h>
#include <time.h>

static int x;
static sem_t expired;

static void expire(union sigval value)
{
    SAY(x, value.sival_int);
    sem_post(&expired);
}

int main(void)
{
    sem_init(&expired, 0, 0);
    for (int i = 1; i <= 3; i++) {
        struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_value.sival_int = i};
        struct itimerspec soon = {.it_value.tv_nsec = 1000};
        timer_t timer;
        event.sigev_notify_function = expire;
        NEED(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
        NEED(timer_settime(timer, 0, &soon, NULL) == 0);
        while (sem_wait(&expired) != 0)
            ;
        timer_delete(timer);
    }
    puts("expired");
    return 0;
}
