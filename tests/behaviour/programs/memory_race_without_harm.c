/* Two threads write one variable without any lock: each write is recorded, in its thread's order.
 * holds: x >= 0 && x <= 2000
 * violated: x != 1500
 * races: on x
 */
#include "say.h"

static volatile int x;

static void *worker(void *given)
{
    for (int i = 1; i <= 500; i++)
        SAY(x, (int)(long)given + i);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        NEED(pthread_create(&threads[i], NULL, worker, (void *)(1000 * i)) == 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts("written");
    return 0;
}
