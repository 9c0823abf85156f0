/* Phases between barriers, each of which reads what the others wrote before.
 * race: none
 */
#include "races.h"

static pthread_barrier_t barrier;
static int parts[3], sums[3];

static void *work(void *number)
{
    intptr_t i = (intptr_t)number;
    for (int round = 0; round < 3; round++) {
        parts[i] = round;
        pthread_barrier_wait(&barrier);
        sums[i] = parts[0] + parts[1] + parts[2];
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    pthread_barrier_init(&barrier, NULL, 3);
    for (intptr_t i = 0; i < 3; i++)
        threads[i] = start(work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    return sums[0] != 6;
}
