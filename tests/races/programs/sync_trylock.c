/* A trylock that succeeds is a lock.
 * race: none
 */
#include "races.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x;

static void *one(void *unused)
{
    for (int i = 0; i < 10; i++) {
        while (pthread_mutex_trylock(&lock) != 0)
            usleep(50);
        x++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    both(one, one);
    return x != 20;
}
