/* Main returns while one thread waits for ever and another one computes for ever.
 * holds: x <= 3
 * violated: x != 3
 */
#include "say.h"
#include <semaphore.h>

static int x;
static sem_t ready;
static volatile unsigned long work;

static void *waiter(void *given)
{
    SAY(x, 1);
    sem_post(&ready);
    for (;;)
        pause();
    return given;
}

static void *spinner(void *given)
{
    SAY(x, 2);
    sem_post(&ready);
    for (;;)
        work++;
    return given;
}

int main(void)
{
    void *(*functions[])(void *) = {waiter, spinner};
    sem_init(&ready, 0, 0);
    for (int i = 0; i < 2; i++) {
        pthread_t thread;
        NEED(pthread_create(&thread, NULL, functions[i], NULL) == 0);
        while (sem_wait(&ready) != 0)
            ;
    }
    SAY(x, 3);
    puts("enough");
    return 5;
}
