/* A handler of a thread that waits, and threads that are cancelled where they wait. */
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

static sem_t permits;
static pthread_t first;
static volatile int handled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void on_signal(int signal)
{
    (void)signal;
    handled++;
    sem_post(&permits);
}

static void *send(void *unused)
{
    pthread_kill(first, SIGUSR1);
    return unused;
}

static void unlock(void *mutex)
{
    pthread_mutex_unlock(mutex);
}

static void *wait_for_condition(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, &lock);
    for (;;)
        pthread_cond_wait(&changed, &lock);
    pthread_cleanup_pop(1);
    return unused;
}

static void *wait_for_permit(void *unused)
{
    for (;;)
        sem_wait(&permits);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    void *result[2];
    sem_init(&permits, 0, 0);
    first = pthread_self();
    signal(SIGUSR1, on_signal);
    pthread_create(&a, NULL, send, NULL);
    while (sem_wait(&permits) != 0)
        ;
    pthread_join(a, NULL);
    pthread_create(&a, NULL, wait_for_condition, NULL);
    pthread_create(&b, NULL, wait_for_permit, NULL);
    pthread_cancel(a);
    pthread_cancel(b);
    pthread_join(a, &result[0]);
    pthread_join(b, &result[1]);
    pthread_mutex_lock(&lock); /* it was given up */
    return handled == 1 && result[0] == PTHREAD_CANCELED && result[1] == PTHREAD_CANCELED ? 0 : 1;
}
