/* Joining without waiting, and with a time limit.
 * race: none
 */
#include "races.h"
#include <time.h>

static int x;

static void *work(void *unused)
{
    x++;
    return NULL;
}

int main(void)
{
    pthread_t thread = start(work, NULL);
    while (pthread_tryjoin_np(thread, NULL) != 0)
        usleep(100);
    x++;
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    thread = start(work, NULL);
    NEED(pthread_timedjoin_np(thread, NULL, &end) == 0);
    x++;
    return x != 4;
}
