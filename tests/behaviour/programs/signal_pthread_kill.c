/* Signals that are sent to one thread run their handler in that thread, and interrupt its wait.
 * holds: x <= 30
 * violated: x != 3
 * races: reported wrongly, since sending a signal is not known to come before its handler
 */
#include "say.h"
#include <semaphore.h>

static _Thread_local int who;
static int x;
static sem_t handled, end;

static void handler(int number)
{
    NEED(number == SIGUSR1 && who > 0);
    SAY(x, who);
    sem_post(&handled);
}

static void *worker(void *given)
{
    who = (int)(long)given;
    sem_post(&handled);
    while (sem_wait(&end) != 0)
        NEED(errno == EINTR);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    signal(SIGUSR1, handler);
    sem_init(&handled, 0, 0);
    sem_init(&end, 0, 0);
    for (long i = 0; i < 3; i++) {
        NEED(pthread_create(&threads[i], NULL, worker, (void *)(i + 1)) == 0);
        while (sem_wait(&handled) != 0)
            ;
    }
    for (int i = 0; i < 30; i++) {
        NEED(pthread_kill(threads[i % 3], SIGUSR1) == 0);
        while (sem_wait(&handled) != 0)
            ;
    }
    for (int i = 0; i < 3; i++)
        sem_post(&end);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", x);
    return 0;
}
