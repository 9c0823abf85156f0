/* A loop that touches nothing but its own stack is cancelled asynchronously, thirty times.
 * holds: x <= 30
 * violated: x != 30
 * ordered: yes
 */
#include "say.h"
#include <semaphore.h>

static int x;
static sem_t started;

static void *worker(void *given)
{
    volatile unsigned long own = 0;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    sem_post(&started);
    for (;;)
        own++;
    return given;
}

int main(void)
{
    sem_init(&started, 0, 0);
    for (int i = 1; i <= 30; i++) {
        pthread_t thread;
        void *result;
        NEED(pthread_create(&thread, NULL, worker, NULL) == 0);
        while (sem_wait(&started) != 0)
            ;
        pthread_cancel(thread);
        pthread_join(thread, &result);
        NEED(result == PTHREAD_CANCELED);
        SAY(x, i);
    }
    puts("cancelled");
    return 0;
}
