/* A lock with a time limit that is reached orders nothing.
 * race: x w:A w:B
 */
#include "races.h"
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *one(void *unused)
{
    pthread_mutex_lock(&lock);
    x = 1; /* A */
    pass(1);
    await(2);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *two(void *unused)
{
    struct timespec end;
    await(1);
    clock_gettime(CLOCK_REALTIME, &end);
    NEED(pthread_mutex_timedlock(&lock, &end) == ETIMEDOUT);
    x = 2; /* B */
    pass(2);
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
