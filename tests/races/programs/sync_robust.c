/* A robust mutex whose owner has ended: who gets it comes after all of that thread.
 * race: y w:A r:B
 */
#include "races.h"

static pthread_mutex_t lock;
static int x, y;

static void *ends(void *context)
{
    NEED(pthread_mutex_lock(&lock) == 0);
    x = 1;
    return context;
}

static void *takes(void *context)
{
    await(1);
    NEED(pthread_mutex_lock(&lock) == EOWNERDEAD);
    x++;
    NEED(pthread_mutex_consistent(&lock) == 0);
    pthread_mutex_unlock(&lock);
    y = 2; /* A */
    pass(2);
    return context;
}

int main(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&lock, &attributes);
    pthread_t second = start(takes, NULL);
    pthread_join(start(ends, NULL), NULL);
    pass(1);
    await(2);
    USE(y); /* B */
    pthread_join(second, NULL);
    return x != 2;
}
