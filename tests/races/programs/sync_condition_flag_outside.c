/* The flag is set outside the lock that its reader has.
 * race: ready w:A r:B
 */
#include "races.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *one(void *unused)
{
    await(1);
    ready = 1; /* A */
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *two(void *unused)
{
    pthread_mutex_lock(&lock);
    USE(ready); /* B */
    pass(1);
    pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    both(one, two);
    return ready != 1;
}
