/* A loop that computes without end is cancelled asynchronously; what it watched before is there.
 * holds: x <= 3
 * violated: x != 2
 * ordered: yes
 */
#include "say.h"
#include <semaphore.h>

static int x;
static sem_t started;
static volatile unsigned long spins;

static void *worker(void *given)
{
    SAY(x, 1);
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    sem_post(&started);
    for (;;)
        spins++;
    return given;
}

int main(void)
{
    sem_init(&started, 0, 0);
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        void *result;
        NEED(pthread_create(&thread, NULL, worker, NULL) == 0);
        while (sem_wait(&started) != 0)
            ;
        pthread_cancel(thread);
        pthread_join(thread, &result);
        NEED(result == PTHREAD_CANCELED);
        SAY(x, 2);
    }
    puts("cancelled");
    return 0;
}
