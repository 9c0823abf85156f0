/* Each thread has a lock, but not the same one.
 * race: x w:A w:B
 */
#include "races.h"

static pthread_mutex_t l = PTHREAD_MUTEX_INITIALIZER, m = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *one(void *unused)
{
    pthread_mutex_lock(&l);
    x = 1; /* A */
    pthread_mutex_unlock(&l);
    return NULL;
}

static void *two(void *unused)
{
    pthread_mutex_lock(&m);
    x = 2; /* B */
    pthread_mutex_unlock(&m);
    return NULL;
}

int main(void)
{
    both(one, two);
    return x == 0;
}
