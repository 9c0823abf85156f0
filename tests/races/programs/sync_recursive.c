/* A recursive mutex is free only when it was unlocked as often as it was locked.
 * race: none
 */
#include "races.h"

static pthread_mutex_t lock;
static int x;

static void *one(void *unused)
{
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_lock(&lock);
        x++;
        pthread_mutex_unlock(&lock);
        x++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &kind);
    both(one, one);
    pthread_mutex_destroy(&lock);
    return x != 40;
}
