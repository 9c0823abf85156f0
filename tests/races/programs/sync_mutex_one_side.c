/* One thread locks, the other does not.
 * race: x w:A r:B
 */
#include "races.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *one(void *unused)
{
    pthread_mutex_lock(&lock);
    x = 1; /* A */
    pthread_mutex_unlock(&lock);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    USE(x); /* B */
    return NULL;
}

int main(void)
{
    both(one, two);
    return 0;
}
