/* A ring of two semaphores, and a named queue of items that goes round it.
 * holds: item >= 0 && item <= 60 && taken <= item
 * violated: taken != 30
 * ordered: yes
 */
#include "say.h"
#include <semaphore.h>

static int item, taken;
static sem_t full, empty;

static void *consumer(void *given)
{
    for (int i = 1; i <= 60; i++) {
        while (sem_wait(&full) != 0)
            ;
        SAY(taken, item);
        NEED(taken == i);
        sem_post(&empty);
    }
    return given;
}

int main(void)
{
    pthread_t thread;
    sem_init(&full, 0, 0);
    sem_init(&empty, 0, 1);
    NEED(pthread_create(&thread, NULL, consumer, NULL) == 0);
    for (int i = 1; i <= 60; i++) {
        while (sem_wait(&empty) != 0)
            ;
        SAY(item, i);
        sem_post(&full);
    }
    pthread_join(thread, NULL);
    printf("%d\n", taken);
    return 0;
}
