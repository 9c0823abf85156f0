/* A lock with a time limit that is not reached.
 * race: none
 */
#include "races.h"
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *one(void *unused)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 60;
    NEED(pthread_mutex_timedlock(&lock, &end) == 0);
    x++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    both(one, one);
    return x != 2;
}
