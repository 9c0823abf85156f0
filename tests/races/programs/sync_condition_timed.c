/* A wait with a time limit takes the lock again, whether it was woken or not.
 * race: none
 */
#include "races.h"
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready, x;

static void *one(void *unused)
{
    x = 1;
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *two(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!ready) {
        struct timespec end;
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_nsec += end.tv_nsec < 999000000 ? 1000000 : 0;
        pthread_cond_timedwait(&changed, &lock, &end);
    }
    pthread_mutex_unlock(&lock);
    x++;
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
