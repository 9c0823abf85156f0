/* Locks that change hands in ways no trace can say: one thread unlocks for another, one ends with its lock, another
 * takes a robust mutex whose holder has not been joined yet. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, robust;
static sem_t locked, over;
static int x;

static void *unlocks(void *argument)
{
    sem_wait(&locked);
    x++;
    pthread_mutex_unlock(&plain);
    return argument;
}

static void *locks(void *argument)
{
    pthread_mutex_lock(&plain);
    x++;
    pthread_mutex_unlock(&plain);
    return argument;
}

static void *abandons(void *argument)
{
    pthread_mutex_lock(&robust);
    x++;
    sem_post(&over);
    return argument;
}

static int take_robust(void)
{
    int result = pthread_mutex_lock(&robust);
    if (result == EOWNERDEAD)
        pthread_mutex_consistent(&robust);
    x++;
    return result != EOWNERDEAD;
}

int main(void)
{
    pthread_t thread;
    pthread_mutexattr_t attributes;
    int failures = 0;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attributes);
    sem_init(&locked, 0, 0);
    sem_init(&over, 0, 0);
    pthread_create(&thread, NULL, unlocks, NULL);
    pthread_mutex_lock(&plain);
    sem_post(&locked);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, locks, NULL);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, abandons, NULL);
    pthread_join(thread, NULL);
    failures += take_robust();
    pthread_mutex_unlock(&robust);
    pthread_create(&thread, NULL, abandons, NULL);
    sem_wait(&over);
    sem_wait(&over);
    failures += take_robust(); /* waits until the thread has ended */
    pthread_mutex_unlock(&robust);
    pthread_join(thread, NULL);
    return failures;
}
