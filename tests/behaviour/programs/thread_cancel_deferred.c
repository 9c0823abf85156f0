/* A thread that is cancelled in a condition's wait runs its cleanup handlers, which write.
 * holds: x <= 12
 * violated: x != 11
 * ordered: yes
 */
#include "say.h"

static int x;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER, waiting = PTHREAD_COND_INITIALIZER;

static void outer(void *given)
{
    (void)given;
    SAY(x, 12);
}

static void inner(void *given)
{
    SAY(x, 11); /* the lock is held again */
    pthread_mutex_unlock(given);
}

static void *worker(void *given)
{
    pthread_cleanup_push(outer, NULL);
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(inner, &lock);
    SAY(x, 1);
    pthread_cond_signal(&waiting);
    for (;;)
        pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return given;
}

int main(void)
{
    pthread_t thread;
    void *result;
    pthread_mutex_lock(&lock);
    NEED(pthread_create(&thread, NULL, worker, NULL) == 0);
    while (x != 1)
        pthread_cond_wait(&waiting, &lock);
    pthread_mutex_unlock(&lock);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    NEED(result == PTHREAD_CANCELED && pthread_mutex_trylock(&lock) == 0);
    SAY(x, 2);
    puts("cancelled");
    return 0;
}
