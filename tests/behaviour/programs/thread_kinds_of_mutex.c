/* Recursive, error-checking and robust mutexes, trylock and timedlock: what they return is what they return plain.
 * holds: x <= 9
 * violated: x != 9
 * ordered: yes
 */
#include "say.h"
#include <time.h>

static int x;
static pthread_mutex_t recursive, checking, robust;

static void make(pthread_mutex_t *mutex, int kind, int robustness)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, kind);
    pthread_mutexattr_setrobust(&attributes, robustness);
    NEED(pthread_mutex_init(mutex, &attributes) == 0);
}

static void *worker(void *given)
{
    struct timespec past = {1, 0};
    printf("%d %d ", pthread_mutex_trylock(&recursive), pthread_mutex_timedlock(&recursive, &past));
    printf("%d\n", pthread_mutex_unlock(&checking));
    pthread_mutex_lock(&robust);
    SAY(x, 5);
    return given; /* and the robust mutex has no owner */
}

int main(void)
{
    pthread_t thread;
    make(&recursive, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED);
    make(&checking, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED);
    make(&robust, PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST);
    for (int i = 0; i < 3; i++)
        pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&checking);
    printf("%d\n", pthread_mutex_lock(&checking));
    NEED(pthread_create(&thread, NULL, worker, NULL) == 0);
    pthread_join(thread, NULL);
    printf("%d\n", pthread_mutex_lock(&robust));
    SAY(x, 9);
    pthread_mutex_consistent(&robust);
    printf("%d %d\n", pthread_mutex_unlock(&robust), pthread_mutex_lock(&robust));
    for (int i = 0; i < 4; i++)
        printf("%d ", pthread_mutex_unlock(&recursive));
    printf("%d\n", pthread_mutex_trylock(&recursive));
    return 0;
}
