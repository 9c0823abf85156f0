/* A trylock that fails orders nothing, though it says that another thread has the lock.
 * race: x w:A w:B
 */
#include "races.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *one(void *unused)
{
    x = 1; /* A */
    pthread_mutex_lock(&lock);
    pass(1);
    await(2);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    NEED(pthread_mutex_trylock(&lock) == EBUSY);
    x = 2; /* B */
    pass(2);
    return NULL;
}

int main(void)
{
    both(one, two);
    return x != 2;
}
